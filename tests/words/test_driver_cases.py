"""Do the writes of AMD's driver leave the registers in the state that the call describes?"""

from __future__ import annotations

from typing import Any

import pytest

from memtile import Array
from memtile.arch.timing import Timing
from support.driver.driver_replay import RegisterFile, replay, written
from support.formats.oracle_files import load

CASES = {case["name"]: case for case in load("driver_cases")["cases"]}
AT_ONCE = Timing(access_cycles=0)  # the cases say what registers hold, not what happens between accesses
ARRAYS = {"A": ("npu1", 4), "B": ("xcve2802", 4), "P": ("npu1", 4)}  # P: offsets within a partition
MEMORY_ROWS = {"A": range(1, 2), "B": range(1, 3), "P": range(1, 2)}


def file_of(case: dict[str, Any], array: Array) -> RegisterFile:
    """The register file of the case's array, whose inner edges are open."""
    file = RegisterFile(MEMORY_ROWS[case["config"]])
    for address in written(case):
        register = file.register(address)
        if register is not None and register.name == "Tile_Control":
            file.values[address] = array.door.read32(address)
    return file


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) == 127
    assert {op for case in CASES.values() for op, *_ in case["writes"]} == {"W", "MW", "BW", "SB", "R", "MP"}


@pytest.mark.feature("F21")
@pytest.mark.parametrize("name", CASES)
def test_the_registers_are_as_the_call_describes(name: str) -> None:
    case = CASES[name]
    array = Array(*ARRAYS[case["config"]], timing=AT_ONCE)
    file = file_of(case, array)
    for address, read, expected in replay(case, array.door, file):
        assert read == expected, hex(address)
    for address in written(case):
        if not file.live(address):
            assert array.door.read32(address) == file.read(address), hex(address)
    for status, pushed in file.pushes.items():
        assert array.door.read32(status) >> 20 & 7 == pushed, hex(status)


def test_pending_descriptors_of_a_running_channel() -> None:
    """Cases mt_pending_*: queue size, and one more when the channel runs or stalls."""
    array = Array("npu1")
    door, tile = array.door, array.door.address(1, 1)
    door.write32(tile + 0xA0000, 8)
    door.write32(tile + 0xA0000 + 4, 0x20000)
    door.write32(tile + 0xA0000 + 28, 1 << 31)
    for _ in range(3):
        door.write32(tile + 0xA0604, 0)
    array.engine.run(100)
    recorded = CASES["mt_pending_running_2_queued"]["pokes"][0][2]
    starved = 1 << 4
    assert door.read32(tile + 0xA0660) == recorded | starved
    for _ in range(9):
        door.write32(tile + 0xA0604, 0)
    assert door.read32(tile + 0xA0660) >> 20 & 7 == 4  # case err_pending_queue_size_5 cannot happen


def test_pending_descriptors_of_a_channel_that_waits_for_a_lock() -> None:
    array = Array("npu1")
    door, tile = array.door, array.door.address(1, 1)
    bd = tile + 0xA0000 + 24 * 0x20
    door.write32(bd, 8)
    door.write32(bd + 4, 0x20000)
    door.write32(bd + 28, 1 << 31 | 1 << 15 | 0x7F << 8 | 64)  # waits for lock 0 to be 1 or more
    for n in range(5):
        door.write32(tile + 0xA065C, 24)
        array.engine.run(100 * (n + 1))
    recorded = CASES["mt_pending_stalled"]["pokes"][0][2]
    running_bd_24 = 24 << 24 | 1 << 19 | 2
    assert door.read32(tile + 0xA0694) == recorded | running_bd_24
