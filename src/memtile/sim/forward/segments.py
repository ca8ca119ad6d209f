"""The words of a period, moved in as few pieces as their order allows.

The accesses of a channel that continue each other make one segment. A segment is put off while it grows, so
it ends where another channel has an access to some of its words, unless both read: the words of memory are
the same at each access as if all were made one by one.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S, WORD_BYTES
from memtile.jit.blocks import moves
from memtile.jit.decorators import jit
from memtile.jit.host_words import copy_in, copy_out, put_word_at, word_at
from memtile.model.dma.access_log import CH, FLAGS, PADDING, STEP, TARGET, TLAST, WORDS, home_of
from memtile.model.dma.mm2s import pad_value
from memtile.model.state.columns import Ints
from memtile.model.state.dma import UNDER_WAY
from memtile.model.state.state import State
from memtile.model.streams.host_ports import note_end
from memtile.sim.forward.circuits import NOBODY
from memtile.sim.forward.counted import (
    count,
    count_from,
    is_numbered,
    number_of,
    numbered,
    read_numbered,
    write_numbered,
)
from memtile.sim.forward.places import (
    COUNTED,
    CURSOR,
    FLOW,
    HIGHEST,
    LOWEST,
    OPEN_LAST,
    OPEN_STEP,
    OPEN_TARGET,
    OPEN_WORDS,
    PRODUCER,
    SEGMENT,
    SHIFT,
    WORDS_OF,
    Arrays,
    Book,
    listed,
    scratch,
    segments,
)
from memtile.sim.forward.reads import is_outside

KEPT_PERIODS = 2  # of periods that read the same words again: the first one, and the last one
_TOGETHER = 256  # accesses
_copy, _clear = moves()


@jit
def close(st: State, book: Ints, ch: int) -> None:
    """Let the channel's open segment be the next one, if it has one; what it receives is sent before."""
    words = book[scratch(ch, OPEN_WORDS)]
    if words == 0:
        return
    if st.channels.direction[ch] != MM2S and book[scratch(ch, PRODUCER)] != NOBODY:
        append_open(st, book, book[scratch(ch, PRODUCER)])
    append_open(st, book, ch)


@jit
def append_open(st: State, book: Ints, ch: int) -> None:
    """Append the channel's open segment, if it has one."""
    words = book[scratch(ch, OPEN_WORDS)]
    if words == 0:
        return
    at = segments(st.channels.phase.shape[0]) + book[Book.SEGMENTS] * SEGMENT
    book[at + CH], book[at + WORDS] = ch, words
    book[at + TARGET], book[at + STEP] = book[scratch(ch, OPEN_TARGET)], book[scratch(ch, OPEN_STEP)]
    book[at + FLAGS] = book[scratch(ch, OPEN_LAST)]
    book[Book.SEGMENTS] += 1
    book[scratch(ch, OPEN_WORDS)] = 0


@jit
def meets(st: State, book: Ints, ch: int, other: int, low: int, high: int) -> bool:
    """Whether an access of the channel has to come after the open segment of another one."""
    words = book[scratch(other, OPEN_WORDS)]
    if words == 0 or (st.channels.direction[ch] == MM2S and st.channels.direction[other] == MM2S):
        return False
    first = book[scratch(other, OPEN_TARGET)]
    if first == PADDING:
        return False
    end = first + (words - 1) * book[scratch(other, OPEN_STEP)]
    return bool(low <= end and first <= high)


@jit
def continues(book: Ints, ch: int, target: int, words: int, step: int) -> bool:
    """Whether an access continues the channel's open segment, which then has its step."""
    first, so_far = book[scratch(ch, OPEN_TARGET)], book[scratch(ch, OPEN_WORDS)]
    if so_far == 0 or (first == PADDING) != (target == PADDING):
        return False
    if target == PADDING:
        return True
    own = book[scratch(ch, OPEN_STEP)]
    apart = target - first if so_far == 1 else own
    if apart <= 0 or target != first + so_far * apart or (words > 1 and step != apart):
        return False
    if so_far == 1:
        book[scratch(ch, OPEN_STEP)] = apart
    return True


@jit
def add(st: State, book: Ints, ch: int, target: int, words: int, step: int, last: int) -> None:
    """Add an access to the segments."""
    if target != PADDING:
        high = target + (words - 1) * step
        for n in range(book[Book.LISTED]):
            other = book[listed(st.channels.phase.shape[0], n)]
            if other != ch and meets(st, book, ch, other, target, high):
                close(st, book, other)
    if continues(book, ch, target, words, step):
        book[scratch(ch, OPEN_WORDS)] += words
    else:
        close(st, book, ch)
        book[scratch(ch, OPEN_TARGET)], book[scratch(ch, OPEN_STEP)] = target, step
        book[scratch(ch, OPEN_WORDS)] = words
    book[scratch(ch, OPEN_LAST)] = last
    if last != 0:
        close(st, book, ch)


