"""How many buffer descriptors AMD's compiler takes for an access; memtile itself needs fewer as a rule.

The rule is counted from what XD100's tiling tutorial publishes (Memory Tiles; Buffer Descriptors):

- a tile and its traversal are loops, dimension 0 innermost; a descriptor has as many of them as the tile's
  DMA has strides, the last without a wrap; loops further out are written out, a descriptor for each turn;
- loops of one dimension that go on where the other ends are one (DEV-ADF-60);
- padding that is the same in each turn of a loop is the descriptor's own. Where it differs (first, middle
  and last tile), each run of equal turns is a descriptor, and every loop around it is written out. A stride
  that steps over its whole dimension goes through memory and pads nothing (DEV-ADF-171);
- a buffer has two phases, so that all of it comes twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import prod

from memtile.adf.description import Loop, Tiling
from memtile.errors import DesignError, Problem

PHASES = 2
MOST_TURNS = 1 << 20
"""Turns along a padded dimension that are looked at one by one."""
SOURCE = "XD100, tiling parameters: BD counting"

Piece = tuple[int, ...]  # wraps of the loops of a descriptor, innermost first


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension: first coordinate of the first tile, size of a tile, end of the data."""

    start: int
    tile: int
    end: int

    def padding(self, at: int) -> tuple[int, int]:
        """Zeros before and after the data of a tile that begins at a coordinate."""
        first = self.start + at
        before = min(max(0, -first), self.tile)
        return before, min(max(0, first + self.tile - self.end), self.tile - before)


def compiler_bds(tilings: Sequence[Tiling], dimensions: Sequence[int], strides: int) -> int:
    """Descriptors that AMD's compiler takes for the access of a port, its two phases together.

    Args:
        tilings: of the port, in order; none = all elements in a row.
        dimensions: of its buffer, for tilings that leave theirs out.
        strides: that a descriptor of the tile's DMA has.
    """
    return PHASES * sum(_of_tiling(each, dimensions, strides) for each in tilings or (Tiling(),))


def _of_tiling(tiling: Tiling, dimensions: Sequence[int], strides: int) -> int:
    if tiling.steps or tiling.length:
        return _written_out(_merged_steps(tiling.steps), strides)
    return sum(_written_out(piece, strides) for piece in _pieces(tiling, dimensions))


def _written_out(wraps: Piece, strides: int) -> int:
    """Descriptors of a nest of loops: all that are further out than those of a descriptor come one by one."""
    return prod(wraps[strides:])


def _merged_steps(steps: Sequence[tuple[int, int]]) -> Piece:
    """Wraps of the older ``buffer_descriptor``'s (stride, wrap) pairs, joined where they go on."""
    found: list[tuple[int, int]] = []
    for stride, wrap in steps:
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0], found[-1][1] * wrap)
        elif wrap > 1:
            found.append((stride, wrap))
    return tuple(wrap for _, wrap in found)


def _pieces(tiling: Tiling, dimensions: Sequence[int]) -> list[Piece]:
    """The nests of loops into which padding cuts the traversal; one where it is the same for all tiles."""
    buffer = tiling.buffer_dimension or tuple(dimensions)
    tile = tiling.tiling_dimension or buffer
    start = (*tiling.offset, *[0] * len(buffer))
    ends = tiling.boundary_dimension or buffer
    axes = [_Axis(*each) for each in zip(start, tile, ends, strict=False)]
    loops = [loop for loop in tiling.tile_traversal if loop.wrap > 1]
    pieces: list[Piece] = [_tile_loops(tile, buffer)]
    for number, loop in enumerate(loops):
        runs = _runs(axes, loops, number)
        if len(runs) == 1 and len(pieces) == 1:
            pieces = [_joined(pieces[0], loops, number, tile, buffer)]
        elif len(pieces) == 1:
            pieces = [(*pieces[0], run) if run > 1 else pieces[0] for run in runs]
        else:
            pieces = pieces * loop.wrap
    return pieces


def _tile_loops(tile: Sequence[int], buffer: Sequence[int]) -> Piece:
    """Loops within a tile: rows that fill the buffer's dimension go on in the next one."""
    wraps: list[int] = []
    fills = False
    for size, whole in zip(tile, buffer, strict=False):
        if fills and wraps:
            wraps[-1] *= size
        elif size > 1:
            wraps.append(size)
        fills = (fills or len(wraps) <= 1) and size == whole
    return tuple(wraps)


def _joined(
    piece: Piece, loops: Sequence[Loop], number: int, tile: Sequence[int], buffer: Sequence[int]
) -> Piece:
    """A nest with one more loop around it; one that goes on where the inner one ends makes that longer."""
    loop = loops[number]
    inside = loops[number - 1] if number else None
    if inside and inside.dimension == loop.dimension and inside.stride * inside.wrap == loop.stride:
        return (*piece[:-1], piece[-1] * loop.wrap)
    top = next((d for d in reversed(range(len(tile))) if tile[d] > 1), 0)
    contiguous = inside is None and loop.dimension == top and loop.stride == tile[top]
    if contiguous and piece and tile[top] > 1 and top < len(buffer):
        return (*piece[:-1], piece[-1] * loop.wrap)
    return (*piece, loop.wrap)


def _runs(axes: Sequence[_Axis], loops: Sequence[Loop], number: int) -> list[int]:
    """Turns of a loop in a row that have the same padding, whatever other loops of its dimension do."""
    loop = loops[number]
    axis = axes[loop.dimension]
    others = [o for n, o in enumerate(loops) if o.dimension == loop.dimension and n != number]
    if any(each.stride >= axis.end for each in (loop, *others) if each.wrap > 1):
        return [loop.wrap]
    reach = loop.stride * (loop.wrap - 1) + sum(o.stride * (o.wrap - 1) for o in others)
    if axis.padding(0) == axis.padding(reach) == (0, 0):
        return [loop.wrap]
    if loop.wrap * prod(o.wrap for o in others) > MOST_TURNS:
        raise DesignError(_too_many(loop))
    rest = [sum(at) for at in product(*([n * o.stride for n in range(o.wrap)] for o in others))]
    turns = [tuple(axis.padding(turn * loop.stride + at) for at in rest) for turn in range(loop.wrap)]
    return [len(list(run)) for _, run in groupby(turns)]


def _too_many(loop: Loop) -> Problem:
    return Problem(
        "wrap",
        f"{loop.wrap} turns",
        f"at most {MOST_TURNS} along a padded dimension",
        f"tile_traversal has more than {MOST_TURNS:,} tiles along dimension {loop.dimension}, some of them "
        "padded",
        "Use larger tiles, or a smaller border.",
        reason="turns",
        where="tiling",
        source="memtile counts descriptors turn by turn there",
    )
