"""When packets leave too slowly: is what a trace says still true, and does it say where it is silent?

The trace unit sends through the stream switch to S2MM 5, which takes a packet for each count of a lock.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.arch.tiles import MEMORY
from memtile.arch.trace_facts import PACKET_WORDS, TraceState
from memtile.bd.descriptor import Acquire, Descriptor, Iteration
from memtile.bd.windows import OWN
from memtile.io.trace.decoder import SegmentOrigin, Trace, UnitTrace, decode
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.stream_bench import Bench

USER = ("USER_EVENT_0", "USER_EVENT_1", "COMBO_EVENT_3")  # nothing but Event_Generate raises these
START, STOP = "BROADCAST_0", "BROADCAST_1"
ROOM = 64  # packets
LOCK = 3
CYCLES = 700


class Recorder:
    """A memory tile that traces into its own memory."""

    def __init__(self) -> None:
        self.bench = Bench("memory")
        self.bench.circuit("TRACE0", "DMA5")
        bd, take = 24, Acquire(OWN.lock(LOCK), -1, True)
        self.bench.write_bd(
            bd, Descriptor("memory", PACKET_WORDS, OWN.address(0), iteration=Iteration(8, ROOM), acquire=take)
        )
        self.bench.issue(self.bench.s2mm(5), bd, ROOM)
        self.unit = EventUnit(self.bench.door())
        self.unit.trace(USER, START, STOP)
        self.step(5)
        self.begin = self.bench.engine.now
        self.unit.generate(START)
        self.step()

    def step(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            self.bench.engine.run(self.bench.engine.now + 1)

    def let_through(self, packets: int) -> None:
        """Let the channel take so many more packets."""
        offset = MEMORY.lock_value_base + LOCK * MEMORY.lock_value_stride
        self.bench.door().write32(offset, self.bench.door().read32(offset) + packets)

    def decoded(self) -> Trace:
        """Stop, let everything through, decode what is in memory."""
        self.unit.generate(STOP)
        self.let_through(40)
        self.step(900)
        return decode(trimmed(self.bench.memory(0, ROOM * PACKET_WORDS)))


def trimmed(words: list[int]) -> list[int]:
    """Without the packets that never came."""
    used = max(n for n in range(0, len(words), PACKET_WORDS) if any(words[n : n + PACKET_WORDS]))
    return words[: used + PACKET_WORDS]


def record(asserted: dict[int, int], takes: set[int]) -> tuple[Trace, set[tuple[int, int]]]:
    """Trace of events at cycles after the start; packets are let through at ``takes``. And what happened."""
    recorder = Recorder()
    happened = set()
    for cycle in range(1, CYCLES):
        for slot, event in enumerate(USER):
            if asserted.get(cycle, 0) >> slot & 1:
                recorder.unit.generate(event)
                happened.add((recorder.begin + cycle, slot))
        if cycle in takes:
            recorder.let_through(1)
        recorder.step()
    return recorder.decoded(), happened


def told(unit: UnitTrace) -> set[int]:
    """The cycles of which the trace says what was asserted in them."""
    return {cycle for part in unit.segments for cycle in range(part.start + 1, part.end)}


def busy(period: int) -> dict[int, int]:
    """Masks that change, so that each is a frame of its own."""
    return {cycle: 1 + cycle // period % 6 for cycle in range(1, CYCLES, period)}


@pytest.mark.slow
@pytest.mark.feature("F24")
@given(
    st.dictionaries(st.integers(1, CYCLES - 1), st.integers(1, 7), min_size=60, max_size=300),
    st.sets(st.integers(1, CYCLES - 1), max_size=20),
)
@settings(max_examples=25, deadline=None)
def test_what_a_trace_tells_is_what_was_asserted(asserted: dict[int, int], takes: set[int]) -> None:
    trace, happened = record(asserted, takes)
    (unit,) = trace.units
    cycles = told(unit)
    assert all(part.exact for part in unit.segments)
    assert set(unit.events()) == {event for event in happened if event[0] in cycles}
    overruns = [part for part in unit.segments if part.origin is SegmentOrigin.OVERRUN]
    assert len(trace.problems) == len(overruns)
    assert unit.segments[-1].stopped


@pytest.mark.feature("F24")
def test_a_blocked_port_is_an_overrun_that_the_status_register_shows() -> None:
    recorder = Recorder()
    state = recorder.unit.register("Trace_Status").field("State")
    assert state.get(recorder.unit.read("Trace_Status")) == TraceState.RUNNING
    for cycle in range(1, 200):
        recorder.unit.generate(USER[cycle % 3])
        recorder.step()
    assert state.get(recorder.unit.read("Trace_Status")) == TraceState.OVERRUN
    (unit,) = recorder.decoded().units
    assert [part.origin for part in unit.segments] == [SegmentOrigin.START, SegmentOrigin.OVERRUN]
    assert recorder.begin + 20 < unit.segments[0].end < recorder.begin + 199
    assert state.get(recorder.unit.read("Trace_Status")) == TraceState.IDLE


@pytest.mark.feature("F24")
def test_a_port_that_takes_packets_in_time_loses_nothing() -> None:
    asserted = busy(5)
    trace, happened = record(asserted, set(range(1, CYCLES, 20)))
    (unit,) = trace.units
    assert trace.problems == ()
    assert set(unit.events()) == happened


@pytest.mark.parametrize("frames", range(100, 108))
def test_the_last_frame_waits_for_room(frames: int) -> None:
    """However many bytes are free when the unit stops before a port that takes nothing."""
    asserted = {cycle: 1 + cycle % 2 for cycle in range(1, frames)}
    trace, happened = record(asserted, set())
    (unit,) = trace.units
    assert unit.segments[-1].stopped
    cycles = told(unit)
    assert set(unit.events()) == {event for event in happened if event[0] in cycles}
