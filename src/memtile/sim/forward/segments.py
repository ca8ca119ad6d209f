"""The words of a period, moved in as few pieces as their order allows.

The accesses of a channel that continue each other make one segment. A segment is put off while it grows, so
it ends where another channel has an access to some of its words, unless both read: the words of memory are
the same at each access as if all were made one by one.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.blocks import moves
from memtile.jit.decorators import jit
from memtile.model.dma.access_log import CH, FLAGS, PADDING, STEP, TARGET, TLAST, WORDS
from memtile.model.dma.mm2s import pad_value
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.forward.places import (
    CURSOR,
    OPEN_LAST,
    OPEN_STEP,
    OPEN_TARGET,
    OPEN_WORDS,
    SEGMENT,
    SHIFT,
    Book,
    listed,
    scratch,
    segments,
)

_TOGETHER = 256  # accesses
_copy, _clear = moves()


@jit
def close(st: State, book: Ints, ch: int) -> None:
    """Let the channel's open segment be the next one, if it has one."""
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
def gather(st: State, book: Ints, first: int, end: int, done: int, periods: int) -> None:
    """Make the segments of the accesses in rows ``first`` to ``end`` of the log, again for so many periods.

    What comes after what is that of periods ``done`` + 1 and on: channels that move differently meet later.
    """
    log = st.access_log
    book[Book.SEGMENTS] = 0
    for n in range(done + 1, done + periods + 1):
        for row in range(first, end):
            ch, target = log[row, CH], log[row, TARGET]
            if target != PADDING:
                target += n * book[scratch(ch, SHIFT)]
            add(st, book, ch, target, log[row, WORDS], log[row, STEP], log[row, FLAGS] & TLAST)
    for n in range(book[Book.LISTED]):
        close(st, book, book[listed(st.channels.phase.shape[0], n)])


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
    """Whether the accesses of all channels move alike: what meets in a period then meets in all of them."""
    channels = st.channels.phase.shape[0]
    for n in range(1, book[Book.LISTED]):
        one, other = book[listed(channels, 0)], book[listed(channels, n)]
        if book[scratch(one, SHIFT)] != book[scratch(other, SHIFT)]:
            return False
    return True


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
    if count != book[Book.LISTED]:
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
            if not apart(st, book, first + n * SEGMENT, first + other * SEGMENT, periods):
                return False
    for n in range(count):
        book[first + n * SEGMENT + WORDS] *= periods
    return True


@jit
def at_a_time(accesses: int) -> int:
    """Periods for which segments are made at a time: they grow over several short ones."""
    return int(max(_TOGETHER // max(accesses, 1), 1))


@jit
def write(st: State, target: int, step: int, words: int, at: int) -> None:
    """Words of a source go to memory."""
    if step == 1:
        _copy(st.memory, target, st.source, at, words)
    else:
        for n in range(words):
            st.memory[target + n * step] = st.source[at + n]


@jit
def read(st: State, ch: int, target: int, step: int, words: int, at: int) -> None:
    """Words of memory, or padding, go to the channel's sink."""
    row = st.ports.sink_row[ch]
    place = row * st.sink.shape[1] + at
    if target == PADDING:
        value = pad_value(st, ch)
        for n in range(words):
            st.sink[row, at + n] = value
    elif step == 1:
        _copy(st.sink, place, st.memory, target, words)
    else:
        for n in range(words):
            st.sink[row, at + n] = st.memory[target + n * step]
    _clear(st.sink_last, place, words)


@jit
def play(st: State, book: Ints, periods: int) -> None:
    """Move the words of all segments, so many periods on from where they were gathered."""
    at = segments(st.channels.phase.shape[0])
    for _ in range(book[Book.SEGMENTS]):
        ch, words, target = book[at + CH], book[at + WORDS], book[at + TARGET]
        if target != PADDING:
            target += periods * book[scratch(ch, SHIFT)]
        cursor = book[scratch(ch, CURSOR)]
        if st.channels.direction[ch] == MM2S:
            read(st, ch, target, book[at + STEP], words, cursor)
            if book[at + FLAGS] != 0:
                st.sink_last[st.ports.sink_row[ch], cursor + words - 1] = 1
        else:
            write(st, target, book[at + STEP], words, cursor)
        book[scratch(ch, CURSOR)] = cursor + words
        at += SEGMENT
