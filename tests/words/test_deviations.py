"""Is each disagreement that the deviations page lists still there, and is every other one absent?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from memtile.arch.events import BROADCAST_CHANNELS, EVENTS, GROUPS
from memtile.arch.grades import Grade
from memtile.arch.register_map import register_map, register_named
from memtile.arch.registers import Access, Acts
from support.formats.oracle_files import load
from support.pages import deviation_table

ORACLE = load("registers")
MODULES = ORACLE["modules"]
Rows = list[dict[str, object]]


def rows() -> dict[str, dict[str, str]]:
    """Id -> the row, of register and event tables."""
    found = deviation_table.rows()
    return {name: row for name, row in found.items() if re.match(r"DEV-(?:REG|EVT)-", name)}


def listed(kind: str) -> Rows:
    return [d for d in ORACLE["disagreements"] if d["kind"] == kind]


def resets() -> dict[str, Rows]:
    isolation = [d for d in listed("reset") if d["register"] == "Tile_Control"]
    return {"DEV-REG-1": isolation, "DEV-REG-2": [d for d in listed("reset") if d not in isolation]}


def bit_names(module: str, register: str) -> list[str]:
    """From bit 0 up."""
    return [field.name for field in reversed(register_named(module, register).fields)]


def members(module: str, group: str) -> tuple[str, ...]:
    return next(g.members for g in GROUPS[module] if g.name == group)


def isolation_reset() -> None:
    found = resets()["DEV-REG-1"]
    assert {(d["module"], d["am025"], d["header"]) for d in found} == {
        ("memory_tile", 15, 0),
        ("core", 15, 0),
        ("pl", 15, 0),
    }
    assert all(register_map(d["module"])[d["offset"]].reset == d["am025"] for d in found)


def core_error_reset() -> None:
    found = resets()["DEV-REG-2"]
    assert [d["register"] for d in found] == ["Event_Group_Errors0_Enable", "Event_Group_Errors1_Enable"]
    for d in found:
        assert d["am025"] ^ d["header"] == 1 << 6
        assert register_map("core")[d["offset"]].reset == d["am025"]
    assert GROUPS["core"][4].first + 6 not in EVENTS["core"].values()


def reserved_names() -> None:
    found = listed("field_bits")
    assert len(found) == 22
    for d in found:
        assert d["header"] == {}
        (bits,) = d["am025"].values()
        register = register_map(d["module"])[d["offset"]]
        assert [[f.msb, f.lsb] for f in register.fields if f.reserved] == [bits]
        assert not register.writable & 1 << bits[1]
    ours = [r.name for m in MODULES for r in register_map(m).values() for f in r.fields if f.reserved]
    assert sorted(ours) == sorted(d["register"] for d in found)


def other_names() -> None:
    found = listed("name")
    assert len(found) == 6
    assert all(register_map(d["module"])[d["offset"]].name == d["am025"] for d in found)


HEADER_ONLY = {
    *("SPARE_REG", "CSSD_TRIGGER", "MODULE_RESET_CONTROL", "BISR_CACHE_CTRL", "BISR_CACHE_STATUS"),
    *(f"BISR_{kind}_DATA{n}" for kind in ("CACHE", "TEST") for n in range(4)),
    *("PROGRAM_MEMORY_ERROR_INJECTION", "Core_ECC_Control"),
    *("Core_ECC_Scrubbing_Event", "Core_ECC_Failing_Address"),
    *(f"CORE_Q{n}" for n in range(4)),
}


def header_only() -> None:
    found = listed("only_in_header")
    assert len(found) == 10
    ours = {(m, o) for m in MODULES for o, r in register_map(m).items() if r.grade is Grade.DRIVER}
    ours -= {(m, o) for m, o in ours if register_map(m)[o].name.startswith("RESERVED")}
    described = {(module, r["offset"]) for module, rows in MODULES.items() for r in rows}
    assert ours & described == {(d["module"], d["offset"]) for d in found}
    assert {register_map(m)[o].name for m, o in ours - described} == HEADER_ONLY
    assert len(ours) == 37
    for module, offset in ours - {("pl", 0x36008)}:
        assert register_map(module)[offset].access is Access.RW
    for module, offset in ours & described:
        assert next(r for r in MODULES[module] if r["offset"] == offset)["access"] is None


def side_effects() -> None:
    effects = {Access.SELF_CLEARING: "rw", Access.READ_ACTS: "ro"}
    printed = {
        (module, r["name"], name): access
        for module, registers in MODULES.items()
        for r in registers
        for name, _, _, access in r["fields"]
    }
    found = Counter()
    for module in MODULES:
        for register in register_map(module).values():
            for field in register.fields:
                if field.access in effects:
                    assert printed[module, register.name, field.name] == effects[field.access]
                    found[re.sub(r"_\d$", "", register.name)] += 1
    assert found == {"Memory_Control": 2, "Lock_Request": 3, "DMA_S2MM_FoT_Count_FIFO_Pop": 4 * (6 + 2 + 2)}


def counter_names() -> None:
    assert bit_names("core", "Performance_Counter3") == bit_names("pl", "Performance_Counter1")
    assert bit_names("core", "Performance_Counter3") == ["Counter0_Value"]
    assert bit_names("memory_tile", "Performance_Counter3") == ["Counter3_Value"]


def header_resets() -> None:
    found = [(m, r) for m, registers in MODULES.items() for r in registers if "reset_from" in r]
    assert len(found) == 26
    assert all(register_map(module)[r["offset"]].reset == 0 for module, r in found)


def kept_core_registers() -> None:
    """Of the core's own registers those that only keep a value; the others act."""
    own = {r["offset"] for r in MODULES["core"]}
    found = [r for o, r in register_map("core").items() if o not in own and r.grade is not Grade.DRIVER]
    acting = {r.name for r in found if r.acts is not Acts.KEEPS}
    assert acting == {
        *("Core_Control", "Core_Status", "Enable_Events", "Reset_Event", "Core_Memory_Control"),
        *("Debug_Control0", "Debug_Control1", "Debug_Control2", "Debug_Status"),
        *("Error_Halt_Control", "Error_Halt_Event", "Accumulator_Control"),
    }
    kept = {r.name for r in found} - acting
    assert {"Core_PC", "Core_SP", "Core_LR", "PC_Event0", "Core_Processor_Bus", "Core_R31"} < kept
    assert len(kept) == 215


