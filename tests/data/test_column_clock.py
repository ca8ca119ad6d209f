"""Does a column without clock stand still and go on where it stood? And what does its reset do?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array, Status
from memtile.arch.register_map import tile_register
from memtile.errors import RegisterError
from memtile.model.memory.ecc import Fate
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.kernel_core import calls
from memtile.sim.loop import compiled_model
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.upsets import Upset
from support.designs.paused_columns import CLOCK, DATA, RESET, WORDS, clock, reset, sending
from support.engine.states import arrays

MEMORY_CONTROL = tile_register("memory", "Memory_Control").offset


def spent(array: Array, without: Cause = Cause.CLOCK_OFF) -> list[list[int]]:
    return np.delete(array.engine.state.spent, without, axis=1).tolist()


@pytest.mark.parametrize("pause", [1, 2, 100])
@pytest.mark.parametrize("at", [1, 4, 5, 6, 9, 30, 205, 215, 221, 240])
def test_a_pause_changes_nothing_but_the_time(at: int, pause: int) -> None:
    """DEV-CLK-2: wherever the column's clock stops, every channel and core goes on as if nothing had been."""
    plain, paused = sending(), sending()
    assert plain.run().good
    paused.engine.run(at)
    at = paused.engine.now
    clock(paused, 0, False)
    while paused.engine.now < at + pause:
        compiled_model.cycle(paused.engine.state)
    clock(paused, 0, True)
    assert paused.run().good
    assert paused.engine.now == plain.engine.now + pause
    above = slice(4, 32)  # the interface tile keeps its clock, and so does the tile beside the partition
    assert spent(paused)[above] == spent(plain)[above]
    assert set(paused.engine.state.spent[above, Cause.CLOCK_OFF].tolist()) == {pause}
    cores = np.delete(paused.engine.state.core_spent, CoreCause.CLOCK_OFF, axis=1)
    assert cores.tolist() == np.delete(plain.engine.state.core_spent, CoreCause.CLOCK_OFF, axis=1).tolist()
    assert (paused.engine.state.spent.sum(axis=1) == paused.engine.now).all()
    assert (paused.engine.state.core_spent.sum(axis=1) == paused.engine.now).all()


def test_nothing_can_move_without_clock() -> None:
    array = sending()
    array.engine.run(30)
    clock(array, 0, False)
    began = array.engine.now
    outcome = array.run()
    assert array.engine.now == began + 2
    assert outcome.status is Status.STUCK
    assert any("clock off" in line for line in outcome.waiting)
    lists = ("active_channels", "active_ports", "active_cores", "waiting_channels")
    assert [int(getattr(array.engine.state, name)[0]) for name in lists] == [0, 0, 0, 0]


@pytest.mark.parametrize("at", [5, 40, 230])
def test_skipping_is_stepping_with_a_column_off(at: int) -> None:
    skipping, stepping = sending(2), sending(2)
    for array in (skipping, stepping):
        array.engine.run(at)
        clock(array, 1, False)
    compiled_model.run(skipping.engine.state, at + 60)
    while stepping.engine.now < skipping.engine.now:
        compiled_model.cycle(stepping.engine.state)
    one, other = arrays(skipping.engine.state), arrays(stepping.engine.state)
    assert {name for name in one if one[name] != other[name]} <= {"clock.quiet", "clock.activity"}
    for array in (skipping, stepping):
        clock(array, 1, True)
    assert skipping.run().good
    assert stepping.run().good
    assert skipping.engine.state.spent.tolist() == stepping.engine.state.spent.tolist()


def test_words_wait_at_the_border_of_a_column_without_clock() -> None:
    array = sending(2)
    clock(array, 1, False)
    array.engine.run(100)
    sent = int(array.engine.state.spent[:, Cause.MOVING].max())
    assert 0 < sent < 20  # what the ports of column 0 hold
    assert Cause(int(array.engine.state.channels.why[4 + 6])) is Cause.STREAM_BLOCKED
    clock(array, 1, True)
    assert array.run().good


