"""Access orders as pictures: plain SVG for notebooks and pages, and a few lines of text for terminals.

An order is an array of numbers in planes: each cell has the position in the stream, or the element of the
buffer, and a colour from light (first) to dark (last). Cells without a number are zeros that a transfer
inserts, or elements that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor
from memtile.errors import InputFileError, TransferError
from memtile.output_files import write_output
from memtile.plain_text import markup_text

Numbers = npt.NDArray[np.int64]

NOTHING = -1  # a cell without a number
_PLANES, _CELLS = 8, 64  # planes, and rows or columns of one, that are drawn
_WIDTH = 900  # pixels that all columns of cells may take
_LARGEST, _SMALLEST, _READABLE = 34, 3, 18  # pixels of a cell; from the last on it has its number
_GAP, _LINE = 14, 18  # pixels between planes, and of a line of text
_LIGHT, _DARK = (222, 235, 247), (8, 48, 107)  # first and last position
_BLANK = "#f2d9b3"
_FONT = "font-family='sans-serif'"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing; notebooks show it.

    Attributes:
        svg: SVG text.
    """

    svg: str

    def __repr__(self) -> str:
        return f"Drawing({len(self.svg)} characters of SVG)"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the drawing to a file: ``.svg``, or ``.html`` with the SVG in it.

        Raises:
            InputFileError: another suffix, or the file cannot be written.
        """
        file = Path(path)
        texts = {".svg": self.svg, ".html": f"<!doctype html><meta charset='utf-8'>{self.svg}\n"}
        if file.suffix not in texts:
            raise InputFileError(f"{file}: the name of a drawing must end in {' or '.join(texts)}.")
        write_output(file, texts[file.suffix])


def drawing(parts: Sequence[str], width: float, height: float) -> Drawing:
    """A drawing of SVG elements, on white, so that it can be read in dark notebooks too."""
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    ground = "<rect width='100%' height='100%' fill='white'/>"
    return Drawing(f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{ground}{''.join(parts)}</svg>")


def text(x: float, y: float, words: str, size: int = 12, anchor: str = "start", fill: str = "black") -> str:
    """A line of text as an SVG element."""
    at = f"x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' fill='{fill}'"
    return f"<text {at} {_FONT}>{markup_text(words)}</text>"


def order_drawing(numbers: Numbers, title: str, names: Sequence[str] = ("", "")) -> Drawing:
    """An order as planes of cells.

    Args:
        numbers: int64 of one or more dimensions, the last two of which are rows and columns; -1 = nothing.
        title: line above the planes.
        names: what rows and columns are.
    """
    planes = numbers.reshape(-1, *((1, 1, *numbers.shape)[-2:])) if numbers.size else numbers.reshape(0, 1, 1)
    shown = planes[:_PLANES, :_CELLS, :_CELLS]
    count, rows, columns = shown.shape
    size = max(min(_WIDTH // max(columns, 1), _LARGEST), _SMALLEST)
    across = max(_WIDTH // (columns * size + _GAP), 1)
    last = max(int(numbers.max(initial=0)), 1)
    parts, top = [text(_GAP, _LINE, title, 13)], 2 * _LINE
    for n, plane in enumerate(shown):
        x = _GAP + n % across * (columns * size + _GAP)
        y = top + n // across * (rows * size + _LINE + _GAP)
        if count > 1:
            parts.append(text(x, y, f"plane {', '.join(map(str, _place(n, numbers.shape[:-2])))}", 11))
        parts += _cells(plane, x, y + _LINE // 2, size, last)
    lines = -(-count // across)
    end = top + lines * (rows * size + _LINE + _GAP)
    notes = [
        *_left_out(planes.shape, shown.shape),
        *([f"rows: {names[0]}, columns: {names[1]}"] * any(names)),
    ]
    parts += [text(_GAP, end + n * _LINE, note, 11, fill="#555") for n, note in enumerate(notes)]
    width = _GAP + min(count, across) * (columns * size + _GAP)
    return drawing(parts, max(width, 8 * len(title), 320), end + len(notes) * _LINE)


def plane_last(numbers: Numbers, plane: tuple[int, int], where: str) -> Numbers:
    """The array with the axes of a plane behind all others.

    Raises:
        TransferError: no such axes, or the same one twice; of an array of one axis there is no choice.
    """
    ndim = numbers.ndim
    if ndim < len(plane):
        return numbers
    rows, columns = (axis + ndim if axis < 0 else axis for axis in plane)
    if rows == columns or not all(0 <= axis < ndim for axis in (rows, columns)):
        raise TransferError.of(
            "plane",
            str(plane),
            f"two different axes of 0..{ndim - 1}",
            reason="picture",
            where=where,
            source="rows and columns of a picture",
        )
    return np.moveaxis(numbers, (rows, columns), (-2, -1))


def _cells(plane: Numbers, x: float, y: float, size: int, last: int) -> Iterator[str]:
    edge = "stroke='white' stroke-width='0.5'" if size >= _READABLE // 2 else ""
    for row, line in enumerate(plane.tolist()):
        for column, number in enumerate(line):
            at = f"x='{x + column * size:.0f}' y='{y + row * size:.0f}' width='{size}' height='{size}'"
            yield f"<rect {at} fill='{_colour(number, last)}' {edge}/>"
            if size >= _READABLE and number != NOTHING:
                dark = number * 2 > last
                middle = x + (column + 0.5) * size, y + row * size + size * 0.65
                small = min(11, 2 * size // max(len(str(number)), 1))
                yield text(*middle, str(number), small, "middle", "white" if dark else "black")


def _colour(number: int, last: int) -> str:
    if number == NOTHING:
        return _BLANK
    mixed = (round(a + (b - a) * number / last) for a, b in zip(_LIGHT, _DARK, strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _place(n: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(int(i) for i in np.unravel_index(n, shape))


def _left_out(whole: tuple[int, ...], shown: tuple[int, ...]) -> Iterator[str]:
    for name, all_, some in zip(("planes", "rows", "columns"), whole, shown, strict=True):
        if all_ > some:
            yield f"{all_ - some} more {name} are not shown"


COLUMNS, ROWS = 16, 12  # what fits beside the words on a terminal
_MAX_WORDS = 1 << 16  # words looked at: plenty for a picture of ROWS rows

Cells = tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A cut-out of numbers in rows.

    Attributes:
        title: what the numbers are.
        cells: rows of numbers; ``None`` = a pad word, or a word that is not touched.
        row_words: words of a full row.
        block_rows: rows after which a new block begins; 0 = one block.
        rows_left_out: full rows beyond the cut-out.
    """

    title: str
    cells: Cells
    row_words: int
    block_rows: int
    rows_left_out: int

    def _line(self, row: Sequence[object], width: int) -> str:
        more = " ..." if self.row_words > COLUMNS and len(row) == COLUMNS else ""
        return " ".join(("." if cell is None else str(cell)).rjust(width) for cell in row) + more

    def lines(self) -> Iterator[str]:
        """The grid as text; ``.`` for ``None``, ``...`` where columns or rows are left out."""
        width = max((len(str(cell)) for row in self.cells for cell in row if cell is not None), default=1)
        for n, row in enumerate(self.cells):
            if n and self.block_rows and n % self.block_rows == 0:
                yield ""
            yield self._line(row, width)
        if self.rows_left_out:
            yield f"... {self.rows_left_out} more rows"


