"""Is everything known that an operation of a device says?

An attribute, a property or a word that ``known_operations`` does not have is an error, as is a value of
another type than its own. mlir-aie takes most of these for notes of other tools and ignores them; a
misspelled name would then mean another machine than the one that was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from string import ascii_letters
from typing import Any, NamedTuple

from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.mlir.attributes import Compound, value_at
from memtile.importers.mlir.forms.operand_faults import operation_error
from memtile.importers.mlir.forms.operands import shown
from memtile.importers.mlir.known_operations import ENUMS, KnownAttribute, KnownOperation, operations
from memtile.importers.mlir.token_packets import NAME
from memtile.importers.mlir.tree import Operation

_TYPE = re.compile(
    r"memref|vector|tensor|tuple|none|index|bf16|tf32|f[0-9]+\w*|[su]?i[0-9]+|x\w*|complex"
    r"|strided|affine_map|affine_set|loc"
)
_PARAMETERS = frozenset(
    ("memref", "vector", "tensor", "tuple", "complex", "strided", "affine_map", "affine_set")
)
_CONTENTS = frozenset(("dense", "dense_resource", "array"))
_RANGE = re.compile(r"(?P<type>\w+?)(?:>=(?P<least>-?\d+)| (?P<first>-?\d+)\.\.(?P<last>-?\d+))?")
_LEADS = frozenset(f'{ascii_letters}_"!#')  # of words, of types and of attributes
_KEPT = 4096  # words
_INTEGERS = re.compile(r"[su]?i[0-9]+|index")
_DIALECT = re.compile(r"[^.]*|aiex?\..*")
"""An attribute of mlir-aie; one of another dialect is a note of another tool."""


class Entry(NamedTuple):
    """An entry of an operation's braces.

    Attributes:
        name: of the attribute.
        at: place of the name among the tokens.
        value: as ``attributes`` reads it; True of one that stands alone.
        kind: type behind the value; empty without one.
        alone: whether it has no value.
        end: place behind it.
    """

    name: str
    at: int
    value: Any
    kind: str
    alone: bool
    end: int


def check_known(device: Operation) -> None:
    """See that all is known that the operations of a device say.

    Args:
        device: ``aie.device``.

    Raises:
        InputFileError: operations, attributes, values or words that nothing is known of, or that are refused;
            all of them.
    """
    found: list[Problem] = []
    known, unknown = operations(), set[str]()
    for operation in device.walk():
        entry = known.get(operation.name)
        if entry is None:
            if operation.name not in unknown and not _is_in_function(operation):
                unknown.add(operation.name)
                found += unknown_operation(operation).problems
        else:
            found += _attributes(operation, entry)
            found += _words(operation, entry)
            found += _place(operation, entry)
            found += _regions(operation, entry)
    raise_if(found, InputFileError)


def unknown_operation(operation: Operation) -> InputFileError:
    """The error of an operation that is in no table."""
    says, allowed = "nothing is known of this operation", "operations of docs/mlir.md"
    return operation_error(operation, says, allowed, reason="mlir_unknown")


def _is_in_function(operation: Operation) -> bool:
    """Whether it is in a function, which is looked at when a core calls it."""
    block = operation.parent
    while block is not None and block.region.operation is not None:
        if block.region.operation.name in ("func.func", "func"):
            return True
        block = block.region.operation.parent
    return False


def entries(operation: Operation) -> Iterator[Entry]:
    """The entries of an operation's braces and properties, in order."""
    words, close = operation.tokens.words, operation.tokens.close
    for first, end in operation.dicts:
        at = first
        while at < end:
            name, alone = words[at], words[at + 1] != "="
            value, after = (True, at + 1) if alone else value_at(operation.tokens, at + 2)
            kind = "" if alone else _kind(operation, at + 2, after)
            yield Entry(name.strip('"'), at, value, kind, alone, after)
            at = after
            while at < end and words[at] != ",":
                at = close.get(at, at) + 1
            at += 1


def _kind(operation: Operation, at: int, end: int) -> str:
    """The type behind an attribute's value."""
    words, close = operation.tokens.words, operation.tokens.close
    while at < end:
        if words[at] == ":":
            return operation.tokens.join(at + 1, end)
        at = close.get(at, at) + 1
    return ""


