"""Fit a nest into the counters of one descriptor: which loop goes on which dimension, factored where needed.

A loop too long for its wrap field, or with too many zeros for its padding fields, is a product of two loops;
the search tries the ways to cut it. All limits come from the field table of the tile kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtile.access.lowering.nest import Nest
from memtile.access.walk import Loop
from memtile.arch.tiles import TileKind


@dataclass(frozen=True, slots=True)
class Shape:
    """The address part of one descriptor.

    Attributes:
        base: address of the first data word.
        length: stream words, padding included.
        loops: the counters in hardware order, D0 first.
        step: iteration step in words.
        wrap: iteration wrap; execution ``k`` starts ``k mod wrap`` steps further up.
    """

    base: int
    length: int
    loops: tuple[Loop, ...]
    step: int = 1
    wrap: int = 1

    def moved(self, distance: int) -> Shape:
        """This shape, ``distance`` words further up in memory."""
        return replace(self, base=self.base + distance)

    def iterated(self, step: int, wrap: int) -> Shape:
        """This shape with an iteration offset."""
        return replace(self, step=step, wrap=wrap)


class Fields:
    """The address fields of a tile kind as limits per dimension."""

    def __init__(self, kind: TileKind) -> None:
        dims = range(kind.dimensions)
        self.dimensions = kind.dimensions
        self.length: int = kind.limits("Buffer_Length")[1]
        self.step = [kind.limits(f"D{d}_Stepsize")[1] for d in dims]
        self.wrap = [kind.limits(f"D{d}_Wrap")[1] for d in dims]
        self.before = [kind.limits(f"D{d}_Zero_Before")[1] for d in dims]
        self.after = [kind.limits(f"D{d}_Zero_After")[1] for d in dims]
        self.iteration_step: int = kind.limits("Iteration_Stepsize")[1]
        self.iteration_wrap: int = kind.limits("Iteration_Wrap")[1]

    def holds(self, d: int, loop: Loop, *, top: bool) -> bool:
        """Whether dimension ``d`` can run ``loop``; the ``top`` loop may be ended by the length instead."""
        wraps = loop.wrap <= self.wrap[d] or (top and not loop.after)
        steps = 1 <= loop.step <= self.step[d] or loop.wrap == 1
        return wraps and steps and loop.before <= self.before[d] and loop.after <= self.after[d]


def fit(nest: Nest, fields: Fields) -> Shape | None:
    """``nest`` as one descriptor, or None when no choice of factors fits."""
    if nest.size > fields.length:
        return None
    loops = _place(0, nest.loops, fields)
    return None if loops is None else Shape(nest.base, nest.size, loops)


def zeros(size: int, fields: Fields) -> Shape | None:
    """``size`` pad words as one descriptor that ends before its first data word."""
    if size > fields.length:
        return None
    row = min(size, fields.wrap[0])
    for loops in (
        (Loop(size, 1, 0, 1),),
        (Loop(0, row, 0, 1), Loop(-(-size // row), 1, 0, row)),
        (Loop(0, row, 0, 1), Loop(0, _rows(size, row, fields), 0, row), Loop(fields.before[-2], 1, 0, 1)),
    ):
        if all(fields.holds(d, loop, top=loop is loops[-1]) for d, loop in enumerate(loops)):
            return Shape(0, size, loops)
    return None


def _rows(size: int, row: int, fields: Fields) -> int:
    return -(-size // (row * max(fields.before[-2], 1)))


def _place(d: int, loops: Sequence[Loop], fields: Fields) -> tuple[Loop, ...] | None:
    """Put ``loops`` on dimensions ``d`` and up."""
    if not loops:
        return ()
    if len(loops) > fields.dimensions - d:
        return None
    head, *rest = loops
    if fields.holds(d, head, top=not rest):
        placed = _place(d + 1, rest, fields)
        if placed is not None:
            return (head, *placed)
    if len(loops) == fields.dimensions - d:
        return None
    for inner, outer in _splits(d, head, fields, top=not rest):
        placed = _place(d + 1, [outer, *rest], fields)
        if placed is not None:
            return (inner, *placed)
    return None


def _is_in_turns(loop: Loop, factor: int, *, top: bool) -> bool:
    """Whether turns of ``factor`` make up a loop and its padding; the length may end the last one."""
    words = (top and not loop.after) or loop.wrap % factor == 0
    return words and loop.before % factor == 0 and (top or loop.after % factor == 0)


def _splits(d: int, loop: Loop, fields: Fields, *, top: bool) -> Iterator[tuple[Loop, Loop]]:
    """Ways to write ``loop`` as an inner loop that fits dimension ``d`` and an outer one."""
    if not 1 <= loop.step <= fields.step[d]:
        return
    for factor in range(min(fields.wrap[d], loop.wrap), 1, -1):
        if not _is_in_turns(loop, factor, top=top):
            continue
        wrap, after = -(-loop.wrap // factor), -(-loop.after // factor)
        yield Loop(0, factor, 0, loop.step), Loop(loop.before // factor, wrap, after, loop.step * factor)
    if not loop.plain and loop.wrap <= fields.wrap[d]:
        yield from _surplus(d, loop, fields, top=top)


def _surplus(d: int, loop: Loop, fields: Fields, *, top: bool) -> Iterator[tuple[Loop, Loop]]:
    """Zeros that exceed the field: some around the row, the rest as whole zero rows of the next dimension."""
    if d + 1 >= fields.dimensions:
        return
    for rows in range(fields.before[d + 1] + 1):
        for before in range(min(fields.before[d], loop.before) + 1):
            after = _row_after(loop, rows, before, fields.after[d])
            if after is None:
                continue
            inner = Loop(before, loop.wrap, after, loop.step)
            behind = loop.after - after
            if behind <= 0 and (top or behind == 0):
                yield inner, Loop(rows, 1, 0, 1)
            elif top or behind % inner.units == 0:
                yield inner, Loop(rows, 1, -(-behind // inner.units), 1)


def _row_after(loop: Loop, rows: int, before: int, most: int) -> int | None:
    """Zeros after the row that make ``rows`` zero rows and ``before`` zeros the wanted zeros in front."""
    if rows == 0:
        return min(loop.after, most) if before == loop.before else None
    units, rest = divmod(loop.before - before, rows)
    after = units - before - loop.wrap
    return after if rest == 0 and 0 <= after <= most else None
