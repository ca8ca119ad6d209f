"""The interfaces to the neighbours: one 128-bit access a cycle per side and direction (DEV-ARB-3).

Channels 0-3 of a direction share the interface to the west and the one to the east. An access wins its
interface first; then the interface competes for the bank like any other requester, one for all of its
channels, and if it loses there, nobody uses it in that cycle. The channel after the last one served comes
first. An access asks ``neighbour_latency`` cycles later than one to the channel's own memory would
(DEV-NBR-2); one access of a channel is on its way at a time.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.memory import banks
from memtile.model.memory.requesters import interface_of
from memtile.model.memory.windows import WEST
from memtile.model.roster import append
from memtile.model.round_robin import rank
from memtile.model.state.causes import Cause
from memtile.model.state.memory import INTERFACES
from memtile.model.state.state import State

_PER_DIRECTION = 2


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
