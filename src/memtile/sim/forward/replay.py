"""A jump in which cores are given actions: its words are moved up to each of them, then Python is asked.

Until all is done, only memory, the streams and the kernels are ahead; the rest of the state is that of the
beginning of the jump. It may end in the middle of a period, where a kernel does something else than in the
one that was recorded: then the state is brought to the beginning of that period, and stepped up to there.
What stepping moves, the jump has moved already, and is put back.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S, WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.dma.access_log import CH, FLAGS, MANY, STEP, TARGET, WORDS, home_of
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.forward.circuits import NOBODY, follow, forget_ways
from memtile.sim.forward.counted import count, write_numbered
from memtile.sim.forward.flows import fill_port, room_left, shorten
from memtile.sim.forward.places import (
    BEGAN,
    COUNTED,
    CURSOR,
    CYCLE,
    FLOW,
    LATEST,
    LATEST_WORDS,
    OF_PORT,
    OPEN_TARGET,
    PRODUCER,
    PRODUCER_OF,
    SEGMENT,
    SHIFT,
    WORDS_OF,
    Arrays,
    Book,
    listed,
    listed_port,
    scratch,
    segments,
)
from memtile.sim.forward.segments import count_anew, gather, moving_together, play_one, write_outside
from memtile.sim.forward.streams import close_channel, close_streams, open_streams, shift_all

ALL_DONE = -1


@jit
def note_beginning(st: State, work: Arrays) -> None:
    """Note where the streams are when a period begins."""
    book = work.book
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        book[scratch(ch, BEGAN)] = book[scratch(ch, CURSOR)]


@jit
def begin_replay(st: State, work: Arrays, first: int, end: int) -> None:
    """Get ready for a jump over the periods whose accesses and actions are rows ``first`` to ``end``."""
    book = work.book
    open_streams(st, work)
    book[Book.BEGIN] = first
    book[Book.TOGETHER] = 1 if moving_together(st, book) else 0
    gather(st, book, first, end, 0, 1)
    book[Book.GATHERED_AT] = book[Book.DONE] = 0
    book[Book.AT] = segments(st.channels.phase.shape[0])
    note_beginning(st, work)


@jit
def next_period(st: State, work: Arrays) -> None:
    """Begin the next period."""
    book = work.book
    if not room_left(st, book):
        shorten(st, work)
    if book[Book.TOGETHER] == 0:
        gather(st, book, book[Book.BEGIN], book[Book.END], book[Book.DONE], 1)
        book[Book.GATHERED_AT] = book[Book.DONE]
    book[Book.AT] = segments(st.channels.phase.shape[0])
    note_beginning(st, work)


@jit
def replay(st: State, work: Arrays) -> int:
    """Move words up to the next action of a core; its place in the book, or ``ALL_DONE``."""
    book, first = work.book, segments(st.channels.phase.shape[0])
    while True:
        if book[Book.AT] == first + book[Book.SEGMENTS] * SEGMENT:
            book[Book.DONE] += 1
            if book[Book.DONE] == book[Book.TIMES]:
                return ALL_DONE
            next_period(st, work)
        at = book[Book.AT]
        book[Book.AT] += SEGMENT
        if book[at + CH] < 0:
            return int(at)
        play_one(st, work, at, book[Book.DONE] - book[Book.GATHERED_AT])


@jit
def turn_cursors(st: State, book: Ints) -> None:
    """Exchange where the streams are and where they were when the period began."""
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        ahead = book[scratch(ch, CURSOR)]
        book[scratch(ch, CURSOR)], book[scratch(ch, BEGAN)] = book[scratch(ch, BEGAN)], ahead


@jit
def finish_replay(st: State, work: Arrays, start: int, times: int) -> None:
    """Bring channels, cores and what is under way on by ``times`` periods, to where the streams are."""
    shift_all(st, work, start, st.clock.now[0] - work.kept[start + CYCLE], times)
    close_streams(st, work, times)


@jit
def row_of_action(st: State, book: Ints, number: int) -> int:
    """The row of an action of the period, the first one being number 0."""
    row = book[Book.BEGIN]
    while number > 0 or st.access_log[row, CH] >= 0:
        if st.access_log[row, CH] < 0:
            number -= 1
        row += 1
    return int(row)


@jit
def write_again(st: State, work: Arrays, end: int) -> None:
    """Write to external memory what was written there from the beginning of the period to row ``end``."""
    book, log = work.book, st.access_log
    for n in range(book[Book.LISTED]):
        ch = book[listed(st.channels.phase.shape[0], n)]
        book[scratch(ch, OPEN_TARGET)] = book[scratch(ch, BEGAN)]  # no segment is open
    count_anew(st, book, book[Book.DONE] + 1)
    for row in range(book[Book.BEGIN], end):
        ch, words = log[row, CH], log[row, WORDS]
        if ch < 0 or st.channels.direction[ch] == MM2S or st.channels.external[ch] < 0:
            continue
        at = book[scratch(ch, OPEN_TARGET)]
        if book[scratch(ch, COUNTED)] > 0:
            write_numbered(st, work, ch, count(book, ch, words), words, at)
        else:
            home = home_of(log[row, TARGET] + (book[Book.DONE] + 1) * book[scratch(ch, SHIFT)])
            write_outside(work, home, log[row, STEP] * WORD_BYTES, words, at)
        book[scratch(ch, OPEN_TARGET)] = at + words


@jit
def note_latest(st: State, work: Arrays, ch: int, end: int) -> None:
    """Note where each word of an access was last written from the beginning of the period to row ``end``."""
    book, log = work.book, st.access_log
    so_far = book[scratch(ch, WORDS_OF)] - (book[scratch(ch, CURSOR)] - book[scratch(ch, BEGAN)])
    for word in range(LATEST_WORDS):
        book[scratch(ch, LATEST) + word] = -1
    for row in range(book[Book.BEGIN], end):
        if log[row, CH] == ch:
            if log[row, FLAGS] & MANY == 0:
                for word in range(log[row, WORDS]):
                    book[scratch(ch, LATEST) + word] = so_far
            so_far += log[row, WORDS]


@jit
def measure_ways(st: State, work: Arrays) -> None:
    """Find anew how many words are under way on the ways of all streams."""
    book, channels = work.book, st.channels.phase.shape[0]
    forget_ways(st, work.way, book)
    for n in range(book[Book.LISTED]):
        book[scratch(book[listed(channels, n)], PRODUCER)] = NOBODY
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        if st.channels.direction[ch] == MM2S and book[scratch(ch, FLOW)] != NOBODY:
            follow(st, work.way, book, ch)


@jit
def put_back(st: State, work: Arrays, number: int) -> None:
    """Put the words under way right, after the period was stepped up to its action ``number``."""
    book, channels = work.book, st.channels.phase.shape[0]
    end = row_of_action(st, book, number)
    turn_cursors(st, book)
    write_again(st, work, end)
    measure_ways(st, work)
    for n in range(book[Book.LISTED]):
        ch = book[listed(channels, n)]
        note_latest(st, work, ch, end)
        close_channel(st, work, ch, book[scratch(ch, CURSOR)] - book[scratch(ch, BEGAN)])
    for n in range(book[Book.WAYS]):
        port = work.way[listed_port(st, n)]
        sender = work.way[port * OF_PORT + PRODUCER_OF] - 1
        fill_port(st, work, port, book[scratch(sender, CURSOR)] - book[scratch(sender, BEGAN)])
