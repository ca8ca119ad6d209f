"""The test bench at the stream ports: sources offer words, sinks take them, each by a readiness pattern."""

from __future__ import annotations

from memtile.arch.tiles import TILE_KINDS
from memtile.jit.decorators import inlined, jit
from memtile.model.dma.fifo import put, space
from memtile.model.state.events import ChannelEvent
from memtile.model.state.state import State
from memtile.model.streams.switch_ports import has_room, push

LOW = 8  # words of a source that has more with which the host is asked for them: more than a beat
_MOST_WORDS = max(kind.stream_words for kind in TILE_KINDS.values())  # of a beat


@inlined
def ready(st: State, ch: int) -> bool:
    """Whether the pattern of the port allows a word in this cycle."""
    length = st.ports.pattern_length[ch]
    if length == 0:
        return True
    return bool(st.pattern[st.ports.pattern_base[ch] + st.clock.now[0] % length])


@inlined
def crossed(st: State, ch: int, last: int) -> None:
    """Note for the port events that a word crossed the channel's stream port."""
    st.seen[ch, ChannelEvent.PORT_RUNNING] = st.clock.now[0]
    if last:
        st.seen[ch, ChannelEvent.PORT_TLAST] = st.clock.now[0]


@inlined
def offer(st: State, ch: int) -> None:
    """S2MM: take a beat from the port into the ingress buffer, if there is one and it fits."""
    ports = st.ports
    at = ports.source_position[ch]
    if at == ports.source_end[ch]:
        return
    if space(st.fifos, ch) == 0:
        st.seen[ch, ChannelEvent.MEMORY] = st.clock.now[0]
        return
    st.clock.activity[0] = 1  # a word that only waits for its pattern is no reason to call the tile quiet
    if ready(st, ch):
        put(st.fifos, ch, st.source[at], st.source_last[at])
        crossed(st, ch, st.source_last[at])
        ports.source_position[ch] = at + 1
        if st.walks.stream_words[ch] > 1:
            offer_rest(st, ch)
        if low(st, ch, LOW):
            st.clock.full[0] = 1


@jit
def offer_rest(st: State, ch: int) -> None:
    """The other words of the beat; TLAST ends it."""
    ports = st.ports
    for _ in range(1, st.walks.stream_words[ch]):
        at = ports.source_position[ch]
        if at == ports.source_end[ch] or space(st.fifos, ch) == 0 or st.source_last[at - 1] != 0:
            return
        put(st.fifos, ch, st.source[at], st.source_last[at])
        ports.source_position[ch] = at + 1


@inlined
def low(st: State, ch: int, words: int) -> bool:
    """Whether the host has to lay out more words of a source before so many are taken."""
    ports = st.ports
    return bool(ports.source_more[ch] == 1 and ports.source_end[ch] - ports.source_position[ch] <= words)


@inlined
def full(st: State, ch: int) -> bool:
    """Whether the sink of the channel may have no room for a beat."""
    return bool(st.ports.sink_count[ch] + _MOST_WORDS > st.sink.shape[1])


@inlined
def would_take(st: State, ch: int) -> bool:
    """MM2S: whether the stream wants a word; a test bench always does."""
    if st.ports.sink_row[ch] < 0:
        port = st.channels.switch_port[ch]
        return bool(port >= 0 and has_room(st, port))
    return True


@inlined
def takes(st: State, ch: int) -> bool:
    """MM2S: whether the sink, or else the switch, takes the beat that waits in the egress buffer."""
    if st.ports.sink_row[ch] < 0:
        port = st.channels.switch_port[ch]
        return bool(port >= 0 and has_room(st, port))
    if full(st, ch):
        return False
    st.clock.activity[0] = 1
    return ready(st, ch)


@inlined
def deliver(st: State, ch: int, word: int, last: int) -> None:
    """MM2S: hand a word, or to a switch an entry of ``beats``, to whoever takes it."""
    row = st.ports.sink_row[ch]
    if row < 0:
        port = st.channels.switch_port[ch]
        push(st, port, word, last | st.switch.parity[port])
        return
    at = st.ports.sink_count[ch]
    st.sink[row, at] = word
    st.sink_last[row, at] = last
    crossed(st, ch, last)
    st.ports.sink_count[ch] = at + 1
    if full(st, ch):
        st.clock.full[0] = 1


@inlined
def host_takes(st: State) -> bool:
    """Whether the list of words for the host has room."""
    return bool(st.host_words[0, 0] + 1 < st.host_words.shape[0])


@jit
def sent(st: State, port: int, word: int, last: int) -> bool:
    """Whether the switch, or the host, takes the word that a tile sends from slave ``port``."""
    if st.switch.hosted[port] == 1:
        if not host_takes(st):
            return False
        hand_to_host(st, port, word, last)
    elif has_room(st, port):
        push(st, port, word, last | st.switch.parity[port])
    else:
        return False
    st.clock.activity[0] += 1
    return True


@jit
def hand_to_host(st: State, port: int, word: int, last: int) -> None:
    """Leave a word of a switch port for the host, whose list has room."""
    at = st.host_words[0, 0] + 1
    st.host_words[at, 0] = port
    st.host_words[at, 1] = word
    st.host_words[at, 2] = last
    st.host_words[0, 0] = at
    if not host_takes(st):
        st.clock.full[0] = 1
