"""Beats of a stream: the words that a stream port moves in one cycle (AM027: 64 bits in AIE-ML v2).

In AIE-ML a beat is a word. In AIE-ML v2 it is two, or one where a BD or a packet ends on an odd word (TKEEP).
The buffers of a channel hold words; in the switch a beat is one entry, so that its depths count double words.
A packet header shares its beat with the first word behind it (DEV-V2-6); control ports take a word a cycle.
"""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import inlined, jit
from memtile.model.dma.coder import all_fetched
from memtile.model.dma.fifo import drop, put
from memtile.model.state.dma import Fifos
from memtile.model.state.state import State
from memtile.model.state.streams import PAIR, TLAST, WRONG_PARITY
from memtile.model.streams.host_ports import deliver
from memtile.model.streams.switch_ports import pop, report

_WORD_MASK = (1 << WORD_BITS) - 1
_WORD_BITS = WORD_BITS


@jit
def ready_words(st: State, ch: int) -> int:
    """MM2S: words of the beat that the egress buffer offers; a word waits for its upper half if one comes."""
    held = st.fifos.held[ch]
    if held == 0:
        return 0
    if st.fifos.last[ch, st.fifos.head[ch]] == 1:
        return 1
    return 2 if held > 1 else 1 - more_follow(st, ch)


@jit
def more_follow(st: State, ch: int) -> int:
    """MM2S: 1 = the BD has words that have not come to the egress buffer."""
    c = st.channels
    if c.packed[ch] == 0:
        return 1 if c.length[ch] - c.moved[ch] > st.fifos.held[ch] else 0
    coding = st.codecs.held[ch] + st.codecs.coded_held[ch] > 0
    return 1 if coding or not all_fetched(st, ch) else 0


@jit
def take_word(st: State, ch: int) -> tuple[int, int]:
    """MM2S: remove a word from the egress buffer; the word and its TLAST."""
    head = st.fifos.head[ch]
    word, last = st.fifos.words[ch, head], st.fifos.last[ch, head]
    drop(st.fifos, ch)
    return word, last


@jit
def deliver_beat(st: State, ch: int, words: int) -> None:
    """MM2S: hand a beat of ``words`` to whoever takes it."""
    word, last = take_word(st, ch)
    if words == 1:
        deliver(st, ch, word, last)
        return
    high, last = take_word(st, ch)
    if st.ports.has_sink[ch] == 0:
        deliver(st, ch, pair_of(word, high), last | PAIR)
    else:
        deliver(st, ch, word, 0)
        deliver(st, ch, high, last)


@inlined
def words_in(flags: int) -> int:
    """Words of an entry with these flags."""
    return 1 + ((flags & PAIR) >> 1)


@inlined
def pair_of(low: int, high: int) -> int:
    """The entry of two words."""
    return low | (high << _WORD_BITS)


@inlined
def lower(entry: int) -> int:
    """First word of an entry."""
    return entry & _WORD_MASK


@inlined
def upper(entry: int) -> int:
    """Second word of an entry."""
    return (entry >> _WORD_BITS) & _WORD_MASK


@inlined
def put_beat(fifos: Fifos, ch: int, entry: int, flags: int) -> None:
    """S2MM: append the words of an entry to the ingress buffer; the caller has checked the space."""
    if flags < PAIR:
        put(fifos, ch, entry, flags)
    else:
        put(fifos, ch, lower(entry), 0)
        put(fifos, ch, upper(entry), flags & TLAST)


@inlined
def pop_word(st: State, port: int) -> tuple[int, int]:
    """Let the oldest word of a switch port leave to a 32-bit taker; the word and its TLAST."""
    switch, head = st.switch, st.switch.head[port]
    entry, flags = switch.words[port, head], switch.last[port, head]
    if flags >= WRONG_PARITY:
        flags = report(st, port, flags)
    if flags < PAIR:
        pop(st, port)
        return entry, flags
    switch.words[port, head] = upper(entry)
    switch.last[port, head] = flags & TLAST
    return lower(entry), 0
