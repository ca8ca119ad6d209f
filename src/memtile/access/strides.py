"""Loops of one array axis: an axis is a mixed-radix number whose digits are loops, outermost first.

That makes every reshape that keeps whole loops exact, also where NumPy would copy: the stream only needs an
order, not one stride per axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from memtile.access.request import Axis

Loops = tuple[Axis, ...]
Move = tuple[int, int]
"""A dimension and the coordinates by which the first access moves along it."""


def size_of(loops: Loops) -> int:
    """Elements of the axis."""
    return prod(loop.wrap for loop in loops)


def merged(loops: Iterable[Axis]) -> Loops:
    """The fewest loops with the same order: neighbours that continue each other become one."""
    out: list[Axis] = []
    for loop in loops:
        outer = out[-1] if out else None
        if loop.wrap == 1:
            continue
        if outer and outer.dimension == loop.dimension and outer.stride == loop.wrap * loop.stride:
            out[-1] = Axis(loop.dimension, outer.wrap * loop.wrap, loop.stride)
        else:
            out.append(loop)
    return tuple(out)


def cut_inner(loops: Loops, size: int) -> tuple[Loops, Loops] | None:
    """``loops`` as (outer, inner) with ``size`` elements in the inner part; None when that cuts a turn."""
    outer, inner = list(loops), list[Axis]()
    while size > 1:
        if not outer:
            return None
        dimension, wrap, stride = outer.pop()
        whole = min(wrap, size)
        if wrap % whole or size % whole:
            return None
        inner.insert(0, Axis(dimension, whole, stride))
        size //= whole
        if wrap > whole:
            outer.append(Axis(dimension, wrap // whole, stride * whole))
    return tuple(outer), tuple(inner)


def element(loops: Loops, index: int) -> list[Move]:
    """The way to element ``index`` of the axis."""
    moves: list[Move] = []
    for dimension, wrap, stride in reversed(loops):
        index, digit = divmod(index, wrap)
        moves.append((dimension, digit * stride))
    return moves


def take(loops: Loops, first: int, step: int, count: int) -> tuple[list[Move], Loops] | None:
    """Elements ``first``, ``first + step``, ...: the way to the first and the loops over all ``count``.

    None when they are not a nest of loops, each along one dimension.
    """
    if count == 1:
        return element(loops, first), ()
    if len(loops) == 1:
        dimension, _, stride = loops[0]
        return [(dimension, first * stride)], (Axis(dimension, count, step * stride),)
    *rest, inner = loops
    outer = tuple(rest)
    turn, place = divmod(first, inner.wrap)
    start = [(inner.dimension, place * inner.stride)]
    if turn == (first + (count - 1) * step) // inner.wrap:
        fixed = element(outer, turn)
        return [*fixed, *start], (Axis(inner.dimension, count, step * inner.stride),)
    if step % inner.wrap == 0:
        taken = take(outer, turn, step // inner.wrap, count)
        return taken and ([*taken[0], *start], taken[1])
    return _take_every_turn(outer, inner, first, step, count)


def _take_every_turn(
    outer: Loops, inner: Axis, first: int, step: int, count: int
) -> tuple[list[Move], Loops] | None:
    """The elements taken from each turn of ``inner``, complete turns only."""
    stride = abs(step)
    turn, place = divmod(first, inner.wrap)
    each = inner.wrap // stride
    from_the_edge = place < stride if step > 0 else place >= inner.wrap - stride
    if inner.wrap % stride or count % each or not from_the_edge:
        return None
    taken = take(outer, turn, 1 if step > 0 else -1, count // each)
    if taken is None:
        return None
    moves, loops = taken
    samples = Axis(inner.dimension, each, step * inner.stride)
    return [*moves, (inner.dimension, place * inner.stride)], merged((*loops, samples))
