"""DMA windows: which tile an address or lock id names, and whether the channel may go there (AM020 table 12).

Own memory and locks are reachable by all channels; a neighbour's only by channels 0-3, only if there is one
(DEV-NBR-1), and only if the neighbour does not isolate itself from that side (DEV-ISO-1).
"""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.jit.decorators import inlined, jit
from memtile.model.state.state import State

NOWHERE = -1
WEST, OWN, EAST = 0, 1, 2  # columns of Tiles.neighbour and Memories.reach
_SIDES = 3
_TILE_CONTROL = register_named("memory_tile", "Tile_Control")
_FROM_WEST = _TILE_CONTROL.field("Isolate_From_West").mask
_FROM_EAST = _TILE_CONTROL.field("Isolate_From_East").mask


@jit
def set_isolation(st: State, tile: int, control: int) -> None:
    """Act on a write to Tile_Control: the neighbours reach ``tile``, or they no longer do."""
    west, east = st.spec.tiles.neighbour[tile, WEST], st.spec.tiles.neighbour[tile, EAST]
    if west >= 0:
        st.memories.reach[west, EAST] = NOWHERE if control & _FROM_WEST else tile
    if east >= 0:
        st.memories.reach[east, WEST] = NOWHERE if control & _FROM_EAST else tile


@inlined
def reach(st: State, tile: int, number: int, window: int) -> int:
    """Tile behind DMA window ``window`` for channel ``number``, or -1."""
    kind = st.spec.tiles.kind[tile]
    side = window + st.spec.kinds.first_window[kind]
    if side >= _SIDES:
        return NOWHERE
    owner = st.memories.reach[tile, side]
    if owner != tile and number >= st.spec.kinds.neighbour_channels[kind]:
        return NOWHERE
    return int(owner)


@inlined
def memory_owner(st: State, tile: int, number: int, address: int) -> int:
    """Tile whose memory holds DMA word address ``address``, or -1 when the channel cannot reach it."""
    if address < 0:
        return NOWHERE
    return reach(st, tile, number, address >> st.spec.kinds.memory_shift[st.spec.tiles.kind[tile]])
