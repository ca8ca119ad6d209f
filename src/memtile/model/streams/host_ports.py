"""The test bench at the stream ports: sources offer words, sinks take them, each by a readiness pattern."""

from __future__ import annotations

from memtile.arch.tiles import TILE_KINDS
from memtile.jit.addresses import WORD, access
from memtile.jit.decorators import inlined, jit
from memtile.jit.host_words import byte_at, put_word_at, word_at
from memtile.model.dma.fifo import entered, pauses, put, refuses, space
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State
from memtile.model.streams.switch_ports import has_room, push

_load, store = access()
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
def offered_last(st: State, ch: int, at: int) -> int:
    """TLAST of a word of the piece that the source is in."""
    flags = st.ports.source_flags[ch]
    return byte_at(flags + at) if flags != 0 else 0


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
    if refuses(st, ch):
        return
    st.clock.activity[0] = 1  # a word that only waits for its pattern is no reason to call the tile quiet
    if ready(st, ch) and not pauses(st, ch):
        entered(st, ch)
        last = offered_last(st, ch, at)
        put(st.fifos, ch, word_at(ports.source_words[ch] + at * ports.source_step[ch]), last)
        crossed(st, ch, last)
        take_one(st, ch)
        if st.walks.stream_words[ch] > 1:
            offer_rest(st, ch, last)


@inlined
def take_one(st: State, ch: int) -> None:
    """A word of the source is taken."""
    ports = st.ports
    ports.source_position[ch] += 1
    if ports.source_position[ch] == ports.source_end[ch]:
        next_piece(st, ch)


@jit
def offer_rest(st: State, ch: int, last: int) -> None:
    """The other words of the beat; TLAST, as of the word before, ends it."""
    ports = st.ports
    for _ in range(1, st.walks.stream_words[ch]):
        at = ports.source_position[ch]
        if at == ports.source_end[ch] or space(st.fifos, ch) == 0 or last != 0:
            return
        last = offered_last(st, ch, at)
        put(st.fifos, ch, word_at(ports.source_words[ch] + at * ports.source_step[ch]), last)
        take_one(st, ch)


@jit
def next_piece(st: State, ch: int) -> None:
    """The piece of the source is used up, and it may be some of the next one, which the source is in then.

    If there are more, the host gives another one to follow.
    """
    ports = st.ports
    end = ports.source_end[ch]
    ports.former_flags[ch] = ports.source_flags[ch] + end if ports.source_flags[ch] != 0 else 0
    ports.former_end[ch] = end
    ports.source_base[ch] += end
    ports.source_position[ch] -= end
    ports.source_words[ch], ports.source_step[ch] = ports.next_words[ch], ports.next_step[ch]
    ports.source_flags[ch], ports.source_end[ch] = ports.next_flags[ch], ports.next_end[ch]
    ports.next_end[ch] = ports.next_flags[ch] = 0
    if ports.source_more[ch] == 1:
        st.clock.full[0] = 1


@inlined
def full(st: State, ch: int) -> bool:
    """Whether the sink of the channel may have no room for a beat."""
    ports = st.ports
    words = ports.sink_count[ch] + _MOST_WORDS > ports.sink_room[ch]
    return bool(words or ports.ends_count[ch] + _MOST_WORDS > ports.ends_room[ch])


@jit
def note_end(st: State, ch: int, at: int) -> None:
    """A word of the sink has TLAST; a sink that only counts does not note that."""
    if st.ports.sink_step[ch] != 0:
        store(st.ports.sink_ends[ch] + st.ports.ends_count[ch] * WORD, at)
        st.ports.ends_count[ch] += 1


@inlined
def put_into_sink(st: State, ch: int, at: int, word: int, last: int) -> None:
    """Put a word into the sink; a sink that only counts puts it over the one before."""
    put_word_at(st.ports.sink_words[ch] + at * st.ports.sink_step[ch], word)
    if last != 0:
        note_end(st, ch, at)


@inlined
def would_take(st: State, ch: int) -> bool:
    """MM2S: whether the stream wants a word; a test bench always does."""
    if st.ports.has_sink[ch] == 0:
        port = st.channels.switch_port[ch]
        return bool(port >= 0 and has_room(st, port))
    return True


@inlined
def takes(st: State, ch: int) -> bool:
    """MM2S: whether the sink, or else the switch, takes the beat that waits in the egress buffer."""
    if st.ports.has_sink[ch] == 0:
        port = st.channels.switch_port[ch]
        return bool(port >= 0 and has_room(st, port))
    if full(st, ch):
        return False
    st.clock.activity[0] = 1
    return ready(st, ch)


@inlined
def deliver(st: State, ch: int, word: int, last: int) -> None:
    """MM2S: hand a word, or to a switch an entry of ``beats``, to whoever takes it."""
    if st.ports.has_sink[ch] == 0:
        port = st.channels.switch_port[ch]
        push(st, port, word, last | st.switch.parity[port])
        return
    at = st.ports.sink_count[ch]
    put_into_sink(st, ch, at, word, last)
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
    st.host_words[at, 3] = st.clock.now[0]
    st.host_words[0, 0] = at
    if not host_takes(st):
        st.clock.full[0] = 1
