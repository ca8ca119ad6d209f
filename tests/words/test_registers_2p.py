"""Do the register maps of AIE2P agree with the driver's header, and differ from AIE-ML only where it does?"""

from __future__ import annotations

import pytest

from memtile.arch.bd_layout import MEMORY_BD
from memtile.arch.events import EVENT_MODULES, EVENTS, events_of
from memtile.arch.grades import Grade
from memtile.arch.register_map import TILE_MODULES, register_at, register_map, register_named
from memtile.arch.registers import ModuleName, Register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind, kinds_of
from memtile.bd.codec import decode, encode
from memtile.bd.descriptor import Axi, Descriptor, Dim, Pad
from memtile.bd.windows import DmaAddress
from memtile.errors import DescriptorError
from memtile.model.state.tile_columns import Placed
from memtile.report.register_coverage import driver_registers, register_coverage
from memtile.sim.loop.engine import Engine
from support.formats.oracle_files import load

ORACLE = load("registers_2p")["modules"]
MODULES: dict[str, ModuleName] = {
    "memory_tile": "memory_tile_2p",
    "memory": "memory_2p",
    "core": "core_2p",
    "pl": "pl_2p",
}
RESETS = {"Event_Group_Errors0_Enable", "Event_Group_Errors1_Enable"}  # DEV-REG-2
RESERVED_BITS = {"Core_CR1", "Core_SR"}  # the masks of the registers have bits that no field has
LEFT_OUT = ("SPARE", "RESERVED", "BISR", "CSSD")
KINDS = kinds_of("AIE2P")
REGISTER_FILE = range(0x30000, 0x31500)


def rows(module: str) -> dict[int, tuple[str, int, int, int, int]]:
    return {offset: row for row in ORACLE[module] for _, offset, *_ in [row]}


def mask(register: Register) -> int:
    return sum(field.mask for field in register.fields if not field.reserved)


@pytest.mark.feature("F35")
@pytest.mark.parametrize("module", MODULES)
def test_every_register_is_where_the_driver_has_it(module: str) -> None:
    """DEV-AIE2P-1: offset, width and fields; reserved bits that AM025 names aside (DEV-REG-3)."""
    facts, compared = rows(module), 0
    for offset, register in register_map(MODULES[module]).items():
        if offset not in facts:  # as the oracle says of itself; DEV-AIE2P-5
            assert register.name.startswith(("SPARE", "RESERVED", "BISR", "CSSD", "Core_30")), register.name
            continue
        _, _, fields, width, reset = facts[offset]
        assert register.width == width, register.name
        assert register.grade is Grade.DRIVER, register.name
        if width == 8 * WORD_BYTES:
            compared += 1
            named = sum(field.mask for field in register.fields)
            assert mask(register) & ~fields == 0, register.name
            assert fields & ~named == 0 or register.name in RESERVED_BITS, register.name
            if register.name not in RESETS and not register.name.endswith(("_mask_A", "_mask_B")):
                assert register.reset == reset, register.name
    assert compared > 190


@pytest.mark.parametrize("module", MODULES)
def test_no_register_of_the_driver_is_missing(module: str) -> None:
    windows = [r for r in register_map(MODULES[module]).values() if r.span > WORD_BYTES]
    missing = [
        name
        for name, offset, *_ in ORACLE[module]
        if offset not in register_map(MODULES[module])
        and not any(r.offset <= offset < r.offset + r.span for r in windows)
    ]
    assert [name for name in missing if not name.startswith(("LOCK_REQUEST", "PROGRAM_MEMORY"))] == []


def test_what_differs_from_aie_ml() -> None:
    """Mechanically: names, places, fields, widths and resets."""
    changed: dict[str, list[str]] = {}
    for before, after in MODULES.items():
        old, new = (
            {r.name: r for r in register_map(m).values() if m[:4] != "core" or r.offset not in REGISTER_FILE}
            for m in (before, after)
        )
        assert set(old) <= set(new)
        changed[before] = [
            name
            for name, r in new.items()
            if name not in old
            or (r.offset, r.fields, r.width, r.reset)
            != (old[name].offset, old[name].fields, old[name].width, old[name].reset)
        ]
    injection, control = "Stream_Switch_Parity_Injection", "Tile_Control"
    assert changed == {
        "memory_tile": [
            "DataMemory",
            "CHECKBIT_ERROR_GENERATION",
            *[f"WatchPoint{n}" for n in range(4)],
            "Event_Group_Memory_Conflict_Enable",
            *[f"DMA_MM2S_{n}_Constant_Pad_Value" for n in range(6)],
            injection,
            control,
        ],
        "memory": ["DataMemory", "CHECKBIT_ERROR_GENERATION", "WatchPoint0", "WatchPoint1"],
        "core": ["Event_Group_Errors0_Enable", "Event_Group_Errors1_Enable", injection, control],
        "pl": [injection, control],
    }
    assert TILE_MODULES["interface_2p"] == ("noc", "pl_2p")


def test_where_isolation_is() -> None:
    places = {kind: register_at(kind, offset) for kind, offset in ISOLATION.items()}
    assert {kind: register and register.name for kind, register in places.items()} == dict.fromkeys(
        ISOLATION, "Tile_Control"
    )
    assert register_at("memory_2p", 0x96030) is None
    assert register_at("interface_2p", 0x36030) is None


ISOLATION: dict[str, int] = {"memory_2p": 0xFFF20, "compute_2p": 0x60020, "interface_2p": 0xFFF40}


