"""The ways of streams through switches: which ports the words of a period pass, and to which channels.

In circuit mode all words that a channel sends go the same ways, in one order. So each buffer on a way holds
words of one stream that follow each other, and where they are in the stream, the counts of the buffers before
it say. All counts are of words: in AIE-ML v2 an entry of a port has one or two, as its flags say.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.decorators import jit
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.model.state.streams import PAIR, TLAST
from memtile.model.streams.beats import words_in
from memtile.model.streams.switch_config import CIRCUIT
from memtile.sim.skip.live_parts import all_that_acts, listed_part
from memtile.sim.skip.records import (
    ALL_FLOWS,
    HISTORY,
    Arrays,
    LiveSection,
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
    """Whether what the port holds are words or pairs of them, with or without TLAST, and nothing more."""
    switch, flags = st.switch, 0
    for n in range(switch.held[port]):
        flags |= switch.last[port, (switch.head[port] + n) & switch.wrap[port]]
    return bool(flags | switch.parity[port] <= TLAST | PAIR)


@jit
def words_held(st: State, port: int) -> int:
    """Words in the port."""
    switch, words = st.switch, 0
    for n in range(switch.held[port]):
        words += words_in(switch.last[port, (switch.head[port] + n) & switch.wrap[port]])
    return int(words)


@jit
def enlist(st: State, work: Arrays, port: int, ch: int, behind: int) -> bool:
    """Put a port on the way of the channel's words; False if words of another stream go through it."""
    if work.ways.producer[port] != 0 or not plain_flags(st, port):
        return False
    work.ways.producer[port], work.ways.behind[port] = 1 + ch, behind
    work.passed[work.search.port_count[0]] = port
    work.search.port_count[0] += 1
    return True


@jit
def beyond_master(st: State, work: Arrays, port: int, ch: int, behind: int) -> bool:
    """Follow the words from a master port; False where they leave for something that a jump does not know."""
    link, taker = st.switch.link[port], st.switch.channel[port]
    if link >= 0:
        return enlist(st, work, link, ch, behind)
    if taker < 0 or work.channels.producer[taker] != NOBODY or behind + received(st, taker) > HISTORY:
        return False
    work.channels.producer[taker], work.channels.behind[taker] = ch, behind
    return bool(work.channels.words[taker] == work.channels.words[ch])


@jit
def follow(st: State, work: Arrays, ch: int) -> bool:
    """Find all ways of the words that the channel sends; False if a jump does not know all of them."""
    n, port = work.search.port_count[0], st.channels.switch_port[ch]
    if port < 0:
        return False
    if not enlist(st, work, port, ch, st.fifos.held[ch] + staged(st, ch)):
        return False
    while n < work.search.port_count[0]:
        port = work.passed[n]
        behind = work.ways.behind[port] + words_held(st, port)
        n += 1
        if st.switch.mode[port] != CIRCUIT:
            return False
        if st.switch.is_master[port] == 1:
            if not beyond_master(st, work, port, ch, behind):
                return False
            continue
        fed = st.switch.feeds[port]
        while fed >= 0:
            if not enlist(st, work, fed, ch, behind):
                return False
            fed = st.switch.sibling[fed]
    return True


@jit
def forget_ways(work: Arrays) -> None:
    """Take the streams of the last jump off the ports."""
    search = work.search
    for n in range(search.port_count[0]):
        port = work.passed[n]
        work.ways.producer[port] = 0
    search.port_count[0] = search.stream_count[0] = 0


@jit
def all_known(st: State, work: Arrays, began: int) -> bool:
    """Whether each port that a word has left since cycle ``began`` is on the way of a stream.

    And whether no others act than those that are compared.
    """
    if not all_that_acts(st, work):
        return False
    for n in range(work.search.live_count[0, LiveSection.PORT]):
        port = listed_part(work, LiveSection.PORT, n)
        if st.switch.popped[port] >= began and work.ways.producer[port] == 0:
            return False
    return True


@jit
def room_for_words(st: State, work: Arrays) -> bool:
    """Give each stream its room; False if the words of a period do not fit."""
    search = work.search
    if search.stream_count[0] == 0:
        return True
    stream, most = 0, 0
    for n in range(search.moving_count[0]):
        most = max(most, work.channels.words[work.moving[n]])
    room = HISTORY + max(_ROOM, _PERIODS * most)  # little of it: it stays in the processor's caches
    search.flow_words[0] = min(room, ALL_FLOWS // search.stream_count[0])
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        if work.channels.flow[ch] == NOBODY:
            continue
        if HISTORY + work.channels.words[ch] > search.flow_words[0]:
            return False
        if st.channels.direction[ch] == MM2S:
            work.channels.flow[ch] = stream * search.flow_words[0]
            stream += 1
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        if work.channels.producer[ch] != NOBODY:
            work.channels.flow[ch] = work.channels.flow[work.channels.producer[ch]]
    return True


@jit
def chart(st: State, work: Arrays, began: int) -> bool:
    """Find the ways of all streams whose words moved since cycle ``began``; False if one is not known."""
    search = work.search
    forget_ways(work)
    for n in range(search.channel_count[0]):
        ch = work.live_channels[n]
        work.channels.flow[ch] = work.channels.producer[ch] = NOBODY
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        if st.channels.direction[ch] == MM2S and st.ports.has_sink[ch] == 0:
            if not follow(st, work, ch):
                return False
            work.channels.flow[ch] = 0
            search.stream_count[0] += 1
    return room_for_words(st, work) and all_known(st, work, began)