@jit
def close_all(st: State, book: Ints) -> None:
    """Let all open segments be the next ones."""
    for n in range(book[Book.LISTED]):
        close(st, book, book[listed(st.channels.phase.shape[0], n)])


@jit
def add_action(st: State, book: Ints, row: int) -> None:
    """Add the action of a core, as the log has it, to the segments: behind all that comes before it."""
    close_all(st, book)
    at = segments(st.channels.phase.shape[0]) + book[Book.SEGMENTS] * SEGMENT
    for entry in range(SEGMENT):
        book[at + entry] = st.access_log[row, entry]
    book[Book.SEGMENTS] += 1


@jit
def count_anew(st: State, book: Ints, periods: int) -> None:
    """Count the words of the log, where they are counted, from those of so many periods later on."""
    for n in range(book[Book.LISTED]):
        count_from(book, book[listed(st.channels.phase.shape[0], n)], periods)


@jit
def gather(st: State, book: Ints, first: int, end: int, done: int, periods: int) -> None:
    """Make the segments of the accesses in rows ``first`` to ``end`` of the log, again for so many periods.

    What comes after what is that of periods ``done`` + 1 and on: channels that move differently meet later.
    """
    log = st.access_log
    book[Book.SEGMENTS] = 0
    for n in range(done + 1, done + periods + 1):
        count_anew(st, book, n)
        for row in range(first, end):
            ch, target = log[row, CH], log[row, TARGET]
            if ch < 0:
                add_action(st, book, row)
                continue
            if book[scratch(ch, COUNTED)] > 0:
                target = numbered(ch, count(book, ch, log[row, WORDS]))
            elif target != PADDING:
                target += n * book[scratch(ch, SHIFT)]
            add(st, book, ch, target, log[row, WORDS], log[row, STEP], log[row, FLAGS] & TLAST)
    close_all(st, book)


@jit
def apart(st: State, book: Ints, one: int, other: int, periods: int) -> bool:
    """Whether no word of one segment is one of the other, for so many periods, or both only read."""
    if st.channels.direction[book[one + CH]] == MM2S and st.channels.direction[book[other + CH]] == MM2S:
        return True
    if book[one + TARGET] == PADDING or book[other + TARGET] == PADDING:
        return True
    end = book[one + TARGET] + (periods * book[one + WORDS] - 1) * book[one + STEP]
    other_end = book[other + TARGET] + (periods * book[other + WORDS] - 1) * book[other + STEP]
    return bool(end < book[other + TARGET] or other_end < book[one + TARGET])


@jit
def moving_together(st: State, book: Ints) -> bool:
    """Whether what meets in a period meets in all of them: the accesses of all channels move alike.

    Those to external memory may move differently as long as nobody writes there.
    """
    channels = st.channels.phase.shape[0]
    for n in range(1, book[Book.LISTED]):
        one = book[listed(channels, n)]
        for earlier in range(n):
            other = book[listed(channels, earlier)]
            if book[scratch(one, SHIFT)] != book[scratch(other, SHIFT)] and may_meet(st, book, one, other):
                return False
    return True


@jit
def may_meet(st: State, book: Ints, one: int, other: int) -> bool:
    """Whether the accesses of two channels could be to the same words, at least one of them a write."""
    c = st.channels
    if book[scratch(one, COUNTED)] + book[scratch(other, COUNTED)] > 0:
        return False
    if (c.external[one] >= 0) != (c.external[other] >= 0):
        return False
    return bool(c.direction[one] != MM2S or c.direction[other] != MM2S)


@jit
def unshifted(st: State, book: Ints) -> bool:
    """Whether no channel's accesses move from one period to the next."""
    for n in range(book[Book.LISTED]):
        if book[scratch(book[listed(st.channels.phase.shape[0], n)], SHIFT)] != 0:
            return False
    return True


@jit
def prolong(st: State, book: Ints, periods: int) -> bool:
    """Let the segments of one period be those of many; False where that is not one segment a channel."""
    first, count = segments(st.channels.phase.shape[0]), book[Book.SEGMENTS]
    if count != book[Book.LISTED] or book[Book.ACTIONS] > 0:
        return False
    for n in range(count):
        at = first + n * SEGMENT
        shift, words, step = book[scratch(book[at + CH], SHIFT)], book[at + WORDS], book[at + STEP]
        if words == 1:
            step = shift
        if book[at + TARGET] == PADDING or step <= 0 or shift != words * step or book[at + FLAGS] != 0:
            return False
        book[at + STEP] = step
    for n in range(count):
        for other in range(n):
            one, earlier = first + n * SEGMENT, first + other * SEGMENT
            if book[scratch(book[earlier + CH], PRODUCER)] == book[one + CH]:
                return False  # it would receive before that is sent
            if not apart(st, book, one, earlier, periods):
                return False
    for n in range(count):
        book[first + n * SEGMENT + WORDS] *= periods
    return True


