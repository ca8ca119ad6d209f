"""Do event units see each cycle of a jump: counters, timers, edges, traces?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.jit.tables import plain
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.skip import unit_guards
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


@pytest.mark.parametrize("used", range(28))
def test_as_many_repeats_are_to_come_as_fill_the_packet(used: int) -> None:
    """One less leaves the packet open, with what stepping writes into it."""
    from memtile.model.events import trace_unit

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