def places_of_mask_registers() -> None:
    header = {row[0]: row[1] for row in load("driver_registers")["modules"]["core"]}
    for n in range(4):
        assert register_named("core", f"Core_Q{n}").offset == header[f"RESERVED{72 + n}"]
        assert register_named("core", f"CORE_Q{n}").offset == header[f"CORE_Q{n}"]


def other_core_names() -> None:
    header = {row[0] for row in load("driver_registers")["modules"]["core"]}
    for name in ("MEMORY_CONTROL", "ECC_CONTROL", "ECC_SCRUBBING_EVENT", "ECC_FAILING_ADDRESS"):
        assert name in header
        named = {r.name.upper() for r in register_map("core").values()}
        assert name not in named
        assert f"CORE_{name}" in named


def mirrored_registers() -> None:
    acting = (Acts.SETS, Acts.CLEARS)
    found = {m: [r for r in register_map(m).values() if r.acts in acting] for m in MODULES}
    counts = {module: len(registers) for module, registers in found.items()}
    assert counts == {"memory_tile": 16, "memory": 8, "core": 8, "pl": 24, "noc": 2}
    for module, registers in found.items():
        for register in registers:
            assert register.access is Access.WO
            assert register_map(module)[register.argument].access is Access.RO


def back_pressure_order(module: str, register: str) -> Callable[[], None]:
    def check() -> None:
        assert bit_names(module, register)[18:22] == [
            "DMA_S2MM_0_memory_backpressure",
            "DMA_S2MM_1_memory_backpressure",
            "DMA_MM2S_0_stream_backpressure",
            "DMA_MM2S_1_stream_backpressure",
        ]
        assert members(module, "GROUP_DMA_ACTIVITY")[18:22] == (
            "DMA_MM2S_0_STREAM_BACKPRESSURE",
            "DMA_MM2S_1_STREAM_BACKPRESSURE",
            "DMA_S2MM_0_MEMORY_BACKPRESSURE",
            "DMA_S2MM_1_MEMORY_BACKPRESSURE",
        )

    return check


