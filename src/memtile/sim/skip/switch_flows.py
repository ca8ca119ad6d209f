"""Words of streams that go through switches, while a jump moves them: laid out, kept short, and put back.

A stream lies in ``flow``: what has left memory and not come to memory again when the jump begins, then what
leaves memory in it. Who sends appends to it, who receives is as many words behind as are under way.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.addresses import moves
from memtile.jit.decorators import jit
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.model.state.streams import TLAST
from memtile.model.streams.beats import lower, pair_of, upper, words_in
from memtile.sim.skip.records import (
    HISTORY,
    Arrays,
)
from memtile.sim.skip.stream_ways import NOBODY, received, staged, words_held

_copy, _ = moves()
_copy_flags, _ = moves()


@jit
def lay_sent(st: State, work: Arrays, ch: int, end: int) -> None:
    """Put the words that wait in the MM2S channel into its stream, up to place ``end``."""
    fifos, x, row = st.fifos, st.externals, st.channels.external[ch]
    at = end - staged(st, ch) - fifos.held[ch]
    for n in range(fifos.held[ch]):
        slot = (fifos.head[ch] + n) & fifos.wrap[ch]
        work.flow[at], work.flow_last[at] = fifos.words[ch, slot], fifos.last[ch, slot]
        at += 1
    if row < 0:
        return
    for n in range(x.arrived[row]):
        slot = (x.head[row] + n) % EXTERNAL_SLOTS
        for i in range(x.length[row, slot]):
            work.flow[at], work.flow_last[at] = x.words[row, slot, i], 0
            at += 1
        if x.last[row, slot] == 1 and st.channels.tlast_suppress[ch] == 0:
            work.flow_last[at - 1] = 1


@jit
def lay_received(st: State, work: Arrays, ch: int, at: int) -> None:
    """Put the words that the S2MM channel has taken into its stream, from ``at`` on: the oldest first."""
    g, fifos = st.granules, st.fifos
    for n in range(g.port_count[ch]):
        work.flow[at + n], work.flow_last[at + n] = g.port_words[ch, n], 0
    at += g.port_count[ch]
    for n in range(g.formed[ch]):
        work.flow[at + n], work.flow_last[at + n] = g.words[ch, n], 0
    at += g.formed[ch]
    for n in range(fifos.held[ch]):
        slot = (fifos.head[ch] + n) & fifos.wrap[ch]
        work.flow[at + n], work.flow_last[at + n] = fifos.words[ch, slot], fifos.last[ch, slot]


@jit
def lay_port(st: State, work: Arrays, port: int) -> None:
    """Put the words in the port into the stream that goes through it."""
    switch = st.switch
    ch = work.ways.producer[port] - 1
    at = work.channels.cursor[ch] - work.ways.behind[port] - words_held(st, port)
    for n in range(switch.held[port]):
        slot = (switch.head[port] + n) & switch.wrap[port]
        entry, flags = switch.words[port, slot], switch.last[port, slot]
        if words_in(flags) > 1:
            work.flow[at], work.flow_last[at] = lower(entry), 0
            entry, at = upper(entry), at + 1
        work.flow[at], work.flow_last[at] = entry, flags & TLAST
        at += 1


@jit
def open_flows(st: State, work: Arrays) -> None:
    """Lay out all streams that go through switches, as they are before a jump."""
    search = work.search
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        if st.channels.direction[ch] == MM2S and work.channels.flow[ch] != NOBODY:
            work.channels.cursor[ch] = work.channels.flow[ch] + HISTORY
            lay_sent(st, work, ch, work.channels.cursor[ch])
    for n in range(search.port_count[0]):
        lay_port(st, work, work.passed[n])
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        producer = work.channels.producer[ch]
        if producer != NOBODY:
            at = work.channels.cursor[producer] - work.channels.behind[ch] - received(st, ch)
            lay_received(st, work, ch, at)
            work.channels.cursor[ch] = at


@jit
def at_once(st: State, work: Arrays, times: int) -> int:
    """Periods of those to come that all streams have room for, one at least."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        if work.channels.flow[ch] != NOBODY and st.channels.direction[ch] == MM2S:
            room = work.channels.flow[ch] + work.search.flow_words[0] - work.channels.cursor[ch]
            times = min(times, room // work.channels.words[ch])
    return times


@jit
def room_left(st: State, work: Arrays) -> bool:
    """Whether all streams have room for one more period."""
    return at_once(st, work, 1) == 1


@jit
def shorten(st: State, work: Arrays) -> None:
    """Drop all words of the streams but those that may be under way."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        base = work.channels.flow[ch]
        if base == NOBODY:
            continue
        sender = ch if st.channels.direction[ch] == MM2S else work.channels.producer[ch]
        gone = work.channels.cursor[sender] - base - HISTORY
        if st.channels.direction[ch] != MM2S:
            work.channels.cursor[ch] -= gone
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        base = work.channels.flow[ch]
        if base != NOBODY and st.channels.direction[ch] == MM2S:
            end = work.channels.cursor[ch]
            _copy(work.flow, base, work.flow, end - HISTORY, HISTORY)
            _copy_flags(work.flow_last, base, work.flow_last, end - HISTORY, HISTORY)
            work.channels.cursor[ch] = base + HISTORY


@jit
def fill_port(st: State, work: Arrays, port: int, words: int) -> None:
    """Put the last ``words`` words of the stream that went through the port into it, or all of it.

    Its flags are there already: those of all its slots are what they were one period before.
    """
    switch = st.switch
    ch = work.ways.producer[port] - 1
    at = work.channels.cursor[ch] - work.ways.behind[port]
    tail, first = switch.head[port] + switch.held[port], at - words
    for n in range(1, switch.wrap[port] + 2):
        if at <= first:
            return
        slot = (tail - n) & switch.wrap[port]
        at -= words_in(switch.last[port, slot])
        if words_in(switch.last[port, slot]) > 1:
            switch.words[port, slot] = work.flow[at + 1]  # 64 bits from here on
            switch.words[port, slot] = pair_of(work.flow[at], switch.words[port, slot])
        else:
            switch.words[port, slot] = work.flow[at]


@jit
def fill_buffer(st: State, work: Arrays, ch: int, end: int, words: int) -> None:
    """Put the last ``words`` words of a stream, up to ``end``, into the channel's buffer, or all of it."""
    fifos = st.fifos
    tail = fifos.head[ch] + fifos.held[ch]
    for n in range(1, min(words, fifos.wrap[ch] + 1) + 1):
        slot = (tail - n) & fifos.wrap[ch]
        fifos.words[ch, slot], fifos.last[ch, slot] = work.flow[end - n], work.flow_last[end - n]


@jit
def fill_reads(st: State, work: Arrays, ch: int, words: int) -> None:
    """Give the reads that external memory has answered their last ``words`` words, as far as they go back."""
    x, row, at = st.externals, st.channels.external[ch], work.channels.cursor[ch]
    for n in range(1, EXTERNAL_SLOTS - x.held[row] + x.arrived[row] + 1):
        slot = (x.head[row] + x.arrived[row] - n) % EXTERNAL_SLOTS
        words -= x.length[row, slot]
        if words < 0 or x.length[row, slot] == 0:
            return
        at -= x.length[row, slot]
        for i in range(x.length[row, slot]):
            x.words[row, slot, i] = work.flow[at + i]


@jit
def close_flow(st: State, work: Arrays, ch: int, words: int) -> None:
    """Fill what the channel has under way after the jump, in which it moved so many words."""
    producer = work.channels.producer[ch]
    if producer == NOBODY:
        fill_buffer(st, work, ch, work.channels.cursor[ch] - staged(st, ch), words)
        if st.channels.external[ch] >= 0:
            fill_reads(st, work, ch, words)
    else:
        fill_buffer(st, work, ch, work.channels.cursor[producer] - work.channels.behind[ch], words)


@jit
def close_ports(st: State, work: Arrays, times: int) -> None:
    """Fill all ports on the ways of streams after a jump."""
    for n in range(work.search.port_count[0]):
        port = work.passed[n]
        ch = work.ways.producer[port] - 1
        fill_port(st, work, port, times * work.channels.words[ch])
