"""Single-port memory banks: which bank an address is in, and who gets it this cycle (AM020 chapter 5).

One access per bank and cycle, read or write. Each bank has one round-robin arbiter; a loser asks again in the
next cycle. The policy among requester classes is not public: plain round robin over all requesters is assumed
(DEV-ARB-1, DEV-V2-10). Which bank an address is in: DEV-MEM-1, DEV-MEM-2.

Arbiters know those who compete for a bank or a lock by their numbers alone. Banks: the channels, then the
parts of each core's accesses, the scrubber of each tile, the interfaces of each tile to its neighbours'
banks, and its port of memory-mapped accesses. What reaches a bank from another tile has the number of its
interface, whichever channel uses it. Locks: the channels, then the cores. Numbers are array-wide, like the
rows of the tables.
"""

from __future__ import annotations

from memtile.arch.timing import Unlimited
from memtile.jit.decorators import inlined
from memtile.model.state.columns import CORE_REQUESTS
from memtile.model.state.state import State

_FOR_ALL = int(Unlimited.BANKS)
_LATER = 1 << 40  # above every number of requesters


@inlined
def rank(requester: int, turn: int) -> int:
    """The place of a requester: 0 when it is its turn, the ones before it come last; the lowest wins."""
    ahead = requester - turn
    return ahead + _LATER if ahead < 0 else ahead


@inlined
def bank_of(st: State, tile: int, word: int) -> int:
    """Global bank index of tile-local word ``word``, interleaved or linear as the tile is set."""
    memory = st.memories
    group = (word >> memory.group_shift[tile]) & memory.group_mask[tile]
    within = (word >> memory.shift[tile]) & memory.mask[tile]
    return int(st.spec.tiles.bank_base[tile] + group * memory.group_banks[tile] + within)


@inlined
def busy(st: State, bank: int) -> bool:
    """Whether zeroisation owns the bank in this cycle."""
    return bool(st.clock.now[0] < st.memories.busy_until[st.banks.tile[bank]])


@inlined
def bid(st: State, bank: int, requester: int) -> None:
    """Enter a request of this cycle into the bank's arbitration."""
    now, place = st.clock.now[0], rank(requester, st.banks.turn[bank])
    if st.banks.stamp[bank] == now:
        st.banks.conflict[bank] = now
    if st.banks.stamp[bank] != now or place < st.banks.best[bank]:
        st.banks.stamp[bank] = now
        st.banks.best[bank] = place
        st.banks.winner[bank] = requester


@inlined
def holds(st: State, bank: int, requester: int) -> bool:
    """Whether the requester has the bank in this cycle."""
    return bool(st.banks.winner[bank] == requester or st.spec.timing.unlimited[0] & _FOR_ALL)


@inlined
def served(st: State, bank: int, requester: int) -> bool:
    """Move the turn on past the requester if it has the bank; this alone keeps no cycle from being quiet."""
    if not holds(st, bank, requester):
        return False
    st.banks.turn[bank] = requester + 1
    return True


@inlined
def won(st: State, bank: int, requester: int) -> bool:
    """Whether the requester got the bank it asked for; it is then served last next time."""
    if not served(st, bank, requester):
        return False
    st.clock.activity[0] = 1
    return True


@inlined
def request(st: State, ch: int) -> None:
    """Enter the channel's request of this cycle into its bank's arbitration."""
    st.granules.requester[ch] = ch
    bid(st, st.granules.port_bank[ch], ch)


@inlined
def request_through(st: State, ch: int, requester: int) -> None:
    """Enter the channel's request through the interface to a neighbour, whose number is ``requester``."""
    st.granules.requester[ch] = requester
    bid(st, st.granules.port_bank[ch], requester)


@inlined
def granted(st: State, ch: int) -> bool:
    """Whether the channel won the bank it asked for."""
    return won(st, st.granules.port_bank[ch], st.granules.requester[ch])


@inlined
def core_access(st: State, core: int) -> int:
    """Requester of the first of the ``CORE_REQUESTS`` parts of a core's accesses, at the banks."""
    return int(st.channels.phase.shape[0] + core * CORE_REQUESTS)


@inlined
def scrubber_of(st: State, tile: int) -> int:
    """Requester of the scrubber of a tile, at the banks."""
    return int(st.channels.phase.shape[0] + st.cores.tile.shape[0] * CORE_REQUESTS + tile)


@inlined
def interface_of(st: State, interface: int) -> int:
    """Requester of an interface to a neighbour, at the banks of that neighbour."""
    return int(scrubber_of(st, st.guards.at.shape[0]) + interface)


@inlined
def axi_port_of(st: State, tile: int) -> int:
    """Requester of a tile's port for memory-mapped accesses, at its banks."""
    return int(interface_of(st, st.interfaces.turn.shape[0]) + tile)


@inlined
def core_lock(st: State, core: int) -> int:
    """Requester of a core, at the locks."""
    return int(st.channels.phase.shape[0] + core)


@inlined
def core_of_lock(st: State, requester: int) -> int:
    """The core of a requester at the locks, negative if it is a channel."""
    return int(requester - st.channels.phase.shape[0])
