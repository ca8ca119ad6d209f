"""Do event units stand with their column, and control packets reach its clock?"""

from __future__ import annotations

import pytest

from memtile import Array
from memtile.arch.packets import PacketOperation, control_header
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.errors import RegisterError
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.kernel_core import calls
from memtile.sim.loop import compiled_model
from memtile.sim.loop.upsets import Upset
from memtile.testing.stream_bench import Bench
from support.designs.paused_columns import CLOCK, clock, reset, sending


def watched(columns: int = 1) -> tuple[Array, EventUnit, EventUnit]:
    """A transfer with its memory tile and its core under observation: counters, edges, a trace."""
    array = sending(columns)
    tile = EventUnit(array.memory_tile(0).door.at_once())
    tile.count(0, "TRUE", "NONE")
    tile.count(1, "DMA_MM2S_SEL0_FINISHED_BD", "DMA_MM2S_SEL0_FINISHED_BD")
    tile.count(2, "PORT_RUNNING_0", "PORT_RUNNING_0")
    tile.count(3, "EDGE_DETECTION_EVENT_0", "EDGE_DETECTION_EVENT_0")
    tile.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=0)
    running = tile.number("PORT_RUNNING_0")
    tile.write(
        "Edge_Detection_event_control", Edge_Detection_Event_0=running, Edge_Detection_0_Trigger_Falling=1
    )
    tile.trace(["PORT_RUNNING_0", "DMA_MM2S_SEL0_FINISHED_BD"], "TRUE", "USER_EVENT_0")
    core = EventUnit(array.compute_tile(columns - 1, 2).door.at_once(), "core")
    core.count(0, "ACTIVE", "ACTIVE")
    return array, tile, core


def step(array: Array, until: int) -> None:
    for now in range(array.engine.now, until):
        array.engine.run(now + 1)


