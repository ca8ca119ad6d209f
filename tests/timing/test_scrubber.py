"""Does the scrubber walk through memory step by step, correct what it can, take banks like anybody?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtile.arch.events import EVENT_UNITS
from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.model.memory import ecc
from memtile.model.memory.ecc import Fate
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.loop.upsets import Upset
from memtile.testing.rig import Rig
from support.engine.states import advance, differences

EVENT = register_named("memory_tile", "ECC_SCRUBBING_EVENT").offset
COMPUTE_EVENT = register_named("memory", "ECC_SCRUBBING_EVENT").offset
TRUE, NONE = 1, 0
GRANULES = MEMORY.memory_words // MEMORY.granule_words
CORRECTED, FAILED = "DM_ECC_ERROR_SCRUB_CORRECTED", "DM_ECC_ERROR_SCRUB_2BIT"


def happened(rig: Rig, event: str) -> bool:
    offset, bit = EVENT_UNITS["memory_tile"].sticky_status(event)
    return bool(rig.door.read32(offset) >> bit & 1)


def at(rig: Rig) -> int:
    """Granules that the scrubber has passed."""
    return int(rig.engine.state.guards.at[0]) // rig.kind.granule_words


def hit(rig: Rig, word: int, *bits: int) -> None:
    rig.engine.upsets.add([Upset(rig.now, 0, word, bits)])
    rig.engine.upsets.strike()


@pytest.mark.feature("F25")
def test_each_step_takes_a_granule_in_the_order_of_the_addresses() -> None:
    """DEV-ECC-5: TRUE is there in every cycle."""
    rig = Rig()
    rig.door.write32(EVENT, TRUE)
    rig.step(5)
    assert at(rig) == 5
    rig.door.write32(EVENT, NONE)
    rig.step(5)
    assert at(rig) == 5


@pytest.mark.feature("F25")
def test_the_scrubber_corrects_memory_itself_and_says_so() -> None:
    """DEV-ECC-6: a read and, where something is corrected, a write of the granule."""
    rig = Rig()
    rig.fill(0, range(12))
    hit(rig, 5, 31)
    hit(rig, 7, 36)
    rig.door.write32(EVENT, TRUE)
    rig.step(2)
    assert (at(rig), happened(rig, CORRECTED)) == (1, True)
    assert rig.engine.state.memory[5] == 5 | 1 << 31
    rig.step(1)
    assert (at(rig), int(rig.engine.state.memory[5])) == (2, 5)
    rig.step(1)
    assert at(rig) == 3
    assert not happened(rig, FAILED)
    assert [rig.engine.upsets.fate(upset) for upset in rig.engine.upsets.struck] == [Fate.SCRUBBED] * 2
    assert rig.engine.state.guards.inspected.tolist() == [0]


@pytest.mark.feature("F25")
def test_the_scrubber_reports_two_flips_and_leaves_them() -> None:
    rig = Rig()
    hit(rig, 5, 30, 31)
    rig.door.write32(EVENT, TRUE)
    rig.step(3)
    assert (at(rig), happened(rig, FAILED), happened(rig, CORRECTED)) == (3, True, False)
    assert rig.engine.state.memory[5] == 3 << 30
    assert rig.door.read32(0x92120) == 1 << 19 | 4 * 5


@pytest.mark.slow
def test_the_walk_goes_through_all_memory_and_begins_anew() -> None:
    rig = Rig()
    hit(rig, MEMORY.memory_words - 1, 0)
    rig.door.write32(EVENT, TRUE)
    for _ in range(GRANULES + 3):  # the correction takes one more
        rig.engine.run(rig.now + 1)
    assert (at(rig), happened(rig, CORRECTED)) == (2, True)


def test_a_compute_tile_scrubs_the_banks_that_have_ecc() -> None:
    """DEV-ECC-5."""
    rig = Rig("compute")
    hit(rig, 0x1000, 3)
    rig.door.write32(COMPUTE_EVENT, TRUE)
    for _ in range(0x400 + 7):
        rig.engine.run(rig.now + 1)
    assert at(rig) == 7
    assert rig.engine.state.memory[0x1000] == 8


def test_an_occurrence_of_the_event_starts_one_step_and_those_within_it_are_lost() -> None:
    """DEV-ECC-5."""
    rig = Rig(timing=Timing(scrub_granules=3))
    for _ in range(2):
        ecc.trigger(rig.engine.state, 0)
    rig.step(10)
    assert at(rig) == 3


def test_the_scrubber_and_a_channel_take_turns_at_a_bank() -> None:
    """DEV-ECC-6: in linear mode both are in bank 0."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    rig.catch(rig.mm2s())
    rig.write_bd(0, Descriptor("memory", 16, OWN.address(0x800), dims=((4, 0),)))
    rig.issue(rig.mm2s(), 0)
    rig.door.write32(EVENT, TRUE)
    rig.step(30)
    assert rig.timeline(rig.mm2s())[4:] == "--" + 12 * "#B"
    assert at(rig) == rig.now - 13  # one access is a word ahead of the stream


