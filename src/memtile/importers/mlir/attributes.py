"""Attributes of operations as Python values.

Numbers are numbers, strings strings, lists lists, dictionaries dictionaries. A symbol is a
:class:`SymbolName`; what has a name and angle brackets, ``#aie.packet_info<pkt_type = 0, pkt_id = 1>`` or
only ``<size = 4>``, is a :class:`Compound`; a type is the text that ``types`` reads. An attribute that stands
alone is True.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtile.importers.mlir.token_packets import NAME, Tokens
from memtile.importers.mlir.tree import Operation
from memtile.limits import limit

Value = Any
_INTEGER = re.compile(r"-?(?:[0-9]{1,4000}|0[xX][0-9a-fA-F]{1,4000})")  # Python reads no longer ones
_FLOAT = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_TYPED = ("array", "dense")


class SymbolName(str):  # a string, as names are compared with strings
    """A name that something else in the module has, without ``@`` and quotes; of nested ones the last."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Compound:
    """An attribute with a name and a list in angle brackets.

    Attributes:
        name: ``aie.packet_info``; empty for angle brackets alone.
        named: its values that have names.
        listed: the others.
    """

    name: str
    named: dict[str, Value] = field(default_factory=dict)
    listed: tuple[Value, ...] = ()


def attributes(operation: Operation) -> Mapping[str, Value]:
    """All attributes of an operation that stand in braces, by name; properties of the generic form too."""
    if operation.read is None:
        found: dict[str, Value] = {}
        for first, end in operation.dicts:
            found.update(_entries(operation.tokens, first, end)[0])
        operation.read = found
    return operation.read


def value_at(tokens: Tokens, at: int, depth: int = 0) -> tuple[Value, int]:
    """The attribute that begins at token ``at``, and where it ends; a type behind a colon belongs to it.

    Args:
        tokens: of the text.
        at: place of the first one.
        depth: brackets around it.

    Raises:
        InputFileError: brackets that are too deep.
    """
    if depth and depth > limit("lists"):
        raise tokens.text.beyond("lists", tokens.offset(at), reason="bracket")
    value, at = _value(tokens, at, depth + 1)
    if tokens.words[at] == ":":
        at = _type_end(tokens, at + 1)
    return value, at


def listed(tokens: Tokens, opening: int, depth: int = 0) -> list[Value]:
    """The values between two brackets, separated by commas."""
    return _entries(tokens, opening + 1, tokens.close[opening], depth)[1]


def number(word: str) -> int | float | None:
    """The number that a token is, None if it is none."""
    if _INTEGER.fullmatch(word):
        return int(word, 16 if "x" in word or "X" in word else 10)
    return float(word) if _FLOAT.fullmatch(word) else None


def _entries(tokens: Tokens, at: int, end: int, depth: int = 0) -> tuple[dict[str, Value], list[Value]]:
    """Entries separated by commas: those with names, and the others; a name alone is True as well."""
    named: dict[str, Value] = {}
    values: list[Value] = []
    words = tokens.words
    while at < end:
        word = words[at]
        if words[at + 1] == "=":
            named[word.strip('"')], at = value_at(tokens, at + 2, depth)
        else:
            value, after = value_at(tokens, at, depth)
            if after == at + 1 and isinstance(value, str) and not isinstance(value, SymbolName):
                named[word.strip('"')] = True
            values.append(value)
            at = after
        while at < end and words[at] != ",":  # what we do not understand belongs to the value before it
            at = tokens.close.get(at, at) + 1
        at += 1
    return named, values


def _value(tokens: Tokens, at: int, depth: int) -> tuple[Value, int]:
    word = tokens.words[at]
    if at in tokens.close:
        return _bracketed(tokens, at, depth), tokens.close[at] + 1
    if word[:1] == "@":
        while tokens.words[at + 1] == "::":
            at += 2
        return SymbolName(tokens.words[at][1:].strip('"')), at + 1
    if tokens.words[at + 1] == "[" and NAME.fullmatch(word):  # iree: #aie<bd_dim_layout_array[..]>
        return Compound(word, {}, tuple(listed(tokens, at + 1, depth))), tokens.close[at + 1] + 1
    if tokens.words[at + 1] == "<" and at + 1 in tokens.close:
        end = tokens.close[at + 1] + 1
        if word[0] == "#" or word in _TYPED:
            return _compound(word.lstrip("#"), tokens, at + 1, depth), end
        return tokens.join(at, end), end
    return _single(word), at + 1


def _bracketed(tokens: Tokens, at: int, depth: int) -> Value:
    word, end = tokens.words[at], tokens.close[at]
    if word == "[":
        return listed(tokens, at, depth)
    if word == "{":
        return _entries(tokens, at + 1, end, depth)[0]
    return _compound("", tokens, at, depth) if word == "<" else tokens.join(at, end + 1)


def _single(word: str) -> Value:
    """What one token is."""
    if word[:1] == '"':
        return word[1:-1]
    if word in ("true", "false"):
        return word == "true"
    found = number(word)
    return word if found is None else found


def _compound(name: str, tokens: Tokens, opening: int, depth: int) -> Compound:
    at = opening + 1
    if name == "array":  # array<i64: 1, 2>
        at += 2
    elif NAME.fullmatch(tokens.words[at]) and NAME.fullmatch(tokens.words[at + 1]):
        name, at = f"{name}.{tokens.words[at]}", at + 1  # #index<cmp_predicate sle>
    named, values = _entries(tokens, at, tokens.close[opening], depth)
    named = {key: value for key, value in named.items() if value is not True or key not in values}
    return Compound(name, named, tuple(values))


def _type_end(tokens: Tokens, at: int) -> int:
    """End of a type that begins at ``at``."""
    words, close, last = tokens.words, tokens.close, len(tokens.words) - 1
    while True:
        at = close[at] + 1 if at in close else min(at + 1, last)
        if words[at] == "<" and at in close:
            at = close[at] + 1
        if words[at] != "->":
            return at
        at += 1
