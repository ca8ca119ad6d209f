"""Event units at random, for designs whose time repeats: what they count, time, combine, trace, broadcast."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.rig import Rig
from support.designs.repeating_designs import Design, build

EVENTS = (
    "NONE",
    "TRUE",
    "DMA_S2MM_SEL0_START_TASK",
    "DMA_S2MM_SEL0_FINISHED_BD",
    "DMA_MM2S_SEL0_FINISHED_BD",
    "DMA_S2MM_SEL1_STALLED_LOCK",
    "DMA_S2MM_SEL0_STREAM_STARVATION",
    "DMA_MM2S_SEL1_STREAM_BACKPRESSURE",
    "LOCK_SEL0_ACQ_GE",
    "LOCK_SEL0_EQUAL_TO_VALUE",
    "PORT_IDLE_1",
    "PORT_RUNNING_0",
    "PORT_STALLED_0",
    "GROUP_MEMORY_CONFLICT",
    "CONFLICT_DM_BANK_0",
    "PERF_CNT0_EVENT",
    "PERF_CNT1_EVENT",
    "COMBO_EVENT_0",
    "COMBO_EVENT_2",
    "EDGE_DETECTION_EVENT_0",
    "EDGE_DETECTION_EVENT_1",
    "TIMER_VALUE_REACHED",
    "USER_EVENT_0",
    "BROADCAST_3",
)


class Counter(NamedTuple):
    """A counter: its events, its threshold, and where it begins."""

    start: str
    stop: str
    reset: str
    threshold: int
    first: int


class Observation(NamedTuple):
    """How the event unit of a tile is set up."""

    counters: tuple[Counter, ...]
    combos: tuple[str, ...]
    edges: tuple[str, ...]
    fires: int
    timer_reset: str
    traced: tuple[str, ...]
    trace: tuple[str, str]
    broadcast: str


_events = st.sampled_from(EVENTS)
_often = st.sampled_from(["TRUE", "PORT_RUNNING_0", "PORT_STALLED_0", "DMA_S2MM_SEL0_FINISHED_BD"])


@st.composite
def counters(draw: st.DrawFn) -> Counter:
    """A counter or a stopwatch; most are reset by nothing, and many come to their threshold or begin anew."""
    start = draw(st.one_of(_often, _events))
    return Counter(
        start,
        draw(st.one_of(st.just(start), _events)),
        draw(st.sampled_from(["NONE", "NONE", "NONE", *EVENTS])),
        draw(st.sampled_from([0, 0, 1, 500, 3000, 4001])),
        draw(st.sampled_from([0, 0, 2990, (1 << 32) - 1500])),
    )


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """An event unit with something to do."""
    rare = st.sampled_from(["NONE", "NONE", *EVENTS])
    traces = draw(st.booleans())
    return Observation(
        tuple(draw(st.lists(counters(), max_size=4))),
        tuple(draw(st.lists(_events, max_size=4))),
        tuple(draw(st.lists(_events, max_size=2))),
        draw(st.sampled_from([0, 0, 700, 3000, 9000])),
        draw(rare),
        tuple(draw(st.lists(st.one_of(_often, _events), min_size=1, max_size=3))) if traces else (),
        (draw(st.sampled_from(["TRUE", *EVENTS])), draw(rare)),
        draw(rare),
    )


def observed(design: Design, seen: Observation, *, forward: bool) -> Rig:
    """The rig of a design whose tile has its event unit set up."""
    rig = build(design, forward=forward)
    watch(EventUnit(rig.door), seen)
    return rig


def watch(unit: EventUnit, seen: Observation) -> None:
    """Set up an event unit."""
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=0)
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_1_ID=0, Port_1_Master_Slave=1)
    unit.write("Locks_Event_Selection_0", Lock_Select=1, Lock_Value=1)
    for number, each in enumerate(seen.counters):
        unit.door.write32(unit.register(f"Performance_Counter{number}").offset, each.first)
        unit.door.write32(unit.register(f"Performance_Counter{number}_Event_Value").offset, each.threshold)
        unit.count(number, each.start, each.stop, each.reset)
    for name, event in zip("ABCD", seen.combos, strict=False):
        unit.write("Combo_event_inputs", **{f"event{name}": event})
    for number, event in enumerate(seen.edges):
        field = f"Edge_Detection_{number}_Trigger"
        both: dict[str, int | str] = {f"{field}_Rising": 1, f"{field}_Falling": 1}
        unit.write("Edge_Detection_event_control", **{f"Edge_Detection_Event_{number}": event}, **both)
    if seen.fires:
        unit.door.write32(unit.register("Timer_Trig_Event_High_Value").offset, 0)
        unit.door.write32(unit.register("Timer_Trig_Event_Low_Value").offset, seen.fires)
    unit.write("Timer_Control", Reset_Event=seen.timer_reset)
    if seen.traced:
        unit.trace(seen.traced, *seen.trace)
    unit.write("Event_Broadcast3", Event=seen.broadcast)
