"""``aie.iron.device``: devices, and tiles that the compiler may place."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from memtile.arch.tiles import Role, TileKind
from memtile.iron.dialects.aie import LogicalTileOp, get_target_model, logical_tile
from memtile.iron.ops.enums import AIEArch, AIEDevice, AIETileType
from memtile.iron.resolvable import NotResolvedError, Resolvable


class Tile:
    """A tile: placed, with a column or a row only, or anywhere.

    Two tiles are the same only if they are one object: each becomes its own logical tile.

    Args:
        col: column; None = any.
        row: row; None = any.
        tile_type: what it is; None = what its owner needs, or what is there.
        allocation_scheme: how its memory is given out.
    """

    def __init__(
        self,
        col: int | None = None,
        row: int | None = None,
        *,
        tile_type: AIETileType | None = None,
        allocation_scheme: str | None = None,
    ) -> None:
        self.col, self.row = col, row
        self.tile_type, self.allocation_scheme = tile_type, allocation_scheme
        self._op: Any = None

    def copy(self) -> Tile:
        """Another one like it."""
        return Tile(self.col, self.row, tile_type=self.tile_type, allocation_scheme=self.allocation_scheme)

    def with_type(
        self, tile_type: AIETileType, *, allocation_scheme: str | None = None, mismatch_msg: str | None = None
    ) -> Tile:
        """Another one at its place, of a type.

        Raises:
            ValueError: it is of another type.
        """
        if self.tile_type not in (None, tile_type):
            raise ValueError(mismatch_msg or f"a {tile_type} is needed here, {self} is a {self.tile_type}")
        scheme = self.allocation_scheme if allocation_scheme is None else allocation_scheme
        return Tile(self.col, self.row, tile_type=tile_type, allocation_scheme=scheme)

    @property
    def op(self) -> Any:
        """Its logical tile.

        Raises:
            ValueError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError(
                f"{self} is not resolved yet: a Program builds the tiles that its parts use"
            )
        return self._op

    @op.setter
    def op(self, op: Any) -> None:
        self._op = op

    def __str__(self) -> str:
        kind = f"<{self.tile_type}>" if self.tile_type is not None else ""
        col, row = ("?" if each is None else each for each in (self.col, self.row))
        return f"Tile{kind}({col}, {row})"

    __repr__ = __str__


_ROLES: dict[AIETileType, Role] = {
    AIETileType.CoreTile: "compute",
    AIETileType.MemTile: "memory",
    AIETileType.ShimNOCTile: "interface",
    AIETileType.ShimPLTile: "interface",
}

AnyShimTile = Tile(tile_type=AIETileType.ShimNOCTile)
AnyMemTile = Tile(tile_type=AIETileType.MemTile)
AnyComputeTile = Tile(tile_type=AIETileType.CoreTile)


def older_tile(tile: Tile | None, placement: Tile | None, default: Tile) -> Tile:
    """The tile of ``tile=``, or of ``placement=``, its name until April 2026.

    Raises:
        ValueError: both are given.
    """
    if placement is not None and tile not in (None, default):
        raise ValueError("tile= and placement= are one: placement is the older name, give tile= alone")
    return placement or tile or default


