"""Do the register tables and descriptor layouts of AIE-ML v2 say what AM029 says, bit for bit?"""

from __future__ import annotations

from itertools import pairwise

import pytest

from memtile.arch.bd_layout import BURST_BYTES_V2, MEMORY_BD, MEMORY_BD_V2
from memtile.arch.grades import Grade
from memtile.arch.ports import PORTS
from memtile.arch.register_map import ELSEWHERE, TILE_MODULES, register_at, register_map, register_named
from memtile.arch.registers import Register
from memtile.arch.tiles import TILE_KINDS, kinds_of
from memtile.bd.codec import decode, encode, idle_fields
from memtile.bd.descriptor import Axi, Descriptor
from memtile.bd.descriptor_cases import case_of, words_of_case
from memtile.bd.explain import explain_words
from memtile.bd.legality import check
from memtile.bd.windows import DmaAddress
from memtile.design.array import Array
from memtile.errors import DescriptorError
from support.formats.oracle_files import load

ORACLE = load("registers_v2")["modules"]
V2 = tuple(kinds_of("AIE-ML v2"))
OWN = DmaAddress(TILE_KINDS["memory_v2"].own_window_words)


def row(register: Register) -> dict[str, object]:
    return {
        "name": register.name,
        "offset": register.offset,
        "width": register.width,
        "access": register.access.manual,
        "reset": register.reset,
        "fields": [[f.name, f.msb, f.lsb, f.access.manual] for f in register.fields],
    }


@pytest.mark.parametrize("module", ORACLE)
def test_every_register_is_the_oracles(module):
    """A reset that the oracle does not know is that of AIE-ML: 0 (DEV-V2-1)."""
    ours = {offset: row(register) for offset, register in register_map(f"{module}_v2").items()}
    theirs = {r["offset"]: r | {"reset": r["reset"] or 0} for r in ORACLE[module]}
    assert {module: len(theirs)}.items() <= {"memory_tile": 726, "memory": 207, "noc": 182}.items()
    assert ours == theirs


def test_unknown_resets_are_those_of_aie_ml():
    unknown = [(m, r["name"]) for m, rows in ORACLE.items() for r in rows if r["reset"] is None]
    assert len(unknown) == 22  # DEV-V2-1
    shared = [(m, name) for m, name in unknown if name in {r.name for r in register_map(m).values()}]
    assert all(register_named(m, name).reset == 0 for m, name in shared)
    new = {name for m, name in unknown if (m, name) not in shared}
    assert new == {"Performance_Control4", "Performance_Control3"}


def test_registers_of_the_driver_header_are_not_taken_over():
    before = [r for m in ("memory_tile", "memory") for r in register_map(m).values()]
    dropped = {r.name for r in before if r.grade is Grade.DRIVER}
    after = [r for m in ("memory_tile_v2", "memory_v2") for r in register_map(m).values()]
    assert len([r for r in before if r.grade is Grade.DRIVER and r.fields]) == 8 + 3  # DEV-V2-3, and spare
    assert not dropped & {r.name for r in after}


def test_core_pl_and_ports_are_those_of_aie_ml():
    """DEV-V2-2."""
    assert [TILE_MODULES[tile][1:] for tile in V2] == [(), ("core",), ("pl",)]
    assert all(PORTS[tile] is PORTS[TILE_KINDS[tile].role] for tile in V2)


@pytest.mark.parametrize("tile", V2)
def test_no_two_registers_of_a_tile_overlap(tile):
    registers = sorted(
        (r for module in TILE_MODULES[tile] for r in register_map(module).values()), key=lambda r: r.offset
    )
    for low, high in pairwise(registers):
        assert low.offset + low.span <= high.offset, (low.name, high.name)


@pytest.mark.parametrize(("tile", "module"), list(zip(V2, ORACLE, strict=True)))
def test_bases_of_a_kind_are_those_of_the_registers(tile, module):
    kind, offsets = TILE_KINDS[tile], {r["name"]: r["offset"] for r in ORACLE[module]}
    queue = "Task_Queue" if kind.role == "interface" else "Start_Queue"
    assert offsets["DMA_BD0_0"] == kind.bd_base
    assert offsets[f"DMA_BD1_{kind.bd_words - 1}"] == kind.bd_base + kind.bd_stride + 4 * (kind.bd_words - 1)
    assert offsets["DMA_S2MM_0_Ctrl"] == kind.control_base
    assert offsets[f"DMA_S2MM_1_{queue}"] == kind.queue_base + kind.channel_stride
    assert offsets["DMA_MM2S_0_Ctrl"] == kind.control_base + kind.channels * kind.channel_stride
    assert (offsets["DMA_S2MM_Status_0"], offsets["DMA_MM2S_Status_0"]) == kind.status_base
    assert offsets["DMA_S2MM_Current_Write_Count_0"] == kind.write_count_base
    assert offsets["DMA_S2MM_FoT_Count_FIFO_Pop_0"] == kind.count_pop_base
    assert offsets["Lock1_value"] == kind.lock_value_base + kind.lock_value_stride
    assert offsets["Lock_Request"] == kind.lock_request_base
    assert offsets["Locks_Event_Selection_0"] == kind.lock_event_base
    assert offsets.get("DMA_MM2S_0_Constant_Pad_Value", 0) == kind.pad_value_base


