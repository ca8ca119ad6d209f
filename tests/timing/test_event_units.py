"""Is each event, counter, timer and edge exact to the cycle?"""

from __future__ import annotations

from itertools import product

import pytest

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.loop.clock import Stop
from memtile.testing.rig import Rig


def moving(words: int = 64) -> tuple[Rig, EventUnit]:
    """A tile about to move ``words`` words into memory on S2MM 0."""
    rig = Rig()
    rig.write_bd(0, Descriptor("memory", words, OWN.address(0)))
    rig.feed(rig.s2mm(0), words)
    return rig, EventUnit(rig.door)


def test_a_counter_from_start_to_stop_is_the_distance_in_cycles() -> None:
    """DEV-OBS-2."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.count(0, "USER_EVENT_0", "USER_EVENT_1")
    rig.step(3)
    unit.generate("USER_EVENT_0")
    rig.step(10)
    unit.generate("USER_EVENT_1")
    rig.step(5)
    assert unit.counted(0) == 10


def test_a_counter_with_one_event_counts_the_cycles_in_which_it_is_asserted() -> None:
    rig, unit = moving(64)
    unit.count(1, "PORT_RUNNING_0", "PORT_RUNNING_0")
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=1)
    rig.issue(rig.s2mm(0), 0)
    rig.step(100)
    assert unit.counted(1) == 64


def test_true_to_none_is_a_duration() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.count(2, "TRUE", "NONE")
    rig.step(1)
    before = unit.counted(2)
    rig.step(40)
    assert unit.counted(2) - before == 40


def test_a_counter_at_its_threshold_raises_its_event_and_may_reset_itself() -> None:
    """Its event comes one cycle after the count (DEV-OBS-1)."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Performance_Counter0_Event_Value", Counter0_Event_Value=5)
    unit.count(0, "TRUE", "NONE", reset="PERF_CNT0_EVENT")
    unit.count(1, "PERF_CNT0_EVENT", "PERF_CNT0_EVENT")
    rig.step(61)
    assert unit.counted(1) == 61 // 6  # five counts, and the cycle in which the event resets it
    assert unit.counted(0) < 6


def test_the_stall_event_covers_the_stalled_cycles() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0), acquire=Acquire(OWN.lock(3), -1, True)))
    rig.feed(rig.s2mm(0), 8)
    unit.count(0, "DMA_S2MM_SEL0_STALLED_LOCK", "DMA_S2MM_SEL0_STALLED_LOCK")
    rig.issue(rig.s2mm(0), 0)
    rig.step(20)
    rig.set_lock(3, 1)
    rig.step(30)
    assert unit.counted(0) == len(rig.cycles(rig.s2mm(0), Cause.LOCK_ACQUIRE)) > 0


def test_edges_of_a_level_come_one_cycle_after_it() -> None:
    """DEV-OBS-1."""
    rig, unit = moving(16)
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=1)
    running = unit.number("PORT_RUNNING_0")
    unit.write(
        "Edge_Detection_event_control", Edge_Detection_Event_0=running, Edge_Detection_0_Trigger_Rising=1
    )
    unit.write(
        "Edge_Detection_event_control", Edge_Detection_Event_1=running, Edge_Detection_1_Trigger_Falling=1
    )
    unit.count(0, "PORT_RUNNING_0", "NONE")
    unit.count(1, "EDGE_DETECTION_EVENT_0", "EDGE_DETECTION_EVENT_1")
    rig.issue(rig.s2mm(0), 0)
    rig.step(60)
    entered = rig.entered(rig.s2mm(0))
    assert entered == list(range(entered[0], entered[0] + 16))
    assert unit.counted(1) == 16
    assert unit.counted(0) == 59 - entered[0]


