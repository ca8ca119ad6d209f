"""Picture of a tiling: the whole, and its tiles apart from each other (needs the ``plots`` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[Any]

# Okabe and Ito's colours, told apart by colour-blind readers too.
PADDING = "#E69F00"
MARKS = ("#CC79A7", "#009E73", "#000000", "#D55E00")
_GAP = 6  # pixels between tiles


def tiles_figure(
    whole: Array,
    tiles: Array,
    first: tuple[int, int],
    stride: tuple[int, int],
    marked: Sequence[tuple[int, int]] = (),
) -> Figure:
    """The whole on the left; on the right its tiles, zero padding in a colour of its own.

    Args:
        whole: [rows, columns], nowhere zero.
        tiles: [tiles down, tiles across, rows, columns]; zeros are padding.
        first: row and column of the whole at which the first tile begins; negative = padding before.
        stride: rows and columns from one tile to the next; less than the tile's = overlap.
        marked: (down, across) of up to four tiles to outline on both sides.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    apart = _apart(tiles)
    low, high = int(whole.min()), int(whole.max())
    palest = low - (high - low) // 4  # no datum as white as the page
    colours = {"cmap": "Blues", "vmin": palest, "vmax": high, "interpolation": "nearest"}
    left.imshow(whole, **colours)
    right.imshow(np.ma.masked_equal(apart, 0), **colours)
    right.imshow(np.ma.masked_not_equal(apart, 0), cmap=_one_colour(PADDING), interpolation="nearest")
    down, across, *size = tiles.shape
    for place, colour in zip(marked, MARKS, strict=False):
        _outline(left, [f + p * s for f, p, s in zip(first, place, stride, strict=True)], size, colour)
        apart_at = [p * (n + _GAP) for p, n in zip(place, size, strict=True)]
        _outline(right, apart_at, size, colour, beside=_GAP / 4)
    _title(left, f"in: {_by(whole.shape)} pixels")
    _title(right, f"out: {down * across} overlapping tiles of {_by(size)}, zero padding in orange")
    return figure


def _apart(tiles: Array) -> npt.NDArray[np.float64]:
    """All tiles in one array, with gaps of NaN between them."""
    edges = ((0, 0), (0, 0), (0, _GAP), (0, _GAP))
    spaced = np.pad(tiles.astype(np.float64), edges, constant_values=np.nan)
    down, across, rows, columns = spaced.shape
    joined = spaced.transpose(0, 2, 1, 3).reshape(down * rows, across * columns)
    return joined[:-_GAP, :-_GAP]


def _one_colour(colour: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def _outline(axes: Axes, place: Sequence[int], size: Sequence[int], colour: str, beside: float = 0.0) -> None:
    """A frame around the pixels at ``place``, ``beside`` pixels away from them."""
    from matplotlib.patches import Rectangle

    corner = (place[1] - 0.5 - beside, place[0] - 0.5 - beside)
    rows, columns = (n + 2 * beside for n in size)
    frame = Rectangle(corner, columns, rows, fill=False, edgecolor=colour, linewidth=2, clip_on=False)
    axes.add_patch(frame)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, fontsize=11)
    axes.set_axis_off()


def _by(size: Sequence[int]) -> str:
    return " x ".join(map(str, size))
