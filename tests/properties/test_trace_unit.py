"""Do the packets of the trace unit, decoded, say what was asserted in which cycle?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.io.trace.decoder import decode
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.rig import Rig
from memtile.testing.trace_encoder import encode_trace

USER = ("USER_EVENT_0", "USER_EVENT_1", "COMBO_EVENT_3")  # nothing but Event_Generate raises these
START, STOP = "BROADCAST_0", "BROADCAST_1"


def recorded(cycles: dict[int, int], gap: int) -> tuple[list[int], int]:
    """Trace words of a unit in which the slots of ``cycles`` are asserted; the cycle of the start event."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.trace(USER, START, STOP, packet_type=3, ident=5)
    rig.step(gap)
    begin = rig.now
    unit.generate(START)
    rig.step(1)
    for cycle in range(begin + 1, begin + 2 + max(cycles, default=0)):
        for slot, event in enumerate(USER):
            if cycles.get(cycle - begin, 0) >> slot & 1:
                unit.generate(event)
        rig.step(1)
    unit.generate(STOP)
    rig.step(60)
    return rig.engine.traced(0), begin


streams = st.dictionaries(st.integers(1, 300), st.integers(1, 7), max_size=60)


@pytest.mark.slow
@given(streams, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_round_trip(cycles: dict[int, int], gap: int) -> None:
    words, begin = recorded(cycles, gap)
    [unit] = decode(words).units
    expected = sorted(
        (begin + cycle, slot) for cycle, mask in cycles.items() for slot in range(3) if mask >> slot & 1
    )
    assert sorted(unit.events()) == expected
    assert all(segment.exact for segment in unit.segments)


@pytest.mark.slow
@given(streams, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_the_packets_are_those_of_the_reference_encoder(cycles: dict[int, int], gap: int) -> None:
    words, begin = recorded(cycles, gap)
    shifted = {begin + cycle: mask for cycle, mask in cycles.items()}
    packets = encode_trace(shifted, begin, column=0, row=0, packet_type=3, stream_id=5)
    assert words == [word for packet in packets for word in packet]


def test_the_event_that_starts_may_also_reset_the_timer() -> None:
    """DEV-TRACE-5: as mlir-aie's designs have it; the Start frame has the value before the reset."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Timer_Control", Reset_Event=START)
    unit.trace(USER, START, STOP)
    rig.step(100)
    unit.generate(START)
    rig.step(5)
    unit.generate(USER[0])
    rig.step(3)
    unit.generate(STOP)
    rig.step(60)
    trace = decode(rig.engine.traced(0))
    assert not trace.problems
    assert list(trace.units[0].events()) == [(105, 0)]


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 1023, 1024, 1025, 3000])
def test_a_held_level_is_repeats(length: int) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_inputs", eventA="USER_EVENT_0", eventB="USER_EVENT_0")
    unit.trace(["TRUE"], START, STOP)
    rig.step(3)
    unit.generate(START)
    rig.step(1 + length)
    unit.generate(STOP)
    rig.step(80)
    [traced] = decode(rig.engine.traced(0)).units
    assert [(i.begin, i.end) for i in traced.intervals()] == [(4, 4 + length)]


def test_a_long_gap_is_syncs_and_may_be_jumped() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.trace(USER, START, STOP)
    unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
    unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=700_000)
    unit.generate(START)
    rig.feed(rig.s2mm(0), 4, [0] * 700_000 + [1])  # words to come, so that the run goes on
    rig.engine.run(700_010)
    begin = rig.now
    unit.generate(USER[1])
    rig.step(1)
    unit.generate(STOP)
    rig.step(60)
    [traced] = decode(rig.engine.traced(0)).units
    assert list(traced.events()) == [(begin, 1)]


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_the_status_shows_the_mode_that_was_chosen(mode: int) -> None:
    """DEV-TRACE-6: EVENT_PC is 1, INST_EXEC 2; the frames stay those of event-time mode."""
    rig = Rig("compute")
    unit = EventUnit(rig.door, "core")
    unit.trace(USER[:1], START, STOP)
    unit.write("Trace_Control0", Mode=mode, Trace_Start_Event=START, Trace_Stop_Event=STOP)
    assert unit.read("Trace_Status") == mode
    unit.generate(START)
    rig.step(2)
    assert unit.read("Trace_Status") == 1 << 8 | mode
    other = EventUnit(rig.door, "memory")
    other.register("Trace_Control0")
    rig.door.write32(other.register("Trace_Control0").offset, 3)
    assert other.read("Trace_Status") == 0
