"""Writes of a program, many of them carried out by one call: what follows each other without a wait.

The result is that of carrying them out one by one; whatever is not sure to be the same is left to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import answering
from memtile.runs.machine import ArrayMachine
from memtile.runs.operation_table import Bools, Code, Ints, OperationTable, marked
from memtile.runs.operations import WORD_MAX, ArrayShape
from memtile.runs.word_marks import clocks
from memtile.sim.doors.passing_time import NEXT, Programmed

_LEAST, _MOST = 4, 1 << 17  # operations of a batch
_LONGEST = 256  # words of a block in data memory that are written one by one; more are copied

ALONE = -3  # instead of a cost
Costs = Callable[[OperationTable], Ints]
"""Cycles from each operation to the next one; ``AT_ONCE`` = it takes no time, ``ALONE`` = it stands alone."""


class _Plan(NamedTuple):
    """How the operations of a table are carried out.

    Attributes:
        table: the operations.
        tiles: model index of the tile of each.
        offsets: byte in it.
        lengths: words that each writes.
        costs: see ``Costs``.
        alone: numbers of those that are carried out alone, and one behind the last operation.
    """

    table: OperationTable
    tiles: Ints
    offsets: Ints
    lengths: Ints
    costs: Ints
    alone: Ints


class Batches:
    """Carries out writes of an array.

    Args:
        array: the model.
        apart: which operations have to be carried out alone for what they write.
    """

    def __init__(self, array: ArrayMachine, apart: Callable[[OperationTable, ArrayShape], Bools]) -> None:
        self._engine, self._apart = array.engine, apart
        self._shape = ArrayShape.of(array.device, array.columns)
        tiles = plain(array.engine.spec.tiles)
        places = tiles.column << COLUMN_SHIFT - ROW_SHIFT | tiles.row
        placed = np.flatnonzero(tiles.column >= 0)
        self._tile_at = np.full(int(places.max(initial=0)) + 2, -1)
        self._tile_at[places[placed]] = placed
        self._memory_bytes = np.array([TILE_KINDS[KIND_NAMES[kind]].memory_bytes for kind in tiles.kind])
        self._plan: _Plan | None = None

    def carry_out(self, table: OperationTable, first: int, costs: Costs, end: int) -> int:
        """Carry out operations from number ``first`` on, as many as go together.

        Args:
            table: a program that was checked.
            first: number of the first one.
            costs: of them all.
            end: cycle from which on none is carried out.

        Returns:
            How many were; 0 = the first one has to be carried out alone.
        """
        if self._plan is None or self._plan.table is not table:
            self._plan = self._planned(table, costs(table))
        plan = self._plan
        last = int(plan.alone[np.searchsorted(plan.alone, first)])
        here = slice(first, min(last, first + _MOST))
        if here.stop - first < _LEAST:
            return 0
        ends = np.cumsum(plan.lengths[here])
        written = self._engine.set_up(_words(plan, here, int(ends[-1])), end)
        return int(np.searchsorted(ends, written, side="right"))

    def _planned(self, table: OperationTable, costs: Ints) -> _Plan:
        columns, lengths = table.columns, table.lengths
        places = columns.address >> ROW_SHIFT
        there = (places >= 0) & (places < len(self._tile_at))
        tiles, offsets = self._tile_at[np.where(there, places, -1)], columns.address % TILE_BYTES
        alone = (tiles < 0) | (lengths == 0) | (costs == ALONE) | self._apart(table, self._shape)
        alone |= marked(table, self._shape, answering) != lengths  # nothing answers some word
        alone |= (columns.code == Code.OTHER) | (columns.code == Code.MASK_POLL)
        blocks = (columns.code == Code.BLOCK_WRITE) & (lengths > 1)
        if blocks.any():
            memory, last = self._memory_bytes[tiles], offsets + lengths * WORD_BYTES
            alone |= blocks & (offsets < memory) & ((lengths > _LONGEST) | (last > memory))
            alone |= blocks & table.writing(self._shape, clocks)  # these end a batch in the middle of a block
        return _Plan(table, tiles, offsets, lengths, costs, np.append(np.flatnonzero(alone), len(table)))


def _words(plan: _Plan, here: slice, count: int) -> Programmed:
    """The words that some operations write."""
    columns = plan.table.columns
    tiles, offsets, costs = plan.tiles[here], plan.offsets[here], plan.costs[here]
    values, masks = columns.value[here], columns.mask[here]
    blocks = columns.code[here] == Code.BLOCK_WRITE
    if not blocks.any():
        return Programmed(tiles, offsets, values, masks, costs)
    lengths = plan.lengths[here]
    of = np.repeat(np.arange(len(lengths)), lengths)  # number of the operation of each word
    within = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    in_block = blocks[of]
    found = values[of] + np.where(in_block, within, 0)
    found[in_block] = columns.words[found[in_block]]
    return Programmed(
        tiles[of],
        offsets[of] + within * WORD_BYTES,
        found,
        np.where(in_block, WORD_MAX, masks[of]),
        np.where(within == 0, costs[of], NEXT),
    )
