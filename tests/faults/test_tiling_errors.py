"""Is every bad tiling refused with all its problems, each naming value, limit, source and way out?"""

from __future__ import annotations

import pytest

from memtile.access.lowering.lower import lower
from memtile.access.tiling import TilingParameters, TraversingParameters, problems, tiling_elements
from memtile.arch.tiles import COMPUTE, MEMORY
from memtile.errors import TransferError


def messages(tiling: TilingParameters, bits: int = 32, **where: str) -> list[str]:
    with pytest.raises(TransferError) as caught:
        lower(tiling.request(bits), **where)
    return str(caught.value).split("\n")


def test_all_contradictions_are_reported_at_once() -> None:
    tiling = TilingParameters(
        buffer_dimension=(8, 0),
        tiling_dimension=(4,),
        offset=(0, 0, 0),
        tile_traversal=(
            TraversingParameters(2, 1, 2),
            TraversingParameters(0, 9, 2),
            TraversingParameters(1, 0, 0),
        ),
        packet_port_id=32,
        boundary_dimension=(8,),
        repetition=0,
        phase=-1,
    )
    assert messages(tiling) == [
        "tiling: tiling_dimension: 1 dimensions given, 2, the rank of buffer_dimension allowed "
        "(UG1603, tiling parameters)",
        "tiling: offset: 3 dimensions given, 2, the rank of buffer_dimension allowed "
        "(UG1603, tiling parameters)",
        "tiling: boundary_dimension: 1 dimensions given, 2, the rank of buffer_dimension allowed "
        "(UG1603, tiling parameters)",
        "tiling: buffer_dimension[1]: 0 given, 1 or more allowed (UG1603, tiling parameters)",
        "tiling: tile_traversal[0].dimension: 2 given, 0..1, the buffer's dimensions allowed "
        "(UG1603, tiling parameters)",
        "tiling: tile_traversal[1].stride: 9 given, 0..8 allowed (UG1603, tiling parameters)",
        "tiling: tile_traversal[2].wrap: 0 given, 1 or more allowed (UG1603, tiling parameters)",
        "tiling: repetition: 0 given, 1 or more allowed (UG1603, tiling parameters)",
        "tiling: packet_port_id: 32 given, -1..31 allowed (UG1603, tiling parameters)",
        "tiling: phase: -1 given, 0 or more allowed (UG1603, tiling parameters)",
    ]


@pytest.mark.feature("F46")
def test_rank_is_limited_by_the_memory() -> None:
    four = TilingParameters((2, 2, 2, 2))
    assert problems(four, MEMORY) == []
    assert [p.message for p in problems(four, COMPUTE)] == [
        "tiling: buffer_dimension: 4 dimensions given, at most 3 on the compute tile allowed "
        "(UG1603, tiling parameters); join dimensions that are next to each other"
    ]


def test_an_empty_tile_means_the_whole_buffer_whatever_the_rank_of_the_offset() -> None:
    assert problems(TilingParameters((64,), (), (0, 0))) == []
    absurd = TilingParameters((64,), (64,), (0,), (TraversingParameters(0, 999, 1),))
    assert problems(absurd) == []


@pytest.mark.parametrize("number", [1 << 31, -(1 << 31) - 1, 1 << 63, 10**99])
def test_members_are_numbers_of_32_bits(number: int) -> None:
    tiling = TilingParameters((64,), (64,), (number,), (TraversingParameters(0, number, 1),))
    limits = "-2147483648..2147483647 allowed (UG1603, tiling parameters)"
    assert messages(tiling) == [
        f"tiling: offset: {number} given, {limits}",
        f"tiling: tile_traversal[0].stride: {number} given, {limits}",
    ]


@pytest.mark.parametrize("number", [(1 << 31) - 1, -(1 << 31)])
def test_an_offset_far_outside_gives_zeros_alone(number: int) -> None:
    tiling = TilingParameters((64,), (4,), (number,), (TraversingParameters(0, number, 1),))
    assert tiling_elements(tiling).tolist() == [-1] * 4
    assert lower(tiling.request(32)).certificate.holds


