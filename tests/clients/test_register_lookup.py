"""Does ``memtile info NAME`` find registers, events and ports, and say of each what the tables have?"""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from memtile.arch.devices import ARRAY_BASE, DEVICES
from memtile.arch.register_map import register_at
from memtile.arch.registers import Acts
from memtile.cli.main import app
from memtile.errors import DesignError
from memtile.report import register_lookup
from memtile.report.register_lookup import look_up, numbers_of, rows_of


def lines(*args: str, code: int = 0) -> list[str]:
    done = CliRunner().invoke(app, ["info", *args])
    assert done.exit_code == code, done.output
    text = (done.stdout if code == 0 else done.stderr).splitlines()
    assert code or max(map(len, text)) <= 80
    return text


def test_an_address_in_a_tile_is_shown_with_its_fields() -> None:
    assert lines("0xA0604", "--tile", "memory") == [
        "DMA_S2MM_0_Start_Queue  [npu1, memory tile, offset 0xA0604]",
        "  write only; reset 0x0; a write adds a task to the queue of DMA S2MM 0.",
        "  bits   reset   field",
        "  31     0x0     Enable_Token_Issue",
        "  23:16  0x0     Repeat_Count",
        "  5:0    0x0     Start_BD_ID",
        "  Source: AM025 module memory_tile.",
    ]


def test_a_name_shows_the_register_of_each_tile_kind_that_has_it() -> None:
    shown = lines("DMA_S2MM_0_Ctrl")
    heads = [line for line in shown if line.startswith("DMA_")]
    assert [head.split(", ")[1] for head in heads] == ["memory tile", "compute tile", "interface tile"]
    assert "  15:8   0x0     Controller_ID" in shown


@pytest.mark.parametrize(
    "name", ["dma s2mm 0 ctrl", "XAIEMLGBL_MEMORY_TILE_MODULE_DMA_S2MM_0_CTRL", "memory_tile.DMA_S2MM_0_Ctrl"]
)
def test_other_spellings_find_it_too(name: str) -> None:
    found = look_up(name, role="memory")
    assert [each.register.name for each in found.registers] == ["DMA_S2MM_0_Ctrl"]


def test_the_drivers_own_name_is_known() -> None:
    found = look_up("NOC_INTERFACE_ME_TO_NOC_SOUTH3").registers
    assert [each.register.name for each in found] == ["NoC_Interface_AIE_to_NoC_South3"]


def test_a_part_of_a_name_lists_what_it_may_mean() -> None:
    shown = lines("lock0")
    assert shown[0] == "3 registers of npu1 fit; give a full name, or --tile:"
    assert shown[1] == "  Lock0_value  memory     0xC0000  the value of lock 0; a write sets it"
    assert shown[-1] == "LOCK_0_EQUAL_TO_VALUE   42  event of module pl of the interface tile"
    families = lines("status", "--tile", "memory")
    assert any(line.startswith("  DMA_S2MM_Status_# x6 ") for line in families)
    assert len(lines("a")) <= 45


def test_a_field_leads_to_its_registers() -> None:
    found = look_up("Start_BD_ID", DEVICES["npu1"], "interface")
    assert {each.register.acts for each in found.registers} == {Acts.START_QUEUE}


@pytest.mark.parametrize(
    ("device", "address", "head"),
    [
        ("npu1", "0x1D214", "DMA_MM2S_0_Task_Queue  [npu1, interface tile, offset 0x1D214]"),
        ("npu1", "0x021A0604", "DMA_S2MM_0_Start_Queue  [npu1, memory tile (1,1), address 0x21A0604]"),
        ("npu2", "0xE21F030", "Lock3_value  [npu2, AIE2P compute tile (7,2), address 0xE21F030]"),
        (
            "xcve2802",
            hex(ARRAY_BASE + (4 << 25 | 2 << 20 | 0xC0010)),
            "Lock1_value  [xcve2802, memory tile (4,2), address 0x82C0010]",
        ),
        (
            "xc2ve3858",
            "0x360020",
            "Tile_Control  [xc2ve3858, AIE-ML v2 compute tile (0,3), address 0x360020]",
        ),
    ],
)
def test_an_absolute_address_names_tile_and_register(device: str, address: str, head: str) -> None:
    assert lines(device, address)[0].startswith(head)


def test_windows_say_where_in_them_an_address_is() -> None:
    assert "  byte 0x1234 of a window of 0x80000 bytes from 0x00000" in lines("0x1234", "--tile", "memory")
    assert lines("0x22345", "--tile", "compute")[0].startswith("ProgramMemory")


def test_events_and_ports_by_name_and_by_number() -> None:
    assert lines("PORT_STALLED_3", "--tile", "memory") == [
        "PORT_STALLED_3   93  event of module memory_tile of the memory tile"
    ]
    assert len(lines("event", "77", "--tile", "compute")) == 2
    assert lines("slave", "0x3", "--tile", "memory") == ["DMA3    3  slave port of the memory tile"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["DMA_S2MM_0_Ctrrl"], "Did you mean DMA_S2MM_0_Ctrl"),
        (["nothing_like_it"], "A part of a name is enough"),
        (["0x21D214"], "In the interface tile it is DMA_MM2S_0_Task_Queue."),
        (["0x40000000"], "Name a device that has it: memtile info xcve2802 0x40000000."),
        (["0x021A0604", "--tile", "compute"], "the address is in the memory tile of column 1, row 1"),
        (["xcve2802", "0xE1214", "--tile", "memory"], "nothing answers at offset 0xE1214 of a memory tile"),
        (["xcve2802", "0x200001D214"], "xcve2802 does not have"),
        (["event", "200", "--tile", "compute"], "no device, register, event or stream port"),
        (["npu9"], "Did you mean npu2?"),
        (["--tile", "memory"], "--tile needs the name or address"),
        (["npu2", "--tile", "memory"], "--tile needs the name or address"),
    ],
)
def test_what_is_not_there_is_refused_with_the_next_step(args: list[str], says: str) -> None:
    assert says in " ".join(lines(*args, code=2))


def test_interface_tiles_without_a_dma_do_not_answer() -> None:
    with pytest.raises(DesignError, match="nothing answers"):
        look_up(hex(4 << 25 | 0x1D214), DEVICES["xcve2802"])
    assert look_up(hex(2 << 25 | 0x1D214), DEVICES["xcve2802"]).registers


def test_every_register_of_every_device_is_found_where_it_is() -> None:
    for of in {each.generation: each for each in DEVICES.values()}.values():
        for kind in map(of.kind, register_lookup.ROLES):
            for row in [*rows_of(kind)][::29]:
                found = look_up(hex(row.offset), of, kind.role).registers
                assert [each.register for each in found] == [register_at(kind.name, row.offset)]
                assert found[0].does
            assert [*numbers_of(kind)]


def test_json_has_all_that_fit() -> None:
    data = json.loads("\n".join(CliRunner().invoke(app, ["info", "lock", "--json"]).stdout.splitlines()))
    assert not data["exact"]
    assert len(data["registers"]) > 100
    assert {each["tile"] for each in data["registers"]} == {"memory", "compute", "interface"}
