"""The clock loop that jumps: it steps, looks for periods, and brings the state as far on as the guards allow.

Two kinds of periods are looked for. A *look* keeps the state and compares it with that of each of the next
cycles: it finds short periods within BDs. *Rings* of BDs repeat as a whole: states are kept at ends of BDs of
one channel, the anchor, and compared with each other. Looks that find nothing become rare.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.checking import history_log
from memtile.model.cores import core_step
from memtile.model.dma.access_log import (
    CH,
    FLAGS,
    LIMIT,
    MANY,
    NEXT,
    ON,
    PADDING,
    STEP,
    TARGET,
    TLAST,
    WORDS,
    listen,
)
from memtile.model.dma.access_log import append as append_row
from memtile.model.state.causes import Phase
from memtile.model.state.state import State
from memtile.sim.loop import clock
from memtile.sim.loop.clock import Stop
from memtile.sim.skip import probe_budget
from memtile.sim.skip.bd_rings import (
    WITH_LOG,
    WITHOUT_LOG,
    begin_recording,
    choose_anchor,
    goes_on,
    jumped_rings,
    keep_round,
    note_next_round,
    plan_anew,
    records,
    stale,
)
from memtile.sim.skip.comparison import DIFFERENT, compare, differs_again, keep, move_on
from memtile.sim.skip.compiled_replay import begin_replay, finish_replay, turn_cursors
from memtile.sim.skip.counted_walks import count, in_one_row, is_numbered, number_of, target_of
from memtile.sim.skip.live_parts import outdated
from memtile.sim.skip.moved_streams import jump
from memtile.sim.skip.period_segments import (
    at_a_time,
    count_anew,
    gather,
    moving_together,
    prolong,
    unshifted,
)
from memtile.sim.skip.records import (
    CYCLE,
    LOOK_SLOT,
    LOOK_SLOTS,
    RING_SLOTS,
    ROW,
    Arrays,
    KeptOff,
)
from memtile.sim.skip.repeat_guards import (
    bit,
    of_channels,
    others_at_work,
    quiet_elsewhere,
    where_accesses_go,
)
from memtile.sim.skip.unit_guards import of_units, tracing, write_traces


@jit
def log_numbered(st: State, ch: int, number: int, words: int, flags: int) -> None:
    """Append a segment of words that are counted to the log, as a row for each row of the walk."""
    while words > 0:
        some = in_one_row(st, ch, number, words)
        last = flags if some == words else flags & ~TLAST
        append_row(st.access_log, ch, target_of(st, ch, number), some, 1, last)
        number, words = number + some, words - some


@jit
def log_segments(st: State, work: Arrays, done: int) -> None:
    """Append the segments to the log, so many periods on."""
    for at in range(work.search.segment_count[0]):
        ch, target, flags = work.segments.channel[at], work.segments.target[at], work.segments.flags[at]
        if ch >= 0:
            flags |= MANY
        if ch >= 0 and target != PADDING:
            target += done * work.channels.shift[ch]
        if ch >= 0 and is_numbered(target):
            log_numbered(st, ch, number_of(target), work.segments.words[at], flags)
        else:
            append_row(st.access_log, ch, target, work.segments.words[at], work.segments.step[at], flags)


@jit
def log_jump(st: State, work: Arrays, first: int, end: int, times: int) -> None:
    """Append the accesses of a jump to the log, for a ring that it is part of.

    All periods but the last one are appended as segments.
    """
    log, done, gathered, made = st.access_log, 0, 0, 0
    together = moving_together(st, work)
    if times > 1:
        gather(st, work, first, end, 0, 1)
        if prolong(st, work, times - 1):
            log_segments(st, work, 0)
            done = times - 1
    while done < times - 1:
        periods = min(at_a_time(end - first), times - 1 - done)
        if periods != gathered or not together:
            gather(st, work, first, end, done, periods)
            gathered, made = periods, done
        log_segments(st, work, done - made)
        done += periods
    count_anew(work, times)
    for row in range(first, end):
        ch, target = log[row, CH], log[row, TARGET]
        if ch >= 0 and work.channels.counted[ch] > 0:
            target = target_of(st, ch, count(work, ch, log[row, WORDS]))
        elif ch >= 0 and target != PADDING:
            target += times * work.channels.shift[ch]
        append_row(st.access_log, ch, target, log[row, WORDS], log[row, STEP], log[row, FLAGS])


@jit
def try_jump(st: State, work: Arrays, slot: int, end: int, until: int) -> bool:
    """Jump if the state is that of the slot, moved, and the guards allow it; whether it did.

    The slot then has the state of one period before.

    Args:
        st: state.
        work: see ``records``.
        slot: of ``kept``.
        end: of the period's accesses in the log.
        until: cycle at which a jump ends at the latest.
    """
    policy = work.policy
    search, kept = work.search, work.kept
    start, now = slot * search.slot_size[0], st.clock.now[0]
    period, first = now - kept[start + CYCLE], kept[start + ROW]
    probe_budget.looked(work, policy.cost_of_try[0])
    if not quiet_elsewhere(st) or outdated(st, work) or differs_again(st, work, slot):
        return False
    worth = policy.least_gain[0] // period if slot >= LOOK_SLOT else 0
    times = of_channels(st, work, start, period, (until - now) // period)
    if times <= worth:
        return False
    probe_budget.looked(work, policy.cost_of_guards[0] * search.channel_count[0])
    compared = search.compared_words[0]
    bound = compare(st, work, slot)
    if bound != DIFFERENT:
        bound = min(bound, of_units(st, slot, kept[start + CYCLE], period))
    probe_budget.looked(work, (search.compared_words[0] - compared) // 2)
    if bound == DIFFERENT:
        return False
    probe_budget.looked(work, policy.cost_of_row[0] * (end - first))
    times = where_accesses_go(st, work, start, end, min(times, (bound - now) // period))
    if times <= worth:
        return False
    search.slot[0], search.times[0], search.end_row[0] = slot, times, end
    if search.action_count[0] > 0:
        begin_replay(st, work, first, end)
        return True
    jump(st, work, start, first, end, times)
    jumped(st, work)
    return True


@jit
def jumped(st: State, work: Arrays) -> None:
    """The channels and cores have been brought on, by ``TIMES`` periods: so is all else, and what is kept."""
    search, kept = work.search, work.kept
    slot, times, end = search.slot[0], search.times[0], search.end_row[0]
    start = slot * search.slot_size[0]
    began, first = st.clock.now[0], kept[start + ROW]
    period = began - kept[start + CYCLE]
    history_log.note_jump(st, period, times)
    move_on(st, work, slot, times)
    write_traces(st)
    history_log.spread_jump(st, began)
    search.jumps[0] += 1
    search.jumped_cycles[0] += times * period
    saved = times * period * probe_budget.of_cycle(st, work)
    search.stepped_cost[0] += saved
    kept[start + CYCLE] += times * period
    goes_into_log = search.recording[0] == WITH_LOG
    if slot < LOOK_SLOT:
        if st.clock.wordless[0] == 1:  # the jump needed none
            gather(st, work, first, end, 0, 1)
        goes_into_log = 2 * search.segment_count[0] * times < st.access_log[0, LIMIT] - st.access_log[0, NEXT]
    if goes_into_log:
        log_jump(st, work, first, end, times)
        end = st.access_log[0, NEXT]
        kept[start + ROW] = end - (search.end_row[0] - first)
    search.resume_slot[0] = 1 + slot if st.clock.full[0] == 1 else 0
    search.resume_cycle[0], search.resume_row[0] = st.clock.now[0], end
    if slot < LOOK_SLOT:
        jumped_rings(st, work, goes_into_log)
    else:
        probe_budget.refund(work, saved)


@jit
def end_replay(st: State, work: Arrays) -> None:
    """Bring the state to the end of the last period of a jump that is done as a whole.

    See ``compiled_replay``.
    """
    search = work.search
    partial = search.done[0] < search.times[0]
    if partial:
        turn_cursors(work)
    search.times[0] = search.done[0]
    if search.done[0] > 0:
        finish_replay(st, work, search.slot[0] * search.slot_size[0], search.done[0])
        jumped(st, work)
    if partial:  # what follows has been replayed, and is no part of a log
        st.access_log[0, ON] = 0


@jit
def resume(st: State, work: Arrays, until: int) -> bool:
    """Go on with a jump that the host's ports ended; whether it does."""
    search = work.search
    slot, search.resume_slot[0] = search.resume_slot[0] - 1, 0
    same = st.clock.now[0] == search.resume_cycle[0]
    search.gathered[0] = 1 if slot < LOOK_SLOT and unshifted(work) else 0
    tried = same and try_jump(st, work, slot, search.resume_row[0], until)
    search.gathered[0] = 0
    if slot < LOOK_SLOT and not tried:
        listen(st)
        begin_recording(st, work)
    return bool(tried)


