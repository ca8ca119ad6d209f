"""Tiles of a design, and what is found at them: flows, locks, buffers, neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.iron.extras.util import find_ops, find_parent_of_type
from memtile.iron.ops.attributes import StringAttr
from memtile.iron.ops.enums import AIETileType
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import Operation, Value
from memtile.iron.ops.target_model import get_target_model, tile_type_of


def _place(tile: Any) -> tuple[int, int]:
    return int(tile.attributes["col"]), int(tile.attributes["row"])


class _TileLike:
    """What a tile, or a logical one, says of itself."""

    def is_core_tile(self) -> bool:
        """Whether it is a compute tile."""
        return tile_type_of(self) is AIETileType.CoreTile  # type: ignore[arg-type]

    def is_mem_tile(self) -> bool:
        """Whether it is a memory tile."""
        return tile_type_of(self) is AIETileType.MemTile  # type: ignore[arg-type]

    def is_shim_noc_tile(self) -> bool:
        """Whether it is an interface tile with a DMA."""
        return tile_type_of(self) is AIETileType.ShimNOCTile  # type: ignore[arg-type]

    def is_shim_pl_tile(self) -> bool:
        """Whether it is an interface tile without a DMA."""
        return tile_type_of(self) is AIETileType.ShimPLTile  # type: ignore[arg-type]

    def is_shim_tile(self) -> bool:
        """Whether it is an interface tile."""
        return self.is_shim_noc_tile() or self.is_shim_pl_tile()


class TileOp(_TileLike, operation_class("aie.tile")):  # type: ignore[misc]
    """``aie.tile``."""

    def __lt__(self, other: Any) -> bool:
        return _place(self) < _place(other)

    def flows(
        self,
        filter_source: bool = False,
        filter_dest: bool = False,
        source_annot: str | None = None,
        dest_annot: str | None = None,
    ) -> list[Operation]:
        """The flows that begin or end here."""
        return find_matching_flows([self], filter_source, filter_dest, source_annot, dest_annot)

    def locks(self, sym_name: str | None = None, annot: str | None = None, device: Any = None) -> list[Value]:
        """The locks of the tile."""
        return find_matching_locks([self], sym_name, annot, device)

    def buffers(
        self, sym_name: str | None = None, annot: str | None = None, device: Any = None
    ) -> list[Value]:
        """The buffers of the tile."""
        return find_matching_buffers([self], sym_name, annot, device)


class LogicalTileOp(_TileLike, operation_class("aie.logical_tile")):  # type: ignore[misc]
    """``aie.logical_tile``."""


def tile(
    col: int, row: int, *, loc: object = None, ip: Any = None, allocation_scheme: str | None = None
) -> Any:
    """``aie.tile``."""
    return TileOp(col=col, row=row, allocation_scheme=allocation_scheme, ip=ip)


def logical_tile(
    tile_type: Any,
    *,
    col: int | None = None,
    row: int | None = None,
    allocation_scheme: str | None = None,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``aie.logical_tile``: a tile of a kind that the compiler places."""
    return LogicalTileOp(tile_type, col=col, row=row, allocation_scheme=allocation_scheme, ip=ip)


def _device(given: Any) -> Any:
    return given if given is not None else find_parent_of_type(lambda each: each.name == "aie.device")


def _has_annotation(operation: Operation, name: str, wanted: str | None) -> bool:
    found = operation.attributes.get(name)
    return wanted is None or (found is not None and wanted in found)  # type: ignore[operator]


