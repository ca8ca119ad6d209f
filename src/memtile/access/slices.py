"""The access order of a request laid out on the coordinates of its buffer, as two-dimensional slices.

Dimension 0 runs to the right and dimension 1 downwards; each coordinate of the higher dimensions is a slice
of its own. A one-dimensional buffer is folded into rows. Padding has coordinates too: those outside the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtile.access.request import Request

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
    """

    corner: tuple[int, int]
    width: int
    height: int
    fold: int
    names: tuple[str, ...]
    left_out: int
    cells: Cells
    inside: NDArray[np.bool_]

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


def slices(request: Request, most: int = MOST_SLICES) -> Slices:
    """Lay out the stream of ``request``, with the first ``most`` slices that it visits."""
    coordinates = _coordinates(request)
    sizes = [extent.size for extent in request.extents]
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
    place = (coordinates[1] - low[1]) * width + coordinates[0] - low[0]
    return Slices(
        corner=(low[0], low[1]),
        width=width,
        height=height,
        fold=fold,
        names=tuple(_name(higher) for higher in chosen.tolist()),
        left_out=left_out,
        cells=np.where(which == HIDDEN, HIDDEN, which * height * width + place),
        inside=_inside((low[0], low[1]), (width, height), fold, sizes if fold else shown, chosen),
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


def _name(higher: list[int]) -> str:
    return ", ".join(f"dimension {d} = {at}" for d, at in enumerate(higher, _PLANE))


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
