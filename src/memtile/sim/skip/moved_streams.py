"""A jump of the channels: their words, what they have under way, and the columns with guards of their own.

The words that a channel has under way follow each other in one stream: of the source at its port, before
which ``State.former`` has the words that have been taken; of memory, which goes on into its sink; or of
another channel, through switches, which lies in ``flow``. So what is under way after a jump is found there.
"""

from __future__ import annotations

from memtile.arch.tiles import MAX_DIMENSIONS, MM2S, S2MM, WORD_BYTES
from memtile.jit.addresses import WORD, access
from memtile.jit.decorators import inlined, jit
from memtile.jit.host_words import word_at
from memtile.model.state.columns import Ints
from memtile.model.state.dma import UNDER_WAY
from memtile.model.state.state import State
from memtile.model.streams.host_ports import next_piece, put_into_sink
from memtile.sim.skip.comparison import ends_in_buffer
from memtile.sim.skip.counted_walks import set_places
from memtile.sim.skip.external_reads import move_on
from memtile.sim.skip.period_segments import (
    KEPT_PERIODS,
    at_a_time,
    gather,
    moving_together,
    play,
    play_constant,
    prolong,
)
from memtile.sim.skip.records import (
    AIMED,
    AT,
    BDS,
    CYCLE,
    HEAD,
    HELD,
    LEFT,
    MOVED,
    OF_CHANNEL,
    PORT_AIMED,
    POSITION,
    RUNS,
    SOURCED,
    SUNK,
    Arrays,
    of_external,
)
from memtile.sim.skip.repeat_guards import flag
from memtile.sim.skip.stream_ways import NOBODY, received
from memtile.sim.skip.switch_flows import at_once, close_flow, close_ports, open_flows, shorten

_load, _store = access()
_BEAT = 2  # words that a sink has to have room for, or it is full


@jit
def lay_before(st: State, ch: int, at: int, word: int) -> None:
    """Put a word under way before the source, if it was taken before the piece that the source is in."""
    if at < 0:
        st.former[ch, UNDER_WAY + at] = word


@jit
def lay_before_source(st: State, ch: int, at: int) -> None:
    """Put the words under way before the source again, from ``at`` on: the oldest are at the memory port."""
    g, fifos = st.granules, st.fifos
    for n in range(g.port_count[ch]):
        lay_before(st, ch, at + n, g.port_words[ch, n])
    at += g.port_count[ch]
    for n in range(g.formed[ch]):
        lay_before(st, ch, at + n, g.words[ch, n])
    at += g.formed[ch]
    for n in range(fifos.held[ch]):
        lay_before(st, ch, at + n, fifos.words[ch, (fifos.head[ch] + n) & fifos.wrap[ch]])


@jit
def source_word(st: State, ch: int, at: int) -> int:
    """A word of the source, by its place in the piece that the source is in."""
    ports = st.ports
    if at < 0:
        return int(st.former[ch, UNDER_WAY + at])
    if at < ports.source_end[ch]:
        return int(word_at(ports.source_words[ch] + at * ports.source_step[ch]))
    return int(word_at(ports.next_words[ch] + (at - ports.source_end[ch]) * ports.next_step[ch]))


@jit
def lay_into_sink(st: State, ch: int) -> int:
    """Put the words under way into the sink; where the next one goes there."""
    fifos, at = st.fifos, st.ports.sink_count[ch]
    for n in range(fifos.held[ch]):
        slot = (fifos.head[ch] + n) & fifos.wrap[ch]
        put_into_sink(st, ch, at + n, fifos.words[ch, slot], fifos.last[ch, slot])
    return int(at + fifos.held[ch])


