"""Do the accesses of a host take the time they should (DEV-HOST-1), and does what they trigger happen?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memtile import Array, MemoryTile, Timing
from memtile.arch.devices import ARRAY_BASE
from memtile.arch.register_map import register_named
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.hosts.address_space import AddressSpace
from memtile.sim.doors.event_panel import EventUnit
from support.engine.states import arrays

OVERFLOW = 1 << 18
QUEUE, STATUS = 0xA0604, 0xA0660  # of S2MM 0
GENERATE = register_named("memory_tile", "Event_Generate").offset
MEMORY = 1 << 20


def between_two_events(array: Array, *steps: Callable[[], object]) -> int:
    """Cycles that a counter of the memory tile at (0, 1) sees from one user event to the other."""
    unit = EventUnit(array.memory_tile(0).own_door)
    unit.count(0, start="USER_EVENT_0", stop="USER_EVENT_1")
    for step in steps:
        step()
    array.engine.wait(5)
    return unit.counted(0)


def generate(array: Array, event: int) -> Callable[[], None]:
    number = EventUnit(array.memory_tile(0).own_door).number(f"USER_EVENT_{event}")
    return lambda: array.door.write32(MEMORY + GENERATE, number)


@pytest.mark.parametrize("cycles", [1, 20, 77])
def test_two_events_of_a_host_are_as_far_apart_as_its_accesses(cycles: int) -> None:
    array = Array("npu1", 1, Timing(access_cycles=cycles))
    assert between_two_events(array, generate(array, 0), generate(array, 1)) == cycles


def test_every_access_between_them_takes_its_time() -> None:
    """A read and a write are one each, a masked write is two; a block of n words is a burst: n - 1 more."""
    array = Array("npu1", 1)
    door = array.door

    def second() -> None:
        door.read32(MEMORY)
        door.write32(MEMORY, 1)
        door.mask_write32(MEMORY, 1, 0)
        door.block_write32(MEMORY + 0xA0000, [0] * 8)
        generate(array, 1)()

    assert between_two_events(array, generate(array, 0), second) == 20 + 20 + 20 + 2 * 20 + 20 + 7


def test_time_that_passed_otherwise_is_not_added() -> None:
    array = Array("npu1", 1)

    def second() -> None:
        array.engine.wait(15)
        generate(array, 1)()

    assert between_two_events(array, generate(array, 0), second) == 20
    later = Array("npu1", 1)
    assert (
        between_two_events(
            later, generate(later, 0), lambda: (later.engine.wait(33), generate(later, 1)())[1]
        )
        == 33
    )


def test_the_first_access_comes_at_once_and_the_last_one_leaves_no_time() -> None:
    array = Array("npu1", 1)
    array.door.write32(MEMORY, 1)
    assert array.engine.now == 0
    array.door.write32(MEMORY, 1)
    assert array.engine.now == 20


def test_what_is_triggered_and_then_torn_down_has_happened() -> None:
    """A broadcast channel is set up, triggered, and cleared without a read: it has left the tile."""
    heard = {}
    for cycles in (0, 20):
        array = Array("npu1", 1, Timing(access_cycles=cycles))
        below, above = (
            EventUnit(array.tile(0, row).door, module) for row, module in ((1, "memory_tile"), (2, "core"))
        )
        below.write("Event_Broadcast4", Event="USER_EVENT_0")
        below.generate("USER_EVENT_0")
        array.door.write32(MEMORY + below.register("Event_Broadcast4").offset, 0)
        array.engine.wait(50)
        heard[cycles] = above.status("BROADCAST_4")
    assert heard == {0: False, 20: True}


def push(array: Array, tasks: int) -> int:
    """Status of S2MM 0 of (0, 1) after pushes of so many tasks of four words in a row; the words wait."""
    tile = array.memory_tile(0)
    tile.s2mm[0].feed(np.arange(4 * tasks, dtype=np.int32))
    array.door.block_write32(MEMORY + 0xA0000, encode(Descriptor("memory", 4, OWN.address(0)), 0))
    for _ in range(tasks):
        array.door.write32(MEMORY + QUEUE, 0)
    return array.door.read32(MEMORY + STATUS)


def test_a_dozen_short_tasks_in_a_row_do_not_overflow_the_queue() -> None:
    assert push(Array("npu1", 1, Timing(access_cycles=0)), 12) & OVERFLOW
    array = Array("npu1", 1)
    assert not push(array, 12) & OVERFLOW
    assert array.run().channels[0].tasks == 12


def small_design(timing: Timing) -> Array:
    """Everything that a design sets up: buffers, locks, transfers, circuits, events, trace of none."""
    array = Array("npu1", 1, timing)
    tile = array.memory_tile(0)
    buffer = tile.buffer("x", 64)
    tile.store(buffer, np.arange(64, dtype=np.int32))
    lock = tile.lock(1, "l")
    assert tile.lock_value(lock) == 1
    counter = tile.events.count("FINISHED_BD", tile.mm2s[0])
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.s2mm[0].start(tile.write(tile.buffer("y", 64)))
    tile.mm2s[0].start(tile.read(buffer))
    assert counter.value == 0
    tile.post_mask(0x1000, 0xFF00, 0x1234)
    tile.post_mask(0x1004, 0xFF00, 0x1234)
    return array


def test_what_a_design_sets_up_takes_no_time() -> None:
    """Before its first run and between two of them."""
    results = []
    for cycles in (0, 1 << 16):
        array = small_design(Timing(access_cycles=cycles))
        assert array.engine.now == 0
        first = array.run()
        tile = array.memory_tile(0)
        tile.load(tile.buffers[0])
        tile.mm2s[0].status()
        tile.register("Memory_Control")
        assert array.engine.now == first.cycles
        results.append((first.cycles, array.run().cycles))
    assert results[0] == results[1]


def test_a_tile_alone_lets_time_pass_too() -> None:
    tile = MemoryTile()
    tile.door.write32(0, 1)
    tile.door.write32(4, 2)
    assert tile.engine.now == 20


def test_a_jump_over_idle_cycles_leaves_the_state_that_steps_would() -> None:
    """The rows of channels that rest, of locks and of events among it."""
    states = []
    for steps in (False, True):
        tile = MemoryTile()
        tile.s2mm[0].start(tile.write(tile.buffer("x", 8)))
        tile.run(50)
        tile.s2mm[0].feed(np.arange(8, dtype=np.int32))
        tile.run()
        engine = tile.engine
        if steps:
            for _ in range(1000):
                engine.wait(1)
        else:
            engine.pass_to(engine.now + 1000)
        state = arrays(engine.state)
        states.append({name: value for name, value in state.items() if name not in OF_THE_CLOCK})
    differing = {name for name in states[0] if states[0][name] != states[1][name]}
    assert differing == set()


OF_THE_CLOCK = {"clock.quiet", "clock.host_waited"}


def words_of_a_transfer() -> list[tuple[int, int]]:
    """Writes that move eight words within the tile (0, 1), and clear the queue's overflow at the end."""
    bds = [encode(Descriptor("memory", 8, OWN.address(at)), bd) for bd, at in ((0, 0), (1, 64))]
    writes = [(MEMORY + 0xA0000 + n * 4, int(word)) for n, word in enumerate(np.concatenate(bds))]
    writes += [(MEMORY + 4 * n, 7 * n) for n in range(8)]
    writes += [(MEMORY + 0xB0100, 1 << 31), (MEMORY + 0xB0000, 1 << 31)]
    return [*writes, (MEMORY + QUEUE, 1), (MEMORY + 0xA0634, 0), (MEMORY + STATUS, OVERFLOW)]