def test_boundary_beyond_the_buffer_matters_only_when_tiles_reach_it() -> None:
    assert problems(TilingParameters((8,), (8,), boundary_dimension=(12,))) == []
    assert [p.field for p in problems(TilingParameters((8,), (9,), boundary_dimension=(12,)))] == [
        "boundary_dimension[0]"
    ]


@pytest.mark.feature("F42")
@pytest.mark.parametrize(
    ("tile", "access", "where"),
    [
        ("memory", "write", "memory tile, write (S2MM)"),
        ("compute", "read", "compute tile, read (MM2S)"),
        ("interface", "read", "interface tile, read (MM2S)"),
    ],
)
def test_padding_is_for_memory_tile_reads(tile: str, access: str, where: str) -> None:
    assert messages(TilingParameters((8, 4), (10, 4), (-1, 0)), tile=tile, access=access) == [
        f"{where}: dimension 0: elements -1..8 given, elements 0..7 allowed "
        "(UG1603: zero padding only for memory tile reads); keep the tiles inside the buffer, or pad on "
        "a memory tile MM2S channel"
    ]


@pytest.mark.feature("F43")
def test_sub_word_runs_name_the_dimension_and_the_nearest_shape() -> None:
    tiling = TilingParameters((16, 4), (6, 1), (2, 0), (TraversingParameters(0, 5, 2),))
    where = "8-bit elements: dimension 0,"
    limit = "multiples of 4 elements (one 32-bit word) allowed (AM020 ch. 5: all DMA addresses are 32-bit)"
    both = "the nearest legal values are 4 and 8"
    assert messages(tiling, bits=8) == [
        f"{where} tile size: 6 elements given, {limit}; {both}",
        f"{where} offset: 2 elements given, {limit}; the nearest is 4",
        f"{where} stride: 5 elements given, {limit}; {both}",
    ]


@pytest.mark.feature("F43")
def test_a_whole_row_of_odd_size_is_legal_when_the_run_is_whole_words() -> None:
    assert len(lower(TilingParameters((6, 4), (6, 2)).request(8)).descriptors) == 1


@pytest.mark.feature("F41")
def test_the_stride_example_of_the_guide_is_refused_with_the_way_out() -> None:
    tiling = TilingParameters((32, 32, 32, 16), (32, 32, 32, 4), (), (TraversingParameters(3, 8, 2),))
    assert messages(tiling) == [
        "memory tile, read (MM2S): stepsize: 262144 words given, 1..131072 words allowed "
        "(AM025: Dn_Stepsize has 17 bits); split the loop into separate tilings or use elements of 16 bits "
        "or move it from the interface tile (1..1048576 words)",
        "memory tile, read (MM2S): buffer size: 2097152 bytes given, at most 1572864 bytes allowed "
        "(AM020 ch. 5: memory that the DMA can address); use a smaller buffer or element type, or keep it "
        "behind the interface tile",
    ]


def test_more_descriptors_than_a_channel_has() -> None:
    tiling = TilingParameters(
        (64, 64), (3, 3), (-1, -1), (TraversingParameters(0, 2, 32), TraversingParameters(1, 2, 32))
    )
    (message,) = messages(tiling)
    assert message == (
        "memory tile, read (MM2S): descriptors: 64 given, at most 24 allowed "
        "(AM020: BDs that one channel of the memory tile reaches); split the transfer over channels, "
        "or use fewer tiles per transfer"
    )


def test_members_of_another_type_are_told() -> None:
    assert messages(TilingParameters(8)) == [  # type: ignore[arg-type]
        "tiling: buffer_dimension: 8 given, a tuple allowed (UG1603, tiling parameters); "
        "such as buffer_dimension=(8,)"
    ]
    loops = [(0, 4, 2)]
    assert messages(TilingParameters((4, 4), (2, 4), tile_traversal=loops)) == [  # type: ignore[arg-type]
        "tiling: tile_traversal[0]: (0, 4, 2) given, TraversingParameters(dimension, stride, wrap) allowed "
        "(UG1603, tiling parameters)"
    ]