@jit
def open_streams(st: State, work: Arrays) -> None:
    """Set for each channel of the period where its words come from, or go to."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        if work.channels.flow[ch] != NOBODY:
            continue
        if st.channels.direction[ch] == MM2S:
            work.channels.cursor[ch] = lay_into_sink(st, ch)
        else:
            at = st.ports.source_position[ch] - received(st, ch)
            lay_before_source(st, ch, at)
            work.channels.cursor[ch] = at
    open_flows(st, work)


@jit
def move_some(st: State, work: Arrays, first: int, end: int, done: int, until: int) -> None:
    """Move the words of the periods ``done`` to ``until``, see :func:`move_words`."""
    if work.search.gathered[0] == 0 or at_a_time(end - first) > 1:
        gather(st, work, first, end, done, 1)
        if prolong(st, work, until - done):
            play(st, work, 0)
            return
    gathered, made = 1, done
    together = moving_together(st, work)
    while done < until:
        periods = min(at_a_time(end - first), until - done)
        if periods != gathered or not together:
            gather(st, work, first, end, done, periods)
            gathered, made = periods, done
        play(st, work, done - made)
        done += periods


@jit
def move_words(st: State, work: Arrays, first: int, end: int, times: int) -> None:
    """Move the words of ``times`` periods, whose accesses are rows ``first`` to ``end`` of the log."""
    if work.search.same_words[0] == 1:
        play_constant(st, work, times)
        return
    done = 0
    while done < times:
        if done > 0:
            shorten(st, work)
        until = done + at_once(st, work, times - done)
        move_some(st, work, first, end, done, until)
        done = until


@inlined
def further(kept: Ints, place: int, value: int, times: int) -> int:
    """A value that changes by as much in each period; what was kept of it then is as old as before."""
    change = times * (value - kept[place])
    kept[place] += change
    return int(value + change)


@jit
def turn_buffer(st: State, ch: int, words: int) -> None:
    """Turn the channel's buffer so many words on.

    Where nobody moves words, those that wait have the TLAST of before: the guards have found it equal.
    """
    fifos, ends, wordless = st.fifos, 0, st.clock.wordless[0] == 1
    if wordless:
        ends = ends_in_buffer(st, ch)
    fifos.head[ch] = (fifos.head[ch] + words) & fifos.wrap[ch]
    if wordless:
        for n in range(fifos.held[ch]):
            fifos.last[ch, (fifos.head[ch] + n) & fifos.wrap[ch]] = ends >> n & 1


@jit
def shift_channel(st: State, work: Arrays, at: int, ch: int, times: int) -> None:
    """Let the columns with guards differ once more for each period, here and in the slot."""
    kept = work.kept
    c, walks, g, ports = st.channels, st.walks, st.granules, st.ports
    further(kept, at + BDS, c.bds_done[ch], times)
    further(kept, at + SOURCED, ports.source_base[ch] + ports.source_position[ch], times)
    further(kept, at + SUNK, ports.sink_taken[ch] + ports.sink_count[ch], times)
    c.moved[ch] = further(kept, at + MOVED, c.moved[ch], times)
    c.runs_left[ch] = further(kept, at + RUNS, c.runs_left[ch], times)
    walks.left[ch] = further(kept, at + LEFT, walks.left[ch], times)
    if work.channels.counted[ch] > 0:
        set_places(st, kept, at, ch, work.channels.shift[ch])
    else:
        walks.address[ch] = further(kept, at + AT, walks.address[ch], times)
        for d in range(MAX_DIMENSIONS):
            walks.position[ch, d] = further(kept, at + POSITION + d, walks.position[ch, d], times)
        g.target[ch] = further(kept, at + AIMED, g.target[ch], times)
        g.port_target[ch] = further(kept, at + PORT_AIMED, g.port_target[ch], times)
    words = times * work.channels.words[ch]
    turn_buffer(st, ch, words)
    st.fifos.held[ch] = further(kept, at + HELD, st.fifos.held[ch], times)
    if work.channels.flow[ch] != NOBODY:
        return
    if c.direction[ch] == S2MM:
        ports.source_position[ch] += words + times * work.channels.fills[ch]
    elif work.search.same_words[0] == 1:
        kept_words = KEPT_PERIODS * work.channels.words[ch]
        ports.sink_count[ch] += kept_words
        ports.sink_taken[ch] += words - kept_words
    else:
        ports.sink_count[ch] += words


@jit
def fill_egress(st: State, ch: int, words: int, period: int) -> None:
    """Put the last ``words`` words of the sink's stream into the egress buffer, as far as it goes back.

    Args:
        st: the state.
        ch: the channel.
        words: moved by the jump.
        period: words of a period, where all are alike and the sink got only the last ones; otherwise 0.
    """
    fifos, ports = st.fifos, st.ports
    tail = fifos.head[ch] + fifos.held[ch]
    end = ports.sink_count[ch] + fifos.held[ch]
    for n in range(1, min(words, fifos.wrap[ch] + 1) + 1):
        slot = (tail - n) & fifos.wrap[ch]
        at = end - (n if period == 0 else 1 + (n - 1) % period)
        fifos.words[ch, slot] = word_at(ports.sink_words[ch] + at * WORD_BYTES)
        fifos.last[ch, slot] = ends_at(st, ch, at)
    behind = ports.ends_count[ch]
    while behind > 0 and _load(ports.sink_ends[ch] + (behind - 1) * WORD) >= ports.sink_count[ch]:
        behind -= 1  # of a word under way: it comes there again
    ports.ends_count[ch] = behind


@jit
def ends_at(st: State, ch: int, at: int) -> int:
    """1 = the word at a place in the sink has TLAST."""
    before = st.ports.ends_count[ch]
    while before > 0 and _load(st.ports.sink_ends[ch] + (before - 1) * WORD) > at:
        before -= 1
    return int(before > 0 and _load(st.ports.sink_ends[ch] + (before - 1) * WORD) == at)


@jit
def fill_ingress(st: State, ch: int, words: int) -> None:
    """Put the last ``words`` words of the source into the ingress buffer, as far as it goes back."""
    fifos, end = st.fifos, st.ports.source_position[ch]
    tail = fifos.head[ch] + fifos.held[ch]
    for n in range(1, min(words, fifos.wrap[ch] + 1) + 1):
        slot = (tail - n) & fifos.wrap[ch]
        fifos.words[ch, slot] = source_word(st, ch, end - n)
        fifos.last[ch, slot] = flag(st, ch, end - n)


@inlined
def word_of(st: State, work: Arrays, ch: int, at: int) -> int:
    """The word at a place in the stream that the S2MM channel receives."""
    return source_word(st, ch, at) if work.channels.flow[ch] == NOBODY else int(work.flow[at])


@jit
def fill_accesses(st: State, work: Arrays, ch: int) -> None:
    """Give the accesses that the S2MM channel forms, and has at its port, their words.

    Behind those that wait are the words of accesses before.
    """
    g = st.granules
    written = work.channels.cursor[ch]
    period = written - work.channels.words[ch]
    for n in range(g.port_words.shape[1]):
        latest = work.channels.latest[ch, n]
        if n < g.port_count[ch]:
            g.port_words[ch, n] = word_of(st, work, ch, written + n)
        elif latest >= 0:
            g.port_words[ch, n] = word_of(st, work, ch, period + latest + n)
        if n < g.formed[ch]:
            g.words[ch, n] = word_of(st, work, ch, written + g.port_count[ch] + n)
        elif n < g.port_count[ch] or latest >= 0:
            g.words[ch, n] = g.port_words[ch, n]


@jit
def close_channel(st: State, work: Arrays, ch: int, words: int) -> None:
    """Fill what the channel has under way after it moved so many words."""
    flows = work.channels.flow[ch] != NOBODY
    if flows:
        close_flow(st, work, ch, words)
    elif st.channels.direction[ch] == MM2S:
        fill_egress(st, ch, words, work.channels.words[ch] if work.search.same_words[0] == 1 else 0)
    else:
        fill_ingress(st, ch, words)
    if st.channels.direction[ch] == S2MM:
        fill_accesses(st, work, ch)


@jit
def close_streams(st: State, work: Arrays, times: int) -> None:
    """Fill what the channels have under way after the jump."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        words = work.channels.words[ch] + work.channels.fills[ch]
        close_channel(st, work, ch, times * words)
    close_ports(st, work, times)


