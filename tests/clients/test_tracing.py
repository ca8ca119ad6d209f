"""Can a user count and trace what a design does by naming channels, locks and ports?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, MemoryTile, MemtileError
from memtile.design.events import Event, SwitchEnd
from memtile.errors import DesignError, InputFileError
from memtile.explain.results import Status
from memtile.io.program.recorder import record
from memtile.io.trace.decoder import decode
from memtile.io.trace.trace_names import NamedUnit, named
from memtile.io.trace.trace_setup import traced_by
from memtile.io.trace.tracing import Tracing
from memtile.model.state.causes import Cause
from memtile.runs.operations import ArrayShape
from memtile.runs.register_writes import apply
from memtile.sim.doors.event_panel import EventUnit

WORDS = 64


def guarded() -> MemoryTile:
    """S2MM 3 fills a buffer that MM2S 5 waits for."""
    tile = MemoryTile()
    frame, full = tile.buffer("frame", (WORDS,)), tile.lock(0, "full")
    tile.s2mm[3].start(tile.write(frame).guarded(None, full.release()))
    tile.mm2s[5].start(tile.read(frame).guarded(full.acquire(), None))
    tile.s2mm[3].feed(np.arange(WORDS, dtype=np.int32))
    tile.mm2s[5].collect(np.int32)
    return tile


def told(units: list[NamedUnit]) -> dict[str, list[tuple[int, int]]]:
    """Intervals of each event, by process and name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for unit in units:
        for interval, exact in unit.intervals():
            assert exact
            sender, event = unit.trace.sender, unit.events[interval.slot]
            name = f"{unit.kind}({sender.column},{sender.row}) {event}"
            found.setdefault(name, []).append((interval.begin, interval.end))
    return found


@pytest.mark.feature("F24")
def test_counters_of_a_channel_a_lock_and_the_time_between_two_events() -> None:
    tile = guarded()
    full = tile.lock(0, "other")
    stalled = tile.events.count("STALLED_LOCK", tile.mm2s[5])
    finished = tile.events.count("FINISHED_BD", tile.s2mm[3])
    until = tile.events.event("FINISHED_TASK", tile.mm2s[5])
    between = tile.events.count("START_TASK", tile.s2mm[3], until=until)
    released = tile.events.event("REL", full)
    tile.run()
    spent = tile.engine.state.spent[tile.mm2s[5].index]
    assert stalled.value == spent[Cause.LOCK_ACQUIRE] > 0
    assert finished.value == 1
    assert between.value > 2 * WORDS
    assert until.happened
    assert not released.happened


def test_a_lock_of_another_design_is_not_watched() -> None:
    lock = MemoryTile().lock(0, "theirs")
    with pytest.raises(DesignError) as caught:
        MemoryTile().events.event("REL", lock)
    assert str(caught.value) == (
        "memory tile: event REL cannot be of theirs, which belongs to another tile (AM020, events; "
        "names of AMD's driver)."
    )


def test_events_that_both_modules_of_a_compute_tile_have() -> None:
    tile = Array("npu1", columns=1).compute_tile(0, 2)
    conflicts = tile.events.count("CONFLICT_DM_BANK_0", until="USER_EVENT_0")
    assert conflicts.event.unit is tile.events.units["memory"]
    assert tile.events.event("USER_EVENT_0").unit is tile.events.units["core"]
    named = tile.events.event("USER_EVENT_0", module="memory")
    assert (named.unit, named.number) == (tile.events.units["memory"], 124)
    with pytest.raises(DesignError) as caught:
        tile.events.event("TRUE", module="pl")
    assert str(caught.value) == (
        "compute tile (0,2): module is pl; it must be one of core, memory (AM020, events; names of "
        "AMD's driver)."
    )


@pytest.mark.feature("F24")
def test_the_counters_that_v2_adds_are_given_out_too() -> None:
    tile = MemoryTile("xc2ve3858")
    counters = [tile.events.count("TRUE") for _ in range(6)]
    tile.engine.run(1)
    assert [counter.value for counter in counters] == [1] * 6
    assert "all 6 counters of module memory_tile_v2 are in use" in refused(lambda: tile.events.count("TRUE"))


