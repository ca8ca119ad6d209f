"""Attributes of operations as Python values.

Numbers are numbers, strings strings, lists lists, dictionaries dictionaries. A symbol is a :class:`Symbol`;
what has a name and angle brackets, ``#aie.packet_info<pkt_type = 0, pkt_id = 1>`` or only ``<size = 4>``, is
a :class:`Compound`; a type is the text that ``types`` reads. An attribute that stands alone is True.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memtile.importers.mlir.tokens import NAME, Tokens
from memtile.importers.mlir.tree import Operation

Value = Any
_TYPED = ("array", "dense")


class Symbol(str):  # a string, as names are compared with strings
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


def attributes(operation: Operation) -> dict[str, Value]:
    """All attributes of an operation that stand in braces, by name; properties of the generic form too."""
    found: dict[str, Value] = {}
    for first, end in operation.dicts:
        found.update(_entries(operation.tokens, first, end)[0])
    return found


def value_at(tokens: Tokens, at: int) -> tuple[Value, int]:
    """The attribute that begins at token ``at``, and where it ends; a type behind a colon belongs to it."""
    value, at = _value(tokens, at)
    if tokens.words[at] == ":":
        at = _type_end(tokens, at + 1)
    return value, at


def listed(tokens: Tokens, opening: int) -> list[Value]:
    """The values between two brackets, separated by commas."""
    return _entries(tokens, opening + 1, tokens.close[opening])[1]


def number(word: str) -> int | float | None:
    """The number that a token is, None if it is none."""
    try:
        return int(word, 0) if word[:2].lower() == "0x" or word[:3].lower() == "-0x" else int(word)
    except ValueError:
        pass
    try:
        return float(word) if word[:1].isdigit() or word[:1] == "-" else None
    except ValueError:
        return None


def _entries(tokens: Tokens, at: int, end: int) -> tuple[dict[str, Value], list[Value]]:
    """Entries separated by commas: those with names, and the others; a name alone is True as well."""
    named: dict[str, Value] = {}
    values: list[Value] = []
    words = tokens.words
    while at < end:
        word = words[at]
        if words[at + 1] == "=":
            named[word.strip('"')], at = value_at(tokens, at + 2)
        else:
            value, after = value_at(tokens, at)
            if after == at + 1 and isinstance(value, str) and not isinstance(value, Symbol):
                named[word.strip('"')] = True
            values.append(value)
            at = after
        while at < end and words[at] != ",":  # what we do not understand belongs to the value before it
            at = tokens.close.get(at, at) + 1
        at += 1
    return named, values


def _value(tokens: Tokens, at: int) -> tuple[Value, int]:
    word = tokens.words[at]
    if at in tokens.close:
        return _bracketed(tokens, at), tokens.close[at] + 1
    if word[:1] == "@":
        while tokens.words[at + 1] == "::":
            at += 2
        return Symbol(tokens.words[at][1:].strip('"')), at + 1
    if tokens.words[at + 1] == "[" and NAME.fullmatch(word):  # iree: #aie<bd_dim_layout_array[..]>
        return Compound(word, {}, tuple(listed(tokens, at + 1))), tokens.close[at + 1] + 1
    if tokens.words[at + 1] == "<" and at + 1 in tokens.close:
        end = tokens.close[at + 1] + 1
        if word[0] == "#" or word in _TYPED:
            return _compound(word.lstrip("#"), tokens, at + 1), end
        return tokens.join(at, end), end
    return _single(word), at + 1


def _bracketed(tokens: Tokens, at: int) -> Value:
    word, end = tokens.words[at], tokens.close[at]
    if word == "[":
        return listed(tokens, at)
    if word == "{":
        return _entries(tokens, at + 1, end)[0]
    return _compound("", tokens, at) if word == "<" else tokens.join(at, end + 1)


def _single(word: str) -> Value:
    """What one token is."""
    if word[:1] == '"':
        return word[1:-1]
    if word in ("true", "false"):
        return word == "true"
    found = number(word)
    return word if found is None else found


def _compound(name: str, tokens: Tokens, opening: int) -> Compound:
    at = opening + 1
    if name == "array":  # array<i64: 1, 2>
        at += 2
    named, values = _entries(tokens, at, tokens.close[opening])
    named = {key: value for key, value in named.items() if value is not True or key not in values}
    return Compound(name, named, tuple(values))


def _type_end(tokens: Tokens, at: int) -> int:
    """End of a type that begins at ``at``."""
    words, close = tokens.words, tokens.close
    at = close[at] + 1 if at in close else at + 1
    if words[at] == "<" and at in close:
        at = close[at] + 1
    return _type_end(tokens, at + 1) if words[at] == "->" else at
