"""Clip a request at the boundary of its data: boxes of accesses with the same padding, in stream order.

A loop that alone drives its dimension becomes a box with padding. A loop over tiles that overlap is cut into
runs of tiles with the same padding (the padding classes); runs wholly outside become padding of their
neighbour, so that an image border costs no descriptor of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from memtile.access.layout import merged
from memtile.access.lowering.nest import Item, Nest, Repeat, Zeros, joined, total_size
from memtile.access.request import LoopAxis, Request
from memtile.access.walk import Loop


class Stretch(NamedTuple):
    """Turns of a loop: ``before`` outside the data, ``turns`` alike from turn ``first``, then ``after``."""

    before: int
    first: int
    turns: int
    after: int


def clip(request: Request) -> tuple[Item, ...]:
    """The boxes of ``request``, in elements."""
    starts = [extent.start for extent in request.extents]
    return _clip(request, merged(request.axes), starts)


def _clip(request: Request, axes: Sequence[LoopAxis], starts: list[int]) -> tuple[Item, ...]:
    if not axes:
        return (_single(request, starts),)
    axis, *inner = axes
    d = axis.dimension
    items: list[Item] = []
    span = sum((a.wrap - 1) * a.stride for a in inner if a.dimension == d)
    for run in _runs(starts[d], axis, span, request.extents[d].size):
        moved = starts.copy()
        moved[d] += run.first * axis.stride
        body = _clip(request, inner, moved)
        step = axis.stride * request.extents[d].pitch
        items += _wrapped(body, Loop(run.before, run.turns, run.after, step))
    return tuple(joined(items))


def _single(request: Request, starts: Sequence[int]) -> Item:
    places = list(zip(starts, request.extents, strict=True))
    if any(not 0 <= start < extent.size for start, extent in places):
        return Zeros(1)
    return Nest(request.base + sum(start * extent.pitch for start, extent in places))


def _wrapped(body: tuple[Item, ...], loop: Loop) -> list[Item]:
    """``body`` inside ``loop``."""
    size = total_size(body)
    if len(body) == 1 and isinstance(body[0], Nest):
        return [body[0].inside(loop)]
    if len(body) == 1 and isinstance(body[0], Zeros):
        return [Zeros(size * loop.units)]
    turns = list(body) if loop.wrap == 1 else [Repeat(loop.wrap, loop.step, body)]
    ends = (Zeros(loop.before * size), Zeros(loop.after * size))
    return [*([ends[0]] if loop.before else []), *turns, *([ends[1]] if loop.after else [])]


def _runs(start: int, axis: LoopAxis, span: int, size: int) -> list[Stretch]:
    """Runs of turns that see the boundary alike; ``span`` is the reach of the inner loops."""
    count, stride = axis.wrap, axis.stride
    if stride == 0 or (start >= 0 and start + (count - 1) * stride + span < size):
        return [Stretch(0, 0, count, 0)]
    before = min(max(-(-(-start - span) // stride), 0), count)  # turns that end below 0
    stop = min(max(-(-(size - start) // stride), before), count)  # turns from here on start past the end
    if before == stop:
        return [Stretch(0, 0, count, 0)]  # padding alone
    first_whole = min(max(-(start // stride), before), stop)
    last_whole = min(max((size - 1 - span - start) // stride + 1, first_whole), stop)
    if last_whole == first_whole:
        cuts = list(range(before, stop + 1))
    else:
        cuts = [*range(before, first_whole + 1), *range(last_whole, stop + 1)]
    runs = [Stretch(0, a, b - a, 0) for a, b in pairwise(cuts)]
    runs[0] = runs[0]._replace(before=before)
    runs[-1] = runs[-1]._replace(after=count - stop)
    return runs