def find_matching_flows(
    tiles: Sequence[Any],
    filter_source: bool = False,
    filter_dest: bool = False,
    source_annot: str | None = None,
    dest_annot: str | None = None,
    device: Any = None,
) -> list[Operation]:
    """Flows that begin or end at one of some tiles, in the order of their ends.

    Args:
        tiles: where a flow begins or ends.
        filter_source: it begins at one of them.
        filter_dest: it ends at one of them.
        source_annot: annotation at its beginning.
        dest_annot: annotation at its end.
        device: that is searched; default = the one around this place.

    Raises:
        ValueError: both ends are filtered.
    """
    if filter_source and filter_dest:
        raise ValueError("find_matching_flows filters by source or by dest, not by both")

    def matches(flow: Any) -> bool:
        if flow.name != "aie.flow":
            return False
        begins, ends = (end.owner in tiles for end in (flow.source, flow.dest))
        is_at = begins if filter_source else ends if filter_dest else begins or ends
        return (
            is_at
            and _has_annotation(flow, "source_annot", source_annot)
            and _has_annotation(flow, "dest_annot", dest_annot)
        )

    def order(flow: Any) -> tuple[int, ...]:
        source = (*_place(flow.source.owner), int(flow.source_bundle), int(flow.source_channel))
        return (*source, *_place(flow.dest.owner), int(flow.dest_bundle), int(flow.dest_channel))

    return sorted(find_ops(_device(device), matches), key=order)


def _found(
    name: str, tiles: Sequence[Any], sym_name: str | None, annot: str | None, device: Any
) -> list[Value]:
    def matches(operation: Any) -> bool:
        if operation.name != name or operation.tile.owner not in tiles:
            return False
        called = operation.attributes.get("sym_name")
        is_named = sym_name is None or (
            isinstance(called, StringAttr) and sym_name in (called.value, str(called))
        )
        return is_named and _has_annotation(operation, "annot", annot)

    found = [operation.result for operation in find_ops(_device(device), matches)]
    return sorted(found, key=lambda value: (*_place(value.owner.tile.owner), value.get_name()))


def find_matching_locks(
    tiles: Sequence[Any], sym_name: str | None = None, annot: str | None = None, device: Any = None
) -> list[Value]:
    """Locks of some tiles, by place and name."""
    return _found("aie.lock", tiles, sym_name, annot, device)


def find_matching_buffers(
    tiles: Sequence[Any], sym_name: str | None = None, annot: str | None = None, device: Any = None
) -> list[Value]:
    """Buffers of some tiles, by place and name."""
    return _found("aie.buffer", tiles, sym_name, annot, device)


@dataclass
class Neighbors:
    """The tiles beside one; None where the design has none.

    Attributes:
        north: above it.
        west: left of it.
        south: below it.
    """

    north: Any = None
    west: Any = None
    south: Any = None


def find_neighbors(tile: Any, device: Any = None, logical: bool = True) -> Neighbors:
    """The tiles of the design beside one.

    Args:
        tile: whose neighbours they are.
        device: that is searched; default = the one around this place.
        logical: those whose memory it reaches; else those that lie beside it.
    """
    device = _device(device)
    model = get_target_model(device.attributes["device"]).device
    column, row = _place(tile)
    reached = model.compute_rows if logical else range(model.rows)
    places = {}
    if column > 0 and row > 0 and (row not in model.memory_rows or column > 1):
        places[column - 1, row] = "west"
    if row in reached and row - 1 in reached:
        places[column, row - 1] = "south"
    if row in reached and row + 1 in reached and row > 0:
        places[column, row + 1] = "north"
    return Neighbors(
        **{
            places[_place(each)]: each
            for each in find_ops(device, lambda each: each.name == "aie.tile" and _place(each) in places)
        }
    )


def _asked(method: str) -> Callable[[Any], bool]:
    def ask(tile: Any) -> bool:
        return bool(getattr(tile, method)())

    ask.__name__ = f"tile_like_{method}"
    return ask


tile_like_is_core_tile, tile_like_is_mem_tile, tile_like_is_shim_noc_tile, tile_like_is_shim_pl_tile = map(
    _asked, ("is_core_tile", "is_mem_tile", "is_shim_noc_tile", "is_shim_pl_tile")
)
tile_like_is_shim_tile = _asked("is_shim_tile")

__all__ = [
    "LogicalTileOp",
    "Neighbors",
    "TileOp",
    "find_matching_buffers",
    "find_matching_flows",
    "find_matching_locks",
    "find_neighbors",
    "logical_tile",
    "tile",
    "tile_like_is_core_tile",
    "tile_like_is_mem_tile",
    "tile_like_is_shim_noc_tile",
    "tile_like_is_shim_pl_tile",
    "tile_like_is_shim_tile",
]
