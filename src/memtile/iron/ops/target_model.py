"""What mlir-aie's target model says of a device, from the tables of ``memtile.arch``."""

from __future__ import annotations

from typing import Any

from memtile.arch.devices import device as _device
from memtile.iron.ops.enums import AIEArch, AIEDevice, AIETileType

_FIRST_GENERATION = (AIEDevice.xcvc1902,)


class TargetModel:
    """A device.

    Args:
        device: mlir-aie's name of it.
    """

    def __init__(self, device: AIEDevice) -> None:
        self._name = device.name
        self._device: Any = None if device in _FIRST_GENERATION else _device(device.name)

    def _found(self) -> Any:
        if self._device is None:
            raise ValueError(f"{self._name} is of the first generation, without memory tiles")
        return self._device

    def columns(self) -> int:
        """The number of its columns."""
        return int(self._found().columns)

    def rows(self) -> int:
        """The number of its rows."""
        return int(self._found().rows)

    def get_target_arch(self) -> AIEArch:
        """Its architecture."""
        if self._device is None:
            return AIEArch.AIE1
        return AIEArch.AIE2p if self._name.startswith("npu2") else AIEArch.AIE2

    def get_tile_type(self, col: int, row: int) -> AIETileType:
        """What is at a place."""
        device = self._found()
        if row == 0:
            return AIETileType.ShimNOCTile
        return AIETileType.MemTile if row <= device.memory_rows else AIETileType.CoreTile

    def get_num_mem_tile_rows(self) -> int:
        """The number of its rows of memory tiles."""
        return int(self._found().memory_rows)

    def is_npu(self) -> bool:
        """Whether it is in a processor."""
        return self._name.startswith("npu")


def get_target_model(device: Any) -> TargetModel:
    """The target model of a device, or of its number."""
    return TargetModel(AIEDevice(int(device)))
