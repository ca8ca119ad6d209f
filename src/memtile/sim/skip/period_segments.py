"""The words of a period, moved in as few pieces as their order allows.

The accesses of a channel that continue each other make one segment. A segment is put off while it grows, so
it ends where another channel has an access to some of its words, unless both read: the words of memory are
the same at each access as if all were made one by one.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S, WORD_BYTES
from memtile.jit.addresses import moves
from memtile.jit.decorators import jit
from memtile.jit.host_words import copy_in, copy_out, put_word_at, word_at
from memtile.model.dma.access_log import CH, FLAGS, PADDING, STEP, TARGET, TLAST, WORDS, home_of
from memtile.model.dma.mm2s import pad_value
from memtile.model.state.dma import UNDER_WAY
from memtile.model.state.state import State
from memtile.model.streams.host_ports import note_end
from memtile.sim.skip.counted_walks import (
    count,
    count_from,
    is_numbered,
    number_of,
    numbered,
    read_numbered,
    write_numbered,
)
from memtile.sim.skip.external_reads import is_outside
from memtile.sim.skip.meeting_channels import find_meeting
from memtile.sim.skip.records import (
    Arrays,
)
from memtile.sim.skip.stream_ways import NOBODY

KEPT_PERIODS = 2  # of periods that read the same words again: the first one, and the last one
_TOGETHER = 256  # accesses
_copy, _clear = moves()


@jit
def close(st: State, work: Arrays, ch: int) -> None:
    """Let the channel's open segment be the next one, if it has one; what it receives is sent before."""
    words = work.channels.open_words[ch]
    if words == 0:
        return
    if st.channels.direction[ch] != MM2S and work.channels.producer[ch] != NOBODY:
        append_open(work, work.channels.producer[ch])
    append_open(work, ch)


@jit
def append_open(work: Arrays, ch: int) -> None:
    """Append the channel's open segment, if it has one."""
    words = work.channels.open_words[ch]
    if words == 0:
        return
    segments, at = work.segments, work.search.segment_count[0]
    segments.channel[at], segments.words[at] = ch, words
    segments.target[at], segments.step[at] = work.channels.open_target[ch], work.channels.open_step[ch]
    segments.flags[at] = work.channels.open_last[ch]
    work.search.segment_count[0] += 1
    work.channels.open_words[ch] = 0


@jit
def meets(st: State, work: Arrays, ch: int, other: int, low: int, high: int) -> bool:
    """Whether an access of the channel has to come after the open segment of another one."""
    words = work.channels.open_words[other]
    if words == 0 or (st.channels.direction[ch] == MM2S and st.channels.direction[other] == MM2S):
        return False
    first = work.channels.open_target[other]
    if first == PADDING:
        return False
    end = first + (words - 1) * work.channels.open_step[other]
    return bool(low <= end and first <= high)


@jit
def continues(work: Arrays, ch: int, target: int, words: int, step: int) -> bool:
    """Whether an access continues the channel's open segment, which then has its step."""
    first, so_far = work.channels.open_target[ch], work.channels.open_words[ch]
    if so_far == 0 or (first == PADDING) != (target == PADDING):
        return False
    if target == PADDING:
        return True
    own = work.channels.open_step[ch]
    apart = target - first if so_far == 1 else own
    if apart <= 0 or target != first + so_far * apart or (words > 1 and step != apart):
        return False
    if so_far == 1:
        work.channels.open_step[ch] = apart
    return True


@jit
def add(st: State, work: Arrays, ch: int, target: int, words: int, step: int, last: int) -> None:
    """Add an access to the segments."""
    if target != PADDING and work.channels.meeting[ch] == 1:
        high = target + (words - 1) * step
        for n in range(work.search.moving_count[0]):
            other = work.moving[n]
            if other != ch and meets(st, work, ch, other, target, high):
                close(st, work, other)
    if continues(work, ch, target, words, step):
        work.channels.open_words[ch] += words
    else:
        close(st, work, ch)
        work.channels.open_target[ch], work.channels.open_step[ch] = target, step
        work.channels.open_words[ch] = words
    work.channels.open_last[ch] = last
    if last != 0:
        close(st, work, ch)


