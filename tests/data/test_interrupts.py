"""Does an error become an interrupt, and does AMD's driver find tile and event behind it?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memtile import Array, EventUnit
from memtile.arch.devices import INTERRUPTS
from memtile.sim.doors.array_door import Npi
from support.driver.driver_errors import L1_A, L1_B, L2, STATUS, ErrorHandling, Found

NUMBERS = {  # channel of switch A in each column, as the driver numbers them
    "npu1": [0, 2, 0, 0],
    "xcve2302, the controllers in the east": [0, 2, 4, 0, 0, 2, 4, 0],
    "xcve2302, columns east of the last controller": [0, 2, 4, 0, 2, 4],
}
MASK, ENABLE, DISABLE, NUMBER, EVENT, BLOCK = 0x0, 0x4, 0x8, 0x10, 0x14, 0x18
LINE = 0x15010
BROADCAST_A_0, USER_EVENT_0, GROUP_ERRORS = 110, 126, 63


class Bench:
    """An array whose errors the driver handles."""

    def __init__(self, name: str) -> None:
        self.numbers = NUMBERS[name]
        self.array = Array(name.split(",")[0], len(self.numbers))
        device = self.array.device
        noc = [column for column in device.noc_columns if column < len(self.numbers)]
        self.driver = ErrorHandling(self.array.door, self.array.rows, device.memory_rows, noc, self.numbers)
        self.driver.initialise()

    def wait(self) -> None:
        self.array.engine.wait(200)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_clean_start_interrupts_nobody(name: str) -> None:
    bench = Bench(name)
    bench.wait()
    assert bench.driver.handle() == ({}, [])


@pytest.mark.parametrize("name", NUMBERS)
def test_the_driver_finds_an_error_of_each_module_of_each_column(name: str) -> None:
    bench = Bench(name)
    for column in range(len(bench.numbers)):
        for row, module, event, number in (
            (0, "pl", "AXI_MM_SLAVE_ERROR", 64),
            (1, "memory_tile", "DMA_S2MM_ERROR", 133),
            (2, "memory", "DM_ECC_ERROR_2BIT", 90),
            (3, "core", "AXI_MM_SLAVE_ERROR", 58),
        ):
            EventUnit(bench.array.tile(column, row).door, module).generate(event)
            bench.wait()
            pending, found = bench.driver.handle()
            assert found == [Found(column, row, module, number)]
            assert len(pending) == 1
            assert bench.driver.handle() == ({}, [])


def test_real_errors_of_a_memory_tile_and_of_a_core() -> None:
    """A descriptor of the other half is started; a core's address that nothing answers is read."""
    bench = Bench("npu1")
    bench.array.memory_tile(2).door.write32(0xA0600 + 4, 24)  # GT-15
    with pytest.raises(Exception, match="nothing is at offset"):
        bench.array.compute_tile(1, 4).door.read32(0x2F000)
    bench.wait()
    pending, found = bench.driver.handle()
    assert found == [Found(1, 4, "core", 58), Found(2, 1, "memory_tile", 133)]
    assert pending == {1: 1 << 2, 2: 1 << 0}


def test_two_errors_at_once_are_both_found_and_each_once() -> None:
    bench = Bench("npu1")
    for row in (2, 5):
        EventUnit(bench.array.compute_tile(0, row).door, "memory").generate("LOCK_ERROR")
    bench.wait()
    assert bench.driver.handle()[1] == [Found(0, 2, "memory", 101), Found(0, 5, "memory", 101)]
    assert bench.driver.handle() == ({}, [])


def test_errors_that_the_driver_takes_for_harmless_interrupt_nobody() -> None:
    bench = Bench("npu1")
    EventUnit(bench.array.memory_tile(0).door).generate("DM_ECC_ERROR_SCRUB_CORRECTED")
    bench.wait()
    assert bench.driver.handle() == ({}, [])


class Shim:
    """The interrupt controllers of an interface tile, and its event unit."""

    def __init__(self, array: Array, column: int = 0) -> None:
        self.array, self.door = array, array.interface_tile(column).door.at_once()
        self.unit = EventUnit(self.door, "pl")

    def set(self, controller: int, **registers: int) -> None:
        places = {"enable": ENABLE, "disable": DISABLE, "number": NUMBER, "event": EVENT, "block": BLOCK}
        for name, value in registers.items():
            self.door.write32(controller + places[name], value)

    def status(self, *controllers: int) -> list[int]:
        return [self.door.read32(controller + STATUS) for controller in controllers]

    def hear(self, channel: int) -> bool:
        return self.unit.status(BROADCAST_A_0 + channel)


