"""What firmware does to a partition before a design runs: clocks on, inner edges open (AM020, boot).

After reset the columns have no clock (DEV-CLK-1) and every tile isolates itself from all sides (DEV-REG-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.tiles import TILE_KINDS, kinds_of
from memtile.errors import Problem
from memtile.model.bd_fields import KIND_NAMES
from memtile.model.construct import Placed
from memtile.model.state import Spec, plain
from memtile.model.windows import EAST, WEST
from memtile.sim.door import Door

_CONTROL = register_named("memory_tile", "Tile_Control")
_CLOCK = register_named("pl", "Column_Clock_Control")
_FROM = {WEST: _CONTROL.field("Isolate_From_West"), EAST: _CONTROL.field("Isolate_From_East")}

UNMODELLED = ("interface_v2",)  # DEV-V2-9


def unmodelled(placed: Sequence[Placed]) -> Iterator[Problem]:
    """The tiles that no model can have: those without one, and those of another generation than the first."""
    first = TILE_KINDS[placed[0].name].generation
    for tile, (name, *_) in enumerate(placed):
        where = f"model, tile {tile}"
        if name in UNMODELLED:
            allowed = ", ".join(kind for kind in TILE_KINDS if kind not in UNMODELLED)
            why = "its DMA differs and is not modelled: DEV-V2-9"
            yield Problem("tile", where, "kind", name, allowed, why)
        elif TILE_KINDS[name].generation != first:
            allowed = ", ".join(kinds_of(first))
            yield Problem("generation", where, "kind", name, allowed, f"tile 0 is of {first}")


def stop_clocks(spec: Spec, door: Callable[[int], Door]) -> None:
    """Take the clock of all columns that have an interface tile: so they are after reset."""
    for tile, kind in enumerate(plain(spec.tiles).kind.tolist()):
        if TILE_KINDS[KIND_NAMES[kind]].role == "interface":
            door(tile).write32(_CLOCK.offset, _CLOCK.pack(Clock_Buffer_Enable=0))


def open_partition(spec: Spec, door: Callable[[int], Door]) -> None:
    """Let every memory tile answer the neighbours that the model has; the clocks of the model are on.

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
