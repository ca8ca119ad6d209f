"""The tree of an MLIR text: operations, their regions, blocks and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memtile.importers.mlir.token_packets import Tokens


class TokenSpan(NamedTuple):
    """Tokens from ``first`` up to, not including, ``end``."""

    first: int
    end: int


class Operation:
    """An operation.

    Attributes:
        tokens: of the text that it is in.
        name: with its dialect, ``aie.tile``.
        at: place of its name among the tokens.
        results: names of its results, ``%0``; one of several by its number, ``%0#1``.
        spans: its tokens but for name, attributes in braces, and regions.
        dicts: its attributes in braces, without the braces.
        regions: in order.
        parent: the block that it is in; None at the top.
        read: its attributes in braces, once ``attributes`` has read them.
    """

    __slots__ = ("at", "dicts", "name", "parent", "read", "regions", "results", "spans", "tokens")

    def __init__(
        self, tokens: Tokens, name: str, at: int, results: list[str], parent: OperationBlock | None
    ) -> None:
        self.tokens, self.name, self.at, self.results, self.parent = tokens, name, at, results, parent
        self.spans: list[TokenSpan] = []
        self.dicts: list[TokenSpan] = []
        self.regions: list[Region] = []
        self.read: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Operation({self.name}, line {self.line})"

    @property
    def line(self) -> int:
        """Line of its name, counted from 1."""
        return self.tokens.text.line(self.tokens.offset(self.at))

    @property
    def words(self) -> list[str]:
        """Its tokens but for name, attributes in braces, and regions."""
        return [word for first, end in self.spans for word in self.tokens.words[first:end]]

    def walk(self) -> Iterator[Operation]:
        """The operation and all within it, in the order of the text."""
        left = [self]
        while left:
            operation = left.pop()
            yield operation
            if operation.regions:
                blocks = [block for region in operation.regions for block in region.blocks]
                left += [each for block in reversed(blocks) for each in reversed(block.operations)]


class OperationBlock:
    """A block: operations that follow each other.

    Attributes:
        label: ``^bb1``; empty for the first one of a region, if it has none.
        arguments: names and types of its arguments.
        operations: in order.
        region: that it is in.
    """

    __slots__ = ("arguments", "label", "operations", "region")

    def __init__(self, label: str, arguments: list[tuple[str, str]], region: Region) -> None:
        self.label, self.arguments, self.region = label, arguments, region
        self.operations: list[Operation] = []


class Region:
    """A region of an operation.

    Attributes:
        operation: that it is of.
        blocks: in order; at least one.
        values: what is defined in it, by name: the operation with a result, or the block with an argument.
    """

    __slots__ = ("blocks", "operation", "values")

    def __init__(self, operation: Operation | None) -> None:
        self.operation = operation
        self.blocks: list[OperationBlock] = [OperationBlock("", [], self)]
        self.values: dict[str, Operation | OperationBlock] = {}

    def find(self, name: str) -> Operation | OperationBlock | None:
        """What defines a value here or around the region; None if nothing does."""
        region: Region | None = self
        while region is not None:
            if name in region.values:
                return region.values[name]
            parent = region.operation.parent if region.operation else None
            region = parent.region if parent else None
        return None
