"""Pictures of access orders and tilings: when each element is moved, by colour, and tiles side by side.

Needs matplotlib (extra ``plots``), which is imported on first use. Names from outside are no formulas there,
and letters that its font lacks no complaint.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.access.slices import HIDDEN, Slices, rectangles
from memtile.errors import MemtileError
from memtile.output_files import output_file
from memtile.plain_text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@contextmanager
def plain_texts() -> Iterator[None]:
    """A context in which figures are made and saved with texts as they are.

    Raises:
        MemtileError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MemtileError(
            'Pictures need matplotlib, which is not installed: pip install "matplotlib". '
            "An animated picture (.html) does not need it."
        ) from None

    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from|constrained_layout not applied")
        yield


COLOURS = "viridis"  # the same order for colour-blind eyes, and in grey
UNTOUCHED, INK, PAPER, AGAIN = "#e6e8eb", "#16202c", "#ffffff", "#e8590c"
_PATH_STEPS = 400  # elements of a slice whose path is still readable
_DPI = 110
_ARROW_STEPS = 150
_NUMBERED = 12  # columns and rows with a number in each cell
_ASIDE = 0.26  # of a cell, right and down: the way leaves the corner to the number
_NUMBER_HEIGHT = 0.3  # of a cell
_POINTS = 72  # per inch
_COLUMNS = 4  # slices side by side
_INCHES = (4.6, 2.5)  # longer side of a single slice, of one of several
_DARK = 0.6  # share of the colours that need light numbers
_SQUARE = 4  # height : width up to which cells are drawn square


