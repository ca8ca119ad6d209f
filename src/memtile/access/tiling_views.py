"""A tiling as NumPy writes it: the expression, and the view that it gives.

Tiles that lie side by side are axes of a reshape, all others are windows. A view of it has the axes of the
tiling: loops from the outermost to the innermost, then the tile, without dimensions of one element that a
loop walks along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memtile.access.tiling import UG1603, TilingParameters, TraversingParameters, problems
from memtile.access.views import View, pad, sliding_window_view, view
from memtile.errors import TransferError, raise_if

Axis = tuple[int, int]  # dimension, and the loop's number from the innermost; -1 = the tile
Windows = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # sizes, axes, steps


@dataclass(frozen=True, slots=True)
class Steps:
    """What NumPy does to an array ``a`` of shape ``shape`` to walk a tiling, in this order; None = nothing.

    Attributes:
        shape: of ``a``, dimension 0 last.
        cut: what of each axis is data that a tile reaches.
        padded: zeros before and after each axis.
        windows: (sizes, axes, steps of all axes after it) of each ``sliding_window_view``.
        reshaped: sizes of ``reshape``.
        order: of ``transpose``.
        added: of each axis then whether it is a new one, for a loop that reads the same again.
        repeated: shape of ``np.broadcast_to``.
    """

    shape: tuple[int, ...]
    cut: tuple[slice, ...] | None
    padded: tuple[tuple[int, int], ...] | None
    windows: tuple[Windows, ...]
    reshaped: tuple[int, ...] | None
    order: tuple[int, ...] | None
    added: tuple[bool, ...] | None
    repeated: tuple[int, ...] | None

    @property
    def text(self) -> str:
        """The expression over ``a``; ``sliding_window_view`` is that of ``np.lib.stride_tricks``."""
        text = "a"
        if self.cut is not None:
            text += f"[{', '.join(map(_slice, self.cut, self.shape))}]"
        if self.padded is not None:
            text = f"np.pad({text}, {self.padded})"
        for sizes, axes, steps in self.windows:
            text = f"sliding_window_view({text}, {sizes}, {axes})" if sizes else text
            text += f"[{', '.join(f'::{step}' if step > 1 else ':' for step in steps)}]" * (max(steps) > 1)
        text += f".reshape{self.reshaped}" if self.reshaped is not None else ""
        text += f".transpose{self.order}" if self.order is not None else ""
        text += (
            f"[{', '.join('None' if new else ':' for new in self.added)}]" if self.added is not None else ""
        )
        return text if self.repeated is None else f"np.broadcast_to({text}, {self.repeated})"

    def of(self, array: View) -> View:
        """The expression's value for a view of shape ``shape``."""
        array = array if self.cut is None else array[self.cut]
        array = array if self.padded is None else pad(array, self.padded)
        for sizes, axes, steps in self.windows:
            array = sliding_window_view(array, sizes, axes) if sizes else array
            array = array[tuple(slice(None, None, step) for step in steps)]
        array = array if self.reshaped is None else array.reshape(self.reshaped)
        array = array if self.order is None else array.transpose(self.order)
        array = (
            array if self.added is None else array[tuple(None if new else slice(None) for new in self.added)]
        )
        return array if self.repeated is None else array.broadcast_to(self.repeated)


def numpy_steps(tiling: TilingParameters) -> Steps:
    """Return how NumPy writes a tiling.

    Raises:
        TransferError: the tiling contradicts itself, or all of a dimension that it walks is padding.
    """
    raise_if(problems(tiling), TransferError)
    ranges = [_range(tiling, d) for d in reversed(range(tiling.rank))]
    limits = [min(*pair) for pair in zip(tiling.boundary, tiling.buffer_dimension, strict=True)][::-1]
    shape = tiling.buffer_dimension[::-1]
    cut = tuple(slice(max(low, 0), min(high, end)) for (low, high), end in zip(ranges, limits, strict=True))
    if any(each.start >= each.stop for each in cut):
        raise TransferError.of(
            "tile_traversal",
            "zeros alone",
            "at least one element of the buffer",
            "the tiling reads zeros alone, which is no view of the buffer",
            "Use np.zeros.",
            reason="view",
            where="tiling",
            source=UG1603,
        )
    padded = tuple(
        (max(0, -low), max(0, high - end)) for (low, high), end in zip(ranges, limits, strict=True)
    )
    full = all(each == slice(0, size) for each, size in zip(cut, shape, strict=True))
    axes: list[Axis] = [(d, -1) for d in reversed(range(tiling.rank))]
    if all(_side_by_side(tiling, d) for d in range(tiling.rank)):
        windows: tuple[Windows, ...] = ()
        reshaped, axes = _reshaped(tiling)
    else:
        windows, reshaped = tuple(_windows(tiling, axes)), None
    wanted, sizes = _wanted(tiling)
    present = [axis for axis in wanted if axis in axes]
    order = tuple(axes.index(axis) for axis in present)
    new = tuple(axis not in axes for axis in wanted)
    final = tuple(sizes[axis] for axis in wanted)
    repeats = tiling.repetition > 1 or any(loop.stride == 0 for _, loop in _loops(tiling))
    final = (tiling.repetition, *final) if tiling.repetition > 1 else final
    return Steps(
        shape,
        None if full else cut,
        padded if any(map(any, padded)) else None,
        windows,
        reshaped,
        None if order == tuple(range(len(order))) else order,
        None if new == tuple(sorted(new, reverse=True)) else new,
        final if repeats else None,
    )


