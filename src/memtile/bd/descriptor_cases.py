"""Descriptors as JSON: the schema of ``bd_words.json`` cases <-> ``Descriptor``, strict both ways.

A case is an object with ``tile``, ``bd``, ``length``, ``address`` (words), ``dims`` ``[[step, wrap], ...]``
innermost first (wrap ``null`` where the dimension has no wrap field), ``pad`` ``[[before, after], ...]``,
``iteration``, ``next``, ``acquire``, ``release``, ``packet``, ``ooo_id``, ``compression``,
``tlast_suppress``, ``valid`` and ``axi``. All but ``tile``, ``length`` and ``address`` may be absent.

It also has register words as JSON: ``{"tile": ..., "bd": ..., "words": ["0x...", ...]}``, strict on its keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd import descriptor as parts
from memtile.bd.codec import pack
from memtile.bd.descriptor import is_whole
from memtile.bd.fields import fields_of, has_axi
from memtile.bd.legality import check, check_bd, shown
from memtile.errors import DescriptorError, MemtileError, Problem, raise_if

_MISSING = "missing_key"


class WrongKey(NamedTuple):
    """What is wrong with a key: the fields of a :class:`~memtile.errors.Problem`."""

    reason: str
    key: str
    given: str
    allowed: str
    next_step: str = ""

    def says(self, prefix: str) -> str:
        """The sentence about the key, whose object is below ``prefix``."""
        name = prefix + self.key
        return (
            f"{name} is missing"
            if self.reason == _MISSING
            else f"{name} is not a key; known keys are {self.allowed}"
        )


def wrong_keys(
    given: Collection[str], known: Set[str], required: Iterable[str], remarks: Set[str] = frozenset()
) -> Iterator[WrongKey]:
    """The keys of an object that are not known or missing; of the known ones ``remarks`` are not listed."""
    allowed = ", ".join(sorted(known - remarks))
    for key in given:
        if key not in known:
            near = get_close_matches(key, sorted(known - remarks), n=1)
            hint = f"Did you mean {near[0]}?" if near else ""
            yield WrongKey("unknown_key", key, "an unknown key", allowed, hint)
    for key in required:
        if key not in given:
            yield WrongKey(_MISSING, key, "nothing", "a value")


ORACLE_KEYS = frozenset(
    ("id", "origin", "expect", "words", "in_range", "reason", "code", "driver", "fields", "note")
)
"""Keys that an oracle file carries beside the descriptor; they are ignored."""

_SOURCE = "descriptor schema"
_DEFAULT = 1  # for a missing number: no field refuses it, so that it gives no problem of its own


class Case(NamedTuple):
    """A descriptor and the number of the BD it is for."""

    bd: int
    descriptor: parts.Descriptor


@dataclass(frozen=True, slots=True)
class _NestedObject:
    """A nested object of the schema: its type, and what its optional keys default to."""

    make: type[parts.Iteration | parts.Acquire | parts.Release | parts.Packet | parts.Axi]
    defaults: Mapping[str, Any]


_PARTS = {
    "iteration": _NestedObject(parts.Iteration, {"current": 0}),
    "acquire": _NestedObject(parts.Acquire, {"enable": True}),
    "release": _NestedObject(parts.Release, {}),
    "packet": _NestedObject(parts.Packet, {"type": 0}),
    "axi": _NestedObject(parts.Axi, parts.DEFAULT_AXI._asdict()),
}
_PLAIN = ("length", "address", "next", "ooo_id", "compression", "tlast_suppress", "valid")
_REQUIRED = ("tile", "length", "address")
_KEYS = frozenset({"tile", "bd", "dims", "pad", *_PLAIN, *_PARTS})


def words_of_case(data: object) -> tuple[int, ...]:
    """The register words of a case.

    Raises:
        DescriptorError: the case is not in the schema, or its descriptor is not legal; all problems at once.
    """
    case, problems = _read(data)
    raise_if([*problems, *check(case.descriptor, case.bd)], DescriptorError)
    return pack(case.descriptor.kind, fields_of(case.descriptor))


def parse_case(data: object) -> Case:
    """The descriptor of a case; the schema is checked, the values are not.

    Raises:
        DescriptorError: the case is not in the schema; all problems at once.
    """
    case, problems = _read(data)
    raise_if(problems, DescriptorError)
    return case


def case_of(d: parts.Descriptor, bd: int = 0) -> dict[str, Any]:
    """A descriptor in the schema; inverse of ``parse_case``. Parts that say nothing are left out."""
    last = d.kind.dimensions - 1
    case: dict[str, Any] = {
        "tile": d.tile,
        "bd": bd,
        "length": d.length,
        "address": d.address,
        "dims": [[dim.step, None if n == last else dim.wrap] for n, dim in enumerate(d.dims)],
        "pad": [list(pad) for pad in d.pad],
    }
    said = {
        "iteration": d.iteration != parts.NO_ITERATION and d.iteration._asdict(),
        "next": d.next is not None and d.next,
        "acquire": d.acquire != parts.NO_ACQUIRE and d.acquire._asdict(),
        "release": d.release != parts.NO_RELEASE and d.release._asdict(),
        "packet": d.packet is not None and d.packet._asdict(),
    }
    case |= {key: part for key, part in said.items() if part is not False}
    for key in ("ooo_id", "compression", "tlast_suppress", "valid"):
        case[key] = getattr(d, key)
    if has_axi(d.kind):
        case["axi"] = d.axi._asdict()
    return case


def items_of(data: Any) -> tuple[list[Any], bool]:
    """The cases in a JSON value: one case, a list, or an object with ``cases``; and whether it is one."""
    if isinstance(data, dict) and "cases" in data and "tile" not in data:
        data = data["cases"]
    return (data, False) if isinstance(data, list) else ([data], True)


def refusal(error: MemtileError) -> dict[str, Any]:
    """An error as JSON: ``reason``, ``field`` and ``message`` of the first problem, ``problems`` if more.

    An error without problems has its text as the message, and the reason of its class.
    """
    if not error.problems:
        return {"reason": error.reason, "field": "", "message": str(error)}
    problems = [problem.as_json() for problem in error.problems]
    first = {key: problems[0][key] for key in ("reason", "field", "message")}
    return first | ({"problems": problems} if len(problems) > 1 else {})


def _dims(reader: _CaseReader, last: int) -> Iterator[parts.Dim]:
    """The dimensions of a case; without any, defaults that give no problems of their own."""
    pairs = reader.pairs("dims", "[step, wrap]")
    for n, (step, wrap) in enumerate([(1, 1)] * last if pairs is None else pairs):
        yield parts.Dim(step, 0 if wrap is None and n >= last else wrap)


def _read(data: object) -> tuple[Case, list[Problem]]:
    """The case as far as it can be understood, and what is wrong with its shape.

    Raises:
        DescriptorError: it is no object, or its tile kind is not known, so nothing else can be judged.
    """
    if not isinstance(data, dict):
        raise DescriptorError.of(
            "case",
            shown(data),
            "an object with tile, length, address",
            f"the case is {shown(data)}; it must be an object with tile, length and address",
            reason="case",
            where="case",
            source=_SOURCE,
        )
    kind = kind_of(data.get("tile"))
    bd = 0 if data.get("bd") is None else data["bd"]
    reader = _CaseReader(data, f"{kind.title}, BD {shown(bd)}")
    reader.check_keys("", {key: data[key] for key in data if key not in ORACLE_KEYS}, _KEYS, _REQUIRED)
    descriptor = parts.Descriptor(
        tile=kind.name,
        dims=tuple(_dims(reader, kind.dimensions - 1)),
        pad=tuple(parts.Pad(*pair) for pair in reader.pairs("pad", "[before, after]") or ()),
        **{"length": 0, "address": 0, **reader.plain(), **reader.parts()},
    )
    return Case(bd, descriptor), reader.problems


def kind_of(tile: object) -> TileKind:
    """The tile kind that JSON names.

    Raises:
        DescriptorError: there is none of that name.
    """
    for kind in TILE_KINDS.values():
        if kind.name == tile:
            return kind
    raise DescriptorError(parts.unknown_tile(tile))


class _CaseReader:
    """Takes a case apart; whatever has the wrong shape becomes a problem and is left out."""

    def __init__(self, data: dict[str, Any], where: str) -> None:
        self.data, self.where = data, where
        self.problems: list[Problem] = []

    def check_keys(
        self, prefix: str, data: Mapping[str, Any], known: Set[str], required: Iterable[str]
    ) -> None:
        for wrong in wrong_keys(data, known, required):
            reason, key, given, allowed, hint = wrong
            self._add(reason, prefix + key, given, allowed, hint, says=wrong.says(prefix))

    def plain(self) -> dict[str, Any]:
        return {key: self.data[key] for key in _PLAIN if key in self.data}

    def parts(self) -> dict[str, Any]:
        present = {key: self.data[key] for key in _PARTS if self.data.get(key) is not None}
        return {key: made for key, value in present.items() if (made := self._part(key, value)) is not None}

    def pairs(self, key: str, form: str) -> list[tuple[Any, Any]] | None:
        """The pairs of ``dims`` or ``pad``; ``None`` when they are not a list of pairs."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            self._add(key, key, shown(value), f"a list of {form}")
            return None
        wrong = [
            n
            for n, pair in enumerate(value)
            if not isinstance(pair, list) or len(pair) != len(parts.Pad._fields)
        ]
        for n in wrong:
            self._add(key, f"{key}[{n}]", shown(value[n]), form)
        return None if wrong else [tuple(pair) for pair in value]

    def _part(self, key: str, value: object) -> Any:
        part = _PARTS[key]
        fields = part.make._fields
        if not isinstance(value, dict):
            self._add(key, key, shown(value), f"an object with {', '.join(fields)}")
            return None
        self.check_keys(f"{key}.", value, frozenset(fields), [f for f in fields if f not in part.defaults])
        values = {**part.defaults, **value}
        return part.make(**{f: values.get(f, _DEFAULT) for f in fields})

    def _add(
        self, reason: str, field: str, given: str, allowed: str, next_step: str = "", says: str = ""
    ) -> None:
        self.problems.append(
            Problem(field, given, allowed, says, next_step, reason=reason, where=self.where, source=_SOURCE)
        )


