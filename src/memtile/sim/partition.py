"""What firmware does to a partition before a design runs: its inner edges are opened (AM020, boot).

After reset every tile isolates itself from all sides (DEV-REG-1).
"""

from __future__ import annotations

from collections.abc import Callable

from memtile.arch.register_map import register_named
from memtile.model.state import Spec, plain
from memtile.model.windows import EAST, WEST
from memtile.sim.door import Door

_CONTROL = register_named("memory_tile", "Tile_Control")
_FROM = {WEST: _CONTROL.field("Isolate_From_West"), EAST: _CONTROL.field("Isolate_From_East")}


def open_partition(spec: Spec, door: Callable[[int], Door]) -> None:
    """Let every memory tile of the model answer the neighbours that the model has.

    Args:
        spec: fixed tables of the model.
        door: the memory-mapped AXI4 port of a tile.
    """
    tiles, kinds = plain(spec.tiles), plain(spec.kinds)
    shared = kinds.neighbour_channels[tiles.kind] > 0
    for tile in shared.nonzero()[0].tolist():
        for side, bit in _FROM.items():
            if tiles.neighbour[tile, side] >= 0:
                door(tile).mask_write32(_CONTROL.offset, bit.mask, 0)
