"""The host sequence of a design as a file of instructions, as mlir-aie's compiler writes it."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.devices import Device
from memtile.io.program.transaction import Transaction, transaction_bytes
from memtile.io.program.transaction_format import FIRST_NPU, Header
from memtile.runs.operations import Operation

_VERSION = (1, 0)


def instructions_of(steps: Sequence[Operation], device: Device, columns: int) -> bytes:
    """Steps of a host sequence as a transaction of version 1.0.

    A step that loads another device becomes a LOADPDI; what that device is stays outside of the instructions.

    Args:
        steps: of a sequence whose arguments are all known.
        device: that they are for.
        columns: that the design has.

    Raises:
        InputFileError: a step that the format cannot store.
    """
    numbers = device.transaction_generations
    generation = next((number for number in numbers if number >= FIRST_NPU), numbers[0])
    header = Header(_VERSION, generation, device.rows, columns, device.memory_tile_rows)
    return transaction_bytes(Transaction(header, tuple(steps)))
