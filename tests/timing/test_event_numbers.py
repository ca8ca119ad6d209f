"""Can every event be raised, is it kept, gathered in its group and told from all others?"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from memtile.arch.events import EVENT_UNITS, GROUPS, NO_EVENT
from memtile.arch.registers import WORD_BITS, ModuleName
from memtile.arch.tiles import WORD_BYTES, TileName
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.rig import Rig

TILES: dict[ModuleName, TileName] = {
    "memory_tile": "memory",
    "memory": "compute",
    "core": "compute",
    "pl": "interface",
}
LAST = {"memory_tile": 160, "memory": 127, "core": 127, "pl": 127}  # the largest number of each module

LEVELS = re.compile("PORT_IDLE_.|LOCK_.*_EQUAL_TO_VALUE")


def status_words(unit: EventUnit) -> Iterator[int]:
    """Byte offsets of the sticky status registers."""
    first = unit.register("Event_Status0").offset
    return iter(range(first, first + EVENT_UNITS[unit.module].status_words * WORD_BYTES, WORD_BYTES))


def pending(unit: EventUnit) -> set[int]:
    words = [unit.door.read32(offset) for offset in status_words(unit)]
    return {n for n in range(len(words) * WORD_BITS) if words[n // WORD_BITS] >> n % WORD_BITS & 1}


def clear(unit: EventUnit) -> None:
    for offset in status_words(unit):
        unit.door.write32(offset, (1 << WORD_BITS) - 1)


@pytest.mark.feature("F23")
@pytest.mark.parametrize("module", TILES)
def test_every_event_can_be_raised_and_is_told_from_all_others(module: ModuleName) -> None:
    rig = Rig(TILES[module])
    unit = EventUnit(rig.door, module)
    clear(unit)
    rig.step(2)
    levels = pending(unit)  # idle ports, locks with the value 0
    for name, event in unit.events.items():
        if event <= unit.events["TRUE"]:
            continue
        clear(unit)
        unit.generate(event)
        rig.step(2)
        groups = {group.event for group in GROUPS[module] if name in group.members}
        assert pending(unit) - levels == ({event} | groups) - levels, name


@pytest.mark.feature("F23")
@pytest.mark.parametrize("module", TILES)
def test_no_event_and_numbers_beyond_the_last_raise_nothing(module: ModuleName) -> None:
    rig = Rig(TILES[module])
    unit = EventUnit(rig.door, module)
    rig.step(2)
    before = pending(unit)
    assert EVENT_UNITS[module].events["TRUE"] in before
    for event in (0, LAST[module] + 1, 255):
        unit.generate(event)
        rig.step(2)
    assert pending(unit) == before


@pytest.mark.feature("F23")
@pytest.mark.parametrize("module", TILES)
def test_each_bit_of_a_group_gates_one_event(module: ModuleName) -> None:
    rig = Rig(TILES[module])
    unit = EventUnit(rig.door, module)
    for group in GROUPS[module]:
        unit.door.write32(group.register, 0)
    for group in GROUPS[module]:
        pulses = not any(LEVELS.fullmatch(member) for member in group.members)
        for bit, name in enumerate(group.members):
            if name == NO_EVENT:
                continue
            clear(unit)
            unit.door.write32(group.register, group.mask & ~(1 << bit))
            unit.generate(group.first + bit)
            rig.step(1)
            unit.door.write32(group.register, 1 << bit)
            gated = group.event in pending(unit)
            unit.generate(group.first + bit)
            rig.step(1)
            assert group.event in pending(unit), name
            assert not (gated and pulses), name
        unit.door.write32(group.register, 0)


@pytest.mark.parametrize("number", [161, 255])
def test_numbers_above_the_last_event_are_never_asserted(number: int) -> None:
    """The fields of a memory tile have 8 bits; AM025 has 161 events for them."""
    rig = Rig("memory")
    unit = EventUnit(rig.door, "memory_tile")
    for name, shift in (("Performance_Control0", 0), ("Performance_Control1", 0), ("Trace_Control0", 16)):
        unit.door.write32(unit.register(name).offset, number << shift)
    unit.door.write32(unit.register("Combo_event_inputs").offset, number * 0x01010101)
    unit.door.write32(unit.register("Edge_Detection_event_control").offset, number | 1 << 9)
    unit.door.write32(unit.register("Event_Broadcast0").offset, number)
    unit.generate(number)
    rig.step(20)
    assert unit.door.read32(unit.register("Performance_Counter0").offset) == 0
    assert unit.door.read32(unit.register("Trace_Status").offset) & 0x300 == 0  # idle