class Device(Resolvable):
    """A device.

    Args:
        device: mlir-aie's name of it.
    """

    DEVICE: ClassVar[AIEDevice | None] = None

    def __init__(self, device: AIEDevice | None = None) -> None:
        self._device = device if device is not None else self.DEVICE
        if self._device is None:
            raise TypeError("a device is NPU1(), NPU2() or another of aie.iron.device")
        self._tm = self._model = get_target_model(self._device)  # tests of mlir-aie use its name for it
        self._resolved: dict[int, Any] = {}

    @property
    def cols(self) -> int:
        """The number of its columns."""
        return self._model.columns()

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return self._model.rows()

    @property
    def arch(self) -> AIEArch:
        """Its architecture."""
        return self._model.get_target_arch()

    @property
    def max_lock_value(self) -> int:
        """The largest value of a lock."""
        return self._kind(AIETileType.MemTile).lock_value_max

    @property
    def max_repeat_count(self) -> int:
        """How often one push of a task may run it."""
        return self._kind(AIETileType.MemTile).max_repeat

    @property
    def dma_task_queue_depth(self) -> int:
        """How many tasks wait in the queue of a channel."""
        return self._kind(AIETileType.MemTile).queue_depth

    def get_num_bds(self, tile_type: AIETileType) -> int:
        """How many descriptors a kind of tile has."""
        return self._kind(tile_type).bds

    def dma_channels(self, tile_type: AIETileType) -> int:
        """How many channels the DMA of a kind of tile has in one direction."""
        return self._kind(tile_type).channels

    def _kind(self, tile_type: AIETileType) -> TileKind:
        return self._model.device.kind(_ROLES[tile_type])

    def get_tile_type(self, col: int, row: int) -> AIETileType:
        """What is at a place.

        Raises:
            ValueError: the device has no such place.
        """
        if not (0 <= col < self.cols and 0 <= row < self.rows):
            raise ValueError(
                f"({col}, {row}) is out of range of {self._device} ({self.cols} columns, {self.rows} rows)"
            )
        return self._model.get_tile_type(col, row)

    def resolve(self, loc: object = None, ip: Any = None) -> Any:
        """mlir-aie's name of it."""
        return self._device

    def resolve_tile(self, tile: Tile, loc: object = None, ip: Any = None) -> None:
        """Build the logical tile of a tile, once.

        Raises:
            ValueError: nothing says of which type it is.
        """
        found = self._resolved.get(id(tile))
        if found is None:
            kind = tile.tile_type
            if kind is None:
                if tile.col is None or tile.row is None:
                    raise ValueError(f"{tile} has no type and no place that says it: give tile_type")
                kind = self.get_tile_type(tile.col, tile.row)
            found = logical_tile(
                kind, col=tile.col, row=tile.row, allocation_scheme=tile.allocation_scheme, ip=ip
            )
            self._resolved[id(tile)] = found
            if tile.tile_type is None and None not in (tile.col, tile.row):
                tile.tile_type = kind  # its place says it
        tile.op = found


def _class_name(device: AIEDevice) -> str:
    return re.sub(r"NPU(\d+)_(\d+)COL", r"NPU\1Col\2", device.name.upper())


_CLASSES: dict[str, type[Device]] = {
    _class_name(device): type(
        _class_name(device), (Device,), {"DEVICE": device, "__doc__": f"``{device.name}``."}
    )
    for device in AIEDevice
}
globals().update(_CLASSES)

_FAMILIES = {"npu": "NPU1", "npu1": "NPU1", "npu2": "NPU2"}
_VERSALS = ("xcvc1902", "xcve2302", "xcve2802")


def from_name(name: str | None, *, n_cols: int | None = 1) -> Device:
    """The device of a name, with so many columns; None = all.

    Raises:
        ValueError: there is no such device.
    """
    lower = str(name).lower()
    if lower in _VERSALS:
        return _CLASSES[lower.upper()]()
    family = _FAMILIES.get(lower)
    if family is None:
        says = "the program is told no device" if name is None else f"device {name!r}"
        known = ", ".join(sorted((*_FAMILIES, *_VERSALS)))
        step = ". Give its option for that behind its name: --dev npu2, say" if name is None else ""
        raise ValueError(f"{says}: known are {known}{step}")
    whole = _CLASSES[family]()
    if n_cols is None or n_cols == whole.cols:
        return whole
    if f"{family}Col{n_cols}" not in _CLASSES:
        raise ValueError(f"{family} has 1 to {whole.cols} columns, not {n_cols}")
    return _CLASSES[f"{family}Col{n_cols}"]()


def __getattr__(name: str) -> type[Device]:
    raise AttributeError(f"no device {name}: known are {', '.join(_CLASSES)}")


__all__ = ["AnyComputeTile", "AnyMemTile", "AnyShimTile", "Device", "LogicalTileOp", "Tile", "from_name"]
