"""Do the expanded register tables say what AM025 and the driver's register header say, bit for bit?"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtile.arch.grades import Grade
from memtile.arch.register_map import TILE_MODULES, register_at, register_map, register_named
from memtile.arch.registers import Access, Register, fields
from memtile.arch.tiles import kinds_of
from memtile.errors import RegisterError
from support.formats.oracle_files import header_only_offsets, load

ORACLE = load("registers")["modules"]
MODULES = ("memory_tile", "memory", "core", "noc", "pl")
AIE_ML_MODULES = {module for tile in kinds_of("AIE-ML") for module in TILE_MODULES[tile]}


def row(register: Register) -> dict[str, object]:
    """A register as the oracle writes it; the header states no access."""
    stated = register.grade is not Grade.DRIVER
    row: dict[str, object] = {
        "name": register.name,
        "offset": register.offset,
        "width": register.width,
        "access": register.access.manual if stated else None,
        "reset": register.reset,
        "fields": [[f.name, f.msb, f.lsb, f.access.manual if stated else None] for f in register.fields],
    }
    return row if stated else row | {"only_in": "header"}


def test_oracle_holds_the_modules():
    assert set(ORACLE) == set(MODULES) == AIE_ML_MODULES
    assert {module: len(rows) for module, rows in ORACLE.items()} == {
        "memory_tile": 722,
        "memory": 207,
        "core": 229,
        "noc": 181,
        "pl": 249,
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_register_is_the_oracles(module):
    others = header_only_offsets()[module]  # those of tests/words/test_driver_registers.py
    ours = {offset: row(r) for offset, r in register_map(module).items() if offset not in others}
    theirs = {r["offset"]: {k: v for k, v in r.items() if k != "reset_from"} for r in ORACLE[module]}
    assert ours == theirs


@pytest.mark.parametrize("module", MODULES)
def test_offsets_are_aligned_and_ascend(module):
    offsets = list(register_map(module))
    assert offsets == sorted(offsets)
    assert all(offset % 4 == 0 for offset in offsets)
    names = [register.name for register in register_map(module).values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("tile", TILE_MODULES)
def test_no_two_registers_of_a_tile_overlap(tile):
    registers = sorted(
        (r for module in TILE_MODULES[tile] for r in register_map(module).values()), key=lambda r: r.offset
    )
    for low, high in pairwise(registers):
        assert low.offset + low.span <= high.offset, (low.name, high.name)
    assert registers[-1].offset + registers[-1].span <= 1 << 20


@pytest.mark.parametrize("module", MODULES)
def test_fields_fit_and_do_not_overlap(module):
    for register in register_map(module).values():
        for high, low in pairwise(register.fields):
            assert high.lsb > low.msb, register.name
        assert all(field.lsb >= 0 and field.msb < register.width for field in register.fields)
        assert all(field.msb >= field.lsb for field in register.fields), register.name
        assert register.reset & ~sum(field.mask for field in register.fields) == 0, register.name


def names_with(module: str, access: Access) -> set[str]:
    return {
        f"{register.name}.{field.name}"
        for register in register_map(module).values()
        for field in register.fields
        if field.access is access
    }


def test_zeroisation_alone_clears_itself():
    assert names_with("memory_tile", Access.SELF_CLEARING) == {"Memory_Control.Memory_Zeroisation"}
    assert names_with("memory", Access.SELF_CLEARING) == {"Memory_Control.Memory_Zeroisation"}


@pytest.mark.parametrize(("module", "channels"), [("memory_tile", 6), ("memory", 2), ("noc", 2)])
def test_reads_that_act_are_the_lock_request_and_the_count_fifo(module, channels):
    acting = {name.split(".")[0] for name in names_with(module, Access.READ_ACTS)}
    assert acting == {"Lock_Request", *(f"DMA_S2MM_FoT_Count_FIFO_Pop_{n}" for n in range(channels))}


def test_masks_follow_the_access_of_each_field():
    status = register_named("memory_tile", "DMA_S2MM_Status_0")
    assert status.access is Access.MIXED
    assert (status.writable, status.clearable, status.readable) == (0, 1 << 18, 0x3F7C_3F3F)
    queue = register_named("memory_tile", "DMA_MM2S_5_Start_Queue")
    assert (queue.writable, queue.clearable, queue.readable) == (0, 0, 0)
    control = register_named("memory_tile", "Memory_Control")
    assert (control.writable, control.clearable, control.readable) == (3, 0, 3)
    timer = register_named("core", "Timer_Control")
    assert (timer.writable, timer.readable) == (0x7F00, 0x7F00)


def test_bits_named_reserved_keep_nothing():
    word = register_named("noc", "DMA_BD7_1")
    assert [field.name for field in word.fields] == ["Base_Address_Low", "Reserved"]
    assert word.writable == word.readable == 0xFFFF_FFFC
    assert register_named("memory", "DMA_S2MM_0_Ctrl").writable == 0x3_FF1A


@given(st.data())
def test_unpack_gives_back_what_pack_took(data):
    module = data.draw(st.sampled_from(MODULES))
    register = data.draw(st.sampled_from(list(register_map(module).values())))
    values = {f.name: data.draw(st.integers(0, f.maximum)) for f in register.fields if not f.reserved}
    word = register.pack(**values)
    assert register.unpack(word) == values
    assert 0 <= word < 1 << register.width


def test_pack_names_every_misfit_at_once():
    queue = register_named("memory_tile", "DMA_S2MM_2_Start_Queue")
    with pytest.raises(RegisterError) as caught:
        queue.pack(Start_BD_ID=64, Repeat_Count=-1, Token=1)
    assert str(caught.value).splitlines() == [
        "DMA_S2MM_2_Start_Queue: Start_BD_ID is 64, allowed are 0..63 (bits 5:0 of "
        "DMA_S2MM_2_Start_Queue, AM025).",
        "DMA_S2MM_2_Start_Queue: Repeat_Count is -1, allowed are 0..255 (bits 23:16 of "
        "DMA_S2MM_2_Start_Queue, AM025).",
        "DMA_S2MM_2_Start_Queue: the register has no field 'Token'; its fields are Enable_Token_Issue, "
        "Repeat_Count, Start_BD_ID (AM025).",
    ]


def test_an_unknown_field_is_an_error():
    with pytest.raises(
        RegisterError, match="Lock0_value: the register has no field 'Value'; its fields are Lock_value"
    ):
        register_named("memory_tile", "Lock0_value").field("Value")
    assert register_named("memory_tile", "Lock0_value").field("Lock_value").mask == 0x3F


def test_an_unknown_register_is_an_error_with_its_neighbours():
    with pytest.raises(RegisterError) as caught:
        register_named("memory_tile", "Lock64_value")
    assert str(caught.value) == (
        "module memory_tile: no register is called 'Lock64_value' (AM025 module memory_tile). Did you "
        "mean Lock6_value or Lock4_value or Lock63_value?"
    )


@pytest.mark.parametrize(
    ("tile", "offset", "name"),
    [
        ("memory", 0x00000, "DataMemory"),
        ("memory", 0x7FFFC, "DataMemory"),
        ("memory", 0x80000, None),
        ("memory", 0xA05FC, "DMA_BD47_7"),
        ("memory", 0xD0000, "Lock_Request"),
        ("memory", 0xDFFFC, "Lock_Request"),
        ("memory", 0xE0000, None),
        ("memory", 0xA06A4, None),
        ("compute", 0x0FFFC, "DataMemory"),
        ("compute", 0x1D018, None),
        ("compute", 0x3F000, "Stream_Switch_Master_Config_AIE_Core0"),
        ("compute", 0x43FFC, "Lock_Request"),
        ("interface", 0x00000, None),
        ("interface", 0x1F004, "Demux_Config"),
        ("interface", 0x3F158, "Stream_Switch_Slave_Config_Trace"),
    ],
)
def test_an_address_finds_its_register(tile, offset, name):
    found = register_at(tile, offset)
    assert (found and found.name) == name


def test_fields_are_read_as_the_manual_prints_them():
    high, low = fields("ID 4:0, Reset 31 wo")
    assert (high.name, high.msb, high.lsb, high.access) == ("Reset", 31, 31, Access.WO)
    assert (low.name, low.msb, low.lsb, low.access) == ("ID", 4, 0, Access.RW)
    assert low.get(0xFFFF_FFF5) == 0x15
