"""Operations of a program in time: what each takes, and which writes one call carries out.

The result is that of carrying them out one by one; whatever is not sure to be the same is left to that. A
transaction is carried out by the firmware beside the array, which takes some hundred cycles for a write and
lets thousands pass between two queue pushes (DEV-HOST-2); CDO files, register dumps and recordings by a host
(docs/timing.md, "Hosts").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from memtile.arch.dispatch import Dispatch
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.arch.timing import Timing
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import answering
from memtile.runs.firmware import UPDATE, pointer_of
from memtile.runs.machine import ArrayMachine
from memtile.runs.operation_table import Bools, Code, Ints, OperationTable, clocks, marked, queues
from memtile.runs.operations import WORD_MAX, ArrayShape, Operation, Other
from memtile.sim.doors.host_time import HostTime
from memtile.sim.doors.passing_time import AT_ONCE, NEXT, Programmed

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


class Pace:
    """Lets the time of each operation of a program pass.

    Args:
        host: the time of the host of the array.
        timing: its constants.
        shape: of the array.
        table: the operations.
        dispatch: how the program is launched.
        untimed: no time passes, so no push comes too early: each waits until its queue has room.
    """

    def __init__(
        self,
        host: HostTime,
        timing: Timing,
        shape: ArrayShape,
        table: OperationTable,
        dispatch: Dispatch,
        *,
        untimed: bool,
    ) -> None:
        self._host, self._untimed, elf = host, untimed, dispatch == Dispatch.ELF
        self._between = timing.firmware_push_elf if elf else timing.firmware_push
        self._has_patience = untimed or (not elf and timing.firmware_room == 1)
        self._next_push = 0  # cycle before which the firmware pushes no task
        code, self._firmware = table.columns.code, table.columns.firmware
        access = np.where(self._firmware, timing.firmware_access, timing.access_cycles)
        more = np.where(self._firmware, timing.firmware_word * table.lengths, table.lengths - 1)
        self._cycles = np.select(
            [code == Code.BLOCK_WRITE, code == Code.MASK_WRITE], [access + more, 2 * access], access
        )
        for number in np.flatnonzero(code == Code.OTHER).tolist():
            self._cycles[number] = _accesses(table[number]) * access[number]
        self._pushes = self._firmware & table.writing(shape, queues)

    def before(self, number: int) -> None:
        """Let time pass until the operation of a number can be carried out."""
        self._host.by_firmware |= bool(self._firmware[number])
        if self._pushes[number]:
            self._host.reach(self._next_push)
            self._next_push = self._host.now + self._between
        self._host.spend(int(self._cycles[number]))

    def waits_for_room(self, number: int) -> bool:
        """Whether the operation of a number pushes tasks and waits until their queues have room."""
        return bool(self._has_patience and self._pushes[number])

    def costs(self, table: OperationTable) -> Ints:
        """Cycles from each operation to the next one; ``ALONE`` where the firmware waits before it."""
        if self._untimed:
            return np.where(self._pushes, ALONE, AT_ONCE)
        self._host.by_firmware |= bool(np.any(self._firmware))
        found: Ints = np.where((table.columns.code == Code.OTHER) | self._pushes, ALONE, self._cycles)
        return found


def _accesses(operation: Operation) -> int:
    """Accesses that an operation takes which is none: an update reads and writes two words."""
    if isinstance(operation, Other) and operation.name == UPDATE:
        return 4
    return 1 if pointer_of(operation) else 0