def _attributes(operation: Operation, known: KnownOperation) -> Iterator[Problem]:
    seen: set[str] = set()
    for each in entries(operation):
        if each.name in seen:
            yield from _problem(operation, each.at, f"its {each.name} is given twice", "it once", each.name)
        seen.add(each.name)
        found = known.attributes.get(each.name)
        if found is not None:
            yield from _value(operation, each, found)
        elif _DIALECT.fullmatch(each.name):
            yield from _unknown(operation, each.at, each.name, "attribute", known.attributes)


def _value(operation: Operation, each: Entry, known: KnownAttribute) -> Iterator[Problem]:
    if operation.tokens.words[each.end] not in (",", "}", ">"):
        says = f"{operation.tokens.words[each.end]} stands behind its {each.name}"
        yield from _problem(operation, each.end, says, "a comma, or the end", each.name)
    elif not any(_fits(each, kind) for kind in known.kind.split("|")):
        kind = f" of type {each.kind}" if each.kind else ""
        given = "nothing" if each.alone else f"{shown(each.value)}{kind}"
        yield from _problem(operation, each.at, f"its {each.name} is {given}", allowed(known.kind), each.name)
    elif known.verdict == "refused" and not (known.neutral and _is_neutral(each.value, known.neutral)):
        says = f"its {each.name} is not supported: {known.reason}"
        yield from _problem(operation, each.at, says, f"{known.neutral or 'none'}", each.name)


def _is_neutral(value: object, neutral: str) -> bool:
    """Whether a value is the one that has no effect."""
    if isinstance(value, Compound):
        return value.listed == (neutral,) or neutral in value.named
    return str(value).lower() == neutral


def allowed(kind: str) -> str:
    """What a type of the table allows, for people."""
    if "|" in kind:
        return " or ".join(map(allowed, kind.split("|")))
    if kind[0] == "$":
        return ", ".join(ENUMS[kind[1:]])
    if kind[0] == "<":
        return f"a list with {kind[1:-1]}"
    named = {
        "str": "a text in quotes",
        "sym": "a name, @name",
        "unit": "the name alone",
        "bool": "true or false",
    }
    read = _RANGE.fullmatch(kind)
    if kind in named or read is None or not _INTEGERS.fullmatch(read["type"]):
        return named.get(kind, f"a value of type {kind}")
    if read["least"]:
        return f"a whole number of type {read['type']}, {read['least']} or more"
    return f"a whole number of type {read['type']}" + (
        f", {read['first']}..{read['last']}" if read["first"] else ""
    )


def _fits(each: Entry, kind: str) -> bool:
    """Whether a value is of a type of the table."""
    value = each.value
    if kind[0] == "$":
        return not each.alone and _is_choice(value, ENUMS[kind[1:]])
    if kind[0] == "<":
        return _has_keys(value, frozenset(kind[1:-1].split(", ")))
    if kind in _SHAPES:
        return _SHAPES[kind](each)
    read = _RANGE.fullmatch(kind)
    assert read is not None
    if not isinstance(value, int) or isinstance(value, bool) or (each.kind or "i64") != read["type"]:
        return False
    least = read["least"] or read["first"]
    return (least is None or value >= int(least)) and (read["last"] is None or value <= int(read["last"]))


_SHAPES: Mapping[str, Callable[[Entry], bool]] = {
    "any": lambda each: not each.alone,
    "array": lambda each: isinstance(each.value, Compound | list),
    "bool": lambda each: isinstance(each.value, bool) and not each.alone,
    "elements": lambda each: isinstance(each.value, Compound),
    "list": lambda each: isinstance(each.value, Compound | list),
    "map": lambda each: isinstance(each.value, str) and not each.alone,
    "str": lambda each: isinstance(each.value, str),
    "sym": lambda each: isinstance(each.value, str),
    "type": lambda each: isinstance(each.value, str),
    "unit": lambda each: each.alone or each.value == "unit",
}


def _is_choice(value: object, names: tuple[str, ...]) -> bool:
    """Whether a value is one of an enumeration: by name, by number, or some of them in angle brackets."""
    if isinstance(value, Compound):
        return bool(value.listed or value.named) and {*map(str, value.listed), *value.named} <= {*names}
    if isinstance(value, int) and not isinstance(value, bool):
        return 0 <= value < len(names)
    return isinstance(value, str) and value in names