def tiling_view(tiling: TilingParameters, dtype: npt.DTypeLike = np.int32) -> View:
    """Return the view that walks a buffer as a tiling does.

    Args:
        tiling: the parameters, with the dimensions of the buffer.
        dtype: element type, as for ``view``.

    Raises:
        TransferError: as ``numpy_steps``.
    """
    steps = numpy_steps(tiling)
    return steps.of(view(steps.shape, dtype))


def _slice(item: slice, size: int) -> str:
    return f"{item.start or ''}:{'' if item.stop == size else item.stop}"


def _loops(tiling: TilingParameters) -> Iterator[tuple[Axis, TraversingParameters]]:
    """Loops that turn more than once, innermost first, with their axes."""
    for number, loop in enumerate(tiling.tile_traversal):
        if loop.wrap > 1:
            yield (loop.dimension, number), loop


def _moving(tiling: TilingParameters, d: int) -> list[tuple[Axis, TraversingParameters]]:
    """Loops along a dimension in order of their reach, those with the smallest step first."""
    found = [(axis, loop) for axis, loop in _loops(tiling) if loop.dimension == d and loop.stride]
    return sorted(found, key=lambda each: each[1].stride)


def _reach(loops: Sequence[tuple[Axis, TraversingParameters]], tile: int) -> int:
    """Elements from the first to the last of a tile and the loops around it."""
    return tile + sum((loop.wrap - 1) * loop.stride for _, loop in loops)


def _range(tiling: TilingParameters, d: int) -> tuple[int, int]:
    """First coordinate of a dimension and the one after the last."""
    low = tiling.start[d]
    return low, low + _reach(_moving(tiling, d), tiling.tile[d])


def _side_by_side(tiling: TilingParameters, d: int) -> bool:
    """Whether each loop steps by all that is inside it."""
    inside = tiling.tile[d]
    for _, loop in _moving(tiling, d):
        if loop.stride != inside:
            return False
        inside *= loop.wrap
    return True


def _reshaped(tiling: TilingParameters) -> tuple[tuple[int, ...] | None, list[Axis]]:
    """Sizes and axes of a reshape whose loops lie side by side."""
    axes: list[Axis] = []
    sizes: list[int] = []
    for d in reversed(range(tiling.rank)):
        outer = list(reversed(_moving(tiling, d)))
        axes += [*(axis for axis, _ in outer), *_tile_axis(tiling, d)]
        sizes += [*(loop.wrap for _, loop in outer), *[tiling.tile[d]] * len(_tile_axis(tiling, d))]
    return tuple(sizes) if len(sizes) > tiling.rank else None, axes


def _tile_axis(tiling: TilingParameters, d: int) -> list[Axis]:
    """The axis of a tile along a dimension; none where a tile has one element and loops walk over them."""
    return [] if tiling.tile[d] == 1 and _moving(tiling, d) else [(d, -1)]


def _windows(tiling: TilingParameters, axes: list[Axis]) -> Iterator[Windows]:
    """The windows, outermost loops first, one of each dimension at a time; ``axes`` becomes theirs."""
    left = {d: _moving(tiling, d) for d in range(tiling.rank)}
    while any(left.values()):
        turn = [(d, *left[d].pop()) for d in reversed(range(tiling.rank)) if left[d]]
        sizes = {d: _reach(left[d], tiling.tile[d]) for d, _, _ in turn}
        moved = [d for d, _, _ in turn if left[d] or _tile_axis(tiling, d)]
        places = tuple(axes.index((d, -1)) for d in moved)
        steps = [1] * (len(axes) + len(moved))
        for d, axis, loop in turn:
            place = axes.index((d, -1))
            axes[place], steps[place] = axis, loop.stride
        axes += [(d, -1) for d in moved]
        yield tuple(sizes[d] for d in moved), places, tuple(steps)


def _wanted(tiling: TilingParameters) -> tuple[list[Axis], dict[Axis, int]]:
    """The axes of the result in their order, and their sizes."""
    loops = list(_loops(tiling))[::-1]
    tile = [axis for d in reversed(range(tiling.rank)) for axis in _tile_axis(tiling, d)]
    sizes = {axis: loop.wrap for axis, loop in loops} | {(d, -1): tiling.tile[d] for d in range(tiling.rank)}
    return [*(axis for axis, _ in loops), *tile], sizes
