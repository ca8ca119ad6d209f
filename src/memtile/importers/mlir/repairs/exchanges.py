"""Candidates that exchange two of a kind: arrays of host transfers, dimensions, zeros on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from memtile.explain.findings import Change
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, owner
from memtile.importers.mlir.repairs.host_steps import CONFIGURE, SEQUENCES
from memtile.importers.mlir.repairs.patterns import BD, MEMCPY, part_of
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

_FIFO = "aie.objectfifo"
_MOST = 12  # streams of a host between which arrays are exchanged
_Stream = tuple[str, str]
"""A channel, as a transfer calls it, and an array of the host."""


def exchange_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates that exchange two of a kind."""
    for sequence in design.named(*SEQUENCES):
        yield from _arrays(design, sequence)
    for each in design.named(MEMCPY, BD, _FIFO):
        yield from _dimensions(design, each)
        yield from _paddings(design, each)


def _arrays(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """Two arrays of as many elements, exchanged in all transfers of two channels."""
    streams: dict[_Stream, list[tuple[Operation, int]]] = {}
    for each in design.inside(sequence, MEMCPY, BD):
        at = next((at for span in each.spans for at in range(*span) if design.words[at][:1] == "%"), None)
        if at is not None:
            streams.setdefault((_channel(design, each), design.words[at]), []).append((each, at))
    if len(streams) > _MOST:
        return
    for (one, first), (other, second) in combinations(streams.items(), 2):
        elements = {design.elements(each) for each, _ in (*first, *second)}
        if one[0] == other[0] or one[1] == other[1] or len(elements) > 1:
            continue
        changes = [design.edits.token(at, other[1]) for _, at in first]
        changes += [design.edits.token(at, one[1]) for _, at in second]
        lines = f"{first[0][0].line} and {second[0][0].line}"
        says = f"lines {lines}: exchange {one[1]} and {other[1]}, which {one[0]} and {other[0]} move"
        yield first[0][0], Candidate("array", says, changes, 0.4)


def _channel(design: DesignText, move: Operation) -> str:
    """What a transfer of the host calls its channel."""
    at = design.symbol_token(move, "metadata")
    task = owner(move, *CONFIGURE)
    if at is None and task is None:
        return f"line {move.line}"
    if at is not None or task is None:
        return design.words[at or 0]
    symbol = design.symbol(task)
    return f"@{symbol}" if symbol else " ".join(word for word in task.words[:6] if word not in "(,)")


def _dimensions(design: DesignText, move: Operation) -> Iterator[Found]:
    """Two dimensions of a move in the other order."""
    sizes, strides = ([*_parts(design, move, part)] for part in ("size", "stride"))
    if len(sizes) != len(strides):
        return
    for one, other in combinations(range(len(sizes)), 2):
        if sizes[one][1] <= 1 or sizes[other][1] <= 1:
            continue
        changes = [
            *_exchanged(design, move, sizes[one], sizes[other]),
            *_exchanged(design, move, strides[one], strides[other]),
        ]
        if changes:
            says = f"line {move.line}: exchange dimensions {one} and {other} of its {len(sizes)}"
            yield move, Candidate("stride", says, changes, 0.85)


def _parts(design: DesignText, move: Operation, part: str) -> Iterator[tuple[int, int]]:
    """Tokens and values of sizes or strides that stand in the move itself."""
    for role, at, value in design.numbers(move):
        if part_of(move, role) == part and design.words[at][:1] != "%":
            yield at, value


def _exchanged(
    design: DesignText, move: Operation, one: tuple[int, int], other: tuple[int, int]
) -> list[Change]:
    if one[1] == other[1]:
        return []
    return [*design.with_number(move, one[0], other[1]), *design.with_number(move, other[0], one[1])]


def _paddings(design: DesignText, move: Operation) -> Iterator[Found]:
    """The zeros of a dimension on the other side of its data, or as many on each side."""
    pads = [(at, value) for role, at, value in design.numbers(move) if "const_pad_" in role]
    for before, after in zip(pads[::2], pads[1::2], strict=False):
        both = before[1] + after[1]
        for first in dict.fromkeys((after[1], both // 2)):
            if first != before[1]:
                changes = [
                    *design.with_number(move, before[0], first),
                    *design.with_number(move, after[0], both - first),
                ]
                says = f"line {move.line}: {first} zeros before and {both - first} behind the data"
                yield move, Candidate("padding", says, changes, 0.8)