@plain_texts()
def access_figure(order: Slices, title: str, subtitle: str = "") -> Figure:
    """Draw ``order``: one panel per slice, colour = position in the stream, hatched = zero padding.

    Raises:
        MemtileError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    count = len(order.names)
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    inches = _INCHES[count > 1]
    scale = inches / min(max(order.width, order.height), _SQUARE * min(order.width, order.height))
    width, height = (min(max(n * scale, 0.5), inches) for n in (order.width, order.height))
    size = (max(columns * (width + 0.4) + 1.8, 7.0), rows * (height + 0.45) + 1.9)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    image = None
    for index, axes in enumerate(grid):
        if index < count:
            image = _panel(axes, order, index)
            _label(axes, order, index, left=index % columns == 0, bottom=index + columns >= count)
        else:
            axes.set_axis_off()
    _caption(figure, order, title, subtitle)
    if image is not None:
        bar = figure.colorbar(image, ax=list(grid), shrink=0.85, pad=0.02)
        bar.set_label("position in the stream (elements)")
        bar.outline.set_visible(False)
    return figure


def save_figure(figure: Figure, path: str) -> None:
    """Write ``figure`` to a .svg or .png file; the same figure gives the same bytes.

    Raises:
        InputFileError: the file cannot be written.
    """
    from matplotlib import rc_context

    metadata = {"Date": None} if path.endswith(".svg") else {"Software": None}
    same = rc_context({"svg.hashsalt": "memtile", "svg.fonttype": "none"})
    with same, plain_texts(), output_file(path) as file:
        form = path.rpartition(".")[2]
        figure.savefig(file, format=form, dpi=_DPI, facecolor=PAPER, metadata=metadata)


def _panel(axes: Axes, order: Slices, index: int) -> Any:
    """One slice; returns the coloured image."""
    first, inside = order.first()[index], order.inside[index]
    x, y = order.corner
    extent = (x - 0.5, x + order.width - 0.5, y + order.height - 0.5, y - 0.5)
    square = max(order.width, order.height) <= _SQUARE * min(order.width, order.height)
    axes.imshow(np.where(inside, 1.0, np.nan), extent=extent, cmap=_flat(UNTOUCHED), interpolation="nearest")
    image = axes.imshow(
        np.ma.masked_equal(first, HIDDEN),
        extent=extent,
        cmap=COLOURS,
        vmin=0,
        vmax=max(len(order.cells) - 1, 1),
        interpolation="nearest",
        aspect="equal" if square else "auto",
    )
    _hatch(axes, order, (first != HIDDEN) & ~inside)
    _outline(axes, order, inside)
    _steps(axes, order, index)
    return image


def _flat(colour: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def _hatch(axes: Axes, order: Slices, padding: Any) -> None:
    from matplotlib.patches import Rectangle

    x, y = order.corner
    for column, row, width, height in rectangles(padding):
        place = (x + column - 0.5, y + row - 0.5)
        axes.add_patch(
            Rectangle(place, width, height, fill=False, hatch="////", edgecolor=PAPER, linewidth=0, alpha=0.9)
        )


def _outline(axes: Axes, order: Slices, inside: Any) -> None:
    """A line around the data, where it is a rectangle."""
    from matplotlib.patches import Rectangle

    x, y = order.corner
    for column, row, width, height in rectangles(inside) if not order.fold else ():
        place = (x + column - 0.5, y + row - 0.5)
        axes.add_patch(Rectangle(place, width, height, fill=False, edgecolor=INK, linewidth=1.4, zorder=3))


def _steps(axes: Axes, order: Slices, index: int) -> None:
    """The path through the cells, numbers in them, and a ring where an element is moved more than once."""
    size = order.width * order.height
    mine = order.cells[order.cells // size == index] - index * size
    aside = _ASIDE if _numbered(order) else 0
    x, y = mine % order.width + order.corner[0] + aside, mine // order.width + order.corner[1] + aside
    if 1 < len(mine) <= _PATH_STEPS:
        _path(axes, x, y, weight=1 if len(order.names) == 1 else 0.6)
    if 1 < len(mine) <= _ARROW_STEPS:
        _arrows(axes, x, y)
    if len(mine) <= _PATH_STEPS:
        _numbers(axes, order, index)
    again = order.visits()[index].reshape(-1) > 1
    cells = np.flatnonzero(again)
    if 0 < len(cells) <= _PATH_STEPS:
        axes.scatter(
            cells % order.width + order.corner[0],
            cells // order.width + order.corner[1],
            s=22,
            facecolors="none",
            edgecolors=AGAIN,
            linewidths=1.3,
            zorder=6,
        )


def _path(axes: Axes, x: Any, y: Any, weight: float) -> None:
    """A line from each element to the next; jumps are thinner than steps to a neighbour."""
    jump = np.abs(np.diff(x)) + np.abs(np.diff(y)) > 1
    for chosen, outer, inner in ((jump, 1.5, 0.6), (~jump, 3.0, 1.3)):
        pieces = [_broken(values, chosen) for values in (x, y)]
        for colour, width in ((PAPER, outer), (INK, inner)):
            axes.plot(*pieces, color=colour, linewidth=width * weight, zorder=4, scalex=False, scaley=False)


def _broken(values: Any, chosen: Any) -> Any:
    """Ends of the chosen steps, with a gap after each, so that one line draws them all."""
    gap = np.full(len(chosen), np.nan)
    ends = [np.where(chosen, end, np.nan) for end in (values[:-1], values[1:])]
    return np.stack([*ends, gap], axis=1).reshape(-1)


def _arrows(axes: Axes, x: Any, y: Any) -> None:
    """A head in the middle of each step."""
    dx, dy = np.diff(x), np.diff(y)
    moved = (dx != 0) | (dy != 0)
    axes.scatter(x[:1], y[:1], s=30, color=PAPER, edgecolors=INK, linewidths=1.2, zorder=6)
    axes.quiver(
        (x[:-1] + dx * 0.5)[moved],
        (y[:-1] + dy * 0.5)[moved],
        (dx * 1e-3)[moved],
        (dy * 1e-3)[moved],
        angles="xy",
        scale_units="xy",
        scale=1,
        units="inches",
        width=0.016,
        color=INK,
        headwidth=5.5,
        headlength=6,
        headaxislength=5.5,
        minlength=0,
        minshaft=0.01,
        zorder=5,
    )


def _numbered(order: Slices) -> bool:
    """Whether the cells of a small slice have numbers."""
    return max(order.width, order.height) <= _NUMBERED


def _numbers(axes: Axes, order: Slices, index: int) -> None:
    """The stream position in the corner of each cell of a small slice."""
    from matplotlib import colormaps

    if not _numbered(order):
        return
    inches = _INCHES[len(order.names) > 1] / max(order.width, order.height)
    size = min(6.5, _NUMBER_HEIGHT * inches * _POINTS)
    first = order.first()[index]
    for row, column in zip(*np.nonzero(first != HIDDEN), strict=True):
        position = int(first[row, column])
        share = position / max(len(order.cells) - 1, 1)
        ground = {"facecolor": colormaps[COLOURS](share), "linewidth": 0, "pad": 0.3}
        place = (column + order.corner[0] - 0.44, row + order.corner[1] - 0.42)
        ink = PAPER if share < _DARK else INK
        text = axes.text(
            *place, str(position), fontsize=size, color=ink, ha="left", va="top", zorder=5.5, bbox=ground
        )
        text.set_in_layout(False)  # it is within the axes: the size of the picture need not be found from it


def _label(axes: Axes, order: Slices, index: int, *, left: bool, bottom: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 4, 8, 10], integer=True))
    axes.tick_params(length=0, labelsize=8, colors=INK)
    if bottom:
        axes.set_xlabel(f"dimension {order.plane[0]} (elements)", fontsize=9)
    if order.height == 1:
        axes.set_yticks([])
    elif left:
        rows = f"rows of {order.fold} elements" if order.fold else f"dimension {order.plane[1]} (elements)"
        axes.set_ylabel(rows, fontsize=9)
    axes.set_title(order.names[index], fontsize=9, loc="left")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _caption(figure: Figure, order: Slices, title: str, subtitle: str) -> None:
    """Title, and a legend of what is in the picture."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    left_out = f"\neach cell is all {order.together} elements of dimension 0" if order.together else ""
    left_out += f"\n{order.left_out} more slices are not shown" if order.left_out else ""
    figure.suptitle(
        f"{printable(title)}\n{printable(subtitle)}{left_out}".rstrip(),
        x=0.01,
        ha="left",
        fontsize=11,
        color=INK,
    )
    visited = order.visits() > 0
    entries: list[Any] = []
    if (visited & ~order.inside).any():
        entries.append(Patch(facecolor="#7c7b78", edgecolor=PAPER, hatch="////", label="zero padding"))
    if (~visited & order.inside).any():
        entries.append(Patch(facecolor=UNTOUCHED, label="not moved"))
    if not order.fold:
        entries.append(Patch(facecolor="none", edgecolor=INK, linewidth=1.4, label="edge of the data"))
    if (order.visits() > 1).any():
        ring = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": AGAIN, "linestyle": ""}
        entries.append(Line2D([], [], **ring, label="moved more than once; first time shown"))  # type: ignore[arg-type]
    if entries:
        figure.legend(
            handles=entries, loc="outside lower left", ncols=len(entries), frameon=False, fontsize=8
        )


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
    """Draw the matrix on the left and its tiles on the right, zero padding in a separate colour.

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
        _frame(left, [f + p * s for f, p, s in zip(first, place, stride, strict=True)], size, colour)
        apart_at = [p * (n + _GAP) for p, n in zip(place, size, strict=True)]
        _frame(right, apart_at, size, colour, beside=_GAP / 4)
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


def _frame(axes: Axes, place: Sequence[int], size: Sequence[int], colour: str, beside: float = 0.0) -> None:
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
