"""``aie.iron.runtime.endpoint``: the host at one end of an object FIFO."""

from __future__ import annotations

from memtile.iron.dataflow.endpoint import ObjectFifoEndpoint
from memtile.iron.device import AnyShimTile, Tile
from memtile.iron.ops.enums import AIETileType


class RuntimeEndpoint(ObjectFifoEndpoint):
    """The host, by an interface tile.

    Args:
        tile: default = any.

    Raises:
        ValueError: it is no interface tile.
    """

    def __init__(self, tile: Tile | None = None) -> None:
        tile = AnyShimTile if tile is None else tile
        kind = AIETileType.ShimNOCTile if tile.tile_type is None else tile.tile_type
        if kind not in (AIETileType.ShimNOCTile, AIETileType.ShimPLTile):
            raise ValueError(
                f"RuntimeEndpoint requires a shim tile, where the host fills and drains, not {tile}"
            )
        super().__init__(tile.with_type(kind))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuntimeEndpoint):
            return False
        return (self.tile.col, self.tile.row) == (other.tile.col, other.tile.row)

    def __hash__(self) -> int:
        return hash((self.tile.col, self.tile.row))

    def __str__(self) -> str:
        return f"the host at {self.tile}"