def _has_keys(value: object, names: frozenset[str]) -> bool:
    """Whether all that a nested value names is known."""
    if isinstance(value, Compound):
        return value.named.keys() <= names and all(_has_keys(each, names) for each in value.listed)
    if isinstance(value, list):
        return all(_has_keys(each, names) for each in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _words(operation: Operation, known: KnownOperation) -> Iterator[Problem]:
    """Words of the pretty form that nothing is known of."""
    if known.words is None:
        return
    words, close = operation.tokens.words, operation.tokens.close
    for first, end in operation.spans:
        after = first  # the parameters of a type
        for at in [at for at in range(first, end) if words[at][0] in _LEADS]:
            if at < after:
                continue
            word = words[at].strip('"') if words[at - 1] in ("(", ",", "<") else words[at]
            opens = words[at + 1] in ("<", "(") and at + 1 in close
            if opens and (
                word[:1] in ("!", "#") or word in _PARAMETERS or word in _CONTENTS or word == "loc"
            ):
                after = close[at + 1] + 1
            if word not in known.words and _is_word(word):
                yield from _unknown(operation, max(at, after - 1), word, "word", known.words)


@lru_cache(maxsize=_KEPT)
def _is_word(word: str) -> bool:
    """Whether a token is a name, of no dialect and of no type."""
    return NAME.fullmatch(word) is not None and "." not in word and not _TYPE.fullmatch(word)


def _place(operation: Operation, known: KnownOperation) -> Iterator[Problem]:
    """Where it must not stand: in another operation, or behind the end of a block."""
    block = operation.parent
    around = block.region.operation if block else None
    if known.parents and around is not None and around.name not in known.parents:
        says = f"it stands in {around.name}"
        yield from _problem(operation, operation.at, says, ", ".join(known.parents), around.name)
    if operation.name in _TERMINATORS and block is not None and block.operations[-1] is not operation:
        following = block.operations[block.operations.index(operation) + 1].name
        yield from _problem(
            operation, operation.at, f"{following} stands behind it", "the end of a block", following
        )


def _regions(operation: Operation, known: KnownOperation) -> Iterator[Problem]:
    """What must not be in it, and blocks that do not end."""
    if operation.regions and not known.holds:
        yield from _problem(operation, operation.at, "it has a region", "none", operation.name)
        return
    for block in (each for region in operation.regions for each in region.blocks):
        for inner in () if "*" in known.holds else block.operations:
            if not {inner.name, f"{inner.name.partition('.')[0]}.*"} & {*known.holds}:
                says = f"it cannot have {inner.name} in it"
                yield from _problem(operation, inner.at, says, ", ".join(known.holds), inner.name)
        last = block.operations[-1] if block.operations else None
        if known.ends and (last is None or last.name not in known.ends):
            at, name = (operation.at, "nothing") if last is None else (last.at, last.name)
            says = f"a block of it ends in {name}"
            yield from _problem(operation, at, says, ", ".join(known.ends), name)


_TERMINATORS = frozenset(
    (
        "aie.next_bd",
        "aie.end",
        "cf.br",
        "cf.cond_br",
        "cf.switch",
        "br",
        "cond_br",
        "return",
        "func.return",
        "scf.yield",
    )
)


def _unknown(operation: Operation, at: int, name: str, what: str, names: Any) -> Iterator[Problem]:
    """What a name may have been meant to be."""
    listed = ", ".join(sorted(names)) or f"no {what}"
    near = get_close_matches(name, names, 1)
    step = f"Write {near[0]}." if near else f"Leave out {name}."
    says = f"nothing is known of its {what} {name}"
    yield from _problem(operation, at, says, listed, name, step)


def _problem(
    operation: Operation, at: int, says: str, allowed: str, given: str, step: str = ""
) -> tuple[Problem, ...]:
    tokens = operation.tokens
    error = tokens.text.error(
        tokens.offset(at),
        f"{operation.name}: {says}; allowed are {allowed}",
        allowed=allowed,
        given=given,
        reason="mlir_attribute",
        step=step,
    )
    return tuple(error.problems)
