"""A text as repairs see it: its operations, the numbers in them, whose they are, and how suspect they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from memtile.explain.findings import Change, Finding
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.repairs.text_edits import TextEdits
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.importers.mlir.types import Shaped, shaped

_QUOTED = re.compile(r"'([^']+)'|[@%]([\w.$]+)")
_CHANNELS = re.compile(r"\((\d+),\s*(\d+)\) (S2MM|MM2S) (\d+)")
_TILES = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_CONSTANT = "arith.constant"
_BRACKETED_TYPES = ("memref", "!aie.objectfifo", "!aie.objectfifosubview")


class DesignText:
    """The operations of a text with what repairs ask of them.

    Args:
        top: the tree of the text.
        findings: of the design.

    Attributes:
        channels: that the findings name: column and row, direction and number.
    """

    def __init__(self, top: Region, findings: Sequence[Finding] = ()) -> None:
        said = " ".join(f"{each.message} {' '.join(map(str, each.sides))}" for each in findings)
        self.channels = dict.fromkeys(
            ((int(column), int(row)), direction, int(channel))
            for column, row, direction, channel in _CHANNELS.findall(said)
        )
        self.operations = [
            each for block in top.blocks for outer in block.operations for each in outer.walk()
        ]
        self.tokens = self.operations[0].tokens
        self.words = self.tokens.words
        self.edits = TextEdits(self.tokens)
        self._made = 0

    def named(self, *names: str) -> list[Operation]:
        """The operations with one of these names."""
        return [each for each in self.operations if each.name in names]

    def inside(self, operation: Operation, *names: str) -> list[Operation]:
        """The operations with one of these names within another."""
        return [each for each in operation.walk() if each.name in names]

    @cached_property
    def uses(self) -> Counter[str]:
        """How often each value stands in the text, where it is defined included."""
        return Counter(word for word in self.words if word[:1] == "%")

    def definition(self, operation: Operation, value: str) -> Operation | None:
        """What defines a value that an operation uses; None of an argument."""
        if operation.parent is None:
            return None
        found = operation.parent.region.find(value)
        return found if isinstance(found, Operation) else None

    def number(self, operation: Operation, at: int) -> int | None:
        """The whole number that a token is, or that the constant is which it names."""
        word = self.words[at]
        if word[:1] == "%":
            found = self.definition(operation, word)
            place = None if found is None or found.name != _CONSTANT else self._literal(found)
            return None if place is None else self._whole(place)
        return self._whole(at)

    def _whole(self, at: int) -> int | None:
        found = number(self.words[at])
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def _literal(self, constant: Operation) -> int | None:
        """Token of the number of a constant."""
        first = next((span.first for span in constant.spans), None)
        return first if first is not None and self._whole(first) is not None else None

    def with_number(self, operation: Operation, at: int, value: int) -> list[Change]:
        """Another number for a token; a constant that others use too gets another one beside it."""
        word = self.words[at]
        if word[:1] != "%":
            return [self.edits.token(at, str(value))]
        found = self.definition(operation, word)
        assert found is not None
        place = self._literal(found)
        assert place is not None
        if self.uses[word] <= 2:
            return [self.edits.token(place, str(value))]
        kind = "".join(self.words[place + 1 : found.spans[0].end])
        for each in operation.parent.operations if operation.parent else ():
            if each is operation:
                break
            if each.name == _CONSTANT and each.results and self._says(each, value, kind):
                return [self.edits.token(at, each.results[0])]
        self._made += 1
        name = self._free_name(value)
        line = f"{name} = arith.constant {value} {kind.replace(':', ': ')}"
        return [self.edits.line_before(operation, line), self.edits.token(at, name)]

    def _says(self, constant: Operation, value: int, kind: str) -> bool:
        place = self._literal(constant)
        if place is None or self._whole(place) != value:
            return False
        return "".join(self.words[place + 1 : constant.spans[0].end]) == kind

    def _free_name(self, value: int) -> str:
        name = base = f"%number_{value}".replace("-", "minus_")
        n = 1
        while name in self.uses:
            name, n = f"{base}_{n}", n + 1
        return name

    def free_value(self, base: str) -> str:
        """A name for a value that the text does not have yet."""
        name, n = f"%{base}", 1
        while name in self.uses:
            name, n = f"%{base}_{n}", n + 1
        return name

    def numbers(self, operation: Operation) -> Iterator[tuple[str, int, int]]:
        """Whole numbers of an operation, those in types left out: role, token and value of each.

        The role is what stands before the number, with its place: two operations alike have the same.
        """
        for span in (*operation.spans, *operation.dicts):
            at, depth, count = span.first, "", 0
            while at < span.end:
                word = self.words[at]
                if word in _BRACKETED_TYPES and at + 1 in self.tokens.close:
                    at = self.tokens.close[at + 1] + 1
                    continue
                if word in "([<{" and word:
                    depth, count = depth + word, 0
                elif word == ",":
                    count += 1
                elif (value := self.number(operation, at)) is not None and self.words[at - 1] != "^":
                    before = self.words[at - 2] if self.words[at - 1] == "=" else ""
                    yield f"{depth}{count}{before}", at, value
                at += 1

    def attribute(self, operation: Operation, name: str) -> int | None:
        """Token of the value of an attribute; None if the operation does not have it."""
        for first, end in (*operation.dicts, *operation.spans):
            for at in range(first, end - 1):
                if self.words[at] == name and self.words[at + 1] == "=":
                    return at + 2
        return None

    def with_attribute(self, operation: Operation, text: str) -> Change | None:
        """An attribute more for an operation; None in the generic form without any."""
        if operation.dicts:
            first, end = operation.dicts[0]
            return self.edits.behind_token(first - 1, f"{text}{', ' if end > first else ''}")
        if self.words[operation.at][:1] == '"' or not operation.spans:
            return None
        first, end = operation.spans[0]
        at = first
        while at < end and self.words[at] not in ("(", ":"):
            at += 1
        if at < end and self.words[at] == "(":
            at = self.tokens.close[at]
            return self.edits.behind_token(at, f" {{{text}}}")
        return None

    def symbol(self, operation: Operation) -> str:
        """The first symbol in an operation, without its sign; empty if it has none."""
        return next((each[1:] for each in self._all_words(operation) if each[:1] == "@"), "")

    def symbol_token(self, operation: Operation, key: str = "") -> int | None:
        """Token of the first symbol of an operation, or of the one that an attribute has."""
        if key:
            at = self.attribute(operation, key)
            return at if at is not None and self.words[at][:1] == "@" else None
        for first, end in (*operation.spans, *operation.dicts):
            for at in range(first, end):
                if self.words[at][:1] == "@":
                    return at
        return None

    def _all_words(self, operation: Operation) -> list[str]:
        spans = (*operation.spans, *operation.dicts)
        return [word for first, end in spans for word in self.words[first:end]]

    def names(self, operation: Operation) -> set[str]:
        """Names by which messages may call what an operation defines or uses."""
        found = set[str]()
        for word in (*operation.results, *self._all_words(operation)):
            if word[:1] == "@":
                found.add(word[1:].strip('"'))
            elif word[:1] == "%":
                found.add(word[1:])
                made = self.definition(operation, word) if word not in operation.results else operation
                if made is not None and (at := self.attribute(made, "sym_name")) is not None:
                    found.add(self.words[at].strip('"'))
        return found

    @cached_property
    def tiles(self) -> dict[str, tuple[int, int]]:
        """Column and row of each tile, by the name of its value."""
        found: dict[str, tuple[int, int]] = {}
        for each in self.named("aie.tile", "aie.logical_tile"):
            numbers = [value for _, _, value in self.numbers(each)]
            if each.results and len(numbers) >= 2:
                found[each.results[0]] = numbers[0], numbers[1]
        return found

    def tile(self, operation: Operation) -> tuple[int, int] | None:
        """Column and row of the tile that an operation is of: its own, or that of what it is in."""
        at: Operation | None = operation
        while at is not None:
            for word in self._all_words(at):
                if word in self.tiles:
                    return self.tiles[word]
            at = at.parent.region.operation if at.parent else None
        return None

    def elements(self, operation: Operation) -> int | None:
        """Elements of the first memref in an operation; None if it has none of a known size."""
        kind = self._memref(operation)
        return kind.elements if kind is not None and kind.elements > 0 else None

    def shape(self, operation: Operation) -> Sequence[int]:
        """Sizes of the first memref in an operation; none if it has no memref of a known size."""
        kind = self._memref(operation)
        return kind.shape if kind is not None and kind.elements > 0 else ()

    def element_bytes(self, operation: Operation) -> int:
        """Bytes of an element of the first memref in an operation; 0 if it has none of a known type."""
        kind = self._memref(operation)
        return 0 if kind is None or kind.dtype is None else kind.dtype.itemsize

    def _memref(self, operation: Operation) -> Shaped | None:
        """The first memref in an operation."""
        for first, end in operation.spans:
            for at in range(first, end):
                if self.words[at] == "memref" and at + 1 in self.tokens.close:
                    return shaped(self.tokens.join(at, self.tokens.close[at + 1] + 1))
        return None


def owner(operation: Operation, *names: str) -> Operation | None:
    """The nearest operation around another one that has one of these names."""
    at: Operation | None = operation
    while at is not None and at.name not in names:
        at = at.parent.region.operation if at.parent else None
    return at


def siblings(operation: Operation) -> Sequence[Operation]:
    """The operations of the block that one is in."""
    block: OperationBlock | None = operation.parent
    return block.operations if block is not None else ()


class Suspects:
    """How near an operation is to what findings are about.

    Args:
        findings: the root of the matter first.
        design: the text.
    """

    def __init__(self, findings: Sequence[Finding], design: DesignText) -> None:
        self._design = design
        self._lines: dict[int, float] = {}
        self._names: dict[str, float] = {}
        self._tiles: dict[tuple[int, int], float] = {}
        for n, finding in enumerate(findings[:4]):
            weight = 1.0 / (n + 1)
            texts = [finding.message, *(f"{side.who} {side.does} {side.place}" for side in finding.sides)]
            for text in texts:
                self._note(text, weight)

    def _note(self, text: str, weight: float) -> None:
        name = re.escape(self._design.tokens.text.name)
        for found in re.findall(rf"{name}:(\d+)|line (\d+)", text):
            line = int(found[0] or found[1])
            self._lines[line] = max(weight, self._lines.get(line, 0))
        for found in _QUOTED.findall(text):
            key = found[0] or found[1]
            self._names[key] = max(weight, self._names.get(key, 0))
        for column, row in _TILES.findall(text):
            place = int(column), int(row)
            self._tiles[place] = max(weight, self._tiles.get(place, 0))

    def near(self, operation: Operation) -> float:
        """0 = nothing says that an operation is at fault, up to 1 = everything does."""
        design = self._design
        line = self._lines.get(operation.line, 0.0)
        name = max((self._names.get(each, 0.0) for each in design.names(operation)), default=0.0)
        place = design.tile(operation)
        tile = self._tiles.get(place, 0.0) if place is not None else 0.0
        return min(1.0, 0.6 * line + 0.5 * name + 0.3 * tile)
