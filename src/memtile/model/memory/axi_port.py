"""The port of memory-mapped accesses to data memory: the ninth interface of a bank (AM020 chapter 5).

Hosts and control packets share it. What an access reads or writes it does between two cycles; from the next
one on its requests compete for the bank, two for each granule (DEV-ARB-2). The port takes no other access
before the last of them is served, so who comes next waits.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.memory import banks
from memtile.model.memory.banks import axi_port_of
from memtile.model.roster import wake_axi_port
from memtile.model.state.state import State

_NO_BANK = -1
REQUESTS = 2  # of an access: as often are its ECC events counted (DEV-ECC-7)


@inlined
def busy(st: State, tile: int) -> bool:
    """Whether the tile's port takes no access."""
    return bool(st.axi_ports.left[tile] > 0)


@jit
def begin(st: State, tile: int, word: int, words: int) -> None:
    """An access to tile-local words ``word``, ... of data memory asks for its banks from now on."""
    ports = st.axi_ports
    granule = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]
    ports.at[tile] = word
    ports.left[tile] = REQUESTS * ((word + words - 1) // granule - word // granule + 1)
    wake_axi_port(st, tile)


@jit
def ask(st: State) -> None:
    """Phase 2a: enter one request of each port into its bank's arbitration."""
    ports = st.axi_ports
    for slot in range(1, st.asking_axi[0] + 1):
        tile = st.asking_axi[slot]
        bank = banks.bank_of(st, tile, ports.at[tile])
        ports.bank[tile] = _NO_BANK
        if not banks.busy(st, bank):
            ports.bank[tile] = bank
            banks.bid(st, bank, axi_port_of(st, tile))


@jit
def receive(st: State) -> None:
    """Phase 2b: note the grants; a port that has no request left is free."""
    ports, roster = st.axi_ports, st.asking_axi
    kept = 0
    for slot in range(1, roster[0] + 1):
        tile = roster[slot]
        if ports.bank[tile] != _NO_BANK and banks.won(st, ports.bank[tile], axi_port_of(st, tile)):
            ports.served[tile] += 1
            ports.left[tile] -= 1
            if ports.left[tile] % REQUESTS == 0:
                ports.at[tile] += st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]
        if ports.left[tile] > 0:
            kept += 1
            roster[kept] = tile
        else:
            ports.active[tile] = 0
    roster[0] = kept


@jit
def serve_alone(st: State, until: int) -> None:
    """Cycles up to ``until`` at most, in which nobody else acts: as long as a port has requests."""
    while st.asking_axi[0] > 0 and st.clock.now[0] < until:
        ask(st)
        receive(st)
        st.clock.now[0] += 1