def test_memories():
    memory, compute = TILE_KINDS["memory_v2"], TILE_KINDS["compute_v2"]
    assert (memory.banks, memory.bank_bytes, memory.granule_words) == (8, 64 * 1024, 8)
    assert (compute.banks, compute.bank_bytes, compute.granule_words) == (8, 8 * 1024, 8)
    assert memory.banks * memory.bank_bytes == memory.memory_bytes == TILE_KINDS["memory"].memory_bytes
    assert compute.banks * compute.bank_bytes == compute.memory_bytes
    for module, kind in (("memory_tile_v2", memory), ("memory_v2", compute)):
        assert register_named(module, "DataMemory").width == 8 * kind.granule_bytes == 256
    assert [kind.stream_words for kind in TILE_KINDS.values()] == [1, 1, 1, 2, 2, 2, 2, 2, 2]


def test_tile_control_and_the_locks_of_the_interface_tile_moved():
    assert register_at("memory_v2", 0xFFF20).name == "Tile_Control"
    assert register_at("memory_v2", 0x96030) is None
    assert register_at("interface_v2", 0x10).name == "Lock1_value"
    assert register_at("interface_v2", 0xFFFC).name == "Lock_Request"


def test_six_bits_of_padding_in_every_dimension():
    pads = [f"D{d}_Zero_{side}" for d in range(3) for side in ("Before", "After")]
    assert [MEMORY_BD[name].bits for name in pads] == [6, 6, 5, 5, 4, 4]
    assert [MEMORY_BD_V2[name].bits for name in pads] == [6] * 6
    d = Descriptor(
        "memory_v2", 64, OWN, ((1, 1), (1, 1), (1, 1)), ((1, 2), (32 | 5, 32 | 6), (48 | 9, 16 | 10))
    )
    words = encode(d)
    raw = [register_named("memory_tile_v2", f"DMA_BD0_{n}").unpack(word) for n, word in enumerate(words)]
    assert (raw[3]["D1_Pad_Before"], raw[2]["D1_Pad_Before_High"]) == (5, 1)
    assert (raw[5]["D1_Pad_After"], raw[6]["D1_Pad_After_High"]) == (6, 1)
    assert (raw[4]["D2_Pad_Before"], raw[2]["D2_Pad_Before_High"]) == (9, 3)
    assert (raw[5]["D2_Pad_After"], raw[6]["D2_Pad_After_High"]) == (10, 1)
    assert (raw[1]["D0_Pad_Before"], raw[5]["D0_Pad_After"]) == (1, 2)
    assert decode("memory_v2", words) == d
    assert words_of_case(case_of(d)) == words
    assert [p.message for p in check(d.but(pad=((0, 0), (64, 0))))] == [
        "AIE-ML v2 memory tile: D1_Zero_Before (pad[1].before) is 64, allowed are 0..63 (AM025 "
        "DMA_BDn_3: 6-bit field)."
    ]


def test_a_step_of_zero_repeats_in_the_last_dimension_only():
    d = Descriptor("memory_v2", 12, OWN, ((1, 4), (4, 1), (4, 1), (0, 0)))
    words = encode(d)
    assert words[2] >> 30 & 1 == 1
    assert words[5] & 0x1FFFF == 0
    assert decode("memory_v2", words) == d
    stepping = (*words[:5], words[5] | 9, *words[6:])
    assert decode("memory_v2", stepping) == d
    assert idle_fields(d.kind, stepping) == {"D3_Stepsize": 10}
    shown = [
        line.text for line in explain_words("memory_v2", stepping).lines if line.topic == "without effect"
    ]
    assert shown == ["D3_Stepsize holds 10, but D3_Stepsize_Zero is 1"]
    assert [p.field for p in check(d.but(dims=((0, 4), (4, 0))))] == ["D0_Stepsize"]
    assert [p.field for p in check(d.but(tile="memory"))] == ["D3_Stepsize"]


def test_bursts_of_512_bytes_and_no_smid_in_the_descriptor():
    """DEV-V2-4."""
    assert BURST_BYTES_V2 == (64, 128, 256, 512)
    d = Descriptor("interface_v2", 16, DmaAddress(0), axi=Axi(burst=512))
    assert encode(d)[4] >> 30 == 3
    assert decode("interface_v2", encode(d)) == d
    with pytest.raises(
        DescriptorError, match=r"Burst_Length \(axi\.burst\) is 512 bytes, allowed are 64, 128, 256 bytes"
    ):
        encode(d.but(tile="interface"))
    with pytest.raises(DescriptorError) as caught:
        encode(d.but(axi=Axi(smid=3)))
    assert str(caught.value) == (
        "AIE-ML v2 interface tile: axi.smid is 3, but BDs of the AIE-ML v2 interface tile have no SMID "
        "(AM029: register SMID)."
    )


def test_registers_answer_where_the_driver_has_them_in_aie2ps_too() -> None:
    """DEV-V2-2: one register, two places."""
    door = Array("xc2ve3858", columns=1).door
    places = {tile: row for row, tile in ((0, "interface_v2"), (3, "compute_v2"))}
    assert set(ELSEWHERE) == set(places)
    for tile, row in places.items():
        for place, own in ELSEWHERE[tile].items():
            assert register_at(tile, place) == register_at(tile, own)
            at, other = door.address(0, row, own), door.address(0, row, place)
            assert door.read32(other) == door.read32(at)
        control = register_at(tile, 0x36030)
        assert control is not None
        door.write32(door.address(0, row, {"interface_v2": 0x7FF40, "compute_v2": 0x60020}[tile]), 5)
        assert door.read32(door.address(0, row, control.offset)) == 5


def test_a_tile_kind_that_does_not_exist():
    with pytest.raises(DescriptorError) as caught:
        Descriptor("memory_v3", 1, DmaAddress(0))
    kinds = "memory compute interface memory_2p compute_2p interface_2p memory_v2 compute_v2 interface_v2"
    assert " or ".join(kinds.split()) in str(caught.value)