def test_banks_and_locks_without_clock_serve_no_neighbour() -> None:
    array = Array("npu1", 2)
    tile, east = array.memory_tile(0), array.memory_tile(1)
    far = east.buffer("far", 16, data=DATA[:16])
    gate = east.lock(1, "gate")
    tile.mm2s[0].start(tile.read(far))
    tile.mm2s[1].start(tile.read(far).guarded(tile.seen(gate).acquire()))
    worker = array.compute_tile(0, 2)
    for number in range(2):
        array.connect(tile.mm2s[number], worker.s2mm[number])
        into = worker.buffer(f"in{number}", 16)
        worker.s2mm[number].start(worker.write(into))
        worker.expect(into, DATA[:16])
    array.route()
    clock(array, 1, False)
    assert array.run().status is Status.STUCK
    why = array.engine.channels.why[[4 + 6, 4 + 7]]
    assert [Cause(int(w)) for w in why] == [Cause.MEMORY_BUSY, Cause.LOCK_ACQUIRE]
    clock(array, 1, True)
    assert array.run().good


def test_the_memory_mapped_port_says_that_the_clock_is_off() -> None:
    array = Array("npu1", 1)
    clock(array, 0, False)
    for access in (
        lambda: array.memory_tile(0).door.read32(0),
        lambda: array.memory_tile(0).door.write32(0x96030, 0),
        lambda: array.memory_tile(0).door.block_write32(0, [1, 2]),
    ):
        with pytest.raises(RegisterError, match="clock of column 0 is off or its reset is on") as error:
            access()
        assert error.value.problems[0].reason == "clock_off"
    assert array.door.read32(array.door.address(0, 0, CLOCK)) == 0


def test_a_zeroisation_pauses_with_its_tile() -> None:
    array = Array("npu1", 1)
    array.memory_tile(0).door.write32(MEMORY_CONTROL, 0b11)
    array.engine.run(100)
    clock(array, 0, False)
    assert array.engine.run(1000) is Stop.QUIET
    stood = array.engine.now - 100
    clock(array, 0, True)
    array.engine.run(10_000)
    assert array.engine.now == 2048 + stood + 3  # its end, and the two quiet cycles behind it
    assert array.memory_tile(0).door.read32(MEMORY_CONTROL) == 0b10


def test_a_model_after_reset_has_no_clock_and_firmware_switches_it_on() -> None:
    """DEV-CLK-1."""
    column = [Placed("interface"), Placed("memory", row=1)]
    raw, booted = Engine(column, booted=False), Engine(column)
    with pytest.raises(RegisterError):
        raw.door(1).read32(0)
    assert raw.door(0).read32(CLOCK) == 0
    assert booted.door(0).read32(CLOCK) == 1
    raw.door(0).write32(CLOCK, 1)
    assert raw.door(1).read32(0) == 0


def test_a_reset_brings_all_but_a_compute_tiles_memory_back() -> None:
    """DEV-CLK-3."""
    array = sending(2)
    tile, worker = array.memory_tile(0), array.compute_tile(0, 2)
    array.engine.run(60)
    worker.door.write32(0x100, 6)
    worker.door.write32(0x20000, 7)  # program memory
    tile.door.write32(0xC0000, 5)  # Lock0_value
    reset(array, 0, True)
    with pytest.raises(RegisterError, match="reset is on"):
        tile.door.read32(0xC0000)
    array.engine.run(array.engine.now + 10)
    reset(array, 0, False)
    assert worker.door.read32(0x100) == 6
    assert worker.door.read32(0x20000) == 7
    fresh = Engine([Placed("memory"), Placed("compute")], booted=False)
    for door, new in ((tile.door, fresh.door(0)), (worker.door, fresh.door(1))):
        for offset in (0xC0000, 0x96030, 0xA0000, 0xA0604, 0xA0660, 0xB0000, 0x1F000, 0x3F000, 0x36030):
            try:
                expected = new.read32(offset)
            except RegisterError:
                continue  # the other kind's
            assert door.read32(offset) == expected, hex(offset)
    outcome = array.run()
    assert outcome.status is Status.STUCK  # the receiver has not got all words
    assert not any(line.startswith("memory(0,1)") for line in outcome.waiting)


