"""The picture of an array for notebooks, as SVG: its tiles, what they are used for, and where streams go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtile.explain.tile_map import MapTile, Place, tile_map

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.design.tile import Tile


def array_svg(array: Array) -> str:
    """Return the array as SVG, columns from left to right, row 0 at the bottom.

    Tiles that the design uses are filled; a line is a stream from its source to one of its targets. In
    a small design pointing at a tile shows its kernel and buffers.
    """
    kernels = _kernels(array)
    tiles = {
        tile.place: MapTile(tile.kind.role, 1.0, "\n".join(_inside(tile, kernels.get(tile.place, ""))))
        for tile in array.tiles
        if tile.place is not None and _is_used(tile)
    }
    return tile_map(array.columns, array.rows, tiles, _ways(array))


def _is_used(tile: Tile) -> bool:
    return bool(tile.buffers or tile.locks or any(c.started for c in (*tile.s2mm, *tile.mm2s)))


def _kernels(array: Array) -> dict[Place, str]:
    tiles, owners = array.engine.spec.tiles, array.engine.state.cores.tile
    return {
        (int(tiles.column[owners[core]]), int(tiles.row[owners[core]])): running.kernel
        for core, running in array.engine.cores.running.items()
    }


def _inside(tile: Tile, kernel: str) -> Iterator[str]:
    """What a tile is used for: its kernel, its bytes, its buffers."""
    yield "({},{}) {}".format(*(tile.place or ()), tile.kind.role)
    if kernel:
        yield kernel
    if tile.buffers:
        yield f"{sum(buffer.nbytes for buffer in tile.buffers):,} bytes"
    yield from (f"{buffer.name}: {buffer.nbytes:,} bytes" for buffer in tile.buffers)


def _ways(array: Array) -> Iterator[tuple[Place, Place]]:
    for demand in array.circuits.trees:
        source = demand.source.column, demand.source.row
        yield from ((source, (target.column, target.row)) for target in demand.targets)
