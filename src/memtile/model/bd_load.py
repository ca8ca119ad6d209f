"""Loading a descriptor into a channel: fields, walk, lock operations, and what makes a BD unusable.

AM025 DMA_BDn registers; iteration advances each time the BD is loaded and its offset holds for the whole
execution (GT-19). A BD of the wrong parity half raises Error_BD_Unavailable (GT-15, DEV-BD-1), one without
Valid_BD Error_BD_Invalid. The model reads the descriptor when the channel turns to it; hardware may prefetch
it earlier (DEV-BD-2).
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.model import bd_fields as f
from memtile.model.address_generator import restart
from memtile.model.bd_fields import read_field, write_field
from memtile.model.dma_registers import ERROR_BD_INVALID, ERROR_BD_UNAVAILABLE
from memtile.model.jit import jit
from memtile.model.state import ACTIVITY, Spec, State
from memtile.model.states import Phase

_STEP, _WRAP, _BEFORE, _AFTER = f.STEP, f.WRAP, f.BEFORE, f.AFTER
_HALTED = int(Phase.HALTED)
_ACQUIRE = int(Phase.ACQUIRE)


@jit
def halt(st: State, ch: int, error: int) -> None:
    """Stop the channel with a sticky status bit; only a channel reset ends it (AM020)."""
    st.channels.errors[ch] |= 1 << error
    st.channels.phase[ch] = _HALTED
    st.clock[ACTIVITY] += 1


@jit
def usable(spec: Spec, st: State, ch: int, bd: int) -> bool:
    """Whether the channel may run ``bd``; halts it otherwise."""
    tile = st.channels.tile[ch]
    kind = spec.tiles.kind[tile]
    half = st.channels.number[ch] % 2
    if bd < spec.kinds.bd_first[kind, half] or bd > spec.kinds.bd_last[kind, half]:
        halt(st, ch, ERROR_BD_UNAVAILABLE)
        return False
    if read_field(spec, st, tile, bd, f.VALID_BD) == 0:
        halt(st, ch, ERROR_BD_INVALID)
        return False
    return True


@jit
def iterate(spec: Spec, st: State, tile: int, bd: int) -> int:
    """Word offset of this execution; the descriptor's Iteration_Current moves on."""
    current = read_field(spec, st, tile, bd, f.ITERATION_CURRENT)
    wrap = read_field(spec, st, tile, bd, f.ITERATION_WRAP)
    following = current + 1 if current + 1 < wrap else 0
    write_field(spec, st, tile, bd, f.ITERATION_CURRENT, following)
    return int(current * read_field(spec, st, tile, bd, f.ITERATION_STEP))


@jit
def load_walk(spec: Spec, st: State, ch: int, bd: int) -> None:
    """Set the channel's address generator; padding is for MM2S only (AM025)."""
    tile = st.channels.tile[ch]
    walks = st.walks
    walks.origin[ch] = read_field(spec, st, tile, bd, f.BASE_ADDRESS) + iterate(spec, st, tile, bd)
    padded = st.channels.direction[ch] == MM2S
    for d in range(4):
        walks.step[ch, d] = read_field(spec, st, tile, bd, _STEP[d])
    for d in range(3):
        walks.wrap[ch, d] = read_field(spec, st, tile, bd, _WRAP[d])
        walks.before[ch, d] = read_field(spec, st, tile, bd, _BEFORE[d]) if padded else 0
        walks.after[ch, d] = read_field(spec, st, tile, bd, _AFTER[d]) if padded else 0
    restart(walks, ch, st.channels.length[ch])


@jit
def load_locks(spec: Spec, st: State, ch: int, bd: int) -> None:
    """Set the channel's lock operations."""
    tile = st.channels.tile[ch]
    c = st.channels
    c.acquire_enable[ch] = read_field(spec, st, tile, bd, f.ACQUIRE_ENABLE)
    c.acquire_lock[ch] = read_field(spec, st, tile, bd, f.ACQUIRE_ID)
    c.acquire_value[ch] = read_field(spec, st, tile, bd, f.ACQUIRE_VALUE)
    c.release_lock[ch] = read_field(spec, st, tile, bd, f.RELEASE_ID)
    c.release_value[ch] = read_field(spec, st, tile, bd, f.RELEASE_VALUE)


@jit
def load_bd(spec: Spec, st: State, ch: int, bd: int) -> None:
    """Make ``bd`` the channel's descriptor and let it ask for its lock."""
    c = st.channels
    c.bd[ch] = bd
    if not usable(spec, st, ch, bd):
        return
    tile = c.tile[ch]
    c.length[ch] = read_field(spec, st, tile, bd, f.BUFFER_LENGTH)
    c.moved[ch] = 0
    c.tlast_suppress[ch] = read_field(spec, st, tile, bd, f.TLAST_SUPPRESS)
    c.next_bd[ch] = -1
    if read_field(spec, st, tile, bd, f.USE_NEXT_BD):
        c.next_bd[ch] = read_field(spec, st, tile, bd, f.NEXT_BD)
    load_locks(spec, st, ch, bd)
    load_walk(spec, st, ch, bd)
    c.phase[ch] = _ACQUIRE
    st.clock[ACTIVITY] += 1