@jit
def at_end_of_bd(st: State, work: Arrays, until: int) -> bool:
    """The anchor has ended a BD: jump if the state was there before, else keep it; whether it jumps."""
    search = work.search
    now = st.clock.now[0]
    search.anchor_bds[0] = st.channels.bds_done[search.anchor[0]]
    search.anchor_since[0] = now
    if now < search.next_ring[0] and search.recording[0] == 0:
        return False
    if not records(st, work):
        return False
    if search.recording[0] == WITHOUT_LOG:
        if note_next_round(st, work, until):
            return False
    else:
        for slot in range(RING_SLOTS):
            end = st.access_log[0, NEXT]
            if search.valid[0, slot] == 1 and try_jump(st, work, slot, end, until):
                return True
    if now < search.next_ring[0]:
        return False
    keep_round(st, work)
    return False


@jit
def advance(st: State, work: Arrays, target: int, until: int) -> int:
    """Step up to cycle ``target`` at most; where the anchor ends a BD, it may jump up to ``until``."""
    search = work.search
    before, cost = st.clock.now[0], probe_budget.of_cycle(st, work)
    stop = clock.advance_to_end(st, target, search.anchor[0], search.anchor_bds[0])
    search.stepped_cost[0] += (st.clock.now[0] - before) * cost
    if stop == Stop.LIMIT and st.channels.bds_done[search.anchor[0]] != search.anchor_bds[0]:
        jumps = at_end_of_bd(st, work, until)
        return Stop.REPLAY if jumps and search.action_count[0] > 0 else stop
    return stop


