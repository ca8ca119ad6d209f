"""Where the elements of a view lie: axes made of loops over a flat buffer, and dimensions with zeros around.

A loop that never leaves the data runs along the flat buffer. A padded axis gets a dimension of its own:
coordinates outside it are zeros. Once all its loops stay inside again, the dimension dissolves.

It also has loops of one array axis: an axis is a mixed-radix number whose digits are loops, outermost first.

That makes every reshape that keeps whole loops exact, also where NumPy would copy: the stream only needs an
order, not one stride per axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from memtile.access.request import WORD_BITS, DimensionExtent, LoopAxis, Request, padding_alone

Loops = tuple[LoopAxis, ...]
Move = tuple[int, int]
"""A dimension and the coordinates by which the first access moves along it."""


def size_of(loops: Loops) -> int:
    """Elements of the axis."""
    return prod(loop.wrap for loop in loops)


def merged(loops: Iterable[LoopAxis]) -> Loops:
    """The fewest loops with the same order: neighbours that continue each other become one."""
    out: list[LoopAxis] = []
    for loop in loops:
        outer = out[-1] if out else None
        if loop.wrap == 1:
            continue
        if outer and outer.dimension == loop.dimension and outer.stride == loop.wrap * loop.stride:
            out[-1] = LoopAxis(loop.dimension, outer.wrap * loop.wrap, loop.stride)
        else:
            out.append(loop)
    return tuple(out)


def cut_inner(loops: Loops, size: int) -> tuple[Loops, Loops] | None:
    """``loops`` as (outer, inner) with ``size`` elements in the inner part; None when that cuts a turn."""
    outer, inner = list(loops), list[LoopAxis]()
    while size > 1:
        if not outer:
            return None
        dimension, wrap, stride = outer.pop()
        whole = min(wrap, size)
        if wrap % whole or size % whole:
            return None
        inner.insert(0, LoopAxis(dimension, whole, stride))
        size //= whole
        if wrap > whole:
            outer.append(LoopAxis(dimension, wrap // whole, stride * whole))
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
        return [(dimension, first * stride)], (LoopAxis(dimension, count, step * stride),)
    *rest, inner = loops
    outer = tuple(rest)
    turn, place = divmod(first, inner.wrap)
    start = [(inner.dimension, place * inner.stride)]
    if turn == (first + (count - 1) * step) // inner.wrap:
        fixed = element(outer, turn)
        return [*fixed, *start], (LoopAxis(inner.dimension, count, step * inner.stride),)
    if step % inner.wrap == 0:
        taken = take(outer, turn, step // inner.wrap, count)
        return taken and ([*taken[0], *start], taken[1])
    return _take_every_turn(outer, inner, first, step, count)


def _take_every_turn(
    outer: Loops, inner: LoopAxis, first: int, step: int, count: int
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
    samples = LoopAxis(inner.dimension, each, step * inner.stride)
    return [*moves, (inner.dimension, place * inner.stride)], merged((*loops, samples))


FLAT = -1  # the dimension of loops that never leave the data; their strides are elements


def broken_step(request: Request) -> int | None:
    """A step in elements that takes words apart: innermost not 1, or down by a part of a word."""
    group = max(WORD_BITS // request.element_bits, 1)
    if group == 1:
        return None
    steps = [axis.stride * request.extents[axis.dimension].pitch for axis in request.axes]
    innermost, outer = steps[-1:], steps[:-1]
    broken = [step for step in innermost if step != 1] + [step for step in outer if step < 0 and step % group]
    return broken[0] if broken and not padding_alone(request) else None


@dataclass(frozen=True, slots=True)
class LoopLayout:
    """Loops and zeros.

    Attributes:
        base: element index where all loops start, at coordinate 0 of the padded dimensions.
        axes: the loops of each array axis, outermost first.
        extents: the padded dimensions; a loop names one by its position.
    """

    base: int
    axes: tuple[Loops, ...]
    extents: tuple[DimensionExtent, ...] = ()

    def moved(self, axes: Sequence[Loops], moves: Sequence[Move]) -> LoopLayout:
        """Other loops, whose first access is ``moves`` away."""
        base = self.base + sum(way for dimension, way in moves if dimension == FLAT)
        starts = [extent.start for extent in self.extents]
        for dimension, way in moves:
            if dimension != FLAT:
                starts[dimension] += way
        extents = tuple(e._replace(start=start) for e, start in zip(self.extents, starts, strict=True))
        return LoopLayout(base, tuple(axes), extents)._settled()

    def padded(self, k: int, before: int, after: int) -> LoopLayout | None:
        """Zeros around axis ``k``, one loop upwards; None when its dimension has zeros and other loops."""
        ((dimension, wrap, stride),) = self.axes[k] or ((FLAT, 1, 0),)
        if dimension == FLAT:
            place, base, extent = len(self.extents), self.base, DimensionExtent(stride, -before, wrap)
        else:
            if len(self._loops_along(dimension)) > 1:
                return None
            place, old = dimension, self.extents[dimension]
            first = min(max(-(old.start // stride), 0), wrap)  # turns in front of the data
            stop = min(max(-(-(old.size - old.start) // stride), first), wrap)
            base = self.base + (old.start + first * stride) * old.pitch
            extent = DimensionExtent(stride * old.pitch, -before - first, stop - first)
        axes = [*self.axes]
        axes[k] = (LoopAxis(place, before + wrap + after, 1),)
        extents = (*self.extents[:place], extent, *self.extents[place + 1 :])
        return LoopLayout(base, tuple(axes), extents)

    def request(self, bits: int, capacity: int) -> Request | None:
        """The transfer of all axes in order, steps down as negative pitches.

        None when a padded dimension is walked both ways.
        """
        layout = self._upwards()
        if layout is None:
            return None
        extents = (DimensionExtent(1, layout.base, capacity), *layout.extents)
        axes = tuple(loop._replace(dimension=loop.dimension + 1) for loops in layout.axes for loop in loops)
        return Request(bits, extents, axes, capacity)

    def _upwards(self) -> LoopLayout | None:
        """Steps down moved from loops to pitches; None when a padded dimension is walked both ways."""
        layout = self
        for d in range(len(self.extents)):
            strides = [loop.stride for loop in self._loops_along(d)]
            if min(strides, default=0) < 0 < max(strides, default=0):
                return None
            if min(strides, default=0) < 0:
                layout = layout._mirrored(d)
        return layout._flat_upwards()

    def _mirrored(self, d: int) -> LoopLayout:
        pitch, start, size = self.extents[d]
        extent = DimensionExtent(-pitch, size - 1 - start, size)
        axes = tuple(
            tuple(loop._replace(stride=-loop.stride) if loop.dimension == d else loop for loop in loops)
            for loops in self.axes
        )
        return LoopLayout(
            self.base + (size - 1) * pitch, axes, (*self.extents[:d], extent, *self.extents[d + 1 :])
        )

    def _flat_upwards(self) -> LoopLayout:
        extents = list(self.extents)
        axes: list[Loops] = []
        for loops in self.axes:
            turned: list[LoopAxis] = []
            for loop in loops:
                if loop.dimension == FLAT and loop.stride < 0:
                    extents.append(DimensionExtent(loop.stride, 0, loop.wrap))
                    loop = LoopAxis(len(extents) - 1, loop.wrap, 1)
                turned.append(loop)
            axes.append(tuple(turned))
        return LoopLayout(self.base, tuple(axes), tuple(extents))

    def _loops_along(self, d: int) -> list[LoopAxis]:
        return [loop for loops in self.axes for loop in loops if loop.dimension == d]

    def _reach(self, d: int) -> tuple[int, int]:
        """The lowest and the highest coordinate that the loops come to along a dimension."""
        ways, start = [(loop.wrap - 1) * loop.stride for loop in self._loops_along(d)], self.extents[d].start
        return start + sum(way for way in ways if way < 0), start + sum(way for way in ways if way > 0)

    def _settled(self) -> LoopLayout:
        """Dimensions that no loop leaves any more dissolve into the flat buffer."""
        base, extents = self.base, list[DimensionExtent]()
        place = {FLAT: (FLAT, 1)}  # new dimension, and factor of its strides
        for d, extent in enumerate(self.extents):
            low, high = self._reach(d)
            if low >= 0 and high < extent.size:
                base += extent.start * extent.pitch
                place[d] = FLAT, extent.pitch
            else:
                place[d] = len(extents), 1
                extents.append(extent)
        axes = tuple(
            tuple(LoopAxis(place[d][0], wrap, stride * place[d][1]) for d, wrap, stride in loops)
            for loops in self.axes
        )
        return LoopLayout(base, axes, tuple(extents))
