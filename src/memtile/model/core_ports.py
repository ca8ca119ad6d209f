"""The address generators of a core: two loads and one store per step, arbitrated in the banks (AM020 ch. 4).

A 256-bit access asks both banks of a pair, a scalar one asks one bank; a store below 32 bit reads, then
writes its bank (DEV-CORE-2). All parts of a step must be granted before the next step begins; what was
granted is kept (DEV-CORE-1).
"""

from __future__ import annotations

from enum import IntEnum

from memtile.arch.core import CORE, SIDES, VECTOR_BANKS, WINDOW_WORDS
from memtile.arch.tiles import GRANULE_WORDS, WORD_BYTES
from memtile.model import banks
from memtile.model.jit import jit
from memtile.model.state import CORE_REQUESTS, Spec, State
from memtile.model.states import CoreCause

_SHIFT = WINDOW_WORDS.bit_length() - 1
_FIRST_WINDOW = CORE.memory_windows[SIDES[0]] // WORD_BYTES >> _SHIFT
_PORTS = CORE.ports
_RUNNING, _BANK, _BUSY = int(CoreCause.RUNNING), int(CoreCause.BANK_CONFLICT), int(CoreCause.MEMORY_BUSY)


class CoreMode(IntEnum):
    """What an address generator does in a step."""

    NONE = 0
    WORD = 1  # load of any scalar, store of a 32-bit one
    VECTOR = 2
    UPDATE = 3  # store of 8 or 16 bit: read-modify-write


_NONE, _VECTOR, _UPDATE = int(CoreMode.NONE), int(CoreMode.VECTOR), int(CoreMode.UPDATE)


@jit
def bank_seen(spec: Spec, st: State, core: int, word: int) -> int:
    """Bank of a word address as the core sees it; the address is one that it can reach."""
    tile = st.cores.tile[core]
    owner = spec.tiles.core_reach[tile, (word >> _SHIFT) - _FIRST_WINDOW]
    return banks.bank_of(spec, st, owner, word & (WINDOW_WORDS - 1))


@jit
def begin_step(spec: Spec, st: State, core: int) -> None:
    """Note the banks and grants that the accesses of the core's step need."""
    cores, step = st.cores, st.cores.step[core]
    for port in range(_PORTS):
        word, mode = st.accesses[core, step, port, 0], st.accesses[core, step, port, 1]
        for part in range(VECTOR_BANKS):
            slot = port * VECTOR_BANKS + part
            cores.wanted[core, slot] = 0
            if mode == _NONE or (part > 0 and mode != _VECTOR):
                continue
            cores.wanted[core, slot] = 2 if mode == _UPDATE else 1
            cores.bank[core, slot] = bank_seen(spec, st, core, word + part * GRANULE_WORDS)


@jit
def first_requester(st: State, core: int) -> int:
    """Number of the core's first part among the requesters of the banks."""
    return int(st.channels.phase.shape[0] + core * CORE_REQUESTS)


@jit
def ask(st: State, core: int) -> None:
    """Enter all parts that are still to be granted into their banks' arbitration."""
    first = first_requester(st, core)
    for slot in range(CORE_REQUESTS):
        if st.cores.wanted[core, slot] > 0 and not banks.busy(st, st.cores.bank[core, slot]):
            banks.bid(st, st.cores.bank[core, slot], first + slot)


@jit
def receive(st: State, core: int) -> bool:
    """Take the grants of this cycle, note what was lost; whether the step is over."""
    cores, first = st.cores, first_requester(st, core)
    left = 0
    for slot in range(CORE_REQUESTS):
        if cores.wanted[core, slot] == 0:
            continue
        if banks.busy(st, cores.bank[core, slot]):
            cores.why[core] = _BUSY
        elif banks.won(st, cores.bank[core, slot], first + slot):
            cores.wanted[core, slot] -= 1
        elif cores.why[core] == _RUNNING:
            cores.why[core] = _BANK
        left += cores.wanted[core, slot]
    return left == 0
