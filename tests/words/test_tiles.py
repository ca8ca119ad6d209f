"""Do the tile kinds' limits and bases agree with the driver's tables and with the AM025 registers?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from memtile.arch.bd_layout import BURST_BYTES
from memtile.arch.events import BROADCAST_CHANNELS, EVENT_UNITS
from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_map, register_named
from memtile.arch.registers import ModuleName
from memtile.arch.tiles import (
    COLUMN_SHIFT,
    GRANULE_WORDS,
    ROW_SHIFT,
    TILE_BYTES,
    TILE_KINDS,
    WORD_BYTES,
    kinds_of,
)
from support.formats.oracle_files import load

ORACLE = load("devices")
KINDS = ORACLE["tile_kinds"]
REGISTERS = {
    module: {r["name"]: r["offset"] for r in rows} for module, rows in load("registers")["modules"].items()
}
DMA_MODULE = {"memory": "memory_tile", "compute": "memory", "interface": "noc"}
TILES = tuple(kinds_of("AIE-ML"))
SOURCE = Path(__file__).parents[2] / "src" / "memtile"
MODEL = SOURCE / "model"
OF_ONE_MODULE = re.compile(r'register_named\(\s*"memory_tile",\s*"(\w+)"\s*\)')
OF_ONE_KIND = re.compile(r"\bMEMORY\.(\w+)(?:\[\"(\w+)\"\]\.(\w+))?")


def test_tile_addresses():
    facts = ORACLE["tile_address"]
    assert facts == {"column_shift": COLUMN_SHIFT, "row_shift": ROW_SHIFT, "tile_bytes": TILE_BYTES}


@pytest.mark.parametrize("tile", TILES)
def test_counts_and_bases_are_the_drivers(tile):
    kind, facts = TILE_KINDS[tile], KINDS[tile]
    ours = {
        "bds": kind.bds,
        "bd_base": kind.bd_base,
        "bd_stride": kind.bd_stride,
        "bd_words": kind.bd_words,
        "channels_per_direction": kind.channels,
        "channel_control_base": kind.control_base,
        "start_queue_base": kind.queue_base,
        "channel_stride": kind.channel_stride,
        "status_base_s2mm": kind.status_base[0],
        "status_base_mm2s": kind.status_base[1],
        "address_dimensions": kind.dimensions,
        "task_queue_depth": kind.queue_depth,
        "max_repeat": kind.max_repeat,
        "compression": kind.has_compression,
        "padding": kind.has_padding,
        "locks": kind.locks,
        "lock_ids_seen_by_dma": len(kind.lock_windows) * kind.locks,
        "lock_value_base": kind.lock_value_base,
        "lock_value_stride": kind.lock_value_stride,
        "lock_request_base": kind.lock_request_base,
        "lock_value_min_request": kind.limits("Lock_Acq_Value")[0],
        "lock_value_max": kind.lock_value_max,
        "memory_bytes": kind.memory_bytes,
        "stream_masters": len(PORTS[tile].masters),
        "stream_slaves": len(PORTS[tile].slaves),
    }
    assert ours == {key: facts[key] for key in ours}


@pytest.mark.parametrize("tile", ["memory", "compute"])
def test_banks(tile):
    kind, facts = TILE_KINDS[tile], KINDS[tile]
    assert kind.banks == facts["banks"]
    assert 8 * kind.granule_bytes == facts["bank_width_bits"]
    assert kind.granule_bytes == GRANULE_WORDS * WORD_BYTES == KINDS["memory"]["bank_interleave_bytes"]
    assert kind.banks * kind.bank_bytes == kind.memory_bytes


@pytest.mark.parametrize("tile", TILES)
def test_field_limits(tile):
    kind, facts = TILE_KINDS[tile], KINDS[tile]["fields"]
    bits = {name: field.bits for name, field in kind.bd_fields.items()}
    address = "address_bits_words" if tile != "interface" else "address_bits_bytes"
    below = 0 if tile != "interface" else 2  # a byte address ends in bits that are not stored
    assert bits["Base_Address"] + below == facts[address]
    assert bits["Buffer_Length"] == facts["length_bits"]
    assert bits["D0_Stepsize"] == facts["step_bits"]
    assert kind.limits("D0_Stepsize") == (1, facts["step_max_words"])
    assert bits["D0_Wrap"] == facts["wrap_bits"]
    assert sum(name.endswith("_Wrap") and name[0] == "D" for name in bits) == facts["wrap_dimensions"]
    assert sum(name.endswith("_Stepsize") and name[0] == "D" for name in bits) == kind.dimensions
    assert bits["Iteration_Stepsize"] == facts["iteration_step_bits"]
    assert kind.limits("Iteration_Wrap") == (1, facts["iteration_wrap_max"])
    pads = [name for name in ("D0_Zero_Before", "D1_Zero_Before", "D2_Zero_Before") if name in bits]
    assert [bits[name] for name in pads] == facts["pad_bits"]
    assert [kind.limits(name)[1] for name in pads] == facts["pad_max"]
    assert [kind.limits(name.replace("Before", "After"))[1] for name in pads] == facts["pad_max"]
    assert bits["Lock_Acq_ID"] == bits["Lock_Rel_ID"] == facts["lock_id_bits"]
    assert bits["Lock_Acq_Value"] == bits["Lock_Rel_Value"] == facts["lock_value_bits"]
    assert bits["Next_BD"] == facts["next_bd_bits"]
    assert bits["Out_Of_Order_BD_ID"] == facts["ooo_id_bits"]
    assert bits["Packet_ID"] == facts["packet_id_bits"]
    assert bits["Packet_Type"] == facts["packet_type_bits"]


def test_memory_tile_windows_and_banks_of_descriptors():
    kind, facts = TILE_KINDS["memory"], KINDS["memory"]
    windows = {name: [first, first + kind.memory_bytes - 1] for name, first in kind.memory_windows.items()}
    assert windows == facts["dma_windows"]
    locks = {name: [first, first + kind.locks - 1] for name, first in kind.lock_windows.items()}
    assert locks == facts["lock_windows"]
    assert kind.dma_address_words * WORD_BYTES == facts["driver_max"]["address_bytes"]
    assert list(kind.neighbour_channels) == facts["neighbour_channels"]
    banks = {
        "even_channels": [kind.bd_bank(0)[0], kind.bd_bank(4)[-1]],
        "odd_channels": [kind.bd_bank(1)[0], kind.bd_bank(5)[-1]],
    }
    assert banks == facts["bd_banks"]


def test_interface_bursts():
    assert {str(code): length for code, length in enumerate(BURST_BYTES)} == KINDS["interface"]["burst_bytes"]


@pytest.mark.parametrize("tile", TILES)
def test_bases_are_those_of_the_am025_registers(tile):
    kind, offsets = TILE_KINDS[tile], REGISTERS[DMA_MODULE[tile]]
    queue = "Task_Queue" if tile == "interface" else "Start_Queue"
    sticky = "_0" if kind.locks > 32 else ""
    assert offsets["DMA_BD0_0"] == kind.bd_base
    assert offsets[f"DMA_BD1_{kind.bd_words - 1}"] == kind.bd_base + kind.bd_stride + 4 * (kind.bd_words - 1)
    assert offsets["DMA_S2MM_0_Ctrl"] == kind.control_base
    assert offsets[f"DMA_S2MM_1_{queue}"] == kind.queue_base + kind.channel_stride
    assert offsets["DMA_MM2S_0_Ctrl"] == kind.control_base + kind.channels * kind.channel_stride
    assert (offsets["DMA_S2MM_Status_0"], offsets["DMA_MM2S_Status_0"]) == kind.status_base
    assert offsets["DMA_S2MM_Current_Write_Count_0"] == kind.write_count_base
    assert offsets["DMA_S2MM_FoT_Count_FIFO_Pop_0"] == kind.count_pop_base
    assert offsets["Lock1_value"] == kind.lock_value_base + kind.lock_value_stride
    assert register_map(DMA_MODULE[tile])[kind.lock_value_base].fields[0].maximum == kind.lock_value_max
    assert offsets["Lock_Request"] == kind.lock_request_base
    assert offsets["Locks_Event_Selection_0"] == kind.lock_event_base
    assert sum("Locks_Event_Selection" in name for name in offsets) == kind.lock_event_selectors
    assert offsets[f"Locks_Overflow{sticky}"] == kind.lock_overflow_base
    assert offsets[f"Locks_Underflow{sticky}"] == kind.lock_underflow_base


@pytest.mark.parametrize("tile", TILES)
def test_lock_request_window_holds_every_request(tile):
    kind = TILE_KINDS[tile]
    low, high = kind.limits("Lock_Acq_Value")
    assert (high - low) << kind.lock_request_value_lsb < kind.lock_request_acquire
    assert 2 * kind.lock_request_acquire == kind.lock_request_stride


@pytest.mark.parametrize(
    ("module", "tile", "key"),
    [
        ("memory_tile", "memory", "perf_counters"),
        ("memory", "compute", "perf_counters_memory"),
        ("core", "compute", "perf_counters_core"),
        ("pl", "interface", "perf_counters"),
    ],
)
def test_counters(module, tile, key):
    unit = EVENT_UNITS[module]
    assert unit.counters == KINDS[tile][key]
    assert register_map(module)[unit.counter_base].name.startswith("Performance_C")
    channels = KINDS[tile]["broadcast_channels"]
    assert channels == (BROADCAST_CHANNELS - 1 if tile == "interface" else BROADCAST_CHANNELS)  # DEV-EVT-4


@pytest.mark.parametrize(("module", "tile"), [("memory_tile", "memory"), ("memory", "compute")])
def test_watchpoints(module, tile):
    names = [register.name for register in register_map(module).values()]
    assert sum(name.startswith("WatchPoint") for name in names) == KINDS[tile]["watchpoints"]


def test_what_the_model_reads_from_one_kind_is_the_same_for_all():
    """Queues, locks and request windows are those of the memory tile in the model, whatever the tile."""
    found = {use for path in MODEL.rglob("*.py") for use in OF_ONE_KIND.findall(path.read_text("utf-8"))}
    assert {"queue_depth", "lock_value_max", "lock_request_stride"} <= {fact for fact, *_ in found}
    for fact, key, part in found:
        of_kind = [getattr(kind, fact) for kind in TILE_KINDS.values()]
        values = [getattr(value[key], part) for value in of_kind] if key else of_kind
        assert len(set(values)) == 1, (fact, key, dict(zip(TILE_KINDS, values, strict=True)))


def in_a_memory_tile(name):
    """The register of the memory tile that stands for one called ``name`` in another module."""
    for other, ours in (
        ("MM2S", "S2MM"),
        ("Task_Queue", "Start_Queue"),
        ("Performance_Ctrl", "Performance_Control"),
    ):
        name = name.replace(other, ours)
    return "Tile_" + name if name.startswith("Control_Packet_") else name


@pytest.mark.parametrize("module", get_args(ModuleName))
def test_the_fields_that_the_model_reads_from_one_module_are_at_the_same_place_in_all(module):
    """A narrower field will do: the bits above it are not kept. Cur_BD is looked up by kind, and the queue of
    noc_v2 has two bits that stay 0."""
    files = [path for room in ("model", "sim", "io") for path in (SOURCE / room).rglob("*.py")]
    names = {name for path in files for name in OF_ONE_MODULE.findall(path.read_text("utf-8"))}
    assert {"DMA_S2MM_0_Ctrl", "Tile_Control", "Timer_Control", "Lock_Request"} <= names
    compared = 0
    for register in register_map(module).values():
        if (name := in_a_memory_tile(register.name)) in names:
            ours = {field.name: field for field in register_named("memory_tile", name).fields}
            for field in (f for f in register.fields if f.name in ours):
                compared += 1
                if field.name == "Cur_BD":
                    continue
                assert field.lsb == ours[field.name].lsb, (register.name, field)
                if (module, field.name) == ("noc_v2", "Task_Queue_Size"):
                    continue
                assert field.maximum <= ours[field.name].maximum, (register.name, field)
    assert compared > 8