@jit
def at_a_time(accesses: int) -> int:
    """Periods for which segments are made at a time: they grow over several short ones."""
    return int(max(_TOGETHER // max(accesses, 1), 1))


@jit
def note_extent(book: Ints, at: int) -> None:
    """Widen what is known of where the channel of a segment has its accesses."""
    ch, first = book[at + CH], book[at + TARGET]
    if first == PADDING:
        return
    last = first + (book[at + WORDS] - 1) * book[at + STEP]
    book[scratch(ch, LOWEST)] = min(book[scratch(ch, LOWEST)], first)
    book[scratch(ch, HIGHEST)] = max(book[scratch(ch, HIGHEST)], last)


@jit
def in_order(st: State, book: Ints) -> bool:
    """Whether the words in the sink of each channel of the period come before those that it has under way.

    A period that is shorter than what is under way would be repeated in the middle of that.
    """
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        if st.channels.direction[ch] == MM2S and book[scratch(ch, WORDS_OF)] < st.fifos.held[ch]:
            return False
    return True


@jit
def constant(st: State, book: Ints, first: int, end: int) -> bool:
    """Whether each period reads the very words that this one read; gathers it to find that out.

    So it is where no access moves and nobody writes where somebody reads.
    """
    if st.clock.wordless[0] == 1 or not unshifted(st, book) or not in_order(st, book):
        return False
    if st.repeats[0, 0] + book[Book.LISTED] >= st.repeats.shape[0]:
        return False
    if book[Book.GATHERED] == 0:
        gather(st, book, first, end, 0, 1)
    channels = st.channels.phase.shape[0]
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        book[scratch(ch, LOWEST)], book[scratch(ch, HIGHEST)] = st.memory.shape[0], -1
    for n in range(book[Book.SEGMENTS]):
        note_extent(book, segments(channels) + n * SEGMENT)
    for n in range(book[Book.LISTED]):
        for m in range(book[Book.LISTED]):
            one, other = book[listed(channels, n)], book[listed(channels, m)]
            if st.channels.direction[one] == MM2S or st.channels.direction[other] != MM2S:
                continue
            low, high = book[scratch(other, LOWEST)], book[scratch(other, HIGHEST)]
            if book[scratch(one, LOWEST)] <= high and low <= book[scratch(one, HIGHEST)]:
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
    if work.book[scratch(ch, FLOW)] == NOBODY:
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
    book = work.book
    words, step, ends = book[segment + WORDS], book[segment + STEP], book[segment + FLAGS] != 0
    if book[scratch(ch, FLOW)] == NOBODY:
        read(st, ch, target, step, words, at)
        if ends:
            note_end(st, ch, at + words - 1)
    else:
        read_flow(st, work, ch, target, step, words, at)
        if ends:
            work.flow_last[at + words - 1] = 1


@jit
def play_one(st: State, work: Arrays, at: int, periods: int) -> None:
    """Move the words of the segment at a place of the book, so many periods on from where it was gathered."""
    book = work.book
    ch, words, target = book[at + CH], book[at + WORDS], book[at + TARGET]
    if target != PADDING:
        target += periods * book[scratch(ch, SHIFT)]
    cursor = book[scratch(ch, CURSOR)]
    if st.channels.direction[ch] == MM2S:
        send(st, work, ch, at, target, cursor)
    else:
        write(st, work, ch, target, book[at + STEP], words, cursor)
    book[scratch(ch, CURSOR)] = cursor + words


@jit
def play(st: State, work: Arrays, periods: int) -> None:
    """Move the words of all segments, so many periods on from where they were gathered."""
    at = segments(st.channels.phase.shape[0])
    for _ in range(work.book[Book.SEGMENTS]):
        play_one(st, work, at, periods)
        at += SEGMENT


@jit
def play_constant(st: State, work: Arrays, times: int) -> None:
    """Move the words of periods that are all alike: the first and the last one read, the last two written.

    Of what is read, the first one then stands for all but the last one.
    """
    book = work.book
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        words, cursor = book[scratch(ch, WORDS_OF)], book[scratch(ch, CURSOR)]
        if st.channels.direction[ch] == MM2S:
            row = st.repeats[0, 0] + 1
            st.repeats[row, 0], st.repeats[row, 1] = ch, cursor + words
            st.repeats[row, 2], st.repeats[row, 3] = words, times - KEPT_PERIODS
            st.repeats[0, 0] = row
        else:
            book[scratch(ch, CURSOR)] = cursor + (times - KEPT_PERIODS) * words
    for _ in range(KEPT_PERIODS):
        play(st, work, 0)
