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
from memtile.model.state.state import State
from memtile.sim.skip.counted_walks import count, write_numbered
from memtile.sim.skip.moved_streams import close_channel, close_streams, open_streams, shift_all
from memtile.sim.skip.period_segments import (
    count_anew,
    gather,
    gather_actions,
    moving_together,
    play_one,
    write_outside,
)
from memtile.sim.skip.records import (
    CYCLE,
    LATEST_WORDS,
    Arrays,
)
from memtile.sim.skip.stream_ways import NOBODY, follow, forget_ways
from memtile.sim.skip.switch_flows import fill_port, room_left, shorten

ALL_DONE = -1


@jit
def note_beginning(work: Arrays) -> None:
    """Note where the streams are when a period begins."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        work.channels.began[ch] = work.channels.cursor[ch]


@jit
def begin_replay(st: State, work: Arrays, first: int, end: int) -> None:
    """Get ready for a jump over the periods whose accesses and actions are rows ``first`` to ``end``."""
    search = work.search
    search.first_row[0] = first
    if st.clock.wordless[0] == 1:
        search.same_segments[0] = 1
        gather_actions(st, work, first, end)
    else:
        open_streams(st, work)
        search.same_segments[0] = 1 if moving_together(st, work) else 0
        gather(st, work, first, end, 0, 1)
    search.gathered_period[0] = search.done[0] = 0
    search.next_segment[0] = 0
    note_beginning(work)


@jit
def next_period(st: State, work: Arrays) -> None:
    """Begin the next period."""
    search = work.search
    if st.clock.wordless[0] == 0 and not room_left(st, work):
        shorten(st, work)
    if search.same_segments[0] == 0:
        gather(st, work, search.first_row[0], search.end_row[0], search.done[0], 1)
        search.gathered_period[0] = search.done[0]
    search.next_segment[0] = 0
    note_beginning(work)


@jit
def replay(st: State, work: Arrays) -> int:
    """Move words up to the next action of a core; its segment, or ``ALL_DONE``."""
    search = work.search
    while True:
        if search.next_segment[0] == search.segment_count[0]:
            search.done[0] += 1
            if search.done[0] == search.times[0]:
                return ALL_DONE
            next_period(st, work)
        at = search.next_segment[0]
        search.next_segment[0] += 1
        if work.segments.channel[at] < 0:
            return int(at)
        play_one(st, work, at, search.done[0] - search.gathered_period[0])


@jit
def turn_cursors(work: Arrays) -> None:
    """Exchange where the streams are and where they were when the period began."""
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        ahead = work.channels.cursor[ch]
        work.channels.cursor[ch], work.channels.began[ch] = work.channels.began[ch], ahead


@jit
def finish_replay(st: State, work: Arrays, start: int, times: int) -> None:
    """Bring channels, cores and what is under way on by ``times`` periods, to where the streams are."""
    shift_all(st, work, start, st.clock.now[0] - work.kept[start + CYCLE], times)
    if st.clock.wordless[0] == 0:
        close_streams(st, work, times)


@jit
def row_of_action(st: State, work: Arrays, number: int) -> int:
    """The row of an action of the period, the first one being number 0."""
    row = work.search.first_row[0]
    while number > 0 or st.access_log[row, CH] >= 0:
        if st.access_log[row, CH] < 0:
            number -= 1
        row += 1
    return int(row)


@jit
def write_again(st: State, work: Arrays, end: int) -> None:
    """Write to external memory what was written there from the beginning of the period to row ``end``."""
    search = work.search
    log = st.access_log
    for n in range(search.moving_count[0]):
        ch = work.moving[n]
        work.channels.open_target[ch] = work.channels.began[ch]  # no segment is open
    count_anew(work, search.done[0] + 1)
    for row in range(search.first_row[0], end):
        ch, words = log[row, CH], log[row, WORDS]
        if ch < 0 or st.channels.direction[ch] == MM2S or st.channels.external[ch] < 0:
            continue
        at = work.channels.open_target[ch]
        if work.channels.counted[ch] > 0:
            write_numbered(st, work, ch, count(work, ch, words), words, at)
        else:
            home = home_of(log[row, TARGET] + (search.done[0] + 1) * work.channels.shift[ch])
            write_outside(work, home, log[row, STEP] * WORD_BYTES, words, at)
        work.channels.open_target[ch] = at + words


@jit
def note_latest(st: State, work: Arrays, ch: int, end: int) -> None:
    """Note where each word of an access was last written from the beginning of the period to row ``end``."""
    log = st.access_log
    so_far = work.channels.words[ch] - (work.channels.cursor[ch] - work.channels.began[ch])
    for word in range(LATEST_WORDS):
        work.channels.latest[ch, word] = -1
    for row in range(work.search.first_row[0], end):
        if log[row, CH] == ch:
            if log[row, FLAGS] & MANY == 0:
                for word in range(log[row, WORDS]):
                    work.channels.latest[ch, word] = so_far
            so_far += log[row, WORDS]


@jit
def measure_ways(st: State, work: Arrays) -> None:
    """Find anew how many words are under way on the ways of all streams."""
    forget_ways(work)
    for n in range(work.search.moving_count[0]):
        work.channels.producer[work.moving[n]] = NOBODY
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        if st.channels.direction[ch] == MM2S and work.channels.flow[ch] != NOBODY:
            follow(st, work, ch)


@jit
def put_back(st: State, work: Arrays, number: int) -> None:
    """Put the words under way right, after the period was stepped up to its action ``number``."""
    if st.clock.wordless[0] == 1:
        return
    end = row_of_action(st, work, number)
    turn_cursors(work)
    write_again(st, work, end)
    measure_ways(st, work)
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        note_latest(st, work, ch, end)
        words, sender = work.channels.cursor[ch] - work.channels.began[ch], work.channels.producer[ch]
        if sender != NOBODY:  # all that was sent and came to it, also what waits for its lock
            sent = work.channels.cursor[sender] - work.channels.began[sender]
            words = max(sent - work.channels.behind[ch], 0)
        close_channel(st, work, ch, words)
    for n in range(work.search.port_count[0]):
        port = work.passed[n]
        sender = work.ways.producer[port] - 1
        fill_port(st, work, port, work.channels.cursor[sender] - work.channels.began[sender])
