"""Rings of BDs: the states that are kept at ends of BDs of one channel, and the log of accesses between them.

A ring is noted while it is looked for, as long as the log has room for it and does not cost too much. Else
states alone are kept and compared, and the accesses of a round are noted when the one before came again.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma.access_log import LIMIT, NEXT, ON, listen
from memtile.model.state.causes import Phase
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.forward import budget
from memtile.sim.forward.guards import of_channels, quiet_elsewhere
from memtile.sim.forward.live import make_plan, outdated
from memtile.sim.forward.period import DIFFERENT, compare, differs_again, keep
from memtile.sim.forward.places import CYCLE, RING_SLOTS, Arrays, Book, lively

WITH_LOG, WITHOUT_LOG = 1, 2  # how rings are looked for, RECORDING
TRIED = 25  # what it costs to see that a state is not that of a slot
GUARDED = 15  # and to go over the guards of a channel
AFTER_JUMP = 40  # cycles in which a BD ends, and the next one fills what has run empty
NOTED = 3  # of an access in the log
_FOUND_SLOT = RING_SLOTS - 1  # the state at the end of a round that came again: others seldom come here
_NOTED_AND_JUMPED = 2  # rounds
_HOPE = 4  # looks between actions that may fail, for a plan
_RING_PAUSE = 4  # a log that was full and of no use is begun again after a quarter of its cycles
_MOST_TRIES = 128  # states kept before they become rarer
_TURNS = 4  # states are not always as far apart: with others they would miss what repeats for a while
_WORDS_A_CYCLE = 16  # words that may be kept for each cycle that is stepped


@jit
def forget_rings(book: Ints) -> None:
    """No state that was kept counts any more."""
    for slot in range(RING_SLOTS):
        book[Book.VALID + slot] = 0


@jit
def forget(st: State, book: Ints) -> None:
    """Something else than the clock has changed the state."""
    forget_rings(book)
    book[Book.RECORDING] = book[Book.RESUME] = book[Book.PLANNED] = 0
    st.access_log[0, ON] = 0
    now = st.clock.now[0]
    book[Book.NEXT_LOOK], book[Book.NEXT_RING] = max(book[Book.NEXT_LOOK], now), now


@jit
def plan_anew(st: State, work: Arrays) -> None:
    """Plan what is compared, and forget what was kept by another plan."""
    book, before = work.book, work.book[Book.SLOT_WORDS]
    forget(st, book)
    make_plan(st, work)
    budget.looked(book, budget.of_plan(work))
    if book[Book.RING_GAP] == 0:
        book[Book.HOPE] = _HOPE
    if book[Book.SLOT_WORDS] != before:
        book[Book.RING_GAP] = book[Book.SLOT_WORDS] // _WORDS_A_CYCLE
    choose_anchor(st, book)


@jit
def goes_on(st: State, ch: int) -> bool:
    """Whether the channel has a task whose BDs come again."""
    c = st.channels
    return bool(c.phase[ch] != Phase.IDLE and (c.runs_left[ch] > 0 or c.next_bd[ch] >= 0))


@jit
def choose_anchor(st: State, book: Ints) -> None:
    """Make the next channel whose task goes on the anchor; one with a ring of BDs if there is one."""
    channels, nearest = st.channels.phase.shape[0], 2 * st.channels.phase.shape[0]
    anchor, found = book[Book.ANCHOR], book[Book.ANCHOR]
    for n in range(book[Book.CHANNELS]):
        ch = book[lively(channels, n)]
        if goes_on(st, ch):
            away = (ch - anchor - 1) % channels
            if st.channels.next_bd[ch] < 0:
                away += channels
            if away < nearest:
                found, nearest = ch, away
    book[Book.ANCHOR], book[Book.ANCHOR_SINCE] = found, st.clock.now[0]
    book[Book.ANCHOR_BDS] = st.channels.bds_done[found]


@jit
def begin_recording(st: State, book: Ints) -> None:
    """Begin the log of a ring anew."""
    forget_rings(book)
    if st.access_log[0, ON] == 0:  # a look may have begun it
        listen(st)
    book[Book.RECORDING], book[Book.RING_TRIES] = WITH_LOG, 0
    book[Book.NOTED] = st.access_log[0, NEXT]


@jit
def lost_log(st: State, kept: Ints, book: Ints) -> None:
    """The log is off: a ring that it is part of is longer than it can hold.

    It may be longer, if that does not cost too much. Else rings are looked for without a log, which is as
    long as there is room for once one was found. Where that was done already, a ring may be shorter later.
    """
    if budget.longer_log(st, book):
        forget_rings(book)
        book[Book.RECORDING], book[Book.NEXT_RING] = 0, st.clock.now[0]
        return
    if st.access_log[0, LIMIT] < st.access_log.shape[0] and book[Book.LOGLESS] == 0:
        book[Book.LOGLESS], book[Book.RECORDING], book[Book.NEXT_RING] = 1, WITHOUT_LOG, st.clock.now[0]
        return
    oldest = st.clock.now[0]
    for slot in range(RING_SLOTS):
        if book[Book.VALID + slot] == 1:
            oldest = min(oldest, kept[slot * book[Book.SLOT_SIZE] + CYCLE])
    forget_rings(book)
    pause = 0
    if book[Book.RING_JUMPS] == book[Book.RINGS_BEFORE]:
        pause = max((st.clock.now[0] - oldest) // _RING_PAUSE, 2 * book[Book.RING_PAUSE])
        book[Book.RING_PAUSE] = pause
    book[Book.RINGS_BEFORE] = book[Book.RING_JUMPS]
    book[Book.RECORDING], book[Book.LOGLESS] = 0, 1
    book[Book.NEXT_RING] = st.clock.now[0] + pause


@jit
def stop_recording(st: State, book: Ints) -> None:
    """Looking has cost what it may: rings are looked for again when that may cost more.

    Where that is done without a log, it costs little, and goes on as soon as it may.
    """
    if book[Book.RECORDING] == WITHOUT_LOG:
        return
    if book[Book.RECORDING] == WITH_LOG:
        st.access_log[0, ON] = 0
    forget_rings(book)
    book[Book.RECORDING] = WITHOUT_LOG if book[Book.LOGLESS] == 1 else 0
    book[Book.NEXT_RING] = st.clock.now[0] + budget.give_up(st, book)


@jit
def comes_again(st: State, work: Arrays, slot: int, until: int) -> bool:
    """Whether the state is that of the slot, moved, and two more such periods may follow."""
    kept, book = work.kept, work.book
    start, now = slot * book[Book.SLOT_SIZE], st.clock.now[0]
    period = now - kept[start + CYCLE]
    budget.looked(book, TRIED)
    if not quiet_elsewhere(st) or differs_again(st, work.plan, kept, book, slot):
        return False
    times = of_channels(st, kept, book, start, period, (until - now) // period)
    if times < _NOTED_AND_JUMPED:
        return False
    budget.looked(book, GUARDED * book[Book.CHANNELS])
    compared = book[Book.COMPARED]
    bound = compare(st, work.plan, kept, book, slot)
    budget.looked(book, (book[Book.COMPARED] - compared) // 2)
    return bool(bound != DIFFERENT and bound - now >= _NOTED_AND_JUMPED * period)


@jit
def note_next_round(st: State, work: Arrays, until: int) -> bool:
    """If a ring comes again, note the accesses of its next round, after which it can be jumped over."""
    kept, book = work.kept, work.book
    if budget.lacking(book, book[Book.EFFORT]) > 0:
        return False
    for slot in range(RING_SLOTS):
        if book[Book.VALID + slot] == 1 and comes_again(st, work, slot, until):
            period = st.clock.now[0] - kept[slot * book[Book.SLOT_SIZE] + CYCLE]
            book[Book.FOUND_UNTIL] = st.clock.now[0] + period
            st.access_log[0, LIMIT] = st.access_log.shape[0]
            begin_recording(st, book)
            keep(st, work.plan, kept, book, _FOUND_SLOT)
            budget.looked(book, book[Book.SLOT_WORDS] // 2)
            book[Book.NEXT_RING] = st.clock.now[0] + book[Book.RING_GAP]
            return True
    return False


@jit
def jumped_rings(st: State, book: Ints, logged: bool) -> None:
    """A jump over rings is done: all begins anew, unless it goes on when the host has served its ports.

    A jump that the log has in full may be part of a longer ring.
    """
    book[Book.RING_JUMPS] += 1
    book[Book.EFFORT] = 0
    if book[Book.RESUME] == 0 and not logged:
        listen(st)
        begin_recording(st, book)
    book[Book.ANCHOR_BDS] = st.channels.bds_done[book[Book.ANCHOR]]
    book[Book.ANCHOR_SINCE] = st.clock.now[0]
    book[Book.RING_PAUSE] = 0
    book[Book.NEXT_LOOK] = max(book[Book.NEXT_LOOK], st.clock.now[0] + AFTER_JUMP)


@jit
def slot_of(tries: int) -> int:
    """The slot for a state: every second one goes to the first, of the others every second to the next.

    So the slots have states of the time just past and of times ever longer ago.
    """
    slot = 0
    while tries & 1 == 0 and slot < RING_SLOTS - 1:
        slot, tries = slot + 1, tries >> 1
    return slot


@jit
def records(st: State, work: Arrays) -> bool:
    """Whether the log of rings goes on, or begins."""
    kept, book = work.kept, work.book
    if outdated(st, work):
        if budget.lacking(book, budget.of_plan(work)) <= 0:
            plan_anew(st, work)
        return False
    if book[Book.RECORDING] == WITH_LOG and st.access_log[0, ON] == 0:
        lost_log(st, kept, book)
        if book[Book.RECORDING] == 0:
            return False
    if book[Book.RECORDING] == WITH_LOG:
        budget.looked(book, NOTED * max(st.access_log[0, NEXT] - book[Book.NOTED], 0))
        book[Book.NOTED] = st.access_log[0, NEXT]
    if budget.lacking(book, 0) > 0 and st.clock.now[0] > book[Book.FOUND_UNTIL]:
        stop_recording(st, book)
        return False
    if not quiet_elsewhere(st):
        return False
    if book[Book.RECORDING] == 0:
        begin_recording(st, book)
    return True


@jit
def keep_round(st: State, work: Arrays) -> None:
    """Keep the state at this end of a BD, for some time."""
    book = work.book
    book[Book.RING_TRIES] += 1
    keep(st, work.plan, work.kept, book, slot_of(book[Book.RING_TRIES]))
    budget.looked(book, book[Book.SLOT_WORDS] // 2)
    if book[Book.RING_TRIES] >= _MOST_TRIES:
        book[Book.RING_GAP] *= 2
        book[Book.RING_TRIES] = 0
    sooner = 2 if book[Book.RECORDING] == WITHOUT_LOG else 1
    gap = book[Book.RING_GAP] // sooner
    book[Book.NEXT_RING] = st.clock.now[0] + gap + gap // _TURNS * (book[Book.RING_TRIES] % _TURNS)
