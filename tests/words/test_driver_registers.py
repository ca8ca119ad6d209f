"""Does every register of the driver's header answer, with its bits and its reset value?

The oracle has the names, places, widths, fields and reset values of ``xaiemlgbl_params.h``, and which of the
registers the driver's sources and register tables name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from memtile import Array
from memtile.arch.register_map import register_map, tile_register
from memtile.arch.registers import Access
from memtile.arch.tiles import TileName
from memtile.model.state.tile_columns import Placed
from memtile.report.register_coverage import DriverRegister, driver_registers
from memtile.sim.loop.engine import Engine
from support.formats.oracle_files import load

ORACLE = load("driver_registers")["modules"]
TILE: dict[str, TileName] = {
    "memory_tile": "memory",
    "memory": "compute",
    "core": "compute",
    "noc": "interface",
    "pl": "interface",
}
MODULES = pytest.mark.parametrize("module", TILE)
ONES = 0xFFFF_FFFF
OTHER_NAMES = {  # DEV-REG-4, DEV-REG-11
    "ECC_CONTROL": "Core_ECC_Control",
    "ECC_SCRUBBING_EVENT": "Core_ECC_Scrubbing_Event",
    "ECC_FAILING_ADDRESS": "Core_ECC_Failing_Address",
    "MEMORY_CONTROL": "Core_Memory_Control",
    **{f"RESERVED{72 + n}": f"Core_Q{n}" for n in range(4)},
}
PROGRAM_MEMORY = 0x20000
ACCESS = {  # AM025; all others of the core are rw
    "Core_Status": {"ro"},
    "Core_FC": {"ro"},
    "Enable_Events": {"rw", "wtc"},
    "Debug_Status": {"ro"},
    "Error_Halt_Control": {"wtc"},
    "Core_Processor_Bus": {"rw", "wtc"},
    "Core_Memory_Control": {"wo"},  # rw in AM025: it reads 0, since zeroisation takes no time (DEV-REG-9)
    "BISR_CACHE_STATUS": {"ro"},
}


class Row(NamedTuple):
    """A register of the header."""

    name: str
    offset: int
    width: int
    used: int
    reset: int = 0
    fields: tuple[Any, ...] | list[Any] = ()


@cache
def rows(module: str) -> tuple[Row, ...]:
    return tuple(Row(*row) for row in ORACLE[module])


def new_rows(module: str) -> Iterator[Row]:
    """Those that the tables of AM025's registers which we had before do not have."""
    return (Row(*row) for row in ORACLE[module] if len(row) > 4 and row[1] != PROGRAM_MEMORY)


def in_core(module: str, name: str) -> str:
    return OTHER_NAMES.get(name, name) if module == "core" else name


@cache
def engine(tile: TileName) -> Engine:
    return Engine([Placed(tile)])


