"""The interfaces to the neighbours: one 128-bit access a cycle per side and direction (DEV-ARB-3).

Channels 0-3 of a direction share the interface to the west and the one to the east. An access wins its
interface first; then the interface competes for the bank like any other requester, one for all of its
channels, and if it loses there, nobody uses it in that cycle. The channel after the last one served comes
first. An access asks ``neighbour_latency`` cycles later than one to the channel's own memory would
(DEV-NBR-2); one access of a channel is on its way at a time.

It also has DMA windows: which tile an address or lock id names, and whether the channel may go there (AM020
table 12).

Own memory and locks are reachable by all channels; a neighbour's only by channels 0-3, only if there is one
(DEV-NBR-1), and only if the neighbour does not isolate itself from that side (DEV-ISO-1).
"""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.arch.timing import Unlimited
from memtile.jit.decorators import inlined, jit
from memtile.model.memory import banks
from memtile.model.memory.banks import interface_of, rank
from memtile.model.roster import append
from memtile.model.state.causes import Cause
from memtile.model.state.memory import INTERFACES
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


_PER_DIRECTION = 2
_AT_ONCE = int(Unlimited.NEIGHBOURS)


@jit
def interface_to(st: State, ch: int, owner: int) -> int:
    """The interface through which the channel reaches tile ``owner``, a neighbour."""
    tile = st.channels.tile[ch]
    east = 0 if st.spec.tiles.neighbour[tile, WEST] == owner else 1
    return int(tile * INTERFACES + st.channels.direction[ch] * _PER_DIRECTION + east)


@jit
def ask(st: State, ch: int, owner: int, bank: int) -> None:
    """Enter an access to ``bank`` of the neighbour ``owner`` into its interface's arbitration."""
    now = st.clock.now[0]
    if st.spec.timing.unlimited[0] & _AT_ONCE:
        st.granules.port_bank[ch] = bank
        banks.request(st, ch)
        return
    st.channels.fetch_why[ch] = Cause.NEIGHBOUR_BUSY
    if now < st.granules.since[ch] + st.spec.timing.neighbour_latency[0]:
        st.clock.activity[0] += 1
        return
    st.granules.guest_bank[ch] = bank
    interface = interface_to(st, ch, owner)
    table = st.interfaces
    place = rank(ch, table.turn[interface])
    if table.stamp[interface] != now:
        table.stamp[interface] = now
        append(st.asked_interfaces, interface)
    elif place >= table.best[interface]:
        return
    table.best[interface] = place
    table.winner[interface] = ch


@jit
def arbitrate(st: State) -> None:
    """Let the winner of each interface ask its bank, and move the turn on where the bank serves it."""
    asked, table, g = st.asked_interfaces, st.interfaces, st.granules
    for slot in range(1, asked[0] + 1):
        ch = table.winner[asked[slot]]
        st.channels.fetch_why[ch] = Cause.BD_SWITCH
        g.port_bank[ch] = g.guest_bank[ch]
        banks.request_through(st, ch, interface_of(st, asked[slot]))
    for slot in range(1, asked[0] + 1):
        interface = asked[slot]
        ch = table.winner[interface]
        if banks.holds(st, g.port_bank[ch], interface_of(st, interface)):
            table.turn[interface] = ch + 1
            table.served[interface] += 1
    asked[0] = 0
