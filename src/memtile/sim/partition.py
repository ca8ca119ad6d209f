"""What firmware does to a partition before a design runs: its inner edges are opened (AM020, boot).

After reset every tile isolates itself from all sides (DEV-REG-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.tiles import TILE_KINDS
from memtile.errors import Problem
from memtile.model.bd_fields import KIND_NAMES
from memtile.model.construct import Placed
from memtile.model.state import Spec, plain
from memtile.model.windows import EAST, WEST
from memtile.sim.door import Door

_CONTROL = register_named("memory_tile", "Tile_Control")
_FROM = {WEST: _CONTROL.field("Isolate_From_West"), EAST: _CONTROL.field("Isolate_From_East")}

_UNMODELLED = ("interface_v2",)  # DEV-V2-9


def unmodelled(placed: Iterable[Placed]) -> Iterator[Problem]:
    """The tiles whose kind has register tables but no model."""
    for tile, (name, *_) in enumerate(placed):
        if name in _UNMODELLED:
            allowed = ", ".join(kind for kind in TILE_KINDS if kind not in _UNMODELLED)
            why = "its DMA differs and is not modelled: DEV-V2-9"
            yield Problem("tile", f"model, tile {tile}", "kind", name, allowed, why)


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
                name = KIND_NAMES[tiles.kind[tile]]
                control = register_named(TILE_MODULES[name][0], "Tile_Control")
                door(tile).mask_write32(control.offset, bit.mask, 0)
