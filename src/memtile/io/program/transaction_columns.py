"""Transactions in columns: the register accesses of a file that has nothing unusual, all at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.io.program.record_starts import Ints, Records, Words, starts_of, words_of
from memtile.io.program.transaction_format import (
    BLOCK_WRITE,
    HEADER,
    MASK_POLL,
    MASK_POLL_BUSY,
    MASK_WRITE,
    WRITE,
    Header,
    Layout,
)
from memtile.runs.operation_table import Code, Columns
from memtile.runs.operations import WORD_MAX

_OPCODE = 0xFF  # of the first word of an operation
_CODES = {WRITE: Code.WRITE, MASK_WRITE: Code.MASK_WRITE, MASK_POLL: Code.MASK_POLL}


def columns_of(
    data: bytes, header: Header, layout: Layout, other: Callable[[int], int]
) -> tuple[Columns, Ints] | None:
    """Columns of the operations behind a header, and the byte of the file at which each begins.

    Args:
        data: all bytes of the file.
        header: of the file.
        layout: of its version.
        other: bytes of an operation at a byte of the file that is no register access.

    Returns:
        None if only the reader of single operations knows what to make of the file.
    """
    words = words_of(data, HEADER.size)
    if words is None:
        return None
    known = set(_CODES) | {BLOCK_WRITE} | (set() if header.by_driver else {MASK_POLL_BUSY})
    width = partial(_width, layout, known, other)
    records = Records(_OPCODE, _widths(layout, known), width, partial(_alike, layout, known))
    starts = starts_of(words, records)
    if starts is None or not _sizes_are_right(words, starts, layout):
        return None
    columns = _columns(words, starts, layout, known)
    return None if columns is None else (columns, HEADER.size + WORD_BYTES * starts)


def _widths(layout: Layout, known: set[int]) -> dict[int, int]:
    """Words of the operations that always have as many; their sizes are looked at later, all at once."""
    widths = {WRITE: layout.write.size // WORD_BYTES}
    if not layout.sized:
        widths |= dict.fromkeys(known - {WRITE, BLOCK_WRITE}, layout.masked.size // WORD_BYTES)
    return widths


def _sizes_are_right(words: Words, starts: Ints, layout: Layout) -> bool:
    """Whether writes that say their size say the right one."""
    writes = starts[words[starts] & _OPCODE == WRITE] if layout.sized else starts[:0]
    size = layout.write.size
    return bool((words[writes + size // WORD_BYTES - 1] == size).all())


def _width(layout: Layout, known: set[int], other: Callable[[int], int], view: Any, at: int) -> int:
    """Words of a block, of a masked operation that says how many, or of what is no register access."""
    opcode, left = view[at] & _OPCODE, len(view) - at
    if opcode not in known:
        size = other(HEADER.size + at * WORD_BYTES)
        return 0 if size % WORD_BYTES else size // WORD_BYTES
    least = (layout.block if opcode == BLOCK_WRITE else layout.masked).size // WORD_BYTES
    size = view[at + least - 1] if left >= least else 0
    fits = size > layout.block.size if opcode == BLOCK_WRITE else size in layout.masked_sizes
    return size // WORD_BYTES if fits and size % WORD_BYTES == 0 and size // WORD_BYTES <= left else 0


def _alike(layout: Layout, known: set[int], first: Words, rows: Words) -> npt.NDArray[np.bool_]:
    opcode = int(first[0]) & _OPCODE
    same: npt.NDArray[np.bool_] = rows[:, 0] & _OPCODE == opcode
    if opcode not in known:
        return np.zeros(len(rows), np.bool_)
    if opcode == BLOCK_WRITE:
        size = layout.block.size // WORD_BYTES - 1
    elif layout.sized and opcode == WRITE:
        size = layout.write.size // WORD_BYTES - 1
    elif layout.sized:
        size = layout.masked.size // WORD_BYTES - 1
    else:
        return same
    same &= rows[:, size] == first[size]
    return same


def _columns(words: Words, starts: Ints, layout: Layout, known: set[int]) -> Columns | None:
    opcodes = words[starts] & _OPCODE
    code, address, value, mask = (np.zeros(len(starts), np.int64) for _ in range(4))
    wide = layout.sized  # addresses of writes and masked operations have two words
    for opcode in known:
        here = np.flatnonzero(opcodes == opcode)
        at = starts[here]
        if opcode == BLOCK_WRITE:
            head = layout.block.size // WORD_BYTES
            code[here], address[here] = Code.BLOCK_WRITE, words[at + head - 2]
            value[here], mask[here] = at + head, words[at + head - 1] // WORD_BYTES - head
            continue
        code[here] = _CODES.get(opcode, Code.MASK_POLL)
        first = 2 if wide else 1
        address[here] = words[at + first]
        if wide:
            high = words[at + first + 1].astype(np.int64)
            if (high >> WORD_BITS - 2).any():
                return None
            address[here] |= high << WORD_BITS
        value[here] = words[at + first + 1 + wide]
        mask[here] = WORD_MAX if opcode == WRITE else words[at + first + 2 + wide]
    return Columns(code, address, value, mask, np.ones(len(starts), np.bool_), words)
