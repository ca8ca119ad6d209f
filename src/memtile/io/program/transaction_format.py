"""Layout of serialised transactions, versions 0.1 and 1.0 (aie-rt ``xaie_txn``, mlir-aie), and their devices.

The driver and mlir-aie number the operations from 5 on differently. Version 1.0 and the generations of the
NPUs come from mlir-aie; version 0.1 of generation 1 or 2 comes from the driver.

Headers are not as exact as they could be. Older tools wrote 5 columns, the physical ones of Phoenix, for
every design of npu1; they also wrote the number of npu1, or that of AIE-ML, for npu2, of which more than five
columns then tell (mlir-aie before pull requests 2156 and 2458; DEV-AIE2P-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

from memtile.arch.devices import DEVICES, Device
from memtile.runs.operations import ArrayShape

GENERATIONS: Mapping[int, str] = MappingProxyType(
    {1: "AIE", 2: "AIE-ML", 3: "NPU1", 4: "NPU2", 5: "AIE2PS", 8: "NPU2, Strix A0", 9: "NPU2, Strix B0"}
)
"""Numbers of generations (driver; 3 and 4 as mlir-aie names them), of those that any header has."""

_NPU1, _NPU2 = DEVICES["npu1"], DEVICES["npu2"]


def fitting(generation: int, columns: int, rows: int, memory_tile_rows: int) -> list[Device]:
    """The devices that a header can be for; several where it says too little.

    Args:
        generation: as the header numbers it.
        columns: of the array.
        rows: of the array, all kinds of tiles.
        memory_tile_rows: how many of them are memory tiles.
    """
    by_size = [d for d in DEVICES.values() if has_size(d, columns, rows, memory_tile_rows)]
    named = [d for d in by_size if generation in d.transaction_generations]
    if not named and generation in _NPU1.transaction_generations:
        return [d for d in by_size if d is _NPU2]
    return named if generation in GENERATIONS else by_size


def has_size(device: Device, columns: int, rows: int, memory_tile_rows: int) -> bool:
    """Whether an array of that size is part of a device, or what headers of its old builds say."""
    if (rows, memory_tile_rows) != (device.rows, device.memory_tile_rows):
        return False
    return 1 <= columns <= device.columns or counts_all(device, columns)


def counts_all(device: Device, columns: int) -> bool:
    """Whether a header counts the columns that the device keeps for itself (npu1: five, of which four)."""
    return columns == device.physical_columns > device.columns


SOURCE = "aie-rt and mlir-aie transaction format"
HEADER = Struct("<BBBBBBxxII")
WRITE, BLOCK_WRITE, MASK_WRITE, MASK_POLL = 0, 1, 3, 4
MASK_POLL_BUSY = 7  # mlir-aie's numbering
FIRST_CUSTOM = 128  # from here on an operation says its size itself
CUSTOM = Struct("<B3xI")
FIRST_NPU = 3  # number of a generation from which on operations are mlir-aie's


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a transaction.

    Attributes:
        version: ``(major, minor)``; (0, 1) and (1, 0) exist.
        generation: as the driver and mlir-aie number them, see ``GENERATIONS``.
        rows: rows of the array, all kinds of tiles.
        columns: columns of the partition.
        memory_tile_rows: rows of memory tiles.
    """

    version: tuple[int, int]
    generation: int
    rows: int
    columns: int
    memory_tile_rows: int

    @property
    def shape(self) -> ArrayShape:
        """The array that the transaction is for; AIE-ML's where the header fits no single generation."""
        size = self.columns, self.rows, self.memory_tile_rows
        generations = {device.generation for device in fitting(self.generation, *size)}
        return ArrayShape.sized(*size, generations.pop() if len(generations) == 1 else "AIE-ML")

    @property
    def by_driver(self) -> bool:
        """Whether operations are numbered as in the driver, not as in mlir-aie."""
        return self.version == (0, 1) and self.generation < FIRST_NPU


@dataclass(frozen=True, slots=True)
class AccessLayout:
    """How the register accesses of one version are stored.

    Attributes:
        write: opcode, address, value; then the size if ``sized``.
        masked: opcode, address, value, mask; then the size if ``sized``. Of mask writes and polls.
        block: opcode, address, size; then the data.
        sized: whether every operation says its size.
        masked_sizes: bytes that a masked operation may take, padding included.
    """

    write: Struct
    masked: Struct
    block: Struct
    sized: bool
    masked_sizes: tuple[int, ...]


LAYOUTS: Mapping[tuple[int, int], AccessLayout] = MappingProxyType(
    {
        (0, 1): AccessLayout(Struct("<B7xQII"), Struct("<B7xQIII"), Struct("<B7xII"), True, (28, 32)),
        (1, 0): AccessLayout(Struct("<B3xII"), Struct("<B3xIII"), Struct("<B3xII"), False, (16,)),
    }
)


class OperationKind(NamedTuple):
    """An operation that is no register access: its name, its numbers, and whether leaving it out matters."""

    name: str
    layout: Struct
    fields: tuple[str, ...] = ()
    acts: bool = True


FIXED: Mapping[int, OperationKind] = MappingProxyType(
    {
        5: OperationKind("NOOP", Struct("<B3x"), acts=False),
        6: OperationKind("PREEMPT", Struct("<BB2x"), ("level",), acts=False),
        8: OperationKind("LOADPDI", Struct("<BxHIQ"), ("id", "bytes", "address")),
        9: OperationKind("LOAD_PM_START", Struct("<B3xI"), ("id",)),
        10: OperationKind("CREATE_SCRATCHPAD", Struct("<BB2xIQ"), ("usage", "bytes", "offset")),
        11: OperationKind("UPDATE_STATE_TABLE", Struct("<BBBxI"), ("index", "function", "argument")),
        12: OperationKind("UPDATE_REG", Struct("<BBBxII"), ("index", "function", "argument", "address")),
        13: OperationKind("UPDATE_SCRATCH", Struct("<B3x")),
    }
)
"""Operations of mlir-aie's numbering whose size follows from the opcode."""

_TOKEN_FIELDS = ("direction", "row", "column", "rows", "columns", "channel")
CUSTOMS: Mapping[int, tuple[OperationKind, ...]] = MappingProxyType(
    {
        128: (OperationKind("TOKEN_WAIT", Struct("<B3x4xBBBxxBBB"), _TOKEN_FIELDS),),
        129: (
            OperationKind(
                "DDR_PATCH",
                Struct("<B3x4x12xIQQQ"),
                ("action", "address", "argument", "offset"),
            ),
            OperationKind("DDR_PATCH", Struct("<B3x4xIIQ"), ("address", "argument", "offset")),
        ),
        130: (OperationKind("READ_REGS", CUSTOM, acts=False),),
        131: (OperationKind("RECORD_TIMER", CUSTOM, acts=False),),
        132: (OperationKind("MERGE_SYNC", CUSTOM, acts=False),),
    }
)
"""mlir-aie's custom operations; the first whose layout has the operation's size names its numbers."""


def kind_called(name: str, version: tuple[int, int]) -> tuple[int, OperationKind] | None:
    """Opcode and layout of an operation by its name; None where mlir-aie has none that is called so.

    Args:
        name: such as ``"DDR_PATCH"``.
        version: of the transaction; mlir-aie's short forms are those of version 1.0.
    """
    for opcode, kind in FIXED.items():
        if kind.name == name:
            return opcode, kind
    which = -1 if version == (1, 0) else 0
    found = ((opcode, kinds[which]) for opcode, kinds in CUSTOMS.items() if kinds[0].name == name)
    return next(found, None)