def pulse(array: Array, column: int, row: int, module: str, channel: int) -> None:
    """An event of a module on a broadcast channel, once."""
    unit = EventUnit(array.tile(column, row).door, module)
    name = f"Event_Broadcast{channel}_A" if module == "pl" else f"Event_Broadcast{channel}"
    unit.write(name, Event="USER_EVENT_0")
    unit.generate("USER_EVENT_0")
    array.engine.wait(30)


@pytest.mark.parametrize(("module", "controllers"), [("core", [1 << 6, 0]), ("memory", [0, 1 << 6])])
def test_the_first_level_takes_channels_that_come_down_its_switch(
    module: str, controllers: list[int]
) -> None:
    """A is below the cores, B below the memory modules."""
    array = Array("npu1", 1)
    shim = Shim(array)
    other = EventUnit(array.compute_tile(0, 2).door, "core")
    other.write("Event_Broadcast_Block_East_Set", Set=1 << 6)
    EventUnit(array.compute_tile(0, 2).door, "memory").write("Event_Broadcast_Block_West_Set", Set=1 << 6)
    tile = EventUnit(array.memory_tile(0).door, "memory_tile")
    tile.write("Event_Broadcast_A_Block_East_Set", Set=1 << 6)
    tile.write("Event_Broadcast_B_Block_West_Set", Set=1 << 6)
    for controller in (L1_A, L1_B):
        shim.set(controller, enable=1 << 6)
    pulse(array, 0, 2, module, 6)
    assert shim.status(L1_A, L1_B) == controllers


def test_only_what_is_enabled_is_taken_and_a_written_1_clears_it() -> None:
    array = Array("npu1", 1)
    shim = Shim(array)
    shim.set(L1_A, enable=0b1100, number=9)
    pulse(array, 0, 1, "memory_tile", 2)
    pulse(array, 0, 1, "memory_tile", 4)
    assert shim.status(L1_A) == [0b100]
    shim.door.write32(L1_A + STATUS, 0b1000)
    assert shim.status(L1_A) == [0b100]
    shim.set(L1_A, disable=0b100)
    assert shim.status(L1_A) == [0b100]  # what it has taken it keeps
    shim.door.write32(L1_A + STATUS, 0b100)
    pulse(array, 0, 1, "memory_tile", 2)
    assert shim.status(L1_A) == [0]
    assert shim.door.read32(L1_A + MASK) == 0b1000


def test_what_it_takes_it_raises_as_the_channel_of_its_number() -> None:
    """And it keeps the channel that it takes out of the row, if it is told to (DEV-IRQ-1)."""
    array = Array("npu1", 2)
    shim, beside = Shim(array, 0), Shim(array, 1)
    shim.set(L1_A, enable=1 << 3, number=11, block=1 << 3)
    shim.set(L1_B, block=1 << 3)
    tile = EventUnit(array.memory_tile(0).door, "memory_tile")
    tile.write("Event_Broadcast_A_Block_East_Set", Set=1 << 3)
    pulse(array, 0, 1, "memory_tile", 3)
    assert [shim.hear(11), beside.hear(11)] == [True, True]
    assert [shim.hear(3), beside.hear(3)] == [False, False]
    shim.door.write32(L1_A + BLOCK + 4, 1 << 3)  # clear
    pulse(array, 0, 1, "memory_tile", 3)
    assert [shim.hear(3), beside.hear(3)] == [True, True]


def test_a_channel_along_the_row_is_no_input_of_the_first_level() -> None:
    array = Array("npu1", 2)
    shim = Shim(array, 1)
    for controller in (L1_A, L1_B):
        shim.set(controller, enable=0xFFFF, number=15)
    pulse(array, 0, 0, "pl", 7)
    assert shim.hear(7)
    assert not shim.hear(15)
    assert shim.status(L1_A, L1_B) == [0, 0]