@pytest.mark.parametrize(("operation", "expected"), [(0, 0), (1, 20), (2, 20), (3, 20)])
def test_combo_operations(operation: int, expected: int) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_control", combo0=operation)
    unit.write("Combo_event_inputs", eventA="TRUE", eventB="USER_EVENT_0")
    unit.count(0, "COMBO_EVENT_0", "COMBO_EVENT_0")
    rig.step(21)
    assert unit.counted(0) == expected


def test_combo_2_joins_the_other_two() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_control", combo0=0, combo1=2, combo2=0)
    unit.write(
        "Combo_event_inputs", eventA="TRUE", eventB="USER_EVENT_0", eventC="USER_EVENT_1", eventD="TRUE"
    )
    unit.count(0, "COMBO_EVENT_2", "COMBO_EVENT_2")
    rig.step(5)
    assert unit.counted(0) == 0
    unit.generate("USER_EVENT_0")
    rig.step(5)
    assert unit.counted(0) == 1


def test_the_timer_counts_cycles_from_its_reset() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.step(17)
    assert unit.timer() == 17
    rig.door.write32(
        unit.register("Timer_Control").offset, unit.register("Timer_Control").field("Reset").mask
    )
    assert unit.timer() == 0
    rig.step(9)
    assert unit.timer() == 9
    assert unit.status("TIMER_SYNC")


def test_an_event_resets_the_timer() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Timer_Control", Reset_Event="USER_EVENT_1")
    rig.step(10)
    unit.generate("USER_EVENT_1")
    rig.step(5)
    assert unit.timer() == 4  # 0 in the cycle after the event


def test_an_event_that_resets_the_timer_in_each_cycle_syncs_it_in_each() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Timer_Control", Reset_Event="TRUE")
    unit.count(0, "TIMER_SYNC", "TIMER_SYNC")
    rig.step(10)
    assert (unit.counted(0), unit.timer(), unit.status("TIMER_SYNC")) == (9, 0, True)


def test_the_timer_fires_at_its_trigger_value() -> None:
    """In that cycle itself (DEV-OBS-1)."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
    unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=12)
    unit.clear("TIMER_VALUE_REACHED")
    rig.assert_earliest(12, lambda: unit.status("TIMER_VALUE_REACHED"))


def test_sticky_bits_stay_until_one_is_written() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    assert not unit.status("USER_EVENT_0")
    unit.generate("USER_EVENT_0")
    rig.step(3)
    assert unit.status("USER_EVENT_0")
    assert unit.status("GROUP_USER_EVENT")
    unit.clear("USER_EVENT_0")
    assert not unit.status("USER_EVENT_0")
    assert unit.status("GROUP_USER_EVENT")
    rig.step(3)
    assert not unit.status("USER_EVENT_0")


def test_a_combo_that_goes_on_is_in_the_status_and_comes_back_when_cleared() -> None:
    """DEV-OBS-1."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_inputs", eventA="TRUE", eventB="TRUE")
    rig.step(1)
    assert not unit.status("COMBO_EVENT_0")  # asserted in the next cycle
    rig.step(1)
    assert unit.status("COMBO_EVENT_0")
    unit.clear("COMBO_EVENT_0")
    assert not unit.status("COMBO_EVENT_0")
    rig.step(1)
    assert unit.status("COMBO_EVENT_0")


