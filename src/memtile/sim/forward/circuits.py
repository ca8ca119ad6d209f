"""The ways of streams through switches: which ports the words of a period pass, and to which channels.

In circuit mode all words that a channel sends go the same ways, in one order. So each buffer on a way holds
words of one stream that follow each other, and where they are in the stream, the counts of the buffers before
it say.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.decorators import jit
from memtile.model.state.columns import Ints
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.model.state.streams import TLAST
from memtile.model.streams.switch_config import CIRCUIT
from memtile.sim.forward.live import all_that_acts, listed_part
from memtile.sim.forward.places import (
    ALL_FLOWS,
    BEHIND,
    BEHIND_OF,
    FLOW,
    HISTORY,
    OF_PORT,
    PRODUCER,
    PRODUCER_OF,
    WORDS_OF,
    Arrays,
    Book,
    Part,
    listed,
    listed_port,
    lively,
    scratch,
)

NOBODY = -1
_ROOM, _PERIODS = 1 << 15, 4  # of a stream in a jump, at least: words, and periods


@jit
def staged(st: State, ch: int) -> int:
    """Words that external memory has brought the channel, and that are not in its buffer yet."""
    x, row, words = st.externals, st.channels.external[ch], 0
    if row >= 0:
        for n in range(x.arrived[row]):
            words += x.length[row, (x.head[row] + n) % EXTERNAL_SLOTS]
    return int(words)


@jit
def received(st: State, ch: int) -> int:
    """Words that the S2MM channel has taken from its stream and not yet written."""
    g = st.granules
    return int(st.fifos.held[ch] + g.formed[ch] + g.port_count[ch])


@jit
def plain_flags(st: State, port: int) -> bool:
    """Whether what the port holds are single words, with or without TLAST."""
    switch, flags = st.switch, 0
    for n in range(switch.held[port]):
        flags |= switch.last[port, (switch.head[port] + n) & switch.wrap[port]]
    return bool(flags | switch.parity[port] <= TLAST)


@jit
def enlist(st: State, way: Ints, book: Ints, port: int, ch: int, behind: int) -> bool:
    """Put a port on the way of the channel's words; False if words of another stream go through it."""
    if way[port * OF_PORT + PRODUCER_OF] != 0 or not plain_flags(st, port):
        return False
    way[port * OF_PORT + PRODUCER_OF], way[port * OF_PORT + BEHIND_OF] = 1 + ch, behind
    way[listed_port(st, book[Book.WAYS])] = port
    book[Book.WAYS] += 1
    return True


@jit
def beyond_master(st: State, way: Ints, book: Ints, port: int, ch: int, behind: int) -> bool:
    """Follow the words from a master port; False where they leave for something that a jump does not know."""
    link, taker = st.switch.link[port], st.switch.channel[port]
    if link >= 0:
        return enlist(st, way, book, link, ch, behind)
    if taker < 0 or book[scratch(taker, PRODUCER)] != NOBODY or behind + received(st, taker) > HISTORY:
        return False
    book[scratch(taker, PRODUCER)], book[scratch(taker, BEHIND)] = ch, behind
    return bool(book[scratch(taker, WORDS_OF)] == book[scratch(ch, WORDS_OF)])


@jit
def follow(st: State, way: Ints, book: Ints, ch: int) -> bool:
    """Find all ways of the words that the channel sends; False if a jump does not know all of them."""
    n, port = book[Book.WAYS], st.channels.switch_port[ch]
    if port < 0 or st.walks.stream_words[ch] != 1:
        return False
    if not enlist(st, way, book, port, ch, st.fifos.held[ch] + staged(st, ch)):
        return False
    while n < book[Book.WAYS]:
        port = way[listed_port(st, n)]
        behind = way[port * OF_PORT + BEHIND_OF] + st.switch.held[port]
        n += 1
        if st.switch.mode[port] != CIRCUIT:
            return False
        if st.switch.is_master[port] == 1:
            if not beyond_master(st, way, book, port, ch, behind):
                return False
            continue
        fed = st.switch.feeds[port]
        while fed >= 0:
            if not enlist(st, way, book, fed, ch, behind):
                return False
            fed = st.switch.sibling[fed]
    return True


@jit
def forget_ways(st: State, way: Ints, book: Ints) -> None:
    """Take the streams of the last jump off the ports."""
    for n in range(book[Book.WAYS]):
        port = way[listed_port(st, n)]
        way[port * OF_PORT + PRODUCER_OF] = 0
    book[Book.WAYS] = book[Book.STREAMS] = 0


@jit
def all_known(st: State, work: Arrays, began: int) -> bool:
    """Whether each port that a word has left since cycle ``began`` is on the way of a stream.

    And whether no others act than those that are compared.
    """
    if not all_that_acts(st, work):
        return False
    for n in range(work.book[Book.COUNT + Part.PORT]):
        port = listed_part(work, Part.PORT, n)
        if st.switch.popped[port] >= began and work.way[port * OF_PORT + PRODUCER_OF] == 0:
            return False
    return True


@jit
def room_for_words(st: State, book: Ints) -> bool:
    """Give each stream its room; False if the words of a period do not fit."""
    if book[Book.STREAMS] == 0:
        return True
    stream, most = 0, 0
    for n in range(book[Book.LISTED]):
        most = max(most, book[scratch(book[listed(st.channels.phase.shape[0], n)], WORDS_OF)])
    room = HISTORY + max(_ROOM, _PERIODS * most)  # little of it: it stays in the processor's caches
    book[Book.FLOW_WORDS] = min(room, ALL_FLOWS // book[Book.STREAMS])
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        if book[scratch(ch, FLOW)] == NOBODY:
            continue
        if HISTORY + book[scratch(ch, WORDS_OF)] > book[Book.FLOW_WORDS]:
            return False
        if st.channels.direction[ch] == MM2S:
            book[scratch(ch, FLOW)] = stream * book[Book.FLOW_WORDS]
            stream += 1
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        if book[scratch(ch, PRODUCER)] != NOBODY:
            book[scratch(ch, FLOW)] = book[scratch(book[scratch(ch, PRODUCER)], FLOW)]
    return True


@jit
def chart(st: State, work: Arrays, began: int) -> bool:
    """Find the ways of all streams whose words moved since cycle ``began``; False if one is not known."""
    book, way = work.book, work.way
    forget_ways(st, way, book)
    for n in range(book[Book.CHANNELS]):
        ch = book[lively(st.channels.phase.shape[0], n)]
        book[scratch(ch, FLOW)] = book[scratch(ch, PRODUCER)] = NOBODY
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        if st.channels.direction[ch] == MM2S and st.ports.has_sink[ch] == 0:
            if not follow(st, way, book, ch):
                return False
            book[scratch(ch, FLOW)] = 0
            book[Book.STREAMS] += 1
    return room_for_words(st, book) and all_known(st, work, began)
