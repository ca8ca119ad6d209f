"""Does a program take the time that firmware or a host takes for each of its operations?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtile import Array, Timing
from memtile.arch.dispatch import Dispatch
from memtile.arch.register_map import register_named
from memtile.errors import InputFileError
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Operation, Write, address_of
from memtile.runs.program import Run
from memtile.runs.session import run_program
from memtile.sim.doors.event_panel import EventUnit

MEMORY = address_of(0, 1)
GENERATE = MEMORY + register_named("memory_tile", "Event_Generate").offset
QUEUES = [MEMORY + 0xA0604 + 8 * n for n in range(12)]
SCRATCH = MEMORY + 0x100
FAST = Timing(firmware_access=7, firmware_word=3, firmware_push=500, access_cycles=11)


def apart(between: list[Operation], timing: Timing, *, firmware: bool) -> int:
    """Cycles from one user event to another one, with operations between them."""
    array = Array("npu1", 1, timing)
    unit = EventUnit(array.memory_tile(0).own_door)
    unit.count(0, "USER_EVENT_0", "USER_EVENT_1")
    first, second = (unit.number(f"USER_EVENT_{n}") for n in range(2))
    program = [
        Write(GENERATE, first, firmware=firmware),
        *between,
        Write(GENERATE, second, firmware=firmware),
        Write(SCRATCH, 0, firmware=firmware),
    ]
    run_program(program, array)
    return unit.counted(0)


BETWEEN = {
    "nothing": ([], 7, 11),
    "a write": ([Write(SCRATCH, 1)], 7 + 7, 11 + 11),
    "a masked write reads first": ([MaskWrite(SCRATCH, 1, 1)], 7 + 14, 11 + 22),
    "a block of five": ([BlockWrite(SCRATCH, (1, 2, 3, 4, 5))], 7 + 7 + 5 * 3, 11 + 11 + 4),
    "a poll that is met at once": ([MaskPoll(SCRATCH, 0, 0)], 7 + 7, 11 + 11),
}


@pytest.mark.parametrize("firmware", [True, False])
@pytest.mark.parametrize("name", BETWEEN)
def test_each_operation_takes_its_cycles(name: str, firmware: bool) -> None:
    between, by_firmware, by_host = BETWEEN[name]
    operations = [replace(operation, firmware=firmware) for operation in between]
    assert apart(operations, FAST, firmware=firmware) == (by_firmware if firmware else by_host)


def pushes(*names: int, firmware: bool = True, timing: Timing = FAST) -> Run:
    """Starts of tasks of no word, each in a channel of the tile, one after another."""
    block = BlockWrite(MEMORY + 0xA0000, (0, 0x20000, 0, 0, 0, 0, 0, 1 << 31), firmware=firmware)
    starts = [Write(QUEUES[n], 0, firmware=firmware) for n in names]
    return run_program([block, *starts], Array("npu1", 1, timing))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_two_pushes_of_a_transaction_are_firmware_push_apart(count: int) -> None:
    """The first one comes when its turn is; a task of no word is over seven cycles after its push."""
    alone = pushes(0).result.cycles
    assert pushes(*[0, 6, 2][:count]).result.cycles == alone + (count - 1) * FAST.firmware_push


def test_an_elf_has_a_pace_of_its_own() -> None:
    timing = replace(FAST, firmware_push_elf=60)
    block = BlockWrite(MEMORY + 0xA0000, (0, 0x20000, 0, 0, 0, 0, 0, 1 << 31), firmware=True)
    starts = [Write(QUEUES[n], 0, firmware=True) for n in (0, 6, 2)]

    def cycles(count: int) -> int:
        program = [block, *starts[:count]]
        return run_program(program, Array("npu1", 1, timing), dispatch=Dispatch.ELF).result.cycles

    assert [cycles(count) - cycles(1) for count in (2, 3)] == [60, 120]


AT_ONCE = Timing(firmware_access=0, firmware_word=0, firmware_push=0, firmware_push_elf=0)


def in_a_row(dispatch: Dispatch, room: int, *, untimed: bool = False) -> tuple[int, bool]:
    """Tasks of eight that one channel ends, pushed at once, and whether its queue lost one."""
    array = Array("npu1", 1, replace(AT_ONCE, firmware_room=room))
    block = BlockWrite(MEMORY + 0xA0000, (0, 0x20000, 0, 0, 0, 0, 0, 1 << 31), firmware=True)
    pushes = [Write(QUEUES[0], 0, firmware=True)] * 8
    run_program([block, *pushes], array, dispatch=dispatch, untimed=untimed)
    channel = array.memory_tile(0).s2mm[0]
    return channel.tasks_done, bool(array.engine.channels.pushes_lost[channel.index])


def test_a_push_waits_for_room_from_an_xclbin_of_strix_alone() -> None:
    """DEV-QUEUE-2; without a clock every push waits, as none is early."""
    assert in_a_row(Dispatch.XCLBIN, 1) == (8, False)
    assert in_a_row(Dispatch.XCLBIN, 0) == (5, True)
    assert in_a_row(Dispatch.ELF, 1) == (5, True)
    assert in_a_row(Dispatch.ELF, 0, untimed=True) == (8, False)


def test_a_host_pushes_as_it_writes() -> None:
    assert pushes(0, 6, 2, firmware=False).result.cycles == pushes(0, firmware=False).result.cycles + 2 * 11


def test_other_writes_go_on_between_two_pushes() -> None:
    """They take none of the time that is passing anyway."""
    block = BlockWrite(MEMORY + 0xA0000, (0, 0x20000, 0, 0, 0, 0, 0, 1 << 31), firmware=True)
    first, second = (Write(QUEUES[n], 0, firmware=True) for n in (0, 6))
    other = [Write(SCRATCH, n, firmware=True) for n in range(20)]
    together = run_program([block, first, second], Array("npu1", 1, FAST)).result.cycles
    assert run_program([block, first, *other, second], Array("npu1", 1, FAST)).result.cycles == together
    many = other * 4
    later = run_program([block, first, *many, second], Array("npu1", 1, FAST)).result.cycles
    assert later == together - FAST.firmware_push + (len(many) + 1) * FAST.firmware_access


def test_the_cycles_that_silicon_takes_are_the_default() -> None:
    """GT-20 and GT-21; the same for every device and tile (DEV-HOST-2)."""
    timing = Timing()
    assert (timing.firmware_access, timing.firmware_word, timing.firmware_push) == (100, 13, 3050)
    assert 2811 + 241 - 15 <= timing.firmware_push <= 2811 + 254  # between two tasks, and a task
    block = [BlockWrite(SCRATCH, tuple(range(8)), firmware=True)]
    assert apart(block, timing, firmware=True) - apart([], timing, firmware=True) == 204  # 203 measured


def test_untimed_programs_take_no_time() -> None:
    block = BlockWrite(MEMORY + 0xA0000, (0, 0x20000, 0, 0, 0, 0, 0, 1 << 31), firmware=True)
    array = Array("npu1", 1)
    run_program([block, Write(QUEUES[0], 0, firmware=True)], array, untimed=True)
    assert array.engine.now == 0


def test_a_program_that_passes_the_limit_stops_there() -> None:
    array = Array("npu1", 1)
    done = run_program([Write(SCRATCH, n, place="f, byte 8") for n in range(100)], array, max_cycles=500)
    assert done.stopped.startswith("f, byte 8: the limit was reached at cycle 500, before this operation")
    assert done.result.findings == ()  # it was cut off, and blames nothing
    assert "Allow more cycles." in done.stopped
    assert not done.result.good
    assert array.memory_tile(0).own_door.read32(0x100) == 24


def test_nothing_is_done_of_a_program_that_is_refused() -> None:
    array = Array("npu1", 1)
    with pytest.raises(InputFileError):
        run_program([Write(SCRATCH, 1), Write(address_of(7, 1), 1)], array)
    assert array.engine.now == 0
