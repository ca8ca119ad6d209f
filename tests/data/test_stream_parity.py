"""Is wrong parity of a stream word seen where the word leaves the switches, and nowhere else?"""

from __future__ import annotations

import pytest

from memtile.arch.packets import control_header
from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_named
from memtile.arch.registers import ModuleName
from memtile.arch.tiles import TileName
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.stream_bench import Bench
from support.designs.control_packet_bench import WRITE, reachable
from support.designs.control_packet_bench import send as send_control
from support.designs.packet_bench import ALL, got, send, take

EVENT = "STREAM_SWITCH_PARITY_ERROR"
CORE_EVENT = "STREAM_SWITCH_PORT_PARITY_ERROR"


def inject(bench: Bench, module: ModuleName, *fields: str, at: int = 0) -> None:
    register = register_named(module, "Stream_Switch_Parity_Injection")
    bench.door(at).write32(register.offset, register.pack(**dict.fromkeys(fields, 1)))


def seen(bench: Bench, module: ModuleName, at: int = 0) -> list[str]:
    """Ports in the parity status of a tile."""
    register = register_named(module, "Stream_Switch_Parity_Status")
    word = bench.door(at).read32(register.offset)
    return [field.name for field in register.fields if word & field.mask]


def below_a_compute_tile() -> Bench:
    """The memory tile's MM2S 2 feeds S2MM 1 of the compute tile above it, and its own S2MM 2."""
    bench = Bench("memory", "compute")
    bench.circuit("DMA2", "NORTH3", "DMA2")
    bench.circuit("SOUTH3", "DMA1", at=1)
    bench.fill(0x4000, [1, 2, 3])
    bench.write_bd(2, Descriptor("memory", 3, OWN.address(0x4000)))
    bench.write_bd(4, Descriptor("memory", 3, OWN.address(0x8000)))
    bench.issue(bench.s2mm(2), 4)
    bench.write_bd(0, Descriptor("compute", 3, 0), at=1)
    bench.issue(bench.s2mm(1, at=1), 0, at=1)
    return bench


@pytest.mark.feature("F23")
def test_parity_travels_with_the_word_to_all_that_take_it() -> None:
    """DEV-PAR-1: only the ports that the words leave by report them; the words are right."""
    bench = below_a_compute_tile()
    inject(bench, "memory_tile", "DMA_2")
    units = EventUnit(bench.door()), EventUnit(bench.door(1), "core")
    for unit, event in zip(units, (EVENT, CORE_EVENT), strict=True):
        unit.count(0, event, event)
    bench.issue(bench.mm2s(2), 2)
    bench.run()
    assert bench.memory(0x8000, 3) == bench.memory(0, 3, at=1) == [1, 2, 3]
    assert (seen(bench, "memory_tile"), seen(bench, "core", at=1)) == (["DMA_2"], ["DMA_1"])
    assert [unit.counted(0) for unit in units] == [3, 3]


@pytest.mark.parametrize(
    "others", [(), ("DMA_0", "DMA_1", "DMA_3", "DMA_4", "DMA_5", "Tile_Control", "Mem_trace")]
)
def test_what_enters_by_other_ports_has_right_parity(others: tuple[str, ...]) -> None:
    bench = below_a_compute_tile()
    inject(bench, "memory_tile", *others)
    bench.issue(bench.mm2s(2), 2)
    bench.run()
    assert bench.memory(0x8000, 3) == [1, 2, 3]
    assert seen(bench, "memory_tile") + seen(bench, "core", at=1) == []
    assert not EventUnit(bench.door()).status(EVENT)


def test_the_status_stays_until_it_is_cleared_and_injection_until_it_is_taken_back() -> None:
    bench = Bench("memory")
    bench.circuit("DMA0", "DMA0")
    inject(bench, "memory_tile", "DMA_0")
    for taken, reported in ((True, ["DMA_0"]), (False, [])):
        send(bench, 0, 0, [5])
        take(bench, 0, 2)
        bench.run()
        assert seen(bench, "memory_tile") == reported
        status = register_named("memory_tile", "Stream_Switch_Parity_Status")
        bench.door().write32(status.offset, status.pack(DMA_0=1))
        assert seen(bench, "memory_tile") == []
        if taken:
            inject(bench, "memory_tile")


@pytest.mark.feature("F19")
def test_packets_carry_it_too() -> None:
    bench = Bench("memory")
    bench.packets("DMA0", (7, ALL, 0, 0))
    bench.collects("DMA3", 0, 0, drop=True)
    inject(bench, "memory_tile", "DMA_0")
    take(bench, 3, 2)
    send(bench, 0, 7, [8, 9])
    bench.run()
    assert got(bench, 3, 2) == [8, 9]
    assert seen(bench, "memory_tile") == ["DMA_3"]


def test_a_control_packet_with_it_is_obeyed_and_reported() -> None:
    bench = reachable()
    inject(bench, "memory_tile", "DMA_0")
    send_control(bench, [control_header(WRITE, 0x400), 77])
    assert bench.memory(0x100, 1) == [77]
    assert seen(bench, "memory_tile") == ["Tile_Control"]


@pytest.mark.parametrize("half", ["lower", "upper"])
def test_the_ports_of_aie_ml_v2_have_it_for_both_words(half: str) -> None:
    bench = Bench("memory_v2")
    bench.circuit("DMA1", "DMA1")
    inject(bench, "memory_tile_v2", f"DMA_1_{half}")
    bench.fill(0x4000, [1, 2, 3])
    bench.write_bd(24, Descriptor("memory_v2", 3, OWN.address(0x4000)))
    bench.write_bd(25, Descriptor("memory_v2", 3, OWN.address(0x8000)))
    bench.issue(bench.s2mm(1), 25)
    bench.issue(bench.mm2s(1), 24)
    bench.run()
    assert bench.memory(0x8000, 3) == [1, 2, 3]
    assert seen(bench, "memory_tile_v2") == ["DMA_1"]


@pytest.mark.parametrize(
    ("tile", "module", "fields"),
    [
        ("memory", "memory_tile", {"TRACE0": "Mem_trace", "CTRL0": "Tile_Control", "DMA5": "DMA_5"}),
        ("compute", "core", {"TRACE0": "AIE_Trace", "TRACE1": "Mem_trace", "CORE0": "Core", "DMA0": "DMA_0"}),
        ("interface", "pl", {"TRACE0": "Shim_trace", "SOUTH7": "South_7", "CTRL0": "Tile_Control"}),
    ],
)
def test_every_bit_is_about_its_port(tile: TileName, module: ModuleName, fields: dict[str, str]) -> None:
    bench = Bench(tile)
    for port, field in fields.items():
        inject(bench, module, field)
        chosen = bench.engine.state.switch.parity.nonzero()[0].tolist()
        assert chosen == [PORTS[tile].slave(port)]