@jit
def found_nothing(st: State, work: Arrays, length: int) -> None:
    """Let the looks be longer and more seldom."""
    search, policy = work.search, work.policy
    search.failed_probes[0] += 1
    search.obstacles[0] |= bit(KeptOff.TRACE, tracing(st))
    search.probe_step[0] = 1
    search.action_probes[0] = max(search.action_probes[0] - 1, 0)
    wait = 0
    if search.failed_probes[0] > policy.adjacent_probes[0]:
        wait = max(policy.probe_distance[0] * length, search.slot_words[0])
    search.next_probe[0] = st.clock.now[0] + wait


@jit
def ready_to_look(st: State, work: Arrays) -> bool:
    """Whether a look may find something; then accesses are noted."""
    search = work.search
    search.obstacles[0] |= others_at_work(st)
    if not quiet_elsewhere(st):
        return False
    if stale(st, work) or not goes_on(st, search.anchor[0]) or st.channels.next_bd[search.anchor[0]] < 0:
        choose_anchor(st, work)
    if search.recording[0] != WITH_LOG:
        listen(st)
    return bool(st.access_log[0, ON] == 1)


@jit
def found(st: State, work: Arrays, until: int) -> bool:
    """Jump if the state is one that the look has kept, moved; whether it did."""
    for slot in range(LOOK_SLOT, LOOK_SLOT + LOOK_SLOTS):
        if work.search.valid[0, slot] == 1 and try_jump(st, work, slot, st.access_log[0, NEXT], until):
            return True
    return False


@jit
def found_period(st: State, work: Arrays) -> int:
    """The period that a look has found, as the next one may find it again: 1 if it is short."""
    start = work.search.slot[0] * work.search.slot_size[0]
    period = st.clock.now[0] - work.kept[start + CYCLE]
    return int(period) if period >= work.policy.long_period[0] else 1


@jit
def put_off(st: State, work: Arrays) -> bool:
    """Put a look off until what ends soon has ended: BDs that run, and what cores do for a time.

    What runs slowly takes longer than it has words, so that a look is not put off again at once.
    """
    search, policy = work.search, work.policy
    c, now = st.channels, st.clock.now[0]
    if now - search.postponed_at[0] < policy.postponed_again[0]:
        return False
    latest = core_step.next_timer(st) - now
    if latest >= policy.ends_ahead[0]:
        latest = -1
    for n in range(search.channel_count[0]):
        ch = work.live_channels[n]
        left = c.length[ch] - c.moved[ch]
        if c.phase[ch] == Phase.RUN and left < policy.ends_ahead[0]:
            latest = max(latest, left)
    if latest < 0:
        return False
    search.postponed_at[0], search.next_probe[0] = now, now + latest + policy.settling[0]
    return True


@jit
def look_after_action(st: State, work: Arrays) -> None:
    """A core is given an action: the next look begins some time after it, and after others that follow."""
    search, policy = work.search, work.policy
    now = st.clock.now[0]
    since = now - search.postponed_at[0]
    if since >= policy.postponed_again[0]:
        search.postponed_at[0] = now
    if since >= policy.postponed_again[0] or since < policy.ends_ahead[0]:
        search.failed_probes[0], search.next_probe[0] = 0, now + policy.settling[0]