def stall_order() -> None:
    assert bit_names("core", "Event_Group_Core_Stall_Enable")[7:] == [
        "ECC_Scrubbing_Stall",
        "ECC_Error_Stall",
    ]
    assert members("core", "GROUP_STALL")[7:] == ("ECC_ERROR_STALL", "ECC_SCRUBBING_STALL")


def interface_broadcast() -> None:
    assert load("devices")["tile_kinds"]["interface"]["broadcast_channels"] == 15
    assert BROADCAST_CHANNELS == 16
    assert EVENTS["pl"]["BROADCAST_A_15"] - EVENTS["pl"]["BROADCAST_A_0"] == 15
    assert register_named("pl", "Event_Broadcast15_A").writable


def packet_error() -> None:
    bit = EVENTS["memory_tile"]["STREAM_PKT_ERROR"] - EVENTS["memory_tile"]["GROUP_ERRORS"] - 1
    assert bit_names("memory_tile", "Event_Group_Error_Enable")[bit] == "Stream_Pkt_Parity_Error"
    assert "STREAM_PKT_PARITY_ERROR" not in EVENTS["memory_tile"]


def external_errors():
    """Numbered apart from those of the DMA; tests/data/test_error_events.py raises them."""
    numbers = [EVENTS["pl"][f"AXI_MM_{error}_NSU_ERROR"] for error in ("DECODE", "SLAVE")]
    assert numbers == [67, 68]


STILL_THERE: dict[str, Callable[[], None]] = {
    "DEV-REG-1": isolation_reset,
    "DEV-REG-2": core_error_reset,
    "DEV-REG-3": reserved_names,
    "DEV-REG-4": other_names,
    "DEV-REG-5": header_only,
    "DEV-REG-6": side_effects,
    "DEV-REG-7": counter_names,
    "DEV-REG-8": header_resets,
    "DEV-REG-9": kept_core_registers,
    "DEV-REG-10": mirrored_registers,
    "DEV-REG-11": places_of_mask_registers,
    "DEV-REG-12": other_core_names,
    "DEV-EVT-1": back_pressure_order("memory", "Event_Group_DMA_Enable"),
    "DEV-EVT-2": back_pressure_order("pl", "Event_Group_DMA_Activity_Enable"),
    "DEV-EVT-3": stall_order,
    "DEV-EVT-4": interface_broadcast,
    "DEV-EVT-5": packet_error,
    "DEV-EVT-6": external_errors,
}


@pytest.mark.parametrize("name", STILL_THERE)
def test_the_disagreement_is_what_the_page_says(name):
    STILL_THERE[name]()


def test_the_page_lists_exactly_these():
    assert list(rows()) == list(STILL_THERE)


def test_every_disagreement_of_the_oracle_is_listed():
    kinds = Counter(d["kind"] for d in ORACLE["disagreements"])
    assert kinds == {"field_bits": 22, "only_in_header": 10, "name": 6, "reset": 5}
    in_events = load("events")["disagreements"]
    assert [(d["module"], d["events"]) for d in in_events] == [
        ("memory", [37, 38, 39, 40]),
        ("interface", [32, 33, 34, 35]),
    ]
    for row, d in zip(("DEV-EVT-1", "DEV-EVT-2"), in_events, strict=True):
        module = {"interface": "pl"}.get(d["module"], d["module"])
        group = next(g for g in GROUPS[module] if g.name == "GROUP_DMA_ACTIVITY")
        assert [event - group.first for event in d["events"]] == [18, 19, 20, 21]
        assert f"{group.first} + i" in rows()[row]["choice"]
