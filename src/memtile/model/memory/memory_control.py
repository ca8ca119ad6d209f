"""Memory_Control: bank interleaving and zeroisation (AM025 Memory_Control; AM020 memory tile memory).

Interleaved, consecutive granules of the size of an access go to consecutive banks; linear, each bank is one
block. Zeroisation owns the banks for a time nobody has published (timing constant ``zeroisation``); hardware
then clears the request bit.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.dma.channel_registers import INTERLEAVE_MASK, ZEROISE_MASK
from memtile.model.memory import ecc
from memtile.model.roster import append
from memtile.model.state.state import State

NEVER = -1  # of Memories.busy_until: no zeroisation


@jit
def log2(value: int) -> int:
    """Exponent of a power of two."""
    exponent = 0
    while (1 << exponent) < value:
        exponent += 1
    return exponent


@jit
def set_interleaving(st: State, tile: int, control: int) -> None:
    """Choose how word addresses spread over the banks of a memory tile."""
    if control & INTERLEAVE_MASK:
        st.memories.shift[tile] = log2(st.spec.kinds.granule_words[st.spec.tiles.kind[tile]])
    else:
        st.memories.shift[tile] = log2(st.spec.tiles.memory_words[tile] // st.spec.tiles.banks[tile])


@jit
def write_control(st: State, tile: int, register: int) -> None:
    """Act on a write to Memory_Control; the register already holds the new value (DEV-MEM-3)."""
    control = st.registers[register]
    if st.spec.kinds.interleaves[st.spec.tiles.kind[tile]]:
        set_interleaving(st, tile, control)
    if st.memories.busy_until[tile] != NEVER:
        st.registers[register] |= ZEROISE_MASK  # only the end of zeroisation clears the bit
    elif control & ZEROISE_MASK:
        zeroise(st, tile, register)


@jit
def zeroise(st: State, tile: int, register: int) -> None:
    """Clear the memory; its banks are busy for a time."""
    st.memories.busy_until[tile] = st.clock.now[0] + st.spec.timing.zeroisation[0]
    st.memories.control[tile] = register
    append(st.zeroising, tile)
    first = st.spec.tiles.memory_base[tile]
    for word in range(first, first + st.spec.tiles.memory_words[tile]):
        st.memory[word] = 0
    if st.guards.inspected[tile] > 0:
        ecc.overwritten(st, tile, first, st.spec.tiles.memory_words[tile])
        notes.filled(st, first, st.spec.tiles.memory_words[tile])


@jit
def finish_zeroisation(st: State) -> None:
    """Give the banks back and clear the request bit when the time is over."""
    roster = st.zeroising
    kept = 0
    for slot in range(1, roster[0] + 1):
        tile = roster[slot]
        if st.clock.now[0] >= st.memories.busy_until[tile]:
            st.memories.busy_until[tile] = NEVER
            st.registers[st.memories.control[tile]] &= ~ZEROISE_MASK
            st.clock.activity[0] += 1
        else:
            kept += 1
            roster[kept] = tile
    roster[0] = kept


@jit
def zeroisation_end(st: State) -> int:
    """Earliest cycle in which some zeroisation ends, or -1."""
    earliest = NEVER
    for slot in range(1, st.zeroising[0] + 1):
        at = st.memories.busy_until[st.zeroising[slot]]
        if earliest == NEVER or at < earliest:
            earliest = at
    return int(earliest)
