"""The access order of a request laid out on the coordinates of its buffer, as two-dimensional slices.

Dimension 0 runs to the right and dimension 1 downwards, or two others; each coordinate of the rest is a slice
of its own. Where dimension 0 is always moved whole, as the channels of an image are, dimensions 1 and 2 are
shown and each cell stands for all of it. A one-dimensional buffer is folded into rows. Padding has
coordinates too: those outside the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtile.access.request import Request
from memtile.errors import TransferError

HIDDEN = -1  # cell of a stream element whose slice is not shown
MOST_SLICES = 16
_ROW = 32  # elements of a one-dimensional buffer that still fit one row
_PLANE = 2  # dimensions of a slice

Cells = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Slices:
    """Where each stream element lies.

    Attributes:
        corner: coordinates of the first column and the first row.
        width: columns of a slice.
        height: rows of a slice.
        fold: elements of a row of a folded one-dimensional buffer; 0 = not folded.
        names: the slices shown, e.g. ``"dimension 2 = 1"``; one empty name for a single slice.
        left_out: slices that are visited but not shown.
        cells: int64[stream elements]: slice * height * width + row * width + column, -1 = not shown.
        inside: bool[slices, height, width]: whether a cell holds data; the others are zero padding.
        plane: the dimensions to the right and downwards.
        together: elements of dimension 0 that each cell stands for; 0 = one, or it is in the plane.
    """

    corner: tuple[int, int]
    width: int
    height: int
    fold: int
    names: tuple[str, ...]
    left_out: int
    cells: Cells
    inside: NDArray[np.bool_]
    plane: tuple[int, int] = (0, 1)
    together: int = 0

    def first(self) -> Cells:
        """Stream position of the first visit of each cell: int64[slices, height, width], -1 = never."""
        out = np.full(self.inside.size, HIDDEN, np.int64)
        position = np.flatnonzero(self.cells != HIDDEN)[::-1]
        out[self.cells[position]] = position  # NumPy keeps the last of equal indices
        return out.reshape(self.inside.shape)

    def visits(self) -> Cells:
        """How often each cell is moved: int64[slices, height, width]."""
        counts = np.bincount(self.cells[self.cells != HIDDEN], minlength=self.inside.size)
        return counts.reshape(self.inside.shape)


def slices(request: Request, most: int = MOST_SLICES, plane: tuple[int, int] | None = None) -> Slices:
    """Lay out the stream of ``request``, with the first ``most`` slices that it visits.

    Args:
        request: the stream.
        most: slices that are shown.
        plane: dimensions to the right and downwards; None = 1 and 2 where dimension 0 is always moved whole,
            else 0 and 1.

    Raises:
        TransferError: a plane that is not two dimensions of the buffer.
    """
    rank = len(request.extents)
    together = plane is None and _moves_whole(request)
    across, down = _checked(plane, rank) if plane else (1, 2) if together else (0, 1)
    coordinates, sizes = _coordinates(request), [extent.size for extent in request.extents]
    hidden = (coordinates[0] != 0) if together else np.zeros(request.size, np.bool_)
    others = [d for d in range(rank) if d not in (across, down) and not (together and d == 0)]
    if rank >= _PLANE:
        order = [across, down, *others]
        coordinates, sizes = [coordinates[d] for d in order], [sizes[d] for d in order]
    fold = _fold(coordinates, sizes)
    if fold:
        (line,) = coordinates
        coordinates, shown = [line % fold, line // fold], [fold, -(-sizes[0] // fold)]
    elif len(sizes) < _PLANE:
        coordinates, shown = [*coordinates, np.zeros_like(coordinates[0])], [*sizes, 1]
    else:
        shown = sizes
    low = [min(int(c.min()), 0) for c in coordinates[:_PLANE]]
    high = [max(int(c.max()) + 1, size) for c, size in zip(coordinates, shown, strict=False)]
    width, height = high[0] - low[0], high[1] - low[1]
    chosen, which, left_out = _choose(coordinates[_PLANE:], len(coordinates[0]), most)
    which = np.where(hidden, HIDDEN, which)
    place = (coordinates[1] - low[1]) * width + coordinates[0] - low[0]
    return Slices(
        corner=(low[0], low[1]),
        width=width,
        height=height,
        fold=fold,
        names=tuple(_name(others, higher) for higher in chosen.tolist()),
        left_out=left_out,
        cells=np.where(which == HIDDEN, HIDDEN, which * height * width + place),
        inside=_inside((low[0], low[1]), (width, height), fold, sizes if fold else shown, chosen),
        plane=(across, down),
        together=request.extents[0].size if together else 0,
    )


def _moves_whole(request: Request) -> bool:
    """Whether dimension 0 of three or more is moved whole, from place to place along the others."""
    loops = [axis for axis in reversed(request.axes) if axis.wrap > 1]
    if len(request.extents) <= _PLANE or len(loops) < _PLANE:
        return False
    inner, outer, (extent, next_extent) = loops[0], loops[1], request.extents[:_PLANE]
    alone = [axis for axis in loops if axis.dimension == 0] == [inner]
    whole = alone and (inner.stride, inner.wrap, extent.start) == (1, extent.size, 0)
    goes_on = outer == (1, next_extent.size, 1) and next_extent.start == 0  # rows of memory as they are
    return whole and not goes_on


def _checked(plane: tuple[int, int], rank: int) -> tuple[int, int]:
    if len(set(plane)) == _PLANE and all(0 <= d < rank for d in plane):
        return plane
    allowed = (
        f"two different dimensions of 0..{rank - 1}"
        if rank >= _PLANE
        else "none: the buffer has one dimension"
    )
    raise TransferError.of(
        "plane",
        ", ".join(map(str, plane)),
        allowed,
        reason="plane",
        where="picture",
        source="the dimensions of the buffer",
    )


def _coordinates(request: Request) -> list[Cells]:
    """Coordinates of each stream element per dimension: int64[size] each."""
    shape = [axis.wrap for axis in request.axes]
    out = []
    for d, extent in enumerate(request.extents):
        total = np.full(shape, extent.start, np.int64)
        for place, axis in enumerate(request.axes):
            if axis.dimension == d:
                index = np.arange(axis.wrap) * axis.stride
                total += index.reshape([-1 if p == place else 1 for p in range(len(shape))])
        out.append(total.reshape(-1))
    return out


def _fold(coordinates: list[Cells], sizes: list[int]) -> int:
    """Row length of a one-dimensional buffer, so that it comes out about square; 0 = no need to fold."""
    if len(sizes) >= _PLANE:
        return 0
    span = max(int(coordinates[0].max()) + 1, sizes[0]) - min(int(coordinates[0].min()), 0)
    row = _ROW
    while row * row < span:
        row *= 2
    return row if span > _ROW else 0


def _choose(higher: list[Cells], count: int, most: int) -> tuple[Cells, Cells, int]:
    """The slices shown as rows of coordinates, the slice of each element, and how many are left out."""
    if not higher:
        return np.empty((1, 0), np.int64), np.zeros(count, np.int64), 0
    planes, which = np.unique(np.stack(higher[::-1], axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    return planes[:most, ::-1], np.where(which < most, which, HIDDEN), max(len(planes) - most, 0)


def _name(others: list[int], higher: list[int]) -> str:
    return ", ".join(f"dimension {d} = {at}" for d, at in zip(others, higher, strict=True))


def _inside(
    corner: tuple[int, int], shape: tuple[int, int], fold: int, sizes: list[int], chosen: Cells
) -> NDArray[np.bool_]:
    x, y = (np.arange(n) + first for first, n in zip(corner, shape, strict=True))
    if fold:
        line = y[:, None] * fold + x
        return ((line >= 0) & (line < sizes[0]))[None]
    plane = _within(y, sizes[1])[:, None] & _within(x, sizes[0])
    whole = np.all((chosen >= 0) & (chosen < np.array(sizes[_PLANE:], np.int64)), axis=1)
    return np.asarray(whole[:, None, None] & plane)


def _within(values: Cells, size: int) -> NDArray[np.bool_]:
    return (values >= 0) & (values < size)


def rectangles(mask: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Rectangles (column, row, width, height) that tile the true cells of a two-dimensional mask."""
    open_runs: dict[tuple[int, int], int] = {}
    out: list[tuple[int, int, int, int]] = []
    for row in range(len(mask) + 1):
        runs = _runs(mask[row]) if row < len(mask) else set()
        for run in [run for run in open_runs if run not in runs]:
            top = open_runs.pop(run)
            out.append((run[0], top, run[1] - run[0], row - top))
        for run in runs:
            open_runs.setdefault(run, row)
    return sorted(out)


def _runs(line: NDArray[np.bool_]) -> set[tuple[int, int]]:
    """(start, stop) of the true stretches of a line."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
    return set(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
