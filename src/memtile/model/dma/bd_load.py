"""Loading a descriptor into a channel: fields, walk, lock operations, and what makes a BD unusable.

AM025 DMA_BDn registers; iteration advances each time the BD is loaded and its offset holds for the whole
execution (GT-19). A BD of the wrong parity half raises Error_BD_Unavailable (GT-15, DEV-BD-1), one without
Valid_BD Error_BD_Invalid, one that compresses in a format that is not public halts the channel too
(DEV-AIE2P-3). The model reads the descriptor when the channel turns to it; hardware may prefetch
it earlier (DEV-BD-2). Length 0 is DEV-BD-3, iteration DEV-ITER-1.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.decorators import inlined, jit
from memtile.model.dma import bd_fields as f
from memtile.model.dma.address_generator import restart
from memtile.model.dma.bd_fields import read_field, write_field
from memtile.model.dma.channel_registers import (
    COMPRESSION_LSB,
    ERROR_BD_INVALID,
    ERROR_BD_UNAVAILABLE,
    ERROR_UNKNOWN_FORMAT,
)
from memtile.model.memory.locks import resolve
from memtile.model.roster import wait_for_lock
from memtile.model.state.causes import Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State

_STEP, _WRAP, _BEFORE, _AFTER = f.STEP, f.WRAP, f.BEFORE, f.AFTER


@jit
def halt(st: State, ch: int, error: int) -> None:
    """Stop the channel with a sticky status bit; only a channel reset ends it (AM020, DEV-HALT-1).

    Of a compute or interface tile, the bit of an address beyond its reach is not shown (DEV-HALT-2).
    """
    st.channels.errors[ch] |= 1 << error
    st.seen[ch, ChannelEvent.ERROR] = st.clock.now[0]
    st.channels.phase[ch] = Phase.HALTED
    st.clock.activity[0] += 1
    st.clock.alarms[0] += 1


@jit
def decode(st: State, ch: int, bd: int) -> None:
    """Read every field of the descriptor."""
    for field in range(st.fields.shape[1]):
        st.fields[ch, field] = read_field(st, st.channels.tile[ch], bd, field)


@inlined
def packed(st: State, ch: int) -> int:
    """1 if the channel compresses what the decoded descriptor moves: both have to ask for it."""
    return int(st.fields[ch, f.ENABLE_COMPRESSION] & (st.channels.control[ch] >> COMPRESSION_LSB))


@jit
def usable(st: State, ch: int, bd: int) -> bool:
    """Whether the channel may run ``bd``; halts it otherwise."""
    kind = st.spec.tiles.kind[st.channels.tile[ch]]
    half = st.channels.number[ch] % 2
    if bd < st.spec.kinds.bd_first[kind, half] or bd > st.spec.kinds.bd_last[kind, half]:
        halt(st, ch, ERROR_BD_UNAVAILABLE)
        return False
    decode(st, ch, bd)
    if st.fields[ch, f.VALID_BD] == 0:
        halt(st, ch, ERROR_BD_INVALID)
        return False
    if packed(st, ch) and st.spec.kinds.compression_known[kind] == 0:
        halt(st, ch, ERROR_UNKNOWN_FORMAT)
        return False
    return True


@jit
def iterate(st: State, ch: int, bd: int) -> int:
    """Word offset of this execution; the descriptor's Iteration_Current moves on."""
    current = st.fields[ch, f.ITERATION_CURRENT]
    following = current + 1 if current + 1 < st.fields[ch, f.ITERATION_WRAP] else 0
    write_field(st, st.channels.tile[ch], bd, f.ITERATION_CURRENT, following)
    return int(current * st.fields[ch, f.ITERATION_STEP])


@jit
def load_walk(st: State, ch: int, iteration: int) -> None:
    """Set the channel's address generator; padding and a step of zero are for MM2S only (AM025, DEV-V2-8)."""
    walks, fields = st.walks, st.fields
    walks.origin[ch] = fields[ch, f.BASE_ADDRESS] + iteration
    padded = 1 if st.channels.direction[ch] == MM2S else 0
    for d in range(len(_STEP)):
        walks.step[ch, d] = fields[ch, _STEP[d]]
    if padded and fields[ch, f.STANDS_STILL]:
        walks.step[ch, len(_STEP) - 1] = 0
    for d in range(len(_WRAP)):
        walks.wrap[ch, d] = fields[ch, _WRAP[d]]
        walks.before[ch, d] = fields[ch, _BEFORE[d]] * padded
        walks.after[ch, d] = fields[ch, _AFTER[d]] * padded
    restart(walks, ch, st.channels.length[ch])


@jit
def load_locks(st: State, ch: int) -> None:
    """Set the channel's lock operations."""
    c, fields = st.channels, st.fields
    c.acquire_enable[ch] = fields[ch, f.ACQUIRE_ENABLE]
    c.acquire_lock[ch] = fields[ch, f.ACQUIRE_ID]
    c.acquire_value[ch] = fields[ch, f.ACQUIRE_VALUE]
    c.release_lock[ch] = fields[ch, f.RELEASE_ID]
    c.release_value[ch] = fields[ch, f.RELEASE_VALUE]


@jit
def load_bd(st: State, ch: int, bd: int) -> None:
    """Make ``bd`` the channel's descriptor and let it ask for its lock."""
    c, fields = st.channels, st.fields
    c.bd[ch] = bd
    if not usable(st, ch, bd):
        return
    c.length[ch] = fields[ch, f.BUFFER_LENGTH]
    c.header_due[ch] = fields[ch, f.ENABLE_PACKET] if c.direction[ch] == MM2S else 0
    c.moved[ch] = -c.header_due[ch]
    c.tlast_suppress[ch] = fields[ch, f.TLAST_SUPPRESS]
    c.next_bd[ch] = fields[ch, f.NEXT_BD] if fields[ch, f.USE_NEXT_BD] else -1
    c.packed[ch] = packed(st, ch)
    load_locks(st, ch)
    load_walk(st, ch, iterate(st, ch, bd))
    c.lock[ch] = resolve(st, c.tile[ch], c.number[ch], c.acquire_lock[ch])
    c.phase[ch] = Phase.ACQUIRE
    c.stalled[ch] = 0
    wait_for_lock(st, ch)
    st.clock.activity[0] += 1
