"""Rings of BDs: the states that are kept at ends of BDs of one channel, and the log of accesses between them.

A ring is noted while it is looked for, as long as the log has room for it and does not cost too much. Else
states alone are kept and compared, and the accesses of a round are noted when the one before came again.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma.access_log import LIMIT, NEXT, ON, listen
from memtile.model.state.causes import Phase
from memtile.model.state.state import State
from memtile.sim.skip import probe_budget
from memtile.sim.skip.comparison import DIFFERENT, compare, differs_again, keep
from memtile.sim.skip.live_parts import make_plan, outdated
from memtile.sim.skip.records import CYCLE, RING_SLOTS, Arrays
from memtile.sim.skip.repeat_guards import of_channels, quiet_elsewhere

WITH_LOG, WITHOUT_LOG = 1, 2  # how rings are looked for, RECORDING
_FOUND_SLOT = RING_SLOTS - 1  # the state at the end of a round that came again: others seldom come here


@jit
def forget_rings(work: Arrays) -> None:
    """No state that was kept counts any more."""
    for slot in range(RING_SLOTS):
        work.search.valid[0, slot] = 0


@jit
def forget(st: State, work: Arrays) -> None:
    """Something else than the clock has changed the state."""
    search = work.search
    forget_rings(work)
    search.recording[0] = search.resume_slot[0] = search.planned[0] = 0
    st.access_log[0, ON] = 0
    now = st.clock.now[0]
    search.next_probe[0], search.next_ring[0] = max(search.next_probe[0], now), now


@jit
def plan_anew(st: State, work: Arrays) -> None:
    """Plan what is compared, and forget what was kept by another plan."""
    search, policy = work.search, work.policy
    before = search.slot_words[0]
    forget(st, work)
    make_plan(st, work)
    probe_budget.looked(work, probe_budget.of_plan(work))
    if search.ring_gap[0] == 0:
        search.action_probes[0] = policy.planned_probes[0]
    if search.slot_words[0] != before:
        search.ring_gap[0] = search.slot_words[0] // policy.stored_words[0]
    choose_anchor(st, work)


@jit
def goes_on(st: State, ch: int) -> bool:
    """Whether the channel has a task whose BDs come again."""
    c = st.channels
    return bool(c.phase[ch] != Phase.IDLE and (c.runs_left[ch] > 0 or c.next_bd[ch] >= 0))


@jit
def stale(st: State, work: Arrays) -> bool:
    """Whether the anchor has long ended no BD."""
    return bool(st.clock.now[0] - work.search.anchor_since[0] > work.policy.stale_anchor[0])


@jit
def choose_anchor(st: State, work: Arrays) -> None:
    """Make the channel that has ended the most BDs the anchor; those in rings come first.

    A stale anchor is left out: it may wait for ever.
    """
    search, c = work.search, st.channels
    found, rings, most = search.anchor[0], False, -1
    for n in range(search.channel_count[0]):
        ch = work.live_channels[n]
        if not goes_on(st, ch) or (ch == search.anchor[0] and stale(st, work)):
            continue
        ring = c.next_bd[ch] >= 0
        if (ring and not rings) or (ring == rings and c.bds_done[ch] > most):
            found, rings, most = ch, ring, c.bds_done[ch]
    search.anchor[0], search.anchor_since[0] = found, st.clock.now[0]
    search.anchor_bds[0] = c.bds_done[found]


@jit
def begin_recording(st: State, work: Arrays) -> None:
    """Begin the log of a ring anew."""
    search = work.search
    forget_rings(work)
    if st.access_log[0, ON] == 0:  # a look may have begun it
        listen(st)
    search.recording[0], search.ring_tries[0] = WITH_LOG, 0
    search.noted_rows[0] = st.access_log[0, NEXT]


@jit
def lost_log(st: State, work: Arrays) -> None:
    """The log is off: a ring that it is part of is longer than it can hold.

    It may be longer, if that does not cost too much. Else rings are looked for without a log, which is as
    long as there is room for once one was found. Where that was done already, a ring may be shorter later.
    """
    search, kept = work.search, work.kept
    if probe_budget.longer_log(st, work):
        forget_rings(work)
        search.recording[0], search.next_ring[0] = 0, st.clock.now[0]
        return
    if st.access_log[0, LIMIT] < st.access_log.shape[0] and search.logless[0] == 0:
        search.logless[0], search.recording[0], search.next_ring[0] = 1, WITHOUT_LOG, st.clock.now[0]
        return
    oldest = st.clock.now[0]
    for slot in range(RING_SLOTS):
        if search.valid[0, slot] == 1:
            oldest = min(oldest, kept[slot * search.slot_size[0] + CYCLE])
    forget_rings(work)
    pause = 0
    if search.ring_jumps[0] == search.earlier_ring_jumps[0]:
        pause = max((st.clock.now[0] - oldest) // work.policy.pause_part[0], 2 * search.ring_pause[0])
        search.ring_pause[0] = pause
    search.earlier_ring_jumps[0] = search.ring_jumps[0]
    search.recording[0], search.logless[0] = 0, 1
    search.next_ring[0] = st.clock.now[0] + pause


@jit
def stop_recording(st: State, work: Arrays) -> None:
    """Looking has cost what it may: rings are looked for again when that may cost more.

    Where that is done without a log, it costs little, and goes on as soon as it may.
    """
    search = work.search
    if search.recording[0] == WITHOUT_LOG:
        return
    if search.recording[0] == WITH_LOG:
        st.access_log[0, ON] = 0
    forget_rings(work)
    search.recording[0] = WITHOUT_LOG if search.logless[0] == 1 else 0
    search.next_ring[0] = st.clock.now[0] + probe_budget.give_up(st, work)


@jit
def comes_again(st: State, work: Arrays, slot: int, until: int) -> bool:
    """Whether the state is that of the slot, moved, and two more such periods may follow."""
    policy = work.policy
    search, kept = work.search, work.kept
    start, now = slot * search.slot_size[0], st.clock.now[0]
    period = now - kept[start + CYCLE]
    probe_budget.looked(work, policy.cost_of_try[0])
    if not quiet_elsewhere(st) or differs_again(st, work, slot):
        return False
    times = of_channels(st, work, start, period, (until - now) // period)
    if times < policy.needed_rounds[0]:
        return False
    probe_budget.looked(work, policy.cost_of_guards[0] * search.channel_count[0])
    compared = search.compared_words[0]
    bound = compare(st, work, slot)
    probe_budget.looked(work, (search.compared_words[0] - compared) // 2)
    return bool(bound != DIFFERENT and bound - now >= policy.needed_rounds[0] * period)


@jit
def note_next_round(st: State, work: Arrays, until: int) -> bool:
    """If a ring comes again, note the accesses of its next round, after which it can be jumped over."""
    search, kept = work.search, work.kept
    if probe_budget.lacking(work, search.ring_effort[0]) > 0:
        return False
    for slot in range(RING_SLOTS):
        if search.valid[0, slot] == 1 and comes_again(st, work, slot, until):
            period = st.clock.now[0] - kept[slot * search.slot_size[0] + CYCLE]
            search.found_until[0] = st.clock.now[0] + period
            st.access_log[0, LIMIT] = st.access_log.shape[0]
            begin_recording(st, work)
            keep(st, work, _FOUND_SLOT)
            probe_budget.looked(work, search.slot_words[0] // 2)
            search.next_ring[0] = st.clock.now[0] + search.ring_gap[0]
            return True
    return False


@jit
def jumped_rings(st: State, work: Arrays, logged: bool) -> None:
    """A jump over rings is done: all begins anew, unless it goes on when the host has served its ports.

    A jump that the log has in full may be part of a longer ring.
    """
    search = work.search
    search.ring_jumps[0] += 1
    search.ring_effort[0] = 0
    if search.resume_slot[0] == 0 and not logged:
        listen(st)
        begin_recording(st, work)
    search.anchor_bds[0] = st.channels.bds_done[search.anchor[0]]
    search.anchor_since[0] = st.clock.now[0]
    search.ring_pause[0] = 0
    search.next_probe[0] = max(search.next_probe[0], st.clock.now[0] + work.policy.after_jump[0])


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
    search = work.search
    if outdated(st, work):
        if probe_budget.lacking(work, probe_budget.of_plan(work)) <= 0:
            plan_anew(st, work)
        return False
    if search.recording[0] == WITH_LOG and st.access_log[0, ON] == 0:
        lost_log(st, work)
        if search.recording[0] == 0:
            return False
    if search.recording[0] == WITH_LOG:
        probe_budget.looked(
            work, work.policy.cost_of_row[0] * max(st.access_log[0, NEXT] - search.noted_rows[0], 0)
        )
        search.noted_rows[0] = st.access_log[0, NEXT]
    if probe_budget.lacking(work, 0) > 0 and st.clock.now[0] > search.found_until[0]:
        stop_recording(st, work)
        return False
    if not quiet_elsewhere(st):
        return False
    if search.recording[0] == 0:
        begin_recording(st, work)
    return True


@jit
def cycles_between(st: State, work: Arrays) -> int:
    """Cycles between two states that are stored: fewer where each costs more to step."""
    cheap = work.policy.cheap_cycle[0]
    return int(work.search.ring_gap[0] * cheap // max(probe_budget.of_cycle(st, work), cheap))


@jit
def keep_round(st: State, work: Arrays) -> None:
    """Keep the state at this end of a BD, for some time."""
    search, policy = work.search, work.policy
    search.ring_tries[0] += 1
    keep(st, work, slot_of(search.ring_tries[0]))
    probe_budget.looked(work, search.slot_words[0] // 2)
    if search.ring_tries[0] >= policy.ring_tries[0]:
        search.ring_gap[0] *= 2
        search.ring_tries[0] = 0
    sooner = 2 if search.recording[0] == WITHOUT_LOG else 1
    gap = cycles_between(st, work) // sooner
    turn = search.ring_tries[0] % policy.gap_turns[0]
    search.next_ring[0] = st.clock.now[0] + gap + gap // policy.gap_turns[0] * turn
