"""Memory_Control: bank interleaving and zeroisation (AM025 Memory_Control; AM020 memory tile memory).

Interleaved, consecutive 128-bit granules go to consecutive banks; linear, each bank is one block. Zeroisation
owns the banks for a time nobody has published (timing constant ``zeroisation``); hardware then clears the
request bit.
"""

from __future__ import annotations

from memtile.arch.tiles import GRANULE_WORDS
from memtile.model.dma_registers import INTERLEAVE_MASK, ZEROISE_MASK
from memtile.model.jit import jit
from memtile.model.state import ACTIVITY, NOW, Spec, State
from memtile.model.timing_index import ZEROISATION

_NEVER = -1


@jit
def log2(value: int) -> int:
    """Exponent of a power of two."""
    exponent = 0
    while (1 << exponent) < value:
        exponent += 1
    return exponent


@jit
def set_interleaving(spec: Spec, st: State, tile: int, control: int) -> None:
    """Choose how word addresses spread over the banks."""
    if control & INTERLEAVE_MASK:
        st.memories.shift[tile] = log2(GRANULE_WORDS)
    else:
        st.memories.shift[tile] = log2(spec.tiles.memory_words[tile] // spec.tiles.banks[tile])


@jit
def write_control(spec: Spec, st: State, tile: int, register: int) -> None:
    """Act on a write to Memory_Control; the register already holds the new value (DEV-MEM-3)."""
    control = st.registers[register]
    set_interleaving(spec, st, tile, control)
    if st.memories.busy_until[tile] != _NEVER:
        st.registers[register] |= ZEROISE_MASK  # only the end of zeroisation clears the bit
    elif control & ZEROISE_MASK:
        st.memories.busy_until[tile] = st.clock[NOW] + spec.timing[ZEROISATION]
        st.memories.control[tile] = register
        first = spec.tiles.memory_base[tile]
        for word in range(first, first + spec.tiles.memory_words[tile]):
            st.memory[word] = 0


@jit
def finish_zeroisation(spec: Spec, st: State) -> None:
    """Give the banks back and clear the request bit when the time is over."""
    for tile in range(spec.tiles.kind.shape[0]):
        at = st.memories.busy_until[tile]
        if at != _NEVER and st.clock[NOW] >= at:
            st.memories.busy_until[tile] = _NEVER
            st.registers[st.memories.control[tile]] &= ~ZEROISE_MASK
            st.clock[ACTIVITY] += 1
