"""The address generators of a core: two loads and one store per step, arbitrated in the banks (AM020 ch. 4).

A vector access asks both banks of a pair, a scalar one asks one bank; a store below 32 bit reads, then
writes its bank (DEV-CORE-2). All parts of a step must be granted before the next step begins; what was
granted is kept (DEV-CORE-1).
"""

from __future__ import annotations

from enum import IntEnum

from memtile.arch.core import CORE, SIDES, VECTOR_BANKS, WINDOW_WORDS
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.memory import banks, watchpoints
from memtile.model.memory.banks import core_access
from memtile.model.state.causes import CoreCause
from memtile.model.state.columns import CORE_REQUESTS
from memtile.model.state.memory import AccessOrigin
from memtile.model.state.state import State

_SHIFT = WINDOW_WORDS.bit_length() - 1
_FIRST_WINDOW = CORE.memory_windows[SIDES[0]] // WORD_BYTES >> _SHIFT
_PORTS, _LOADS = CORE.ports, CORE.loads
_SEEN_FROM = {
    "south": AccessOrigin.NORTH,
    "west": AccessOrigin.EAST,
    "north": AccessOrigin.SOUTH,
    "own": AccessOrigin.WEST,
}
_ORIGINS = tuple(int(_SEEN_FROM[side]) for side in SIDES)  # of a core, as the memory on its side sees it


class CoreMode(IntEnum):
    """What an address generator does in a step."""

    NONE = 0
    WORD = 1  # load of any scalar, store of a 32-bit one
    VECTOR = 2
    UPDATE = 3  # store of 8 or 16 bit: read-modify-write


@jit
def begin_step(st: State, core: int) -> None:
    """Note the banks and grants that the accesses of the core's step need; all are within its reach."""
    cores, step, tile = st.cores, st.cores.step[core], st.cores.tile[core]
    granule_words = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]
    for port in range(_PORTS):
        first, mode = st.accesses[core, step, port, 0], st.accesses[core, step, port, 1]
        for part in range(VECTOR_BANKS):
            slot = port * VECTOR_BANKS + part
            cores.wanted[core, slot] = 0
            if mode == CoreMode.NONE or (part > 0 and mode != CoreMode.VECTOR):
                continue
            cores.wanted[core, slot] = 2 if mode == CoreMode.UPDATE else 1
            word = first + part * granule_words
            owner = st.spec.tiles.core_reach[tile, (word >> _SHIFT) - _FIRST_WINDOW]
            cores.bank[core, slot] = banks.bank_of(st, owner, word & (WINDOW_WORDS - 1))


@jit
def ask(st: State, core: int) -> None:
    """Enter all parts that are still to be granted into their banks' arbitration."""
    if st.cores.begun[core] == 0:
        st.cores.begun[core] = 1
        begin_step(st, core)
    first = core_access(st, core)
    for slot in range(CORE_REQUESTS):
        if st.cores.wanted[core, slot] > 0 and not banks.busy(st, st.cores.bank[core, slot]):
            banks.bid(st, st.cores.bank[core, slot], first + slot)


@jit
def show(st: State, core: int, slot: int) -> None:
    """Show an access that was granted to the watchpoints of its tile."""
    cores, step, tile = st.cores, st.cores.step[core], st.cores.tile[core]
    port, part = slot // VECTOR_BANKS, slot % VECTOR_BANKS
    vector = st.accesses[core, step, port, 1] == CoreMode.VECTOR
    words = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]] if vector else 1
    word = st.accesses[core, step, port, 0] + part * words
    side = (word >> _SHIFT) - _FIRST_WINDOW
    writes = port >= _LOADS and cores.wanted[core, slot] == 1  # the first grant of an update reads
    owner = st.spec.tiles.core_reach[tile, side]
    watchpoints.see(st, owner, word & (WINDOW_WORDS - 1), words, _ORIGINS[side], writes)


@jit
def stalled_side(st: State, core: int) -> int:
    """Number in ``SIDES`` of the first access of the core's step that is still to be granted."""
    cores = st.cores
    for slot in range(CORE_REQUESTS):
        if cores.wanted[core, slot] > 0:
            word = st.accesses[core, cores.step[core], slot // VECTOR_BANKS, 0]
            return int((word >> _SHIFT) - _FIRST_WINDOW)
    return len(_ORIGINS) - 1


@jit
def receive(st: State, core: int) -> None:
    """Take the grants of this cycle, note what was lost; the next step is due when none is left."""
    cores, first = st.cores, core_access(st, core)
    left = 0
    for slot in range(CORE_REQUESTS):
        if cores.wanted[core, slot] == 0:
            continue
        if banks.busy(st, cores.bank[core, slot]):
            cores.why[core] = CoreCause.MEMORY_BUSY
        elif banks.won(st, cores.bank[core, slot], first + slot):
            if st.memories.watched[st.banks.tile[cores.bank[core, slot]]] > 0:
                show(st, core, slot)
            cores.wanted[core, slot] -= 1
        elif cores.why[core] == CoreCause.RUNNING:
            cores.why[core] = CoreCause.BANK_CONFLICT
        left += cores.wanted[core, slot]
    if left == 0:
        cores.begun[core] = 0
        cores.step[core] += 1