@jit
def close_all(st: State, work: Arrays) -> None:
    """Let all open segments be the next ones."""
    for n in range(work.search.moving_count[0]):
        close(st, work, work.moving[n])


@jit
def add_action(st: State, work: Arrays, row: int) -> None:
    """Add the action of a core, as the log has it, to the segments: behind all that comes before it."""
    close_all(st, work)
    log, segments, at = st.access_log, work.segments, work.search.segment_count[0]
    segments.channel[at], segments.target[at], segments.words[at] = (
        log[row, CH],
        log[row, TARGET],
        log[row, WORDS],
    )
    segments.step[at], segments.flags[at] = log[row, STEP], log[row, FLAGS]
    work.search.segment_count[0] += 1


@jit
def gather_actions(st: State, work: Arrays, first: int, end: int) -> None:
    """Make the segments of the actions alone, where no words are moved."""
    work.search.segment_count[0] = 0
    for row in range(first, end):
        if st.access_log[row, CH] < 0:
            add_action(st, work, row)


@jit
def count_anew(work: Arrays, periods: int) -> None:
    """Count the words of the log, where they are counted, from those of so many periods later on."""
    for n in range(work.search.moving_count[0]):
        count_from(work, work.moving[n], periods)


@jit
def gather(st: State, work: Arrays, first: int, end: int, done: int, periods: int) -> None:
    """Make the segments of the accesses in rows ``first`` to ``end`` of the log, again for so many periods.

    What comes after what is that of periods ``done`` + 1 and on: channels that move differently meet later.
    """
    log = st.access_log
    work.search.segment_count[0] = 0
    find_meeting(st, work, first, end, done, periods)
    for n in range(done + 1, done + periods + 1):
        count_anew(work, n)
        for row in range(first, end):
            ch, target = log[row, CH], log[row, TARGET]
            if ch < 0:
                add_action(st, work, row)
                continue
            if work.channels.counted[ch] > 0:
                target = numbered(ch, count(work, ch, log[row, WORDS]))
            elif target != PADDING:
                target += n * work.channels.shift[ch]
            add(st, work, ch, target, log[row, WORDS], log[row, STEP], log[row, FLAGS] & TLAST)
    close_all(st, work)


@jit
def apart(st: State, work: Arrays, one: int, other: int, periods: int) -> bool:
    """Whether no word of one segment is one of the other, for so many periods, or both only read."""
    segments, direction = work.segments, st.channels.direction
    if direction[segments.channel[one]] == MM2S and direction[segments.channel[other]] == MM2S:
        return True
    if segments.target[one] == PADDING or segments.target[other] == PADDING:
        return True
    end = segments.target[one] + (periods * segments.words[one] - 1) * segments.step[one]
    other_end = segments.target[other] + (periods * segments.words[other] - 1) * segments.step[other]
    return bool(end < segments.target[other] or other_end < segments.target[one])


@jit
def moving_together(st: State, work: Arrays) -> bool:
    """Whether what meets in a period meets in all of them: the accesses of all channels move alike.

    Those to external memory may move differently as long as nobody writes there.
    """
    for n in range(1, work.search.moving_count[0]):
        one = work.moving[n]
        for earlier in range(n):
            other = work.moving[earlier]
            if work.channels.shift[one] != work.channels.shift[other] and may_meet(st, work, one, other):
                return False
    return True


@jit
def may_meet(st: State, work: Arrays, one: int, other: int) -> bool:
    """Whether the accesses of two channels could be to the same words, at least one of them a write."""
    c = st.channels
    if work.channels.counted[one] + work.channels.counted[other] > 0:
        return False
    if (c.external[one] >= 0) != (c.external[other] >= 0):
        return False
    return bool(c.direction[one] != MM2S or c.direction[other] != MM2S)


@jit
def unshifted(work: Arrays) -> bool:
    """Whether no channel's accesses move from one period to the next."""
    for n in range(work.search.moving_count[0]):  # noqa: SIM110 - compiled code has no generators
        if work.channels.shift[work.moving[n]] != 0:
            return False
    return True