def words(row: Row) -> range:
    return range(row.offset, row.offset + row.width // 8, 4)


def test_the_oracle_is_the_header() -> None:
    counts = {module: len(found) for module, found in ORACLE.items()}
    assert counts == {"memory_tile": 728, "core": 540, "memory": 212, "noc": 182, "pl": 265}
    assert sum(row.used for module in ORACLE for row in rows(module)) == 1680


@MODULES
def test_every_register_answers_and_raises_no_error(module: str) -> None:
    """Also those that a status dump reads: none shows 0xffffffff, as the driver sees a refused read."""
    fresh = Engine([Placed(TILE[module])])
    door, signals = fresh.door(0), fresh.state.signals.copy()
    shown = {row.name: [door.read32(offset) for offset in words(row)] for row in rows(module)}
    new = {row.name for row in new_rows(module)}
    assert [name for name, found in shown.items() if ONES in found and name in new] == []
    for row in rows(module):
        for offset in words(row):
            door.write32(offset, 0)
    assert (fresh.state.signals == signals).all()


@MODULES
def test_registers_that_am025_lacks_have_the_headers_bits(module: str) -> None:
    table = register_map(module)
    for row in new_rows(module):
        register = table[row.offset]
        assert register.name.upper() == in_core(module, row.name).upper(), row.name
        if row.name.startswith("RESERVED"):
            assert register.width == row.width or register.span * 8 == row.width
            continue
        assert register.width == row.width, row.name
        assert register.reset == row.reset, row.name
        found = [(f.name.upper(), f.msb, f.lsb) for f in register.fields]
        assert found == sorted(map(tuple, row.fields), key=lambda field: -field[2]), row.name
        codes = {field.access.manual for field in register.fields}
        assert codes == ACCESS.get(register.name, {"rw"}), row.name


@MODULES
def test_what_is_written_reads_back(module: str) -> None:
    door = engine(TILE[module]).door(0)
    table = register_map(module)
    for row in new_rows(module):
        for word, offset in zip(table[row.offset].words(), words(row), strict=False):
            plain = {Access.RW, Access.WTC} >= {field.access for field in word.fields}
            if not plain or word.name == "Core_Control":
                continue
            for value in (ONES, 0x5A5A_A5A5, 0):
                door.write32(offset, value)
                assert door.read32(offset) == value & word.writable, row.name


def test_a_wide_register_is_four_words() -> None:
    door = Engine([Placed("compute")]).door(0)
    door.block_write32(0x30800, [1, 2, 3, 4, 5])
    assert door.block_read32(0x30800, 5).tolist() == [1, 2, 3, 4, 5]
    low = tile_register("compute", "Core_WL0_Part1")
    assert (low.offset, low.width, low.span) == (0x30800, 128, 16)
    assert [word.name for word in low.words()] == [f"Core_WL0_Part1[{n}]" for n in range(4)]


def test_a_field_over_two_words_is_cut_at_the_word() -> None:
    wide = tile_register("compute", "Core_Q0")
    assert [[(f.msb, f.lsb) for f in word.fields] for word in wide.words()] == [[(31, 0)]] * 4


@MODULES
def test_the_list_of_the_package_is_the_header(module: str) -> None:
    expected = [DriverRegister(row.name, row.offset, bool(row.used)) for row in rows(module)]
    assert sorted(driver_registers(module), key=lambda r: r.offset) == sorted(
        expected, key=lambda r: r.offset
    )


def test_the_program_memory_scrubber_is_not_that_of_data_memory() -> None:
    """The event of program memory's ECC makes no scrubber step: program memory has no check bits here."""
    fresh = Engine([Placed("compute")])
    scrubbing = tile_register("compute", "Core_ECC_Scrubbing_Event")
    fresh.door(0).write32(scrubbing.offset, 1)  # TRUE
    fresh.wait(200)
    assert fresh.state.guarding[0] == 0


def test_setting_up_error_handling_raises_no_event() -> None:
    """What the driver writes to every core: an error halt event, PC events, ECC of program memory."""
    fresh = Engine([Placed("compute")])
    door = fresh.door(0)
    error_group = 46  # GROUP_ERRORS_0
    for offset, value in ((0x32034, error_group), (0x32020, 0x8000_0123), (0x32110, 1), (0x32100, 1)):
        door.write32(offset, value)
        assert door.read32(offset) == value
    fresh.wait(10)
    assert door.read32(0x34204) == 0  # Event_Status1: with AXI_MM_SLAVE_ERROR, bit 26, and the group
    assert door.read32(0x3201C) == 0  # XAie_CoreGetDebugHaltStatus of an idle core
    assert [door.read32(offset) for offset in (0x31100, 0x31120, 0x31130)] == [0, 0, 0]  # PC, SP, LR


def test_places_that_the_header_calls_reserved_read_0_but_for_four():
    """registers.md; at the four AM025 has Core_Q0 to 3 (DEV-REG-11)."""
    array, kept = Array("npu1", columns=1), []
    for module, row in (("memory_tile", 1), ("core", 2), ("memory", 2), ("pl", 0), ("noc", 0)):
        reserved = [
            (offset, width) for name, offset, width, *_ in ORACLE[module] if name.startswith("RESERVED")
        ]
        for place in (place for at, bits in reserved for place in range(at, at + bits // 8, 4)):
            address = array.door.address(column=0, row=row) + place
            array.door.write32(address, ONES)
            if array.door.read32(address):
                kept.append((module, place))
    assert kept == [("core", place) for place in range(0x310C0, 0x31100, 4)]