_WORDS_SOURCE = "register word schema"
_LONGEST_NUMBER = 40  # characters; 32 binary digits and their prefix are fewer


class WordCase(NamedTuple):
    """Register words, and the tile kind and BD they are for."""

    tile: TileName
    bd: int
    words: tuple[int, ...]


def parse_words(data: Any, tile: TileName | None = None) -> WordCase:
    """The register words of a JSON object; other keys, such as those of a descriptor case, are ignored.

    Args:
        data: object with ``words`` (numbers or strings), ``tile`` and optionally ``bd``.
        tile: tile kind to take when ``data`` names none.

    Raises:
        DescriptorError: something is missing or no number; all problems at once.
    """
    if not isinstance(data, dict) or not isinstance(data.get("words"), list):
        raise DescriptorError.of(
            "words",
            shown(data),
            "an object with tile and words",
            f"the input is {shown(data)}; it must be an object with tile and words",
            reason="words",
            where="register words",
            source=_WORDS_SOURCE,
        )
    kind = kind_of(data.get("tile", tile))
    bd = 0 if data.get("bd") is None else data["bd"]
    where = f"{kind.title}, BD {shown(bd)}"
    words = [_number(word) for word in data["words"]]
    problems = list(check_bd(kind, where, bd))
    for n, word in enumerate(words):
        if word is None:
            problems.append(
                Problem(
                    f"word {n}",
                    shown(data["words"][n]),
                    "a number or a hexadecimal string",
                    reason="word",
                    where=where,
                    source=_WORDS_SOURCE,
                )
            )
    raise_if(problems, DescriptorError)
    return WordCase(kind.name, bd, tuple(word for word in words if word is not None))


def hex_words(words: tuple[int, ...]) -> list[str]:
    """Register words as JSON carries them: ``"0x0000ABCD"``."""
    return [f"0x{word:08X}" for word in words]


def _number(word: object) -> int | None:
    if is_whole(word):
        return word
    if not isinstance(word, str) or len(word) > _LONGEST_NUMBER:
        return None
    try:
        return int(word, 0)
    except ValueError:
        return None
