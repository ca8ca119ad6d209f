"""Where the elements of a view lie: axes made of loops over a flat buffer, and dimensions with zeros around.

A loop that never leaves the data runs along the flat buffer. A padded axis gets a dimension of its own:
coordinates outside it are zeros. Once all its loops stay inside again, the dimension dissolves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtile.access.request import WORD_BITS, Axis, Extent, Request, padding_alone
from memtile.access.strides import Loops, Move

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
class Layout:
    """Loops and zeros.

    Attributes:
        base: element index where all loops start, at coordinate 0 of the padded dimensions.
        axes: the loops of each array axis, outermost first.
        extents: the padded dimensions; a loop names one by its position.
    """

    base: int
    axes: tuple[Loops, ...]
    extents: tuple[Extent, ...] = ()

    def moved(self, axes: Sequence[Loops], moves: Sequence[Move]) -> Layout:
        """Other loops, whose first access is ``moves`` away."""
        base = self.base + sum(way for dimension, way in moves if dimension == FLAT)
        starts = [extent.start for extent in self.extents]
        for dimension, way in moves:
            if dimension != FLAT:
                starts[dimension] += way
        extents = tuple(e._replace(start=start) for e, start in zip(self.extents, starts, strict=True))
        return Layout(base, tuple(axes), extents)._settled()

    def padded(self, k: int, before: int, after: int) -> Layout | None:
        """Zeros around axis ``k``, one loop upwards; None when its dimension has zeros and other loops."""
        ((dimension, wrap, stride),) = self.axes[k] or ((FLAT, 1, 0),)
        if dimension == FLAT:
            place, base, extent = len(self.extents), self.base, Extent(stride, -before, wrap)
        else:
            if len(self._loops_along(dimension)) > 1:
                return None
            place, old = dimension, self.extents[dimension]
            first = min(max(-(old.start // stride), 0), wrap)  # turns in front of the data
            stop = min(max(-(-(old.size - old.start) // stride), first), wrap)
            base = self.base + (old.start + first * stride) * old.pitch
            extent = Extent(stride * old.pitch, -before - first, stop - first)
        axes = [*self.axes]
        axes[k] = (Axis(place, before + wrap + after, 1),)
        extents = (*self.extents[:place], extent, *self.extents[place + 1 :])
        return Layout(base, tuple(axes), extents)

    def request(self, bits: int, capacity: int) -> Request | None:
        """The transfer of all axes in order, steps down as negative pitches.

        None when a padded dimension is walked both ways.
        """
        layout = self._upwards()
        if layout is None:
            return None
        extents = (Extent(1, layout.base, capacity), *layout.extents)
        axes = tuple(loop._replace(dimension=loop.dimension + 1) for loops in layout.axes for loop in loops)
        return Request(bits, extents, axes, capacity)

    def _upwards(self) -> Layout | None:
        """Steps down moved from loops to pitches; None when a padded dimension is walked both ways."""
        layout = self
        for d in range(len(self.extents)):
            strides = [loop.stride for loop in self._loops_along(d)]
            if min(strides, default=0) < 0 < max(strides, default=0):
                return None
            if min(strides, default=0) < 0:
                layout = layout._mirrored(d)
        return layout._flat_upwards()

    def _mirrored(self, d: int) -> Layout:
        pitch, start, size = self.extents[d]
        extent = Extent(-pitch, size - 1 - start, size)
        axes = tuple(
            tuple(loop._replace(stride=-loop.stride) if loop.dimension == d else loop for loop in loops)
            for loops in self.axes
        )
        return Layout(
            self.base + (size - 1) * pitch, axes, (*self.extents[:d], extent, *self.extents[d + 1 :])
        )

    def _flat_upwards(self) -> Layout:
        extents = list(self.extents)
        axes: list[Loops] = []
        for loops in self.axes:
            turned: list[Axis] = []
            for loop in loops:
                if loop.dimension == FLAT and loop.stride < 0:
                    extents.append(Extent(loop.stride, 0, loop.wrap))
                    loop = Axis(len(extents) - 1, loop.wrap, 1)
                turned.append(loop)
            axes.append(tuple(turned))
        return replace(self, axes=tuple(axes), extents=tuple(extents))

    def _loops_along(self, d: int) -> list[Axis]:
        return [loop for loops in self.axes for loop in loops if loop.dimension == d]

    def _reach(self, d: int) -> tuple[int, int]:
        """The lowest and the highest coordinate that the loops come to along a dimension."""
        ways, start = [(loop.wrap - 1) * loop.stride for loop in self._loops_along(d)], self.extents[d].start
        return start + sum(way for way in ways if way < 0), start + sum(way for way in ways if way > 0)

    def _settled(self) -> Layout:
        """Dimensions that no loop leaves any more dissolve into the flat buffer."""
        base, extents = self.base, list[Extent]()
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
            tuple(Axis(place[d][0], wrap, stride * place[d][1]) for d, wrap, stride in loops)
            for loops in self.axes
        )
        return Layout(base, axes, tuple(extents))
