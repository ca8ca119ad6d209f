"""How long whoever runs a program takes for each of its operations (docs/timing.md, "Hosts").

A transaction is carried out by the firmware beside the array, which takes some hundred cycles for a write and
lets thousands pass between two queue pushes (DEV-HOST-2); CDO files, register dumps and recordings by a host.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.timing import Timing
from memtile.runs.batches import ALONE
from memtile.runs.firmware import UPDATE, pointer_of
from memtile.runs.operation_table import Code, Ints, OperationTable
from memtile.runs.operations import ArrayShape, Operation, Other
from memtile.runs.word_marks import queues
from memtile.sim.doors.host_time import HostTime


class Pace:
    """Lets the time of each operation of a program pass.

    Args:
        host: the time of the host of the array.
        timing: its constants.
        shape: of the array.
        table: the operations.
    """

    def __init__(self, host: HostTime, timing: Timing, shape: ArrayShape, table: OperationTable) -> None:
        self._host, self._timing = host, timing
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
            self._next_push = self._host.now + self._timing.firmware_push
        self._host.spend(int(self._cycles[number]))

    def costs(self, table: OperationTable) -> Ints:
        """Cycles from each operation to the next one; ``ALONE`` where the firmware waits before it."""
        self._host.by_firmware |= bool(np.any(self._firmware))
        found: Ints = np.where((table.columns.code == Code.OTHER) | self._pushes, ALONE, self._cycles)
        return found


def _accesses(operation: Operation) -> int:
    """Accesses that an operation takes which is none: an update reads and writes two words."""
    if isinstance(operation, Other) and operation.name == UPDATE:
        return 4
    return 1 if pointer_of(operation) else 0
