"""The ECC scrubber: reads memory granule by granule and writes back what it could correct.

Each occurrence of the event that ECC_Scrubbing_Event selects starts a step of ``scrub_granules`` granules,
unless one is under way; the walk goes through all words with ECC and begins anew (DEV-ECC-5). An access bids
for its bank like those of the channels; a granule with something to correct takes a second one (DEV-ECC-6).
"""

from __future__ import annotations

from memtile.arch.protection import EVENT_TRUE
from memtile.jit.decorators import jit
from memtile.model.events.reports import raise_event
from memtile.model.memory import banks, ecc
from memtile.model.memory.banks import scrubber_of
from memtile.model.roster import wake_guard
from memtile.model.state.state import State

_NO_BANK = -1
_TRUE = EVENT_TRUE


@jit
def select(st: State, tile: int, event: int) -> None:
    """Act on a write to ECC_Scrubbing_Event."""
    st.guards.always[tile] = 1 if event == _TRUE else 0
    if event == _TRUE:
        wake_guard(st, tile)


@jit
def trigger(st: State, tile: int) -> None:
    """The selected event has occurred: a step begins with the next cycle."""
    if st.guards.left[tile] == 0 and st.spec.protections.ecc_words[st.spec.tiles.kind[tile]] > 0:
        st.guards.left[tile] = st.spec.timing.scrub_granules[0]
        st.guards.steps[tile] += 1
        wake_guard(st, tile)


@jit
def report_again(st: State, tile: int) -> None:
    """Raise what the last memory-mapped access has raised once more (DEV-ECC-7)."""
    if st.clock.now[0] < st.guards.again_at[tile]:
        return
    events, number = st.guards.again[tile], st.spec.protections.ecc_event[st.spec.tiles.kind[tile]]
    st.guards.again[tile] = 0
    while events:
        if events & 1:
            raise_event(st, tile, number)
        events >>= 1
        number += 1


@jit
def ask(st: State) -> None:
    """Phase 2a: enter the accesses of the scrubbers into their banks' arbitration."""
    guards = st.guards
    for slot in range(1, st.guarding[0] + 1):
        tile = st.guarding[slot]
        report_again(st, tile)
        guards.bank[tile] = _NO_BANK
        if guards.left[tile] == 0 and guards.always[tile] == 0:
            continue
        bank = banks.bank_of(st, tile, guards.at[tile])
        if not banks.busy(st, bank):
            guards.bank[tile] = bank
            banks.bid(st, bank, scrubber_of(st, tile))


@jit
def access(st: State, tile: int) -> None:
    """Make one access: read a granule, or write it back; the next one is due when nothing was wrong."""
    guards, kind = st.guards, st.spec.tiles.kind[tile]
    granule, wrong = st.spec.kinds.granule_words[kind], False
    if guards.inspected[tile] > 0:
        first = st.spec.tiles.memory_base[tile] + guards.at[tile]
        for word in range(first, first + granule):
            if ecc.scrub(st, tile, word, guards.repairs[tile] == 1):
                wrong = True
    if wrong and guards.repairs[tile] == 0:
        guards.repairs[tile] = 1
        return
    guards.repairs[tile] = 0
    guards.at[tile] = (guards.at[tile] + granule) % st.spec.protections.ecc_words[kind]
    if guards.left[tile] > 0:
        guards.left[tile] -= 1


@jit
def receive(st: State) -> None:
    """Phase 2b: make the accesses that were granted; drop the tiles whose step is over."""
    guards, roster = st.guards, st.guarding
    kept = 0
    for slot in range(1, roster[0] + 1):
        tile = roster[slot]
        bank = guards.bank[tile]
        if bank != _NO_BANK and banks.served(st, bank, scrubber_of(st, tile)):
            access(st, tile)
        busy = guards.left[tile] > 0 or guards.again[tile] != 0
        if busy:
            st.clock.activity[0] += 1
        if busy or guards.always[tile] == 1:
            kept += 1
            roster[kept] = tile
        else:
            guards.active[tile] = 0
    roster[0] = kept


@jit
def skip(st: State, until: int) -> None:
    """Let the scrubbers work up to cycle ``until``, while no other requester asks for a bank."""
    now = st.clock.now[0]
    for cycle in range(now, until):
        st.clock.now[0] = cycle
        ask(st)
        receive(st)
    st.clock.now[0] = now
