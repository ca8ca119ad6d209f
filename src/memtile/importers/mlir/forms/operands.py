"""What stands in the brackets of an operation: values, numbers, symbols, keywords, lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from memtile.errors import InputFileError
from memtile.importers.mlir.attributes import Compound, attributes, listed, number, value_at
from memtile.importers.mlir.description import Direction, Level, Padding
from memtile.importers.mlir.forms.operand_faults import Attributes, Parts, operation_error
from memtile.importers.mlir.tree import Operation, Region, TokenSpan
from memtile.importers.mlir.types import Shaped, shaped

BUNDLES = ("Core", "DMA", "FIFO", "South", "West", "North", "East", "PLIO", "NOC", "Trace", "TileControl")
"""Of ports, by their number in the generic form (mlir-aie, WireBundle)."""
DIRECTIONS: tuple[Direction, ...] = ("S2MM", "MM2S")
"""Of channels, by their number in the generic form (mlir-aie, DMAChannelDir)."""
_NOTHING: Mapping[str, object] = {}
_LONGEST = 60  # characters of a value that a message shows
_MOST_CASTS = 16  # of one number
_PLAIN = re.compile("[0-9]{1,18}")  # numbers of most lists
T = TypeVar("T")
_BUNDLES = {name.lower(): name for name in BUNDLES} | {
    "ctrl": "TileControl",
    "control": "TileControl",
}  # IREE has capitals


class OperationForm:
    """An operation to be read.

    Args:
        operation: that is read.
        known: numbers of values that only somebody else knows, by name.

    Attributes:
        operation: that is read.
    """

    def __init__(self, operation: Operation, known: Mapping[str, object] = _NOTHING) -> None:
        self.operation, self._known = operation, known
        self._items: dict[tuple[str, int], Parts[TokenSpan]] = {}

    @cached_property
    def attributes(self) -> Attributes:
        """Its attributes in braces."""
        return Attributes(self.operation, attributes(self.operation))

    @cached_property
    def place(self) -> str:
        """Where it stands: file, line, column and its name."""
        tokens = self.operation.tokens
        return f"{tokens.text.where(tokens.offset(self.operation.at))}, {self.operation.name}"

    @property
    def generic(self) -> bool:
        """Whether the operation is in generic form."""
        return self.operation.tokens.words[self.operation.at][:1] == '"'

    @property
    def result(self) -> str:
        """Name of its first result; empty if it has none."""
        return self.operation.results[0] if self.operation.results else ""

    @property
    def symbol(self) -> str:
        """Its symbol: before its operands, or as an attribute; empty if it has none."""
        words = self.operation.words
        named = self.attributes.get("sym_name", "")
        return words[0][1:].strip('"') if words and words[0][:1] == "@" else str(named)

    @property
    def name(self) -> str:
        """Its symbol, else the name of its value without ``%``."""
        return self.symbol or self.result[1:]

    @property
    def values(self) -> Parts[str]:
        """The values that it uses, in order."""
        found = [word for word in self.operation.words if word[:1] == "%"]
        return Parts(self.operation, found, "operand")

    @property
    def regions(self) -> Parts[Region]:
        """Its regions, in order."""
        return Parts(self.operation, self.operation.regions, "region")

    def integer(self, name: str, default: int | None = None) -> int:
        """The whole number of an attribute.

        Raises:
            InputFileError: the attribute is no whole number; without a default, it is not there.
        """
        found = self.attributes[name] if default is None else self.attributes.get(name, default)
        if isinstance(found, int):
            return int(found)
        says = f"its {name} is {shown(found)}"
        raise self.error(says, "a whole number", reason="mlir_number", given=shown(found))

    def integers(self, name: str) -> list[int]:
        """The whole numbers of an attribute: ``array<i64: 1, 2>``, ``dense<[1, 2]>`` or ``[1, 2]``.

        Raises:
            InputFileError: the attribute is something else, or is not there.
        """
        found = self.attributes[name]
        listed_ = found.listed if isinstance(found, Compound) else found
        if isinstance(found, Compound) and len(found.listed) == 1 and isinstance(found.listed[0], list):
            (listed_,) = found.listed
        if isinstance(listed_, list | tuple) and all(isinstance(each, int) for each in listed_):
            return [int(each) for each in listed_]
        says = f"its {name} is {shown(found)}"
        raise self.error(says, "a list of whole numbers", reason="mlir_number", given=shown(found))

    def symbol_of(self, name: str) -> str:
        """The symbol or string of an attribute.

        Raises:
            InputFileError: the attribute is something else, or is not there.
        """
        found = self.attributes[name]
        if isinstance(found, str):
            return str(found)
        raise self.error(f"its {name} is {shown(found)}", "a name, @name", reason="mlir_symbol", given=name)

    def choice(self, name: str, names: Sequence[T]) -> T:
        """What the number of an attribute stands for.

        Raises:
            InputFileError: the number stands for nothing.
        """
        number_ = self.integer(name)
        if 0 <= number_ < len(names):
            return names[number_]
        allowed = f"0..{len(names) - 1}"
        raise self.error(f"its {name} is {number_}", allowed, reason="mlir_number", given=str(number_))

    def after(self, word: str) -> str:
        """What stands behind a word, ``to`` or ``step``.

        Raises:
            InputFileError: the word is not there, or nothing behind it.
        """
        words = self.operation.words
        if word in words[:-1]:
            return words[words.index(word) + 1]
        raise self.error(f"it has no {word}", f"{word} and a value", reason="mlir_operands")

    def bracket(self, opening: str = "(", nth: int = 0) -> int | None:
        """Place of the n-th bracket of a kind at the top of the operation; None if there is none."""
        tokens = self.operation.tokens
        for first, end in self.operation.spans:
            at = first
            while at < end:
                if tokens.words[at] == opening and at in tokens.close:
                    if nth == 0:
                        return at
                    nth -= 1
                at = tokens.close.get(at, at) + 1
        return None

    def items(self, opening: str = "(", nth: int = 0) -> Parts[TokenSpan]:
        """What stands in a bracket, separated by commas; nothing if there is no such bracket."""
        if (opening, nth) not in self._items:
            at = self.bracket(opening, nth)
            found = Parts(self.operation, [] if at is None else self.split(at), "operand")
            self._items[opening, nth] = found
        return self._items[opening, nth]

    def texts(self, opening: str = "(", nth: int = 0) -> Parts[str]:
        """The items of a bracket as text without blanks."""
        return Parts(self.operation, [self.text(item) for item in self.items(opening, nth)], "operand")

    def split(self, opening: int) -> list[TokenSpan]:
        """What stands in the bracket that opens at a place, separated by commas.

        Raises:
            InputFileError: no bracket opens there.
        """
        tokens, found = self.operation.tokens, list[TokenSpan]()
        if opening not in tokens.close:
            says = f"{tokens.words[opening] or 'the end'} stands where a list should"
            raise self.error(says, "a list in brackets", reason="mlir_list")
        at = first = opening + 1
        end = tokens.close[opening]
        while at < end:
            if tokens.words[at] == ",":
                found.append(TokenSpan(first, at))
                first = at + 1
            at = tokens.close.get(at, at) + 1
        if first < end:
            found.append(TokenSpan(first, end))
        return found

    def text(self, span: TokenSpan) -> str:
        """Tokens without blanks."""
        return self.operation.tokens.join(*span)

    def whole(self, given: str | int) -> int:
        """A number, or the constant that a value is.

        Raises:
            InputFileError: it is neither.
        """
        found = given if isinstance(given, int) else number(given)
        if isinstance(given, str) and isinstance(self._known.get(given), int):
            found = self._known[given]  # type: ignore[assignment]
        if found is None and isinstance(given, str) and given[:1] == "%":
            found = constant(self.operation, given)
        if isinstance(found, int):
            return int(found)
        raise self.error(f"{given} is no constant", "a number, or a value that arith.constant defines")

    def whole_list(self, span: TokenSpan | int) -> list[int]:
        """The numbers of a list in brackets."""
        at = span if isinstance(span, int) else span.first
        tokens = self.operation.tokens
        words = tokens.words[at + 1 : tokens.close.get(at, at)]
        if words and all(map(_PLAIN.fullmatch, words[::2])) and words[1::2] == [","] * (len(words) // 2):
            return list(map(int, words[::2]))
        return [self.whole(self.text(item)) for item in self.split(at)]

    def value(self, span: TokenSpan) -> Any:
        """The attribute that a span is."""
        return value_at(self.operation.tokens, span.first + 2 if self.named(span) else span.first)[0]

    def named(self, span: TokenSpan) -> bool:
        """Whether a span is ``name = value``."""
        return self.operation.tokens.words[span.first + 1] == "="

    def initial(self) -> Any:
        """The value behind ``=`` at the top of the operation, None if there is none."""
        tokens = self.operation.tokens
        for first, end in self.operation.spans:
            at = first
            while at < end:
                if tokens.words[at] == "=":
                    return value_at(tokens, at + 1)[0]
                at = tokens.close.get(at, at) + 1
        return None

    def keyword(self, name: str) -> int | None:
        """Place behind ``name =`` or ``name`` in the first parenthesis; None if it is not there."""
        opening, tokens = self.bracket(), self.operation.tokens
        if opening is None:
            return None
        at = opening + 1
        while at < tokens.close[opening]:
            if tokens.words[at] == name:
                return at + (2 if tokens.words[at + 1] == "=" else 1)
            at = tokens.close.get(at, at) + 1
        return None

    def bundle(self, given: str | int) -> str:
        """Name of a bundle of ports, from its name or number."""
        if isinstance(given, int) and 0 <= given < len(BUNDLES):
            return BUNDLES[given]
        if not isinstance(given, str):
            says = f"{shown(given)} is no bundle of ports"
            raise self.error(says, ", ".join(BUNDLES), reason="mlir_bundle", given=shown(given))
        name = given.strip('"')
        return _BUNDLES.get(name.lower(), name)

    def direction(self, given: str | int) -> Direction:
        """Direction of a channel, from its name or number.

        Raises:
            InputFileError: no direction.
        """
        if isinstance(given, int) and 0 <= given < len(DIRECTIONS):
            return DIRECTIONS[given]
        for direction in DIRECTIONS:
            if isinstance(given, str) and given.strip('"') == direction:
                return direction
        raise self.error(f"{shown(given)} is no direction", " or ".join(DIRECTIONS))

    def last_type(self) -> Shaped | None:
        """The last type at the top of the operation that is shaped."""
        tokens, found = self.operation.tokens, None
        for first, end in self.operation.spans:
            at = first
            while at < end:
                if tokens.words[at] in (":", "->", "to"):
                    begin = at + 1 + (tokens.words[at + 1] == "(")
                    kind_end = tokens.close.get(begin + 1, begin) + 1
                    found = shaped(tokens.join(begin, min(kind_end, end))) or found
                at = tokens.close.get(at, at) + 1
        return found

    def error(
        self, says: str, allowed: str, *, reason: str = "mlir_operation", given: str = "", step: str = ""
    ) -> InputFileError:
        """The error of the operation; what is ``given`` is its name, or what it names."""
        return operation_error(self.operation, says, allowed, reason=reason, given=given, step=step)


def shown(given: object) -> str:
    """A value as messages have it: text in quotes, and not all of a long one."""
    text = repr(str(given) if isinstance(given, str) else given)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


def targets_of(operation: Operation) -> list[tuple[str, list[str]]]:
    """Where a branch goes, with the values that it hands over.

    Raises:
        InputFileError: in generic form, its segments are not those of its operands.
    """
    tokens, found = operation.tokens, list[tuple[str, list[str]]]()
    for first, end in operation.spans:
        for at in range(first, end):
            if tokens.words[at][:1] == "^":
                values = []
                if tokens.words[at + 1] == "(":
                    inside = tokens.words[at + 2 : tokens.close[at + 1]]
                    values = [word for word in inside if word[:1] == "%"]
                found.append((tokens.words[at], values))
    form = OperationForm(operation)
    if not form.generic or not found:
        return found
    labels = [label for label, _ in found]
    return list(zip(labels, _segments(form, len(labels)), strict=True))


def _segments(form: OperationForm, many: int) -> list[list[str]]:
    """The operands for each block of a branch in generic form."""
    before = form.operation.name not in ("cf.br", "br")  # the condition, or the flag
    sizes = form.integers("operandSegmentSizes") if before else [len(form.values)]
    if form.operation.name == "cf.switch":
        sizes = [*sizes[:2], *form.integers("case_operand_segments")]
    ends = [*accumulate(sizes, initial=0)]
    if min(sizes, default=0) < 0 or ends[-1] != len(form.values) or len(sizes) != before + many:
        says = f"its operands are {len(form.values)}, the segments for its {many} blocks {shown(sizes)}"
        raise form.error(says, "a segment for each block", reason="mlir_operands")
    return [form.values[first:end] for first, end in pairwise(ends[before:])]


def constant(operation: Operation, value: str, casts: int = _MOST_CASTS) -> int | float | None:
    """The number that a value is, if ``arith.constant`` or a few casts of it define it; else None."""
    region = operation.parent.region if operation.parent else None
    for own in operation.regions[:1]:
        region = own if region is None else region
    found = region.find(value) if region else None
    if not isinstance(found, Operation):
        return None
    if found.name == "arith.constant":
        given = attributes(found).get("value")
        if given is None and found.spans:
            given, _ = value_at(found.tokens, found.spans[0].first)
        return given if isinstance(given, int | float) else None
    if found.name in ("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci"):
        inner = [word for word in found.words if word[:1] == "%"]
        return constant(found, inner[0], casts - 1) if inner and casts else None
    return None


def levels(given: Sequence[Any]) -> list[Level]:
    """Levels of a pattern from ``[<size = 4, stride = 2>, ..]``."""
    return [Level(*_pair(item, "size", "stride")) for item in _flat(given)]


def paddings(given: Sequence[Any]) -> list[Padding]:
    """Paddings of a pattern from ``[<const_pad_before = 1, const_pad_after = 2>, ..]``."""
    return [Padding(*_pair(item, "const_pad_before", "const_pad_after")) for item in _flat(given)]


def list_at(operation: Operation, at: int) -> list[Any]:
    """The values of a list in brackets."""
    return listed(operation.tokens, at)


def packet_of(given: object) -> tuple[int, int] | None:
    """Type and id of ``#aie.packet_info<pkt_type = 0, pkt_id = 1>``, None if it is something else."""
    if isinstance(given, Compound) and "pkt_id" in given.named:
        return int(given.named.get("pkt_type", 0)), int(given.named["pkt_id"])
    return None


def _flat(given: Sequence[Any]) -> Iterator[Compound]:
    """The pairs in a list, through ``#aie<bd_dim_layout_array[..]>`` around them."""
    for item in given:
        if isinstance(item, Compound) and (item.named or _numbers(item)):
            yield item
        elif isinstance(item, Compound):
            yield from _flat(item.listed)
        elif isinstance(item, list):
            yield from _flat(item)


def _numbers(item: Compound) -> bool:
    return bool(item.listed) and all(isinstance(value, int) for value in item.listed)


def _pair(item: Compound, first: str, second: str) -> tuple[int, int]:
    if item.named:
        if not item.named.keys() <= {first, second}:
            raise ValueError(f"{', '.join(item.named)} instead of {first} and {second}")
        return int(item.named.get(first, 0)), int(item.named.get(second, 0))
    one, two = item.listed
    return int(one), int(two)