def test_a_generated_event_is_asserted_in_the_next_cycle_alone() -> None:
    """Its sticky bit is set then, not by the access (DEV-OBS-3)."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.count(0, "USER_EVENT_0", "USER_EVENT_0")
    rig.step(2)
    unit.generate("USER_EVENT_0")
    assert (unit.status("USER_EVENT_0"), unit.counted(0)) == (False, 0)
    rig.step(1)
    assert (unit.status("USER_EVENT_0"), unit.counted(0)) == (True, 1)
    rig.step(1)
    assert unit.counted(0) == 1


def test_nothing_but_the_register_raises_combo_event_3() -> None:
    """DEV-OBS-5: whatever the inputs and operations of the others."""
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_control", combo0=2, combo1=2, combo2=2)
    unit.write("Combo_event_inputs", eventA="TRUE", eventB="TRUE", eventC="TRUE", eventD="TRUE")
    rig.step(5)
    assert [unit.status(f"COMBO_EVENT_{n}") for n in range(4)] == [True, True, True, False]
    unit.generate("COMBO_EVENT_3")
    rig.step(1)
    assert unit.status("COMBO_EVENT_3")


def test_generating_an_event_again_keeps_that_it_has_happened() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.generate("USER_EVENT_0")
    rig.step(3)
    unit.generate("USER_EVENT_0")
    assert unit.status("USER_EVENT_0")


def test_a_group_gathers_only_what_is_enabled() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Event_Group_User_Event_Enable", User_Event_0=0)
    unit.generate("USER_EVENT_0")
    rig.step(2)
    assert not unit.status("GROUP_USER_EVENT")
    unit.generate("USER_EVENT_1")
    rig.step(2)
    assert unit.status("GROUP_USER_EVENT")


def test_pulses_of_a_task_come_once_each() -> None:
    rig, unit = moving(32)
    for n, event in enumerate(("START_TASK", "FINISHED_BD", "FINISHED_TASK")):
        unit.count(n, f"DMA_S2MM_SEL0_{event}", f"DMA_S2MM_SEL0_{event}")
    rig.issue(rig.s2mm(0), 0, runs=1)
    rig.step(80)
    assert [unit.counted(n) for n in range(3)] == [1, 1, 1]


def test_lock_selectors() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Locks_Event_Selection_0", Lock_Select=5, Lock_Value=2)
    rig.step(1)
    assert not unit.status("LOCK_SEL0_EQUAL_TO_VALUE")
    rig.request_lock(5, 2, acquire=False)
    rig.step(1)
    assert unit.status("LOCK_SEL0_EQUAL_TO_VALUE")
    assert unit.status("LOCK_SEL0_REL")
    assert not unit.status("LOCK_SEL0_ACQ_GE")
    rig.request_lock(5, -1, acquire=True)
    rig.step(1)
    assert unit.status("LOCK_SEL0_ACQ_GE")
    unit.clear("LOCK_SEL0_EQUAL_TO_VALUE")
    rig.step(2)
    assert not unit.status("LOCK_SEL0_EQUAL_TO_VALUE")


def test_errors_are_events() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.issue(rig.mm2s(0), 3)  # BD 3 is not valid
    rig.request_lock(0, -1, acquire=False)
    rig.step(10)
    assert unit.status("DMA_MM2S_ERROR")
    assert not unit.status("DMA_S2MM_ERROR")
    assert unit.status("LOCK_ERROR")
    assert unit.status("GROUP_ERRORS")


def test_conflicts_name_their_bank() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    for n in range(2):
        rig.write_bd(24 * n, Descriptor("memory", 64, OWN.address(0)))
        rig.catch(rig.mm2s(n))
        rig.issue(rig.mm2s(n), 24 * n)
    unit.count(0, "CONFLICT_DM_BANK_2", "CONFLICT_DM_BANK_2")
    rig.step(200)
    conflicts = sum(len(rig.cycles(rig.mm2s(n), Cause.BANK_CONFLICT)) for n in range(2))
    assert unit.status("CONFLICT_DM_BANK_0") or unit.status("CONFLICT_DM_BANK_2")
    assert unit.status("GROUP_MEMORY_CONFLICT")
    assert conflicts >= unit.counted(0)


def test_an_idle_jump_counts_like_stepping() -> None:
    counted = []
    for single in (True, False):
        rig = Rig()
        unit = EventUnit(rig.door)
        rig.write_bd(0, Descriptor("memory", 8, OWN.address(0)))
        rig.feed(rig.s2mm(0), 8, [0] * 400 + [1])
        unit.count(0, "TRUE", "NONE")
        unit.count(1, "DMA_S2MM_SEL0_STREAM_STARVATION", "DMA_S2MM_SEL0_STREAM_STARVATION")
        unit.write("Performance_Counter0_Event_Value", Counter0_Event_Value=300)
        unit.count(2, "PERF_CNT0_EVENT", "PERF_CNT0_EVENT")
        rig.issue(rig.s2mm(0), 0)
        if single:
            rig.step(900)
        else:
            rig.engine.run(900)
        counted.append([unit.counted(n) for n in range(3)])
    assert counted[0] == counted[1]
    assert counted[0][2] == 1


@pytest.mark.parametrize("delay", [2, 3, 16])
def test_a_finished_bd_that_is_due_while_nothing_moves_is_seen_at_its_cycle(delay: int) -> None:
    rig = Rig(timing=Timing(finished_bd_delay=delay))
    unit = EventUnit(rig.door)
    unit.count(0, "DMA_S2MM_SEL0_FINISHED_BD", "DMA_S2MM_SEL0_FINISHED_BD")
    unit.count(1, "DMA_S2MM_SEL0_FINISHED_TASK", "DMA_S2MM_SEL0_FINISHED_BD")
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0)))
    rig.feed(rig.s2mm(0), 8)
    rig.issue(rig.s2mm(0), 0)
    rig.engine.wait(100)
    assert (unit.counted(0), unit.counted(1)) == (1, delay)


def test_an_idle_jump_begins_after_what_the_timer_raised() -> None:
    counted = []
    for single in (True, False):
        rig = Rig(timing=Timing(task_start=64))
        unit = EventUnit(rig.door)
        rig.write_bd(0, Descriptor("memory", 8, OWN.address(0)))
        rig.issue(rig.s2mm(0), 0)
        unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
        unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=30)
        unit.count(0, "TIMER_VALUE_REACHED", "TIMER_VALUE_REACHED")
        unit.write(
            "Edge_Detection_event_control",
            Edge_Detection_Event_0="TIMER_VALUE_REACHED",
            Edge_Detection_0_Trigger_Falling=1,
        )
        unit.count(1, "TIMER_VALUE_REACHED", "EDGE_DETECTION_EVENT_0")
        if single:
            rig.step(60)
        else:
            rig.engine.run(60)
        counted.append([unit.counted(n) for n in range(2)])
    assert counted == [[1, 2]] * 2


def test_a_combo_that_goes_on_does_not_keep_the_tile_busy() -> None:
    rig, unit = moving(8)
    unit.write("Combo_event_control", combo0=1)
    unit.write("Combo_event_inputs", eventA="TRUE", eventB="USER_EVENT_0")
    unit.count(0, "COMBO_EVENT_0", "COMBO_EVENT_0")
    rig.issue(rig.s2mm(0), 0)
    assert rig.engine.run(10_000) is Stop.QUIET
    assert unit.counted(0) == rig.now - 1
    rig.step(7)
    assert unit.counted(0) == rig.now - 1


@pytest.mark.parametrize("words", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("direction", ["S2MM", "MM2S"])
def test_each_finished_bd_is_counted_however_short(direction: str, words: int) -> None:
    rig = Rig()
    unit, ch = EventUnit(rig.door), rig.s2mm() if direction == "S2MM" else rig.mm2s()
    rig.write_bd(0, Descriptor("memory", words, OWN.address(0)))
    rig.feed(ch, 7 * words) if direction == "S2MM" else rig.catch(ch)
    unit.count(0, f"DMA_{direction}_SEL0_FINISHED_BD", f"DMA_{direction}_SEL0_FINISHED_BD")
    rig.issue(ch, 0, runs=7)
    rig.step(150)
    assert unit.counted(0) == 7


# what looking, jumping and idling must not change ----------------------------------------------------------


@pytest.mark.parametrize("look", [False, True])
def test_reading_the_status_does_not_change_what_a_lock_event_says(look: bool) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Locks_Event_Selection_0", Lock_Select=3, Lock_Value=0)
    unit.count(0, "LOCK_SEL0_EQUAL_TO_VALUE", "LOCK_SEL0_EQUAL_TO_VALUE")
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0), release=Release(OWN.lock(3), 1)))
    rig.feed(rig.s2mm(0), 8)
    rig.issue(rig.s2mm(0), 0)
    held = 0  # cycles at the end of which the lock had the value
    for _ in range(40):
        rig.step(1)
        held += rig.lock(3) == 0
        if look:
            unit.status("LOCK_SEL0_EQUAL_TO_VALUE")
    assert 0 < held < 40
    assert unit.counted(0) == held


def test_a_value_that_a_lock_had_for_a_cycle_is_in_the_sticky_status() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Locks_Event_Selection_0", Lock_Select=3, Lock_Value=2)
    rig.set_lock(3, 2)
    rig.set_lock(3, 5)  # no cycle in between
    rig.step(3)
    assert not unit.status("LOCK_SEL0_EQUAL_TO_VALUE")
    rig.set_lock(3, 2)
    rig.step(1)
    rig.set_lock(3, 5)
    rig.step(3)
    assert unit.status("LOCK_SEL0_EQUAL_TO_VALUE")


def test_a_group_has_the_status_of_a_member_that_is_asserted_all_the_time() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_inputs", eventA="TRUE", eventB="TRUE")
    rig.step(20)
    assert unit.status("COMBO_EVENT_0")
    assert unit.status("GROUP_0")
    unit.clear("GROUP_0")
    unit.clear("COMBO_EVENT_0")
    rig.step(1)
    assert unit.status("COMBO_EVENT_0")
    assert unit.status("GROUP_0")


@pytest.mark.parametrize("threshold", [0, 5])
@pytest.mark.parametrize("jump", [False, True])
def test_a_threshold_behind_the_wrap_of_a_counter_is_reached(threshold: int, jump: bool) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Performance_Counter0_Event_Value", Counter0_Event_Value=threshold)
    unit.count(0, "TRUE", "NONE")
    unit.write("Performance_Counter0", Counter0_Value=2**32 - 16)
    if jump:
        rig.engine.wait(100)
    else:
        rig.step(100)
    assert unit.counted(0) == 100 - 17
    assert unit.status("PERF_CNT0_EVENT")


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
@pytest.mark.parametrize("both", range(4))
def test_combos_follow_their_operations_for_all_inputs(first: int, second: int, both: int) -> None:
    """AM025 Combo_event_control: and, and-not, or, or-not; an input that is NONE is never asserted."""
    operations = (
        lambda a, b: a and b,
        lambda a, b: a and not b,
        lambda a, b: a or b,
        lambda a, b: a or not b,
    )
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Combo_event_control", combo0=first, combo1=second, combo2=both)
    for a, b, c, d in product((0, 1), repeat=4):
        unit.write("Combo_event_inputs", eventA=a, eventB=b, eventC=c, eventD=d)
        rig.step(2)
        for n in range(3):
            unit.clear(f"COMBO_EVENT_{n}")
        rig.step(1)
        left, right = operations[first](a, b), operations[second](c, d)
        expected = [bool(left), bool(right), bool(operations[both](left, right))]
        assert [unit.status(f"COMBO_EVENT_{n}") for n in range(3)] == expected


def test_true_is_in_the_sticky_status_again_after_it_was_cleared() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.step(1)
    unit.clear("TRUE")
    rig.step(1)
    assert unit.status("TRUE")


def test_time_passes_where_nothing_can_move_when_somebody_waits() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
    unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=50)
    assert rig.engine.run(1000) is Stop.QUIET
    assert rig.now < 50
    rig.engine.wait(1000)
    assert rig.now > 1000
    assert unit.timer() == rig.now
    assert unit.status("TIMER_VALUE_REACHED")
