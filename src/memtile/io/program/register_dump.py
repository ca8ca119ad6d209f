"""Register dumps: addresses and values as text or as JSON, read and written.

Text: one access a line, an address and one value, or several for consecutive words; ``#`` begins a comment,
and a colon, comma or equals sign may separate the numbers. JSON: a list of objects with ``address`` and
``value``, or one object of address to value. Numbers are decimal or hexadecimal with ``0x``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.program.foreign_files import other_text
from memtile.runs.operations import WORD_MAX, BlockWrite, Operation, Write, words_written

_SOURCE = "register dump format"
_SEPARATORS = re.compile(r"[\s:=,]+")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32}")
_LONGEST = 10_000  # characters of a line that a message shows
_LARGEST_ADDRESS = (1 << 64) - 1  # what an operation of a transaction can hold


def read_text(text: str, name: str = "dump") -> tuple[Operation, ...]:
    """The writes of a dump as text.

    Raises:
        InputFileError: a line that is no address and values; all of them at once.
    """
    operations: list[Operation] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), 1):
        items = [item for item in _SEPARATORS.split(line.partition("#")[0]) if item]
        if items:
            _add(operations, problems, items, f"{name}, line {number}")
    if len(problems) > 1 and not operations:
        raise InputFileError(other_text(name, next(line for line in text.splitlines() if line.strip())))
    raise_if(problems, InputFileError)
    return tuple(operations)


def looks_like_dump(text: str) -> bool:
    """Whether a text may be a dump: JSON, nothing at all, or first of all a digit."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    first = next(filter(None, lines), "")
    return not first or first[0] in "[{0123456789"


def read_json(data: Any, name: str = "dump") -> tuple[Operation, ...]:
    """The writes of a dump as JSON data.

    Raises:
        InputFileError: neither a list of registers nor an object, or items that are no numbers; all at once.
    """
    if isinstance(data, dict):
        pairs: Iterable[object] = data.items()
    elif isinstance(data, list):
        pairs = [_pair(item) for item in data]
    else:
        raise InputFileError.of(
            "JSON",
            type(data).__name__,
            "a list of registers, or an object of address to value",
            f"the JSON value is of type {type(data).__name__}; "
            "it must be a list of registers, or an object of addresses and values",
            reason="dump",
            where=name,
            source=_SOURCE,
        )
    operations: list[Operation] = []
    problems: list[Problem] = []
    found = [[*pair] if isinstance(pair, tuple) else [] for pair in pairs]
    if len(found) > 1 and all(not items or _number(items[0]) is None for items in found):
        raise InputFileError(
            f"{name}: the file is JSON, but none of its items is a register ({len(found):,} items); it must"
            ' be a list of {"address": ..., "value": ...}, or an object of addresses and values'
            " (register dump format)."
        )
    for number, items in enumerate(found):
        _add(operations, problems, items, f"{name}, item {number}")
    raise_if(problems, InputFileError)
    return tuple(operations)


def dump_text(operations: Iterable[Operation]) -> str:
    """A dump as text, one word a line.

    Raises:
        InputFileError: an operation that is no plain write; all of them at once.
    """
    return "".join(f"0x{address:08X} 0x{value:08X}\n" for address, value in _plain(operations))


def dump_json(operations: Iterable[Operation]) -> str:
    """A dump as JSON, one word a line.

    Raises:
        InputFileError: an operation that is no plain write; all of them at once.
    """
    items = [{"address": f"0x{a:08X}", "value": f"0x{v:08X}"} for a, v in _plain(operations)]
    return "[\n" + ",\n".join(map(json.dumps, items)) + "\n]\n" if items else "[]\n"


def _pair(item: object) -> tuple[object, ...]:
    return (item.get("address"), item.get("value")) if isinstance(item, dict) else (item,)


def _add(operations: list[Operation], problems: list[Problem], items: list[Any], place: str) -> None:
    numbers = [_number(item) for item in items]
    address, *values = [n for n in numbers if n is not None] or [0]
    if None in numbers or not values or max(values) > WORD_MAX or address > _LARGEST_ADDRESS:
        given = " ".join(map(str, items)) or "nothing"
        given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}.."
        problems.append(
            Problem(
                "register",
                given,
                f"an address and values of 0x0..{WORD_MAX:#x}",
                f"{given!r} is not a register; it must be an address and values of 0x0..{WORD_MAX:#x}",
                reason="dump",
                where=place,
                source=_SOURCE,
            )
        )
    elif len(values) == 1:
        operations.append(Write(address, values[0], place=place))
    else:
        operations.append(BlockWrite(address, tuple(values), place=place))


def _number(item: object) -> int | None:
    if isinstance(item, bool):
        return None
    if isinstance(item, int):
        return item if item >= 0 else None
    if not isinstance(item, str) or not _NUMBER.fullmatch(item):
        return None
    return int(item, 16) if item[:2] in ("0x", "0X") else int(item)


def _plain(operations: Iterable[Operation]) -> Iterator[tuple[int, int]]:
    given = list(operations)
    problems = [
        Problem(
            "operation",
            type(op).__name__,
            "plain writes",
            f"a dump cannot hold a {type(op).__name__}, only plain writes",
            reason="dump",
            where=op.place or f"operation {number}",
            source=_SOURCE,
        )
        for number, op in enumerate(given)
        if not isinstance(op, Write | BlockWrite)
    ]
    raise_if(problems, InputFileError)
    for operation in given:
        yield from ((word.address, word.value) for word in words_written(operation))
