"""Words of streams that go through switches, while a jump moves them: laid out, kept short, and put back.

A stream lies in ``flow``: what has left memory and not come to memory again when the jump begins, then what
leaves memory in it. Who sends appends to it, who receives is as many words behind as are under way.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.blocks import moves
from memtile.jit.decorators import jit
from memtile.model.state.columns import Ints
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.sim.forward.circuits import NOBODY, received, staged
from memtile.sim.forward.places import (
    BEHIND,
    BEHIND_OF,
    CURSOR,
    FLOW,
    HISTORY,
    OF_PORT,
    PRODUCER,
    PRODUCER_OF,
    WORDS_OF,
    Arrays,
    Book,
    listed,
    listed_port,
    scratch,
)

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
    switch, way = st.switch, work.way
    ch = way[port * OF_PORT + PRODUCER_OF] - 1
    at = work.book[scratch(ch, CURSOR)] - way[port * OF_PORT + BEHIND_OF] - switch.held[port]
    for n in range(switch.held[port]):
        slot = (switch.head[port] + n) & switch.wrap[port]
        work.flow[at + n], work.flow_last[at + n] = switch.words[port, slot], switch.last[port, slot]


@jit
def open_flows(st: State, work: Arrays) -> None:
    """Lay out all streams that go through switches, as they are before a jump."""
    book, channels = work.book, st.channels.phase.shape[0]
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        if st.channels.direction[ch] == MM2S and book[scratch(ch, FLOW)] != NOBODY:
            book[scratch(ch, CURSOR)] = book[scratch(ch, FLOW)] + HISTORY
            lay_sent(st, work, ch, book[scratch(ch, CURSOR)])
    for n in range(book[Book.WAYS]):
        lay_port(st, work, work.way[listed_port(st, n)])
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        producer = book[scratch(ch, PRODUCER)]
        if producer != NOBODY:
            at = book[scratch(producer, CURSOR)] - book[scratch(ch, BEHIND)] - received(st, ch)
            lay_received(st, work, ch, at)
            book[scratch(ch, CURSOR)] = at


@jit
def at_once(st: State, book: Ints, times: int) -> int:
    """Periods of those to come that all streams have room for, one at least."""
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        if book[scratch(ch, FLOW)] != NOBODY and st.channels.direction[ch] == MM2S:
            room = book[scratch(ch, FLOW)] + book[Book.FLOW_WORDS] - book[scratch(ch, CURSOR)]
            times = min(times, room // book[scratch(ch, WORDS_OF)])
    return times


@jit
def room_left(st: State, book: Ints) -> bool:
    """Whether all streams have room for one more period."""
    return at_once(st, book, 1) == 1


@jit
def shorten(st: State, work: Arrays) -> None:
    """Drop all words of the streams but those that may be under way."""
    book, channels = work.book, st.channels.phase.shape[0]
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        base = book[scratch(ch, FLOW)]
        if base == NOBODY:
            continue
        sender = ch if st.channels.direction[ch] == MM2S else book[scratch(ch, PRODUCER)]
        gone = book[scratch(sender, CURSOR)] - base - HISTORY
        if st.channels.direction[ch] != MM2S:
            book[scratch(ch, CURSOR)] -= gone
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        base = book[scratch(ch, FLOW)]
        if base != NOBODY and st.channels.direction[ch] == MM2S:
            end = book[scratch(ch, CURSOR)]
            _copy(work.flow, base, work.flow, end - HISTORY, HISTORY)
            _copy_flags(work.flow_last, base, work.flow_last, end - HISTORY, HISTORY)
            book[scratch(ch, CURSOR)] = base + HISTORY


@jit
def fill_port(st: State, work: Arrays, port: int, words: int) -> None:
    """Put the last ``words`` words of the stream that went through the port into it, or all of it."""
    switch, way, book = st.switch, work.way, work.book
    ch = way[port * OF_PORT + PRODUCER_OF] - 1
    end, tail = (
        book[scratch(ch, CURSOR)] - way[port * OF_PORT + BEHIND_OF],
        switch.head[port] + switch.held[port],
    )
    for n in range(1, min(words, switch.wrap[port] + 1) + 1):
        slot = (tail - n) & switch.wrap[port]
        switch.words[port, slot], switch.last[port, slot] = work.flow[end - n], work.flow_last[end - n]


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
    x, row, at = st.externals, st.channels.external[ch], work.book[scratch(ch, CURSOR)]
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
    book, producer = work.book, work.book[scratch(ch, PRODUCER)]
    if producer == NOBODY:
        fill_buffer(st, work, ch, book[scratch(ch, CURSOR)] - staged(st, ch), words)
        if st.channels.external[ch] >= 0:
            fill_reads(st, work, ch, words)
    else:
        fill_buffer(st, work, ch, book[scratch(producer, CURSOR)] - book[scratch(ch, BEHIND)], words)


@jit
def close_ports(st: State, work: Arrays, times: int) -> None:
    """Fill all ports on the ways of streams after a jump."""
    for n in range(work.book[Book.WAYS]):
        port = work.way[listed_port(st, n)]
        ch = work.way[port * OF_PORT + PRODUCER_OF] - 1
        fill_port(st, work, port, times * work.book[scratch(ch, WORDS_OF)])