def carry_out(space: AddressSpace, addresses: Sequence[int], values: Sequence[int]) -> None:
    """Make writes, each of which something answers."""
    answers = [word for given in space.carry_out(list(zip(addresses, values, strict=True))) for word in given]
    assert answers == [0] * len(values)


@pytest.mark.parametrize("cycles", [0, 3, 20])
def test_posted_writes_pass_the_same_time_as_writes_one_by_one(cycles: int) -> None:
    one, many = (Array("npu1", 1, Timing(access_cycles=cycles)) for _ in range(2))
    writes = words_of_a_transfer()
    for address, value in writes:
        one.door.write32(address, value)
    addresses, values = zip(*writes, strict=True)
    carry_out(AddressSpace(many), [ARRAY_BASE + at for at in addresses], values)
    taken = (len(writes) - 1) * cycles if cycles else 8 * 2  # the port of data memory takes two cycles a word
    assert one.engine.now == many.engine.now == taken
    assert not one.diff(many)
    assert one.run().cycles == many.run().cycles


def test_writes_that_are_posted_meet_external_memory_as_it_is() -> None:
    """A channel of an interface tile moves words while the host still writes."""
    array = Array("npu1", 1)
    there = array.external("there", np.arange(64, dtype=np.int32))
    tile, shim = array.memory_tile(0), array.interface_tile(0)
    array.connect(shim.mm2s[0], tile.s2mm[0])
    tile.s2mm[0].start(tile.write(tile.buffer("x", 64)))
    shim.mm2s[0].start(shim.read(there))
    array.route()
    space = AddressSpace(array)
    carry_out(space, [ARRAY_BASE + MEMORY + 0x8000] * 40, [0] * 40)
    assert tile.load(tile.buffers[0]).tolist() == list(range(64))


def test_without_a_clock_accesses_take_no_time() -> None:
    """After an untimed run nothing moves between two accesses."""
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    tile.s2mm[0].feed(np.arange(4, dtype=np.int32))
    tile.s2mm[0].start(tile.write(tile.buffer("x", 8)))
    array.run(untimed=True)
    array.door.read32(MEMORY)
    array.door.read32(MEMORY)
    assert array.engine.now == 0
    array.run()
    array.door.read32(MEMORY)
    before = array.engine.now
    array.door.read32(MEMORY)
    assert array.engine.now == before + 20


def test_a_result_says_that_it_depends_on_the_time_of_accesses() -> None:
    array = small_design(Timing())
    assert not any("access_cycles" in line for line in array.run().assumed)
    array.door.read32(MEMORY)
    array.door.read32(MEMORY)
    assert "access_cycles = 20" in array.run().assumed
