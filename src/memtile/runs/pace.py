"""How long whoever runs a program takes for each of its operations (docs/timing.md, "Hosts").

A transaction is carried out by the firmware beside the array, which takes some hundred cycles for a write and
lets thousands pass between two queue pushes (DEV-HOST-2); CDO files, register dumps and recordings by a host.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.devices import Device
from memtile.arch.tiles import TILE_KINDS
from memtile.arch.timing import Timing
from memtile.runs.batches import ALONE
from memtile.runs.operation_table import Code, Ints, OperationTable
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    locate,
    words_written,
)
from memtile.runs.pointer_patches import pointer_of
from memtile.runs.register_updates import UPDATE
from memtile.runs.word_marks import queues
from memtile.sim.host_time import HostTime


class Pace:
    """Lets the time of each operation of a program pass.

    Args:
        host: the time of the host of the array.
        timing: its constants.
        device: what the array is a model of.
    """

    def __init__(self, host: HostTime, timing: Timing, device: Device) -> None:
        self._host, self._timing, self._device = host, timing, device
        self._next_push = 0  # cycle before which the firmware pushes no task

    def before(self, operation: Operation) -> None:
        """Let time pass until ``operation`` can be carried out."""
        self._host.by_firmware |= operation.firmware
        if self.stands_alone(operation):
            self._host.reach(self._next_push)
            self._next_push = self._host.now + self._timing.firmware_push
        self._host.spend(self.cycles(operation))

    def stands_alone(self, operation: Operation) -> bool:
        """Whether the firmware lets time pass before it that depends on what it did."""
        return operation.firmware and any(map(self._pushes, words_written(operation)))

    def costs(self, table: OperationTable) -> Ints:
        """Cycles from each operation to the next one, ``ALONE`` for those that stand alone."""
        code, firmware, timing = table.columns.code, table.columns.firmware, self._timing
        self._host.by_firmware |= bool(np.any(firmware))
        access = np.where(firmware, timing.firmware_access, timing.access_cycles)
        block = access + np.where(firmware, timing.firmware_word * table.lengths, table.lengths - 1)
        costs = np.select([code == Code.BLOCK_WRITE, code == Code.MASK_WRITE], [block, 2 * access], access)
        pushes = firmware & table.writing(ArrayShape.of(self._device), queues) if firmware.any() else firmware
        found: Ints = np.where((code == Code.OTHER) | pushes, ALONE, costs)
        return found

    def cycles(self, operation: Operation) -> int:
        """Cycles from the operation to the next one."""
        timing, firmware = self._timing, operation.firmware
        access = timing.firmware_access if firmware else timing.access_cycles
        match operation:
            case Write() | MaskPoll():
                return access
            case MaskWrite():
                return 2 * access
            case BlockWrite(_, words):
                return access + (timing.firmware_word * len(words) if firmware else len(words) - 1)
        if isinstance(operation, Other) and operation.name == UPDATE:
            return 4 * access  # it reads and writes two words
        return access if pointer_of(operation) else 0

    def _pushes(self, word: tuple[int, int, int]) -> bool:
        """Whether a register word is a channel's queue."""
        column, row, offset = locate(word[0])
        kind = TILE_KINDS[self._device.tile(column, row)]
        number, rest = divmod(offset - kind.queue_base, kind.channel_stride)
        return rest == 0 and 0 <= number < 2 * kind.channels