@jit
def prolong(st: State, work: Arrays, periods: int) -> bool:
    """Let the segments of one period be those of many; False where that is not one segment a channel."""
    search, segments = work.search, work.segments
    count = search.segment_count[0]
    if count != search.moving_count[0] or search.action_count[0] > 0:
        return False
    for n in range(count):
        shift = work.channels.shift[segments.channel[n]]
        words, step = segments.words[n], segments.step[n]
        if words == 1:
            step = shift
        if segments.target[n] == PADDING or step <= 0 or shift != words * step or segments.flags[n] != 0:
            return False
        segments.step[n] = step
    for n in range(count):
        for earlier in range(n):
            if work.channels.producer[segments.channel[earlier]] == segments.channel[n]:
                return False  # it would receive before that is sent
            if not apart(st, work, n, earlier, periods):
                return False
    for n in range(count):
        segments.words[n] *= periods
    return True


@jit
def at_a_time(accesses: int) -> int:
    """Periods for which segments are made at a time: they grow over several short ones."""
    return int(max(_TOGETHER // max(accesses, 1), 1))


@jit
def note_extent(work: Arrays, at: int) -> None:
    """Widen what is known of where the channel of a segment has its accesses."""
    ch, first = work.segments.channel[at], work.segments.target[at]
    if first == PADDING:
        return
    last = first + (work.segments.words[at] - 1) * work.segments.step[at]
    work.channels.lowest[ch] = min(work.channels.lowest[ch], first)
    work.channels.highest[ch] = max(work.channels.highest[ch], last)


@jit
def in_order(st: State, work: Arrays) -> bool:
    """Whether the words in the sink of each channel of the period come before those that it has under way.

    A period that is shorter than what is under way would be repeated in the middle of that.
    """
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        if st.channels.direction[ch] == MM2S and work.channels.words[ch] < st.fifos.held[ch]:
            return False
    return True


@jit
def constant(st: State, work: Arrays, first: int, end: int) -> bool:
    """Whether each period reads the very words that this one read; gathers it to find that out.

    So it is where no access moves and nobody writes where somebody reads.
    """
    search = work.search
    if st.clock.wordless[0] == 1 or not unshifted(work) or not in_order(st, work):
        return False
    if st.repeats[0, 0] + search.moving_count[0] >= st.repeats.shape[0]:
        return False
    if search.gathered[0] == 0:
        gather(st, work, first, end, 0, 1)
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        work.channels.lowest[ch], work.channels.highest[ch] = st.memory.shape[0], -1
    for n in range(search.segment_count[0]):
        note_extent(work, n)
    for n in range(search.moving_count[0]):
        for m in range(search.moving_count[0]):
            one, other = work.moving[n], work.moving[m]
            if st.channels.direction[one] == MM2S or st.channels.direction[other] != MM2S:
                continue
            low, high = work.channels.lowest[other], work.channels.highest[other]
            if work.channels.lowest[one] <= high and low <= work.channels.highest[one]:
                return False
    return True


@jit
def write_piece(st: State, target: int, step: int, words: int, address: int, apart: int) -> None:
    """Words of the host's memory go to that of the tiles."""
    if step == 1 and apart == WORD_BYTES:
        copy_in(st.memory, target, address, words)
    else:
        for n in range(words):
            st.memory[target + n * step] = word_at(address + n * apart)


@jit
def write_source(st: State, ch: int, target: int, step: int, words: int, at: int) -> None:
    """Words of the channel's source go to memory: those that were taken, those of its piece and the next."""
    ports, done = st.ports, 0
    while done < words and at + done < 0:
        st.memory[target + done * step] = st.former[ch, UNDER_WAY + at + done]
        done += 1
    end, apart = ports.source_end[ch], ports.source_step[ch]
    count = min(words, end - at) - done
    if count > 0:
        address = ports.source_words[ch] + (at + done) * apart
        write_piece(st, target + done * step, step, count, address, apart)
        done += count
    if done < words:
        apart = ports.next_step[ch]
        address = ports.next_words[ch] + (at + done - end) * apart
        write_piece(st, target + done * step, step, words - done, address, apart)


@jit
def write(st: State, work: Arrays, ch: int, target: int, step: int, words: int, at: int) -> None:
    """Words of the channel's stream, from place ``at`` on, go to memory."""
    if work.channels.flow[ch] == NOBODY:
        write_source(st, ch, target, step, words, at)
    elif is_numbered(target):
        write_numbered(st, work, ch, number_of(target), words, at)
    elif is_outside(target):
        write_outside(work, home_of(target), step * WORD_BYTES, words, at)
    elif step == 1:
        _copy(st.memory, target, work.flow, at, words)
    else:
        for n in range(words):
            st.memory[target + n * step] = work.flow[at + n]


@jit
def write_outside(work: Arrays, home: int, apart: int, words: int, at: int) -> None:
    """Words that came through switches go to external memory, ``apart`` bytes from one to the next."""
    for n in range(words):
        put_word_at(home + n * apart, work.flow[at + n])


@jit
def read(st: State, ch: int, target: int, step: int, words: int, at: int) -> None:
    """Words of memory, or padding, go to the channel's sink."""
    place = st.ports.sink_words[ch] + at * WORD_BYTES
    if target == PADDING:
        value = pad_value(st, ch)
        for n in range(words):
            put_word_at(place + n * WORD_BYTES, value)
    elif step == 1:
        copy_out(place, st.memory, target, words)
    else:
        for n in range(words):
            put_word_at(place + n * WORD_BYTES, st.memory[target + n * step])


@jit
def read_flow(st: State, work: Arrays, ch: int, target: int, step: int, words: int, at: int) -> None:
    """Words of memory, or padding, go into the stream that the channel sends through switches."""
    if target == PADDING:
        value = pad_value(st, ch)
        for n in range(words):
            work.flow[at + n] = value
    elif is_numbered(target):
        read_numbered(st, work, ch, number_of(target), words, at)
    elif is_outside(target):
        home = home_of(target)
        for n in range(words):
            work.flow[at + n] = word_at(home + n * step * WORD_BYTES)
    elif step == 1:
        _copy(work.flow, at, st.memory, target, words)
    else:
        for n in range(words):
            work.flow[at + n] = st.memory[target + n * step]
    _clear(work.flow_last, at, words)


@jit
def send(st: State, work: Arrays, ch: int, segment: int, target: int, at: int) -> None:
    """Move the words of a segment of an MM2S channel."""
    segments = work.segments
    words, step, ends = segments.words[segment], segments.step[segment], segments.flags[segment] != 0
    if work.channels.flow[ch] == NOBODY:
        read(st, ch, target, step, words, at)
        if ends:
            note_end(st, ch, at + words - 1)
    else:
        read_flow(st, work, ch, target, step, words, at)
        if ends:
            work.flow_last[at + words - 1] = 1


@jit
def play_one(st: State, work: Arrays, at: int, periods: int) -> None:
    """Move the words of the segment with this number, so many periods on from where it was gathered."""
    ch, words, target = work.segments.channel[at], work.segments.words[at], work.segments.target[at]
    if target != PADDING:
        target += periods * work.channels.shift[ch]
    cursor = work.channels.cursor[ch]
    if st.channels.direction[ch] == MM2S:
        send(st, work, ch, at, target, cursor)
    else:
        write(st, work, ch, target, work.segments.step[at], words, cursor)
    work.channels.cursor[ch] = cursor + words


@jit
def play(st: State, work: Arrays, periods: int) -> None:
    """Move the words of all segments, so many periods on from where they were gathered."""
    for at in range(work.search.segment_count[0]):
        play_one(st, work, at, periods)


@jit
def play_constant(st: State, work: Arrays, times: int) -> None:
    """Move the words of periods that are all alike: the first and the last one read, the last two written.

    Of what is read, the first one then stands for all but the last one.
    """
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        words, cursor = work.channels.words[ch], work.channels.cursor[ch]
        if st.channels.direction[ch] == MM2S:
            row = st.repeats[0, 0] + 1
            st.repeats[row, 0], st.repeats[row, 1] = ch, cursor + words
            st.repeats[row, 2], st.repeats[row, 3] = words, times - KEPT_PERIODS
            st.repeats[0, 0] = row
        else:
            work.channels.cursor[ch] = cursor + (times - KEPT_PERIODS) * words
    for _ in range(KEPT_PERIODS):
        play(st, work, 0)