@pytest.mark.feature("F01")
@pytest.mark.parametrize("device", ["npu1", "xcve2802"])
def test_a_memory_tile_is_zero_after_a_column_reset(device: str) -> None:
    """AM020 chapter 5: its banks are zero after boot and reset; the other columns' keep what they have."""
    array = Array(device, 2)
    rows = array.device.memory_rows
    for column in range(2):
        for row in rows:
            array.tile(column, row).door.block_write32(0, np.full(0x80000 // 4, 0x5A, np.uint32))
    reset(array, 0, True)
    reset(array, 0, False)
    for row in rows:
        assert not array.tile(0, row).door.block_read32(0, 0x80000 // 4).any()
        assert (array.tile(1, row).door.block_read32(0, 0x80000 // 4) == 0x5A).all()


def test_flipped_cells_of_a_memory_tile_are_gone_after_a_reset() -> None:
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    unit = EventUnit(tile.door)
    array.engine.upsets.add([Upset(0, tile.index, 5, (1,)), Upset(0, tile.index, 9, (33, 34))])
    array.engine.upsets.strike()
    reset(array, 0, True)
    reset(array, 0, False)
    state = array.engine.state
    assert int(state.guards.inspected.sum()) == 0
    assert tile.door.block_read32(0, 16).tolist() == [0] * 16
    array.engine.run(array.engine.now + 5)
    assert not unit.status("GROUP_ERRORS")
    outcomes = array.engine.state.fates[[5, 9]]
    assert set(outcomes.tolist()) == {Fate.OVERWRITTEN}


def test_time_begins_with_the_end_of_the_reset() -> None:
    """However long the clock was off before it: the driver stops the clock, resets, starts the clock."""
    array = Array("npu1", 1)
    unit = EventUnit(array.memory_tile(0).door)
    for register, value in ((CLOCK, 0), (RESET, 1), (CLOCK, 1), (RESET, 0)):
        array.engine.wait(100)
        array.door.write32(array.door.address(0, 0, register), value)
    array.engine.wait(30)
    assert unit.timer() == 30


def test_a_kernel_ends_with_the_reset_of_its_core() -> None:
    array = sending()
    array.engine.run(60)
    reset(array, 0, True)
    reset(array, 0, False)
    (core,) = (use for use in array.run().cores)
    assert core.spent[CoreCause.DONE] > 0
    array.compute_tile(0, 2).run_kernel(calls(lambda _core: None, cycles=5, times=1))
    array.run()
    assert array.engine.state.core_spent[0, CoreCause.RUNNING] >= 5


def test_the_drivers_partition_reset_leaves_a_column_that_works() -> None:
    """The order of aie-rt: clocks off, reset, clocks on, reset off; then the design is configured anew."""
    array = Array("npu1", 1)
    for register, value in ((CLOCK, 0), (RESET, 1), (CLOCK, 1), (RESET, 0)):
        array.door.write32(array.door.address(0, 0, register), value)
    tile = array.memory_tile(0)
    tile.door.write32(0x40, 7)
    assert tile.door.read32(0x40) == 7
    source, target = tile.buffer("a", WORDS, data=DATA), tile.buffer("b", WORDS)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(source))
    tile.s2mm[0].start(tile.write(target))
    tile.expect(target, DATA)
    assert array.run().good


def test_the_untimed_run_moves_nothing_in_a_column_without_clock() -> None:
    array = sending()
    clock(array, 0, False)
    assert array.run(untimed=True).status is Status.STUCK
    clock(array, 0, True)
    assert array.run(untimed=True).good