@pytest.mark.parametrize("slot", range(4))
@pytest.mark.parametrize("controller", [L1_A, L1_B])
def test_events_of_the_tile_are_four_more_inputs(controller: int, slot: int) -> None:
    array = Array("npu1", 1)
    shim = Shim(array)
    shim.set(controller, enable=1 << 16 + slot, number=5, event=USER_EVENT_0 << 8 * slot)
    shim.set(L2, enable=1 << 5)
    shim.unit.generate("USER_EVENT_0")
    array.engine.wait(10)
    assert shim.status(controller, L2) == [1 << 16 + slot, 1 << 5]
    assert shim.hear(5)


def test_an_event_that_a_broadcast_asserts_in_the_same_cycle_is_seen() -> None:
    array = Array("npu1", 1)
    shim = Shim(array)
    shim.set(L1_A, enable=1 << 16, number=2, event=BROADCAST_A_0 + 8)
    shim.unit.write("Event_Broadcast8_A", Event="USER_EVENT_0")
    shim.unit.generate("USER_EVENT_0")
    array.engine.wait(3)
    assert shim.status(L1_A) == [1 << 16]
    assert shim.hear(2)


def test_the_cycles_from_the_error_to_the_second_level() -> None:
    """Two a row; what switch A raises is at switch B two cycles later (DEV-IRQ-2)."""
    array = Array("npu1", 1)
    shim = Shim(array)
    shim.set(L1_A, enable=1, number=4)
    shim.set(L2, enable=1 << 4)
    unit = EventUnit(array.compute_tile(0, 3).door, "core")
    unit.write("Event_Broadcast0", Event="USER_EVENT_0")
    unit.generate("USER_EVENT_0")
    seen: dict[int, int] = {}
    for cycle in range(20):
        array.engine.wait(1)
        for controller in (L1_A, L2):
            if shim.status(controller)[0]:
                seen.setdefault(controller, cycle)
    assert seen == {L1_A: 6, L2: 8}


def held(array: Array) -> int:
    return Npi(array.engine).read(INTERRUPTS)


def test_the_second_level_holds_an_interrupt_line_of_the_host() -> None:
    """DEV-IRQ-3: the line that its number names, as long as its status has a bit."""
    array = Array("npu1", 2)
    for column, line in ((0, 1), (1, 3)):
        shim = Shim(array, column)
        shim.set(L1_A, enable=1 << 16, event=USER_EVENT_0, number=column)
        shim.set(L2, enable=1 << column)
        shim.door.write32(LINE, line)
    assert held(array) == 0
    for column, lines in ((0, 0b0010), (1, 0b1010)):
        Shim(array, column).unit.generate("USER_EVENT_0")
        array.engine.wait(20)
        assert held(array) == lines
    Shim(array, 0).door.write32(L2 + STATUS, 1)
    assert held(array) == 0b1000


def test_only_interface_tiles_with_a_noc_have_a_second_level() -> None:
    array = Array("xcve2302", 3)
    with pytest.raises(Exception, match="nothing is at offset"):
        Shim(array, 0).door.read32(L2)
    west, noc = Shim(array, 0), Shim(array, 2)
    west.set(L1_B, enable=1 << 16, event=USER_EVENT_0, number=1)
    noc.set(L2, enable=0xFFFF)
    west.unit.generate("USER_EVENT_0")
    array.engine.wait(20)
    assert noc.status(L2) == [1 << 1]


def test_a_run_ends_while_an_interrupt_waits_for_the_host() -> None:
    bench = Bench("npu1")
    EventUnit(bench.array.memory_tile(0).door).generate("LOCK_ERROR")
    began = bench.array.engine.now  # the driver's set-up took its time
    assert bench.array.run().cycles - began < 100
    assert bench.driver.handle()[1] == [Found(0, 1, "memory_tile", 139)]


def numbers(found: Sequence[Found]) -> list[int]:
    return [error.event for error in found]


def test_tracked_back_errors_are_off_until_they_are_enabled_again() -> None:
    """The driver takes an error that it has found out of its group."""
    bench = Bench("npu1")
    unit = EventUnit(bench.array.memory_tile(3).door)
    for event in ("LOCK_ERROR", "LOCK_ERROR", "AXI_MM_SLAVE_ERROR"):
        unit.generate(event)
        bench.wait()
    assert numbers(bench.driver.handle()[1]) == [138, 139]
    unit.generate("LOCK_ERROR")
    bench.wait()
    assert bench.driver.handle() == ({}, [])
