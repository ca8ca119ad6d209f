"""CDO commands in columns: the register writes of a file that has nothing unusual, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.io.program.record_starts import Ints, Records, Words, starts_of, words_of
from memtile.runs.operation_table import Code, Columns
from memtile.runs.operations import WORD_MAX

LENGTH_SHIFT, COMMAND_MASK = 16, 0xFFFF
LONG = 255  # the length is in the next word
_HIGHEST = 1 << WORD_BITS - 2  # upper halves of addresses from here on are none


class _Layout(NamedTuple):
    """A command: what it is, how many words its address has, and where its value and its mask are then."""

    code: Code
    address: int
    mask: int | None
    value: int | None

    @property
    def words(self) -> int:
        return self.address + (self.mask is not None) + (self.value is not None)


_COMMANDS: Mapping[int, _Layout] = MappingProxyType(
    {
        0x102: _Layout(Code.MASK_WRITE, 1, 1, 2),
        0x103: _Layout(Code.WRITE, 1, None, 1),
        0x105: _Layout(Code.BLOCK_WRITE, 2, None, None),
        0x107: _Layout(Code.MASK_WRITE, 2, 2, 3),
        0x108: _Layout(Code.WRITE, 2, None, 2),
    }
)
_NOTHING = 0x111  # NOP, of any length


def columns_of(data: bytes, first: int, base: int) -> tuple[Columns, Ints] | None:
    """Columns of the commands from byte ``first`` of a file on, and the byte at which each begins.

    Args:
        data: all bytes of the file.
        first: behind the header.
        base: address of the array.

    Returns:
        None if only the reader of single commands knows what to make of the file.
    """
    words = words_of(data, first)
    starts = None if words is None else starts_of(words, _RECORDS)
    if words is None or starts is None:
        return None
    columns = _columns(words, starts, base)
    return None if columns is None else (columns, first + WORD_BYTES * starts)


def _width(view: Any, at: int) -> int:
    word, left = view[at], len(view) - at
    length, head = word >> LENGTH_SHIFT, 1
    if length == LONG:
        length, head = (view[at + 1] if left > 1 else left), 2
    command = word & COMMAND_MASK
    known = _COMMANDS.get(command)
    if known is None:
        fits = command == _NOTHING
    elif known.code is Code.BLOCK_WRITE:
        fits = length > known.words
    else:
        fits = length == known.words
    return head + length if fits and head + length <= left else 0


def _alike(first: Words, rows: Words) -> npt.NDArray[np.bool_]:
    same: npt.NDArray[np.bool_] = rows[:, 0] == first[0]
    return same & (rows[:, 1] == first[1]) if first[0] >> LENGTH_SHIFT == LONG else same


_RECORDS = Records(
    mask=WORD_MAX,
    widths={
        layout.words << LENGTH_SHIFT | command: 1 + layout.words
        for command, layout in _COMMANDS.items()
        if layout.code is not Code.BLOCK_WRITE
    },
    width_of=_width,
    alike=_alike,
)


def _columns(words: Words, starts: Ints, base: int) -> Columns | None:
    first = words[starts]
    heads = np.where(first >> LENGTH_SHIFT == LONG, 2, 1)
    commands = first & COMMAND_MASK
    code, address, value, mask = (np.zeros(len(starts), np.int64) for _ in range(4))
    for number, layout in _COMMANDS.items():
        here = np.flatnonzero(commands == number)
        at = starts[here] + heads[here]
        code[here] = layout.code
        high = words[at].astype(np.int64) if layout.address > 1 else np.zeros(len(at), np.int64)
        address[here] = (high << WORD_BITS | words[at + layout.address - 1]) - base
        if (high >= _HIGHEST).any() or (address[here] < 0).any():
            return None
        mask[here] = WORD_MAX if layout.mask is None else words[at + layout.mask]
        if layout.value is not None:
            value[here] = words[at + layout.value]
        if layout.code is Code.BLOCK_WRITE:
            value[here] = at + layout.words
            ends = np.append(starts, len(words))[here + 1]
            mask[here] = ends - value[here]
    return Columns(code, address, value, mask, np.zeros(len(starts), np.bool_), words)
