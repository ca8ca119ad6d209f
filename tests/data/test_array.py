"""Does an array have its tiles, addresses and neighbours where the device has them?"""

from __future__ import annotations

import time

import numpy as np
import pytest

from memtile import Array, Status
from memtile.arch.devices import DEVICES
from memtile.arch.register_map import register_named
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.doors.polling import POLL_CYCLES


@pytest.mark.feature("F21", "F34")
@pytest.mark.parametrize("name", DEVICES)
def test_every_tile_is_at_its_place_in_the_address_space(name: str) -> None:
    device = DEVICES[name]
    array = Array(name)
    for column in range(device.columns):
        for row in device.memory_rows:
            address = column << 25 | row << 20 | 0x40
            array.door.write32(address, 1000 * column + row)
            assert array.memory_tile(column, row).door.read32(0x40) == 1000 * column + row
    places = [(column, row) for column in (0, device.columns - 1) for row in range(device.rows)]
    roles = ["interface", *["memory"] * len(device.memory_rows), *["compute"] * len(device.compute_rows)]
    tiles = [array.tile(*place) for place in places]
    assert [tile.kind.role for tile in tiles] == [roles[row] for _, row in places]
    assert {tile.kind.generation for tile in tiles} == {device.generation}
    assert array.tile(0, 1) is array.tile(0, 1)


def test_only_the_outer_columns_stay_isolated_and_only_to_the_outside() -> None:
    array = Array("npu1", columns=3)
    for row, offset in ((0, 0x36030), (1, 0x96030), (4, 0x36030)):
        controls = [array.door.read32(array.door.address(column, row, offset)) for column in range(3)]
        assert controls == [0b0010, 0, 0b1000]


@pytest.mark.feature("F15", "F17")
def test_a_channel_works_on_its_neighbours_buffers_under_their_locks() -> None:
    array = Array("npu1", columns=3)
    west, tile, east = (array.memory_tile(column) for column in range(3))
    data = np.arange(64, dtype=np.int32).reshape(8, 8)
    source, target = west.buffer("source", (8, 8), at=0x100, data=data), east.buffer("target", (8, 8))
    full, done = west.lock(1, "full"), east.lock(0, "done")
    move = tile.read(source).guarded(tile.seen(full).acquire())
    tile.mm2s[3].start(move)
    tile.s2mm[0].start(tile.write(target).guarded(None, tile.seen(done).release(5)))
    array.connect(tile.mm2s[3], array.compute_tile(1, 2).s2mm[0])
    came = array.compute_tile(1, 2).buffer("came", (8, 8))
    worker = array.compute_tile(1, 2)
    worker.s2mm[0].start(worker.write(came))
    worker.mm2s[0].start(worker.read(came).guarded(worker.lock(0, "go", id=3).acquire()))
    worker.expect(came, data)
    array.connect(worker.mm2s[0], tile.s2mm[0])
    assert array.run().exact
    assert west.lock_value(full) == 0
    worker.door.write32(worker.kind.lock_value_base + 3 * worker.kind.lock_value_stride, 1)
    east.expect(target, data)
    assert array.run().good
    assert east.lock_value(done) == 5


def test_a_large_array_costs_what_its_tiles_do() -> None:
    def seconds(columns: int) -> float:
        start = time.thread_time()
        Array("xcve2802", columns=columns)
        return time.thread_time() - start

    seconds(1)  # tables made
    whole, one = (min(seconds(columns) for _ in range(5)) for columns in (38, 1))
    assert whole < 38 * 2 * one  # measured: 19 times


def test_of_a_large_array_only_what_is_used_is_shown() -> None:
    array = Array("xcve2802")
    tile = array.memory_tile(20)
    tile.mm2s[0].start(tile.read(tile.buffer("b", 16)))
    tile.mm2s[0].collect()
    result = array.run()
    assert result.status is Status.FINISHED
    assert [use.name for use in result.channels] == ["memory(20,1) MM2S 0"]


def test_a_poll_goes_on_to_what_a_timer_or_a_counter_has_been_set_to() -> None:
    """AM025 Timer_Trig_Event, Performance_Counter_Event_Value: they count where nothing else moves."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    unit, base = EventUnit(tile.door), array.door.address(0, 1, 0)
    status = base + register_named("memory_tile", "Event_Status0").offset
    reached, counted = (1 << unit.events[name] for name in ("TIMER_VALUE_REACHED", "PERF_CNT0_EVENT"))
    unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
    unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=5000)
    assert array.poll(status, reached, reached)
    assert 5000 < array.engine.now <= 5000 + 2 * POLL_CYCLES
    unit.write("Performance_Counter0_Event_Value", Counter0_Event_Value=7000)
    unit.count(0, "TRUE", "NONE")
    assert not array.poll(status, counted, counted, max_cycles=3000)
    assert array.poll(status, counted, counted)
    unit.count(0, "NONE", "NONE")
    before = array.engine.now
    assert not array.poll(status, 1 << 31, 1 << 31)
    assert array.engine.now - before < 2 * POLL_CYCLES