def test_sizes_of_the_tile_kinds() -> None:
    memory, compute, interface = KINDS.values()
    assert [kind.title for kind in KINDS.values()] == [
        "AIE2P memory tile",
        "AIE2P compute tile",
        "AIE2P interface tile",
    ]
    watched = register_named("memory_tile_2p", "WatchPoint0").field("Address")
    assert memory.memory_bytes == (watched.maximum + 1) * memory.granule_bytes
    conflicts = register_named("memory_tile_2p", "Event_Group_Memory_Conflict_Enable")
    assert memory.banks == memory.ecc_banks == mask(conflicts).bit_count() == 8
    assert memory.banks * memory.bank_bytes == memory.memory_bytes
    watched = register_named("memory_2p", "WatchPoint0").field("Address")
    assert compute.memory_bytes == (watched.maximum + 1) * compute.granule_bytes
    assert [kind.stream_words for kind in KINDS.values()] == [2, 2, 2]
    for kind, before in zip(KINDS.values(), kinds_of("AIE-ML").values(), strict=True):
        assert same(kind) == same(before)
    assert interface.limits("Burst_Length")[1] == 3
    assert {name: field.parts for name, field in memory.bd_fields.items()} == {
        name: field.parts for name, field in MEMORY_BD.items()
    }


def same(kind: TileKind) -> tuple[object, ...]:
    """Limits and places that the driver's tables have alike for AIE-ML and AIE2P."""
    return (
        (kind.bds, kind.bd_base, kind.bd_stride, kind.bd_words, kind.dimensions, kind.channels),
        (kind.control_base, kind.queue_base, kind.channel_stride, kind.status_base, kind.write_count_base),
        (kind.locks, kind.lock_value_base, kind.lock_request_base, kind.lock_event_base),
        (kind.lock_overflow_base, kind.lock_underflow_base, kind.memory_bytes, kind.dma_address_words),
        (kind.bd_banks, kind.count_pop_base, kind.max_repeat, kind.queue_depth, set(kind.bd_fields)),
    )


def test_a_core_event_has_another_name() -> None:
    assert events_of("core")["DECOMPRESSION_UNDERFLOW"] == events_of("core_2p")["SPARSITY_OVERFLOW"] == 70
    assert "DECOMPRESSION_UNDERFLOW" not in events_of("core_2p")
    for module in MODULES.values():
        assert sorted(events_of(module).values()) == sorted(EVENTS[EVENT_MODULES[module]].values())
    errors = register_named("core_2p", "Event_Group_Errors0_Enable")
    assert errors.field("Sparsity_Overflow").lsb == 22


@pytest.mark.parametrize(("burst", "code"), [(64, 0), (128, 1), (256, 2), (512, 3)])
def test_bursts_of_up_to_512_bytes(burst: int, code: int) -> None:
    d = Descriptor("interface_2p", 256, DmaAddress(0x1000), axi=Axi(burst=burst))
    words = encode(d)
    assert words[4] >> 30 == code
    assert decode("interface_2p", words) == d
    assert register_named("noc", "DMA_BD0_4").field("Burst_Length").get(words[4]) == code


def test_bursts_of_512_bytes_are_none_of_aie_ml() -> None:
    with pytest.raises(DescriptorError, match="512"):
        encode(Descriptor("interface", 256, DmaAddress(0x1000), axi=Axi(burst=512)))


def test_padding_has_the_fields_of_aie_ml() -> None:
    own = DmaAddress(TILE_KINDS["memory_2p"].own_window_words)
    d = Descriptor("memory_2p", 8, own, (Dim(1, 4), Dim(4, 1)), (Pad(1, 1), Pad(0, 1)))
    before = Descriptor("memory", 8, own, (Dim(1, 4), Dim(4, 1)), (Pad(1, 1), Pad(0, 1)))
    assert encode(d) == encode(before)
    assert decode("memory_2p", encode(d)) == d
    with pytest.raises(DescriptorError):
        encode(Descriptor("memory_2p", 80, own, (Dim(1, 4), Dim(4, 1)), (Pad(64, 0),)))


def test_the_words_that_the_driver_clears_answer() -> None:
    """DEV-AIE2P-5: as its function for partitions writes them, with 4, 2 or 1 words at each place."""
    engine = Engine([Placed("compute_2p")])
    door = engine.door(0)
    ranges = [(0x30000, 0x304F0, 4), (0x30800, 0x30AF0, 4), (0x30C00, 0x30DF0, 4)]
    ranges += [(0x30E00, 0x30EB0, 2), (0x30F00, 0x30FC0, 1), (0x31000, 0x314B0, 1)]
    for first, last, count in ranges:
        for place in range(first, last + 1, 16):
            door.block_write32(place, [0] * count)
    assert door.read32(0x30F00) == 0
    door.write32(0x30E04, 5)
    assert (door.read32(0x30E04), door.read32(0x30E00)) == (0, 0)


@pytest.mark.parametrize("module", MODULES)
def test_the_list_of_the_package_is_the_header(module: str) -> None:
    found = {(r.name, r.offset) for r in driver_registers(MODULES[module])}
    left = {(name, offset) for name, offset in found if name.startswith(LEFT_OUT)}
    assert found - left == {(name, offset) for name, offset, *_ in ORACLE[module]}


def test_the_driver_finds_what_it_uses() -> None:
    coverage = register_coverage("AIE2P")
    assert coverage.used.percent >= 95
    assert coverage.everything.refused == ()
    assert [each.name for each in coverage.modules] == [
        "memory_tile_2p",
        "memory_2p",
        "core_2p",
        "noc",
        "pl_2p",
    ]


def test_a_core_of_aie2p_can_be_halted() -> None:
    engine = Engine([Placed("compute_2p")])
    door = engine.door(0)
    door.write32(0x32010, 1)
    assert (door.read32(0x3201C), door.read32(0x32004)) == (1, 2 | 1 << 16)
