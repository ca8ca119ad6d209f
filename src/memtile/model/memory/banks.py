"""Single-port memory banks: which bank an address is in, and who gets it this cycle (AM020 chapter 5).

One access per bank and cycle, read or write. Each bank has one round-robin arbiter; a loser asks again in the
next cycle. The policy among requester classes is not public: plain round robin over all requesters is
assumed (DEV-ARB-1, DEV-V2-10). Which bank an address is in: DEV-MEM-1, DEV-MEM-2.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.round_robin import rank
from memtile.model.state.state import State


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
    return bool(st.banks.winner[bank] == requester)


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
