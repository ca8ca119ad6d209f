"""A small text picture of an access order: the stream as offsets, the memory as stream positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor

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