def test_a_scrubber_waits_while_zeroisation_has_the_banks() -> None:
    rig = Rig(timing=Timing(zeroisation=20))
    rig.door.write32(EVENT, TRUE)
    rig.memory_control(zeroise=True)
    rig.step(22)
    assert at(rig) == 2


@pytest.mark.parametrize("zeroise", [False, True])
def test_skipping_idle_time_scrubs_as_much_as_stepping_through_it(zeroise: bool) -> None:
    """A task that starts late, with flips of every kind in the way."""

    def begun() -> Rig:
        rig = Rig(timing=replace(Timing(), task_start=60, zeroisation=90))
        rig.door.write32(EVENT, TRUE)
        if zeroise:
            rig.memory_control(zeroise=True)
        for word, bits in ((5, (3,)), (60, (3, 4)), (61, (7,)), (300, (1,)), (5000, (8,))):
            hit(rig, word, *bits)
        rig.catch(rig.mm2s())
        rig.write_bd(0, Descriptor("memory", 8, OWN.address(56)))
        rig.issue(rig.mm2s(), 0)
        return rig

    skipping, stepping = begun(), begun()
    for until in (40, 59, 63, 150, 400):
        advance(skipping, stepping, until)
        assert differences(skipping, stepping) == set()
    assert skipping.now < 400  # a scrubber alone keeps no run going


@pytest.mark.feature("F25", "F23")
def test_a_user_event_makes_one_step_and_the_next_one_another() -> None:
    """The event action of AM020: scrubbing by event."""
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.door.write32(EVENT, unit.events["USER_EVENT_0"])
    rig.step(5)
    assert at(rig) == 0
    for steps in (1, 2):
        unit.generate("USER_EVENT_1")
        unit.generate("USER_EVENT_0")
        rig.step(10)
        assert at(rig) == steps


@pytest.mark.feature("F25", "F24")
def test_a_timer_that_its_own_event_resets_makes_a_step_a_period() -> None:
    rig = Rig()
    hit(rig, 9, 31)
    unit = EventUnit(rig.door)
    rig.door.write32(EVENT, unit.events["TIMER_VALUE_REACHED"])
    unit.write("Timer_Control", Reset_Event="TIMER_VALUE_REACHED")
    rig.door.write32(unit.register("Timer_Trig_Event_Low_Value").offset, 19)
    rig.door.write32(unit.register("Timer_Trig_Event_High_Value").offset, 0)
    rig.step(2)  # the step is in the cycle after the event, a correction takes one more
    steps = []
    for _ in range(4):
        rig.step(20)
        steps.append(at(rig))
    assert steps == [1, 2, 3, 4]
    assert happened(rig, CORRECTED)
    assert rig.engine.state.guards.inspected.tolist() == [0]