@jit
def look_each_cycle(st: State, work: Arrays, end: int, until: int) -> int:
    """Step up to cycle ``end``, or to where a period is found and jumped over; return a ``Stop`` code."""
    search, policy = work.search, work.policy
    jumps, again = search.jumps[0], st.clock.now[0] + policy.second_state[0]
    stop: int = Stop.LIMIT
    enough = search.compared_words[0] + policy.compared_slots[0] * search.slot_words[0]
    while st.clock.now[0] < end and st.access_log[0, ON] == 1 and search.compared_words[0] <= enough:
        following = end if st.clock.quiet[0] > 0 else min(st.clock.now[0] + search.probe_step[0], end)
        stop = advance(st, work, following, until)
        if stop != Stop.LIMIT or st.clock.columns_written[0] > 0 or search.jumps[0] != jumps:
            break
        if found(st, work, until):
            search.failed_probes[0], search.next_probe[0] = 0, st.clock.now[0] + policy.after_jump[0]
            search.action_probes[0] = min(
                search.action_probes[0] + policy.found_probes[0], policy.most_probes[0]
            )
            search.probe_step[0] = found_period(st, work)
            return Stop.REPLAY if search.action_count[0] > 0 else stop
        if st.clock.now[0] >= again and search.valid[0, LOOK_SLOT + 1] == 0:
            keep(st, work, LOOK_SLOT + 1)
            probe_budget.looked(work, search.slot_words[0] // 2)
    return stop


@jit
def look(st: State, work: Arrays, until: int) -> int:
    """Look for a short period from this cycle on; return a ``Stop`` code."""
    search, policy = work.search, work.policy
    if outdated(st, work):
        wait = probe_budget.cycles_until(st, work, probe_budget.of_plan(work))
        if wait > 1:
            search.next_probe[0] = st.clock.now[0] + wait
            return Stop.LIMIT
        plan_anew(st, work)
    longer = policy.probe_growth[0] * min(search.failed_probes[0], 2 * policy.probe_growth[0])
    length = min(policy.first_probe[0] << longer, policy.longest_probe[0])
    wait = probe_budget.cycles_to_look(
        st, work, search.slot_words[0] + LOOK_SLOTS * length * policy.cost_of_try[0]
    )
    if wait > 1:
        search.next_probe[0] = st.clock.now[0] + wait
        return Stop.LIMIT
    if search.action_probes[0] > 0 and search.failed_probes[0] == 0:
        length = policy.probe_between[0]
    if put_off(st, work):
        return Stop.LIMIT
    if not ready_to_look(st, work):
        found_nothing(st, work, length)
        return Stop.LIMIT
    cost, search.probe_step[0] = search.probing_cost[0], max(search.probe_step[0], 1)
    search.valid[0, LOOK_SLOT + 1] = 0
    keep(st, work, LOOK_SLOT)
    probe_budget.looked(work, search.slot_words[0] // 2)
    jumps, end = search.jumps[0], min(st.clock.now[0] + length, until)
    stop = look_each_cycle(st, work, end, until)
    search.probe_cost[0] = max(search.probe_cost[0] + search.probing_cost[0] - cost, 0)
    if stop == Stop.KERNEL and search.jumps[0] == jumps and st.clock.now[0] < end:
        search.action_probes[0] = max(search.action_probes[0] - 1, 0)
    if search.jumps[0] == jumps and stop != Stop.REPLAY:
        found_nothing(st, work, end - work.kept[LOOK_SLOT * search.slot_size[0] + CYCLE])
    if search.recording[0] != WITH_LOG and stop != Stop.REPLAY:
        st.access_log[0, ON] = 0
    return stop


@jit
def run(st: State, work: Arrays, until: int) -> int:
    """Advance to cycle ``until`` at most, stepping no more than the budget; return a ``Stop`` code."""
    search = work.search
    clock.ask_for_locks_again(st)
    jumped, began = search.jumped_cycles[0], st.clock.now[0]
    if search.resume_slot[0] > 0 and resume(st, work, until) and search.action_count[0] > 0:
        return Stop.REPLAY
    while st.clock.now[0] < until:
        if st.clock.full[0] > 0:
            return Stop.SINK_FULL
        now = st.clock.now[0]
        stepped = now - began - (search.jumped_cycles[0] - jumped)
        if stepped >= search.step_budget[0]:
            return Stop.LIMIT
        if now >= search.next_probe[0]:
            stop = look(st, work, until)
        else:
            target = min(until, search.next_probe[0], now + search.step_budget[0] - stepped)
            stop = advance(st, work, target, until)
        if stop == Stop.KERNEL and search.action_probes[0] > 0:
            look_after_action(st, work)
        if stop != Stop.LIMIT or st.clock.columns_written[0] > 0:
            return stop
    return Stop.LIMIT
