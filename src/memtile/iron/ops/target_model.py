"""What mlir-aie's target model says of a device, from the tables of ``memtile.arch``."""

from __future__ import annotations

from typing import Any

from memtile.arch.devices import Device
from memtile.arch.devices import device as find_device
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT
from memtile.iron.ops.enums import AIEArch, AIEDevice, AIETileType
from memtile.iron.ops.operations import Operation

_FIRST_GENERATION = (AIEDevice.xcvc1902,)


class TargetModel:
    """A device.

    Args:
        device: mlir-aie's name of it.
    """

    def __init__(self, device: AIEDevice) -> None:
        self._name = device.name
        self._device = None if device in _FIRST_GENERATION else find_device(device.name)

    @property
    def device(self) -> Device:
        """The device's tables.

        Raises:
            ValueError: it is of the first generation.
        """
        if self._device is None:
            raise ValueError(
                f"{self._name} is of the first generation, which has no memory tiles; "
                "memtile knows AIE-ML and later"
            )
        return self._device

    def columns(self) -> int:
        """The number of its columns."""
        return self.device.columns

    def rows(self) -> int:
        """The number of its rows."""
        return self.device.rows

    def get_target_arch(self) -> AIEArch:
        """Its architecture."""
        if self._device is None:
            return AIEArch.AIE1
        return AIEArch.AIE2p if self._name.startswith("npu2") else AIEArch.AIE2

    def get_tile_type(self, col: int, row: int) -> AIETileType:
        """What is at a place.

        Raises:
            DesignError: it is outside the device.
        """
        self.device.tile(col, row)
        if row in self.device.memory_rows:
            return AIETileType.MemTile
        if row in self.device.compute_rows:
            return AIETileType.CoreTile
        return AIETileType.ShimNOCTile if self.device.has_interface_dma(col) else AIETileType.ShimPLTile

    def is_core_tile(self, col: int, row: int) -> bool:
        """Whether a core is there."""
        return self.get_tile_type(col, row) is AIETileType.CoreTile

    def is_mem_tile(self, col: int, row: int) -> bool:
        """Whether a memory tile is there."""
        return self.get_tile_type(col, row) is AIETileType.MemTile

    def is_shim_noc_tile(self, col: int, row: int) -> bool:
        """Whether an interface tile with a DMA is there."""
        return self.get_tile_type(col, row) is AIETileType.ShimNOCTile

    def is_shim_pl_tile(self, col: int, row: int) -> bool:
        """Whether an interface tile without a DMA is there."""
        return self.get_tile_type(col, row) is AIETileType.ShimPLTile

    def is_shim_noc_or_pl_tile(self, col: int, row: int) -> bool:
        """Whether an interface tile is there."""
        return self.get_tile_type(col, row) in _INTERFACE

    def get_num_mem_tile_rows(self) -> int:
        """The number of its rows of memory tiles."""
        return self.device.memory_tile_rows

    def get_mem_tile_size(self) -> int:
        """Bytes of a memory tile."""
        return self.device.kind("memory").memory_bytes

    def get_local_memory_size(self) -> int:
        """Bytes of a compute tile's memory."""
        return self.device.kind("compute").memory_bytes

    def get_num_locks(self, col: int, row: int) -> int:
        """The locks of a tile."""
        return int(self._kind(col, row).locks)

    def get_num_bds(self, col: int, row: int) -> int:
        """The buffer descriptors of a tile."""
        return int(self._kind(col, row).bds)

    def _kind(self, col: int, row: int) -> Any:
        return self.device.kind(_ROLES[self.get_tile_type(col, row)])

    def get_column_shift(self) -> int:
        """The bit of an address where the column begins."""
        return COLUMN_SHIFT

    def get_row_shift(self) -> int:
        """The bit of an address where the row begins."""
        return ROW_SHIFT

    def is_npu(self) -> bool:
        """Whether it is in a processor."""
        return self._name.startswith("npu")


_INTERFACE = (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)
_ROLES: dict[AIETileType, Any] = {
    AIETileType.MemTile: "memory",
    AIETileType.CoreTile: "compute",
    **dict.fromkeys(_INTERFACE, "interface"),
}


def get_target_model(device: Any) -> TargetModel:
    """The target model of a device, or of its number."""
    return TargetModel(AIEDevice(int(device)))


def tile_type_of(tile: Operation) -> AIETileType | None:
    """What a tile, or a logical one, is; None where no known device is around it, or it is outside of that.

    A logical tile says it itself.
    """
    given = tile.attributes.get("tile_type")
    if given is not None:
        return given.value  # type: ignore[attr-defined, no-any-return]
    device = tile.parent
    while device is not None and device.name != "aie.device":
        device = device.parent
    if device is None:
        return None
    model = get_target_model(device.attributes["device"])
    col, row = (int(tile.attributes[each]) for each in ("col", "row"))  # type: ignore[call-overload]
    is_there = model.get_target_arch() is not AIEArch.AIE1 and col < model.columns() and row < model.rows()
    return model.get_tile_type(col, row) if is_there else None