@jit
def ask_host(st: State, work: Arrays) -> None:
    """Go on to the next pieces of sources, and have the host serve ports that ended the jump."""
    ports = st.ports
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        period = work.channels.words[ch]
        if work.channels.flow[ch] != NOBODY:
            continue
        if st.channels.direction[ch] == MM2S:
            held = st.fifos.held[ch] + _BEAT
            room = ports.sink_room[ch] - ports.sink_count[ch] - held
            rows = ports.ends_room[ch] - ports.ends_count[ch] - held
            if room <= period or rows <= work.channels.ends[ch]:
                st.clock.full[0] = 1
        elif ports.source_position[ch] >= ports.source_end[ch] and ports.source_end[ch] > 0:
            next_piece(st, ch)


@jit
def shift_all(st: State, work: Arrays, start: int, period: int, times: int) -> None:
    """Bring the columns with guards of their own ``times`` periods on; see :func:`jump`."""
    for n in range(work.search.channel_count[0]):
        ch = work.live_channels[n]
        shift_channel(st, work, start + HEAD + n * OF_CHANNEL, ch, times)
        row = st.channels.external[ch]
        if row >= 0:
            move_on(st, work, start + of_external(st, row), ch, period, times)


@jit
def jump(st: State, work: Arrays, start: int, first: int, end: int, times: int) -> None:
    """Bring all channels ``times`` periods on; the slot at ``start`` has the state before the period."""
    words = st.clock.wordless[0] == 0
    if words:
        open_streams(st, work)
        move_words(st, work, first, end, times)
    shift_all(st, work, start, st.clock.now[0] - work.kept[start + CYCLE], times)
    if words:
        close_streams(st, work, times)
    ask_host(st, work)
