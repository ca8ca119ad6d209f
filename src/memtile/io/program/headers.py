"""Which devices the header of a transaction can be for: its generation and the size of its array.

Headers are not as exact as they could be. Older tools wrote 5 columns, the physical ones of Phoenix, for
every design of npu1; they also wrote the number of npu1, or that of AIE-ML, for npu2, of which more than five
columns then tell (mlir-aie before pull requests 2156 and 2458; DEV-AIE2P-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memtile.arch.devices import DEVICES, Device

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