def stream_grid(descriptor: Descriptor) -> Grid:
    """The stream of the next execution: one row per D0 loop, numbers are words from the first address on."""
    walk = Walk.of(descriptor)
    row, block = _box_rows(walk)
    shown = replace(walk, length=min(walk.length, row * ROWS, _MAX_WORDS))
    offsets = [None if a == PAD else int(a) - walk.base for a in addresses(shown).tolist()]
    rows = [tuple(offsets[at : at + min(row, COLUMNS)]) for at in range(0, len(offsets), row)]
    left_out = -(-walk.length // row) - len(rows)
    return Grid("stream: word offset of each word, . = zero", tuple(rows), row, block, left_out)


def memory_grid(descriptor: Descriptor) -> Grid:
    """The memory from the first address on: numbers are the positions in the stream that touch a word."""
    walk = Walk.of(descriptor)
    pitch = _pitch(walk)
    at = addresses(replace(walk, length=min(walk.length, _MAX_WORDS)))
    position = np.flatnonzero(at != PAD)
    offset = at[position] - walk.base
    rows_used = int(offset.max()) // pitch + 1 if len(offset) else 0
    rows = min(rows_used, ROWS)
    seen = offset < rows * pitch
    first = np.full(rows * pitch, PAD)
    first[offset[seen][::-1]] = position[seen][::-1]  # the first position wins
    cells = tuple(
        tuple(None if p == PAD else int(p) for p in line[:COLUMNS]) for line in first.reshape(rows, pitch)
    )
    title = f"memory: rows of {pitch} words, numbers are stream positions, . = not touched"
    return Grid(title, cells, pitch, 0, rows_used - rows)


def _box_rows(walk: Walk) -> tuple[int, int]:
    """Stream words of a row (one D0 loop with its pads) and rows of a block (one D1 loop), 0 = no end."""
    sizes = [0, 0]
    for d, wrap in enumerate(walk.wraps[:2]):
        before, after = (pads[d] if d < len(pads) else 0 for pads in (walk.before, walk.after))
        sizes[d] = before + wrap + after if wrap else 0
    return sizes[0] or COLUMNS, sizes[1] if sizes[0] else 0


def _pitch(walk: Walk) -> int:
    """Words per row that show the pattern best: the widest step that fits, else the narrowest there is."""
    steps = sorted(step for step in walk.steps if 1 < step <= _MAX_WORDS // ROWS)
    fitting = [step for step in steps if step <= COLUMNS]
    return (fitting or steps[:1] or [COLUMNS])[-1]