@pytest.mark.feature("F24")
def test_a_trace_of_a_tile_alone() -> None:
    tile = guarded()
    events = [
        tile.events.event("STALLED_LOCK", tile.mm2s[5]),
        tile.events.event("FINISHED_TASK", tile.mm2s[5]),
    ]
    counter = tile.events.count("STALLED_LOCK", tile.mm2s[5])
    tracing = Tracing(tile, events)
    tile.run()
    tracing.stop()
    found = told(tracing.units())
    ((begin, end),) = found["memtile(0,0) DMA_MM2S_SEL0_STALLED_LOCK"]
    assert end - begin == counter.value
    assert len(found["memtile(0,0) DMA_MM2S_SEL0_FINISHED_TASK"]) == 1


def moving(array: Array | None = None) -> tuple[Array, list[Event]]:
    """A buffer goes from a memory tile to a compute tile of the next column; events of three modules."""
    array = array or Array("npu1", columns=2)
    memory, worker = array.memory_tile(0), array.compute_tile(1, 3)
    source = memory.buffer("source", WORDS, data=np.arange(WORDS))
    target = worker.buffer("target", WORDS)
    array.connect(memory.mm2s[0], worker.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    worker.s2mm[0].start(worker.write(target))
    worker.expect(target, np.arange(WORDS))

    def kernel(core):
        yield core.cycles(50)
        yield core.event(0)

    worker.run_kernel(kernel)
    events = [
        memory.events.event("FINISHED_BD", memory.mm2s[0]),
        worker.events.event("INSTR_EVENT_0"),
        worker.events.event("START_TASK", worker.s2mm[0]),
        worker.events.event("FINISHED_TASK", worker.s2mm[0]),
        memory.events.event("RUNNING", SwitchEnd(memory, "DMA0")),
    ]
    return array, events


EVENTS = {
    "core(1,3) INSTR_EVENT_0",
    "mem(1,3) DMA_S2MM_0_START_TASK",
    "mem(1,3) DMA_S2MM_0_FINISHED_TASK",
    "memtile(0,1) DMA_MM2S_SEL0_FINISHED_BD",
    "memtile(0,1) PORT_RUNNING_0",
}


@pytest.mark.feature("F20", "F24")
def test_traces_of_three_modules_leave_the_array_as_packets(tmp_path: Path) -> None:
    array, events = moving()
    tracing = Tracing(array, events)
    result = array.run()
    assert all(check.exact for check in result.checks)
    tracing.stop()
    found = told(tracing.units())
    assert found.keys() == EVENTS
    assert found["core(1,3) INSTR_EVENT_0"] == [(50, 51)]
    assert sum(end - begin for begin, end in found["memtile(0,1) PORT_RUNNING_0"]) == WORDS
    tracing.save_perfetto(tmp_path / "trace.json")
    tracing.save_perfetto(tmp_path / "trace.pftrace")
    with pytest.raises(
        InputFileError, match=(r"missing.trace\.json: the file cannot be written: No such file")
    ):
        tracing.save_perfetto(tmp_path / "missing" / "trace.json")
    records = json.loads((tmp_path / "trace.json").read_text())
    assert {r["name"] for r in records if r["ph"] == "B"} == {name.partition(" ")[2] for name in EVENTS}
    assert b"memtile_trace for tile1,0" in (tmp_path / "trace.pftrace").read_bytes()


@pytest.mark.feature("F20", "F24")
def test_traces_go_into_external_memory() -> None:
    there = np.zeros(512, np.uint32)
    array, events = moving()
    into = array.interface_tile(0).s2mm[1], array.external("trace", there)
    tracing = Tracing(array, events, into=into)
    result = array.run()
    assert (result.status, result.waiting) == (Status.FINISHED, ())  # the room left over waits for nobody
    tracing.stop()
    assert there.any()
    same, again = moving()
    other = Tracing(same, again)
    same.run()
    other.stop()
    assert told(tracing.units()).keys() == EVENTS
    assert (
        told(tracing.units())["mem(1,3) DMA_S2MM_0_FINISHED_TASK"]
        == told(other.units())["mem(1,3) DMA_S2MM_0_FINISHED_TASK"]
    )


def test_stopping_does_not_wait_for_a_kernel_without_end() -> None:
    array, events = moving()

    def forever(core):
        while True:
            yield core.cycles(100)

    array.compute_tile(0, 2).run_kernel(forever, endless=True)
    tracing = Tracing(array, events)
    array.run(10_000)
    tracing.stop()
    assert told(tracing.units()).keys() == EVENTS


@pytest.mark.feature("F24")
def test_a_traced_design_can_be_exported_and_traces_the_same_elsewhere() -> None:
    array, shape = Array("npu1", columns=2), ArrayShape(2, 6, 1)
    recording = record(array)
    _, events = moving(array)
    tracing = Tracing(array, [event for event in events if event.name != "INSTR_EVENT_0"])
    again, done = Array("npu1", columns=2), len(recording.operations)
    apply(recording.operations, again.door.at_once(), shape)
    again.engine.catch_port(again.interface_tile(0).index, "SOUTH0")
    array.run()
    again.engine.run(array.engine.now)
    tracing.stop()
    apply(recording.operations[done:], again.door.at_once(), shape)
    again.engine.run(array.engine.now)
    words = [word for word, _ in again.engine.left_port(again.interface_tile(0).index, "SOUTH0")]
    assert words == tracing.words()
    units = named(decode(tracing.words()), traced_by(recording.operations, shape))
    assert told(units).keys() == EVENTS - {"core(1,3) INSTR_EVENT_0"}


def test_selectors_are_given_out_and_shared() -> None:
    tile = MemoryTile()
    first, second = (tile.events.event("FINISHED_BD", tile.s2mm[n]) for n in (4, 2))
    again = tile.events.event("STALLED_LOCK", tile.s2mm[4])
    assert [e.name for e in (first, second, again)] == [
        "DMA_S2MM_SEL0_FINISHED_BD",
        "DMA_S2MM_SEL1_FINISHED_BD",
        "DMA_S2MM_SEL0_STALLED_LOCK",
    ]
    assert tile.register("DMA_Event_Channel_Selection")["S2MM_Sel0_Channel"] == 4
    assert tile.register("DMA_Event_Channel_Selection")["S2MM_Sel1_Channel"] == 2
    assert repr(tile.events) == "TileEvents(memory tile: 161 of memory_tile)"


def refused(call: object) -> str:
    with pytest.raises(MemtileError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


SOURCE = "(AM020, events; names of AMD's driver)"


def test_what_is_refused_is_told() -> None:
    tile, other = MemoryTile(), MemoryTile()
    events = tile.events
    assert refused(lambda: events.event("CONFLICT_DM_BANK")).startswith(
        "memory tile: event is CONFLICT_DM_BANK; it must be one of 161 events"
    )
    assert refused(lambda: events.event("STALLED", tile.s2mm[0])).endswith(
        "event is STALLED; it must be one of START_TASK, FINISHED_BD, FINISHED_TASK, STALLED_LOCK, "
        f"STREAM_STARVATION, MEMORY_BACKPRESSURE {SOURCE}. Did you mean STALLED_LOCK?"
    )
    assert refused(lambda: events.event("REL", other.s2mm[0])) == (
        f"memory tile: event REL cannot be of S2MM 0, which belongs to another tile {SOURCE}."
    )
    for n in range(2):
        events.event("FINISHED_BD", tile.s2mm[n])
    assert refused(lambda: events.event("FINISHED_BD", tile.s2mm[2])) == (
        f"memory tile: all 2 S2MM channel selectors are in use {SOURCE}."
    )
    assert refused(lambda: events.event("EQUAL_TO_VALUE", tile.lock(), value=99)) == (
        f"memory tile: the value of event EQUAL_TO_VALUE is 99, allowed are 0..63 {SOURCE}."
    )
    for _ in range(4):
        events.count("TRUE", until="NONE")
    assert refused(lambda: events.count("TRUE")) == (
        f"memory tile: all 4 counters of module memory_tile are in use {SOURCE}."
    )
    assert refused(lambda: SwitchEnd(tile, "EAST0")).startswith(
        "memory tile, stream switch: slave is 'EAST0'; it must be one of DMA0, "
    )


def test_what_cannot_be_traced_is_told() -> None:
    source = "(AM020 chapter 2: trace)"
    tile = MemoryTile()
    nine = [tile.events.event(f"CONFLICT_DM_BANK_{n}") for n in range(9)]
    assert refused(lambda: Tracing(tile, nine)) == (
        f"tracing: there are 9 events of module memory_tile; a module can trace at most 8 {source}."
    )
    assert refused(lambda: Tracing(tile, [])) == f"tracing: there are no events to trace {source}."
    assert refused(lambda: Tracing(MemoryTile(), nine[:1])) == (
        f"tracing: CONFLICT_DM_BANK_0 is an event of another design {source}."
    )
    into = tile.s2mm[0], tile.buffer("trace", 64)
    assert refused(lambda: Tracing(tile, nine[:1], into=into)) == (
        f"tracing: into is S2MM 0; it must be a channel of an array {source}."
    )
    array, events = moving()
    assert refused(lambda: Tracing(array, events, start="user_event_0")) == (
        f"module memory_tile: event is user_event_0; it must be one of 161 events {SOURCE}. "
        "Did you mean USER_EVENT_0 or USER_EVENT_1 or GROUP_USER_EVENT?"
    )
    assert refused(lambda: Tracing(array, events, out="SOUTH2")) == (
        f"tracing: out is SOUTH2; it must be a South port that is not one of the DMA {source}."
    )
    worker = array.compute_tile(1, 3)
    assert refused(lambda: worker.events.count("START_TASK", worker.s2mm[0], until="LOCK_STALL")) == (
        "compute tile (1,3): LOCK_STALL is an event of module core; it cannot stop a counter of module "
        "memory (AM020, events; names of AMD's driver)."
    )


def test_what_an_event_unit_does_not_have_is_told() -> None:
    door = MemoryTile().door
    assert refused(lambda: EventUnit(door, "memtile")) == (  # type: ignore[arg-type]
        "event unit: module is memtile; it must be one of memory_tile, memory, core, pl, memory_tile_2p, "
        f"memory_2p, core_2p, pl_2p, memory_tile_v2, memory_v2 {SOURCE}."
    )
    assert refused(lambda: EventUnit(door).trace(["TRUE"] * 9, "TRUE", "NONE")) == (
        f"module memory_tile: there are 9 events; a module can trace at most 8 {SOURCE}."
    )
    assert refused(lambda: EventUnit(door).count(4, "TRUE", "NONE")) == (
        f"module memory_tile: counter is 4, allowed are 0..3 {SOURCE}."
    )
    assert refused(lambda: EventUnit(door).read("Ecc_Scrubbing_Event")).endswith(
        "Did you mean ECC_SCRUBBING_EVENT?"
    )


def test_a_channel_that_a_trace_cannot_reach_is_told_with_those_that_it_can() -> None:
    array = Array("npu1", columns=1)
    tile, interface = array.memory_tile(0), array.interface_tile(0)
    stalled = interface.events.event("STALLED_LOCK", interface.mm2s[0])
    there = tile.buffer("trace", 64, np.uint32)
    assert refused(lambda: Tracing(array, [stalled], into=(tile.s2mm[0], there))).endswith(
        "interface(0,0) slave TRACE0 is joined to SOUTH0, SOUTH1, SOUTH2, SOUTH3, SOUTH4, SOUTH5 only, "
        "and no route continues from there."
    )


def test_two_traces_need_a_way_out_each_and_units_of_their_own() -> None:
    array, events = moving()
    stall = array.compute_tile(0, 2).events.event("LOCK_STALL")
    Tracing(array, events[:1])
    assert ": it has packet bus trace 0 to interface(0,0) master SOUTH0 (" in refused(
        lambda: Tracing(array, [stall])
    )
    assert "memory(0,1) slave TRACE0" in refused(lambda: Tracing(array, events[:1], out="SOUTH1"))
    Tracing(array, [stall], out="SOUTH1")
