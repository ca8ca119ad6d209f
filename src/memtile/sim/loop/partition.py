"""What firmware does to a partition before a design runs: clocks on, inner edges open (AM020, boot).

After reset the columns have no clock (DEV-CLK-1) and every tile isolates itself from all sides (DEV-REG-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from memtile.arch.register_map import register_named, tile_register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, kinds_of
from memtile.errors import Problem
from memtile.jit.tables import plain
from memtile.model import column_clock
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.memory import neighbours
from memtile.model.state.event_columns import EAST, SIDES, WEST
from memtile.model.state.rows import words_of
from memtile.model.state.state import Spec, State
from memtile.model.state.tile_columns import OUTSIDE, Placed
from memtile.sim.doors.tile_door import Door

_CONTROL = register_named("memory_tile", "Tile_Control")
_CLOCK = register_named("pl", "Column_Clock_Control")
_RESET = register_named("pl", "AIE_Tile_Column_Reset")
_FROM = tuple(_CONTROL.field(f"Isolate_From_{side}") for side in ("South", "West", "North", "East"))


def unmodelled(placed: Sequence[Placed]) -> Iterator[Problem]:
    """The tiles that no model can have: those of another generation than the first."""
    first = TILE_KINDS[placed[0].name].generation
    for tile, (name, *_) in enumerate(placed):
        where = f"model, tile {tile}"
        if TILE_KINDS[name].generation != first:
            yield Problem(
                "kind",
                name,
                f"one of {', '.join(kinds_of(first))}",
                reason="generation",
                where=where,
                source=f"tile 0 is of {first}",
            )


def stop_clocks(spec: Spec, door: Callable[[int], Door]) -> None:
    """Take the clock of all columns that have an interface tile: so they are after reset."""
    for tile, kind in enumerate(plain(spec.tiles).kind.tolist()):
        if TILE_KINDS[KIND_NAMES[kind]].role == "interface":
            door(tile).write32(_CLOCK.offset, _CLOCK.pack(Clock_Buffer_Enable=0))


def restart(state: State, door: Callable[[int], Door]) -> None:
    """Reset all tiles, as the driver resets a partition, and open it again; the clocks run on.

    What memory tiles hold is put back: it outlives a load (DEV-PDI-1).

    Args:
        state: of the model, with all cycles booked.
        door: the memory-mapped AXI4 port of a tile.
    """
    roles = [TILE_KINDS[KIND_NAMES[kind]].role for kind in plain(state.spec.tiles).kind]
    memories = [tile for tile, role in enumerate(roles) if role == "memory"]
    kept = {tile: state.memory[words_of(state.spec, tile)].copy() for tile in memories}
    for tile in column_clock.interfaces(state.spec).tolist():
        column_clock.reset_interface(state, tile)
        for register, value in (
            (_CLOCK, _CLOCK.pack(Clock_Buffer_Enable=1)),
            (_RESET, _RESET.pack(Reset=1)),
            (_RESET, 0),
        ):
            door(tile).write32(register.offset, value)
            column_clock.follow(state)
    open_partition(state.spec, door)
    for tile, words in kept.items():
        used = words.nonzero()[0]
        if len(used):
            first, last = int(used[0]), int(used[-1]) + 1
            door(tile).block_write32(first * WORD_BYTES, words[first:last])


def open_partition(spec: Spec, door: Callable[[int], Door]) -> None:
    """Let every tile answer and hear the tiles around it that the model has; the clocks of the model are on.

    What is beside the partition lets the partition in and is not let in itself (DEV-NBR-1).

    Args:
        door: the memory-mapped AXI4 port of a tile.
    """
    tiles, nodes = plain(spec.tiles), plain(spec.nodes)
    inner = np.zeros((len(tiles.kind), SIDES), dtype=bool)
    for side, window in ((WEST, neighbours.WEST), (EAST, neighbours.EAST)):
        beside = tiles.neighbour[:, window]
        inner[:, side] = (beside >= 0) & (tiles.column[beside] != OUTSIDE)
    for node, tile in enumerate(nodes.tile.tolist()):
        inner[tile] |= (nodes.link[node] >= 0) & (nodes.tile[nodes.link[node]] != tile)
    for tile, sides in enumerate(inner):
        control = tile_register(KIND_NAMES[tiles.kind[tile]], "Tile_Control")
        opened = sum(bit.mask for bit, open_ in zip(_FROM, sides, strict=True) if open_)
        door(tile).write32(control.offset, control.reset & ~opened)
