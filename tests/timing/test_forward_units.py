"""Do event units see each cycle of a jump: counters, timers, edges, traces?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.jit.tables import plain
from memtile.model.events import trace_unit, units
from memtile.model.state.event_columns import COUNTERS
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.skip import comparison, unit_guards
from memtile.sim.skip.records import LOOK_SLOT
from memtile.testing.rig import Rig
from support.designs.observed_designs import Counter, Observation, watch
from support.designs.repeating_designs import EAGER, differences

RUNNING, FINISHED = "PORT_RUNNING_0", "DMA_MM2S_SEL0_FINISHED_BD"
NOTHING = Observation((), (), (), 0, "NONE", (), ("NONE", "NONE"), "NONE")
PACKET = 14 * 1023  # repeats in a packet of a trace, about: 28 bytes, two for a frame


def counting(event: str = "TRUE", *, threshold: int = 0, first: int = 0, reset: str = "NONE") -> Observation:
    return NOTHING._replace(counters=(Counter(event, event, reset, threshold, first),))


def sending(seen: Observation, words: int, *, forward: bool) -> Rig:
    """A channel sends a BD of so many words again and again; words leave in every cycle."""
    rig = Rig()
    rig.engine.forward.on, rig.engine.forward.free = forward, EAGER
    rig.write_bd(0, Descriptor("memory", words, OWN.address(0), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    watch(EventUnit(rig.door), seen)
    return rig


def both(seen: Observation, cycles: int, words: int = 60_000) -> Rig:
    """The jumping rig after a run that ended as the stepping one, with the words of the trace."""
    jumping, stepping = (sending(seen, words, forward=forward) for forward in (True, False))
    for rig in (jumping, stepping):
        rig.engine.run(cycles)
    assert not differences(jumping, stepping)
    assert jumping.engine.left == stepping.engine.left
    return jumping


WATCHED = {
    "all cycles": counting(),
    "some cycles": counting(FINISHED),
    "up to the largest word": counting(first=(1 << 32) - 5000),
    "up to its threshold": counting(threshold=5000),
    "from its threshold on": counting(threshold=5000, first=4990),
    "to its threshold, where it begins anew": counting(threshold=3000, reset="PERF_CNT0_EVENT"),
    "as long as words leave": counting(RUNNING, reset="PORT_IDLE_0"),
    "a timer": NOTHING._replace(fires=7000),
    "a timer that begins anew": NOTHING._replace(fires=7000, timer_reset="TIMER_VALUE_REACHED"),
    "edges": NOTHING._replace(edges=(RUNNING, FINISHED)),
    "combos": NOTHING._replace(combos=(RUNNING, FINISHED, "TRUE", "COMBO_EVENT_0")),
    "a trace": NOTHING._replace(traced=(RUNNING,), trace=("TRUE", "NONE")),
    "a trace of what is rare": NOTHING._replace(traced=(FINISHED,), trace=("TRUE", "NONE")),
    "a trace that ends": NOTHING._replace(
        counters=counting(threshold=6000).counters, traced=(RUNNING,), trace=("TRUE", "PERF_CNT0_EVENT")
    ),
    "a broadcast": NOTHING._replace(broadcast=FINISHED),
}


@pytest.mark.compiled("runs of 9,000 cycles and more")
@pytest.mark.parametrize("seen", WATCHED.values(), ids=WATCHED)
@pytest.mark.parametrize("words", [60_000, 500])
def test_a_run_that_jumps_ends_as_one_that_steps(seen: Observation, words: int) -> None:
    rig = both(seen, 2 * PACKET if seen.traced else 9000, words)
    rare = bool(seen.traced) or FINISHED in (seen.broadcast, *seen.edges) or "PORT_IDLE_0" in str(seen)
    assert rig.engine.forward.jumped > (-1 if rare else 4000)


@pytest.mark.compiled("jumps of 14,000 cycles")
def test_a_trace_of_what_does_not_change_is_jumped_over_but_for_its_packets() -> None:
    rig = both(NOTHING._replace(traced=(RUNNING,), trace=("TRUE", "NONE")), 5 * PACKET, (1 << 17) - 1)
    assert rig.engine.forward.jumped > 0.97 * rig.now
    (words,) = rig.engine.left.values()
    assert len(words) >= 4 * 8


ALL = Observation(
    (Counter("TRUE", "TRUE", "NONE", 150, 0), Counter(RUNNING, FINISHED, "PERF_CNT0_EVENT", 0, 0)),
    (RUNNING, FINISHED, "PORT_IDLE_0", "TRUE"),
    (RUNNING, FINISHED),
    200,
    "USER_EVENT_0",
    (RUNNING, "PORT_STALLED_0", "LOCK_SEL0_ACQ_GE", "GROUP_MEMORY_CONFLICT"),
    ("TRUE", "PERF_CNT0_EVENT"),
    "EDGE_DETECTION_EVENT_1",
)


def test_a_unit_does_all_that_it_can_in_a_short_run() -> None:
    """One of those in which ``shifted`` looks for comparisons that no guard knows."""
    rig = sending(ALL, 40, forward=False)
    rig.engine.run(300)
    assert EventUnit(rig.door).counted(0) == 300
    assert rig.engine.left


def test_a_short_run_with_all_that_a_unit_does_ends_as_one_that_steps() -> None:
    both(ALL, 300, 40)


NEVER = (1 << 62) - 2


@pytest.mark.parametrize(
    ("was", "now", "limit", "after"),
    [
        (5, 5, 9, NEVER),
        (5, 15, 100, 83),
        (5, 15, 15, -1),
        (5, 15, 16, 0),
        (5, 15, 3, 983),
        (15, 5, 100, -1),
        (5, 16, 100, -1),
    ],
)
def test_a_count_ends_a_jump_before_its_limit(was: int, now: int, limit: int, after: int) -> None:
    """One that stands, that comes to it, was at it, comes next, was past it; and two that grow otherwise."""
    count, kept = np.array([now]), np.array([was])
    place = count.__array_interface__["data"][0]
    assert comparison.reached(kept, 0, place, 1, 10, limit, 1000) == after


def traced(repeats: int) -> Rig:
    """A trace at work that has so many repeats pending."""
    rig = Rig()
    EventUnit(rig.door).trace(("TRUE",), "TRUE", "NONE")
    plain(rig.engine.state.traces).repeats[0] = repeats
    return rig


def test_a_trace_ends_a_jump_before_its_packet_is_full() -> None:
    st = traced(40).engine.state
    bound = unit_guards.of_units(st, LOOK_SLOT, 100, 10)
    assert bound == 110 + trace_unit.repeats_to_come(st, 0) - 2


def test_the_repeats_of_a_jump_are_written_down() -> None:
    st = traced(2 * 1023 + 7).engine.state
    unit_guards.write_traces(st)
    assert (plain(st.traces).used[0], plain(st.traces).repeats[0]) == (4, 7)


def test_a_word_of_a_trace_keeps_its_period_from_being_repeated() -> None:
    """Where the host takes it, as long as it is listed; what began before the list did is not known."""
    st = traced(0).engine.state
    port = plain(st.spec.event_units).trace_port[0]
    plain(st.traces).state[0] = 1
    assert not unit_guards.traced_since(st, 0, LOOK_SLOT, 50)
    assert unit_guards.traced_since(st, 0, LOOK_SLOT - 1, 50)
    st.host_words[0, 0], st.host_words[1, 3] = 1, 50
    assert [unit_guards.traced_since(st, 0, LOOK_SLOT, began) for began in (50, 51)] == [True, False]
    plain(st.switch).hosted[port], plain(st.switch).popped[port] = 0, 60
    assert [unit_guards.traced_since(st, 0, LOOK_SLOT, began) for began in (60, 61)] == [True, False]


def test_a_counter_that_was_reset_in_a_period_is_not_counted_on() -> None:
    rig = Rig()
    EventUnit(rig.door).count(0, "TRUE", "TRUE", "USER_EVENT_0")
    st, event = rig.engine.state, EventUnit(rig.door).number("USER_EVENT_0")
    assert not unit_guards.reset_since(st, 0, 50)
    st.stamps[0, event] = 50
    assert [unit_guards.reset_since(st, 0, began) for began in (50, 51)] == [True, False]


@pytest.mark.parametrize("used", range(28))
def test_as_many_repeats_are_to_come_as_fill_the_packet(used: int) -> None:
    """One less leaves the packet open, with what stepping writes into it."""
    st = Rig().engine.state
    t = plain(st.traces)
    t.used[0], t.repeats[0] = used, 5
    left = trace_unit.repeats_to_come(st, 0)
    t.repeats[0] += left - 1
    trace_unit.put_full_repeats(st, 0)
    assert (t.left[0], t.full[0], t.repeats[0]) == (0, 0, 1022)
    t.repeats[0] += 1
    trace_unit.put_full_repeats(st, 0)
    assert (t.left[0], t.repeats[0]) == (8, 0)


@pytest.mark.parametrize(
    ("base", "fires", "bound"), [(10, 200, 208), (10, 80, 1 << 62), (10, 95, -1), (120, 9, 1 << 62)]
)
def test_a_timer_that_stood_ends_a_jump_before_it_fires(base: int, fires: int, bound: int) -> None:
    """Of a period from 100 to 110: later, before it, within it, and a timer that was reset in it."""
    st = Rig().engine.state
    plain(st.observers).timer_base[0], plain(st.observers).timer_trigger[0] = base, fires
    assert unit_guards.timer_due(st, 0, 100, 10) == bound


@pytest.mark.parametrize(
    ("register", "acts"),
    [("ECC_SCRUBBING_EVENT", 1), ("Performance_Control0", 0), ("Timer_Control", 0), ("Event_Broadcast0", 0)],
)
def test_a_unit_that_acts_on_something_else_keeps_jumps_away(register: str, acts: int) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.door.write32(unit.register(register).offset, 2 << 8 if register == "Timer_Control" else 2)
    assert int(rig.engine.state.active_units[0]) == 1
    assert unit_guards.units_that_act(rig.engine.state) == acts


def test_nothing_is_jumped_over_in_which_a_broadcast_was_sent() -> None:
    st = Rig().engine.state

    def seen(began: int) -> bool:
        return bool(unit_guards.broadcast_since(st, 0, began))

    assert not seen(50)
    first = int(plain(st.spec.event_modules).broadcast[plain(st.spec.event_units).module[0]])
    st.stamps[0, first + 15] = 50
    assert np.array_equal([seen(50), seen(51)], [True, False])


def test_what_is_asserted_in_idle_time_is_so_in_each_cycle() -> None:
    """The last cycle and the one before it, however long nothing could move."""
    st, tables = Rig().engine.state, plain(Rig().engine.state.spec.event_modules)
    event = int(tables.combo[plain(st.spec.event_units).module[0]])
    st.active_units[:2], st.clock.now[0], st.stamps[0, event] = (1, 0), 50, 50
    plain(st.observers).derived[0] = 1 << COUNTERS
    units.skip(st, 30)
    assert (st.stamps[0, event], st.earlier[0, event]) == (80, 79)