def seen(unit: EventUnit, counters: int) -> list[int]:
    first = unit.register("Event_Status0").offset
    return [unit.counted(n) for n in range(counters)] + [
        unit.door.at_once().read32(first + 4 * n) for n in range(4)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("pause", [1, 50])
@pytest.mark.parametrize("at", [1, 2, 5, 6, 7, 30, 205, 206, 207, 208, 215, 240])
def test_a_pause_is_not_seen_by_the_event_units_of_the_column(at: int, pause: int) -> None:
    """DEV-CLK-2: counters, timer, edges, trace and sticky bits are those of a run without the pause."""
    (plain, *units), (paused, *others) = watched(), watched()
    step(plain, 400)
    step(paused, at)
    clock(paused, 0, False)
    step(paused, at + pause)
    clock(paused, 0, True)
    step(paused, 400 + pause)
    for unit, other in zip(units, others, strict=True):
        assert seen(unit, 4) == seen(other, 4)
        assert unit.timer() == other.timer() == 400
    assert plain.engine.state.traces.payload.tolist() == paused.engine.state.traces.payload.tolist()


def test_the_clock_jumps_with_a_column_off_as_it_steps() -> None:
    found = []
    for jumps in (False, True):
        array, tile, core = watched(2)
        array.compute_tile(0, 2).run_kernel(calls(lambda _core: None, cycles=500, times=1))
        step(array, 40)
        clock(array, 1, False)
        if jumps:
            array.engine.run(400)
            assert array.engine.now == 400
        step(array, 400)
        clock(array, 1, True)
        step(array, 900)
        assert (tile.timer(), core.timer()) == (900, 900 - 360)
        found.append((seen(tile, 4), seen(core, 4)))
    assert found[0] == found[1]


def test_a_broadcast_is_lost_at_a_tile_without_clock() -> None:
    """DEV-CLK-2."""
    array = Array("npu1", 2)
    sender, receiver = (EventUnit(array.memory_tile(column).door.at_once()) for column in range(2))
    sender.write("Event_Broadcast0", Event="USER_EVENT_0")
    clock(array, 1, False)
    sender.generate("USER_EVENT_0")
    array.engine.run(20)
    clock(array, 1, True)
    array.engine.run(40)
    assert not receiver.status("BROADCAST_0")
    sender.generate("USER_EVENT_0")
    array.engine.run(60)
    assert receiver.status("BROADCAST_0")


def test_an_event_generated_before_the_pause_comes_after_it() -> None:
    array = Array("npu1", 1)
    unit = EventUnit(array.memory_tile(0).door.at_once())
    unit.count(0, "USER_EVENT_0", "USER_EVENT_0")
    unit.generate("USER_EVENT_0")
    clock(array, 0, False)
    array.engine.run(30)
    clock(array, 0, True)
    array.engine.run(array.engine.now + 5)
    assert unit.counted(0) == 1
    assert unit.status("USER_EVENT_0")


def test_a_reset_stops_the_event_units_and_clears_what_they_saw() -> None:
    """DEV-CLK-3."""
    array, tile, core = watched()
    array.engine.run(100)
    sender = EventUnit(array.compute_tile(0, 3).door.at_once(), "core")
    tile.write("WatchPoint0", DMA_Access=1, Write_Access=1)
    sender.generate("USER_EVENT_0")
    reset(array, 0, True)
    state = array.engine.state
    assert int(state.in_flight[0]) == 0
    assert int(state.memories.watched.sum()) == int(state.guards.inspected.sum()) == 0
    reset(array, 0, False)
    began, fresh = array.engine.now, Array("npu1", 1)
    step(array, began + 50)
    step(fresh, 50)
    again = EventUnit(fresh.memory_tile(0).door.at_once()), EventUnit(fresh.compute_tile(0, 2).door, "core")
    for unit, new in ((tile, again[0]), (core, again[1]), (sender, again[1])):
        assert unit.timer() == new.timer() == 50
        assert seen(unit, 4) == seen(new, 4)
    assert int(array.engine.state.active_units[0]) == 0
    tile.count(0, "TRUE", "NONE")
    step(array, began + 70)
    assert tile.counted(0) == 19


@pytest.mark.parametrize("pause", [1, 2, 30])
def test_an_ecc_event_comes_twice_across_a_pause_too(pause: int) -> None:
    """DEV-ECC-7: in the cycle that follows the access and in the next one, both after the pause."""
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    unit = EventUnit(tile.door.at_once())
    unit.count(0, "DM_ECC_ERROR_1BIT", "DM_ECC_ERROR_1BIT")
    tile.door.at_once().write32(5 * 4, 0)
    array.engine.upsets.add([Upset(0, tile.index, 5, (1,))])
    array.engine.upsets.strike()
    tile.door.at_once().read32(5 * 4)
    clock(array, 0, False)
    step(array, pause)
    clock(array, 0, True)
    step(array, pause + 5)
    assert unit.counted(0) == 2


@pytest.mark.parametrize("early", range(4))
def test_a_reset_raises_no_event_of_a_descriptor_that_ended_before_it(early: int) -> None:
    """DEV-CLK-3: FINISHED_BD comes some cycles after the last access, and not after a reset in between."""
    array = sending()
    channel = array.memory_tile(0).mm2s[0].index
    finished = array.engine.state.channels.finished_bd
    while finished[channel] < 0:
        step(array, array.engine.now + 1)
    step(array, array.engine.now + early)
    reset(array, 0, True)
    step(array, array.engine.now + 3)
    reset(array, 0, False)
    unit = EventUnit(array.memory_tile(0).door.at_once())
    unit.count(0, "DMA_MM2S_SEL0_FINISHED_BD", "DMA_MM2S_SEL0_FINISHED_BD")
    step(array, array.engine.now + 10)
    assert unit.counted(0) == 0
    assert not unit.status("DMA_MM2S_SEL0_FINISHED_BD")


def test_a_control_packet_switches_the_clock_off() -> None:
    """The cycle after the write is the first one without clock, as after a write from the host."""
    bench = Bench("interface", "memory")
    bench.circuit("DMA0", "SOUTH0", at=1)
    bench.packets("NORTH0", (3, 31, 0, 0))
    bench.collects("CTRL0", 0, 0)
    words = [control_header(PacketOperation.WRITE, CLOCK), 0]
    bench.fill(0, words, at=1)
    bench.write_bd(0, Descriptor("memory", len(words), OWN.address(0), packet=Packet(3)), at=1)
    bench.issue(bench.mm2s(at=1), 0, at=1)
    gates = bench.engine.state.gates
    while not gates.off[1] and bench.engine.now < 200:
        assert bench.door(0).read32(CLOCK) == 1
        compiled_model.cycle(bench.engine.state)
    assert bench.engine.now < 200
    assert int(gates.since[1]) == bench.engine.now
    assert bench.door(0).read32(CLOCK) == 0
    with pytest.raises(RegisterError, match="clock of column 1 is off"):
        bench.door(1).read32(0)
