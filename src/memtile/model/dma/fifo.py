"""Stream-side buffers of the channels: ring buffers of words with TLAST.

It also has the ingress buffer of an S2MM: when words come, may be taken, and when the port pauses.

A word is taken ``ingress_latency`` cycles after it came, or later. Where ``port_pause`` says so, none comes
in the cycle after the last word of a BD (DEV-SILICON-2). The port counts the words that came, not those that
were written: it pauses also while the BD waits for its lock, and counts words that came ahead as if the next
BDs were as long as the one at hand.

The port of a 64-bit stream takes no more than its BD still needs, and nothing without a task; the word that
rides in the beat of the last one comes along. While the BD waits for its lock, the buffer alone is the bound
(DEV-INGRESS-2).
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.dma.channel_registers import FOT_MASK
from memtile.model.state.causes import Phase
from memtile.model.state.dma import Fifos
from memtile.model.state.state import State


@inlined
def space(fifos: Fifos, ch: int) -> int:
    """Words that still fit."""
    return int(fifos.depth[ch] - fifos.held[ch])


@inlined
def put(fifos: Fifos, ch: int, word: int, last: int) -> None:
    """Append a word; the caller has checked the space."""
    slot = (fifos.head[ch] + fifos.held[ch]) & fifos.wrap[ch]
    fifos.words[ch, slot] = word
    fifos.last[ch, slot] = last
    fifos.held[ch] += 1


@inlined
def drop(fifos: Fifos, ch: int) -> None:
    """Remove the oldest word."""
    fifos.head[ch] = (fifos.head[ch] + 1) & fifos.wrap[ch]
    fifos.held[ch] -= 1


@inlined
def pauses(st: State, ch: int) -> bool:
    """Whether the port of an S2MM takes no word in this cycle, though there may be room."""
    return st.spec.timing.port_pause[0] > 0 and _ended(st, ch)


@inlined
def _bounded(st: State, ch: int) -> bool:
    """Whether the port takes no more than the channel's BD needs (DEV-INGRESS-2)."""
    return bool(st.walks.stream_words[ch] > 1 or st.spec.timing.ingress_ahead[0] == 0)


@inlined
def counts(st: State, ch: int) -> bool:
    """Whether it matters to the port of an S2MM how many words of a BD came."""
    return bool(st.spec.timing.port_pause[0] > 0) or _bounded(st, ch)


@inlined
def refuses(st: State, ch: int) -> bool:
    """Whether the port of an S2MM takes no word until its BD changes, or its phase; there may be room."""
    return _bounded(st, ch) and _satisfied(st, ch)


@inlined
def entered(st: State, ch: int) -> None:
    """A word comes to the ingress buffer in this cycle."""
    if st.spec.timing.port_pause[0] > 0 or st.spec.timing.ingress_latency[0] > 1:
        st.fifos.entered[ch] = st.clock.now[0]


@inlined
def empty(st: State, ch: int) -> bool:
    """Whether the channel may take no word from its ingress buffer: it has none, or one that just came."""
    if st.fifos.held[ch] == 0:
        return True
    return st.spec.timing.ingress_latency[0] > 1 and _fresh(st, ch)


@jit
def note_shortest(st: State, ch: int) -> None:
    """A BD begins for which words waited: note its length if it is the shortest such one (DEV-INGRESS-2)."""
    c, shortest = st.channels, st.fifos.shortest
    length = 1 if c.packed[ch] == 1 else c.length[ch] + 1
    if shortest[ch] == 0 or length < shortest[ch]:
        shortest[ch] = length


@jit
def _fresh(st: State, ch: int) -> bool:
    """Whether all that the ingress buffer has came in the cycle before; what it has may be taken later."""
    if st.fifos.entered[ch] != st.clock.now[0] - 1 or st.fifos.held[ch] > st.walks.stream_words[ch]:
        return False
    st.clock.activity[0] = 1
    return True


@jit
def _ended(st: State, ch: int) -> bool:
    """Whether the word that came in the cycle before was the last of a BD."""
    c = st.channels
    if st.fifos.entered[ch] != st.clock.now[0] - 1 or c.packed[ch] == 1 or c.length[ch] <= 0:
        return False
    if c.phase[ch] != Phase.RUN and not _waits_for_lock(st, ch):
        return False
    came, length = c.moved[ch] + st.fifos.held[ch], c.length[ch]
    if came < length:  # as nearly always; to divide takes longer than all else here
        return bool(came == 0)
    return bool(came % length == 0)


@jit
def _satisfied(st: State, ch: int) -> bool:
    """Whether the channel has no task, or has the words that its BD, or those it looks ahead to, need."""
    c, fifos = st.channels, st.fifos
    if _waits_for_lock(st, ch):
        ahead = st.spec.timing.ingress_bds[0]
        return bool(ahead > 0 and c.packed[ch] == 0 and fifos.held[ch] >= (1 + ahead) * c.length[ch])
    if c.phase[ch] != Phase.RUN:
        return bool(c.phase[ch] != Phase.HEADER)
    if c.packed[ch] == 1:
        return False
    if c.control[ch] & FOT_MASK and fifos.held[ch] > 0:
        newest = (fifos.head[ch] + fifos.held[ch] - 1) & fifos.wrap[ch]
        if fifos.last[ch, newest] != 0:
            return True
    return bool(c.moved[ch] + fifos.held[ch] >= c.length[ch])


@inlined
def _waits_for_lock(st: State, ch: int) -> bool:
    """Whether the BD at hand moves nothing yet: it waits for its lock, or to hear that it has it."""
    return bool(st.channels.phase[ch] == Phase.ACQUIRE or st.channels.phase[ch] == Phase.TAKEN)
