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
            TraversingParameters(0, -9, 2),
            TraversingParameters(1, 0, 0),
        ),
        packet_port_id=32,
        boundary_dimension=(8,),
        repetition=0,
        phase=-1,
    )
    assert messages(tiling) == [
        "tiling: tiling_dimension has 1 dimension; it must have 2, as buffer_dimension has (UG1603, "
        "tiling parameters).",
        "tiling: offset has 3 dimensions; it must have 2, as buffer_dimension has (UG1603, tiling "
        "parameters).",
        "tiling: boundary_dimension has 1 dimension; it must have 2, as buffer_dimension has (UG1603, "
        "tiling parameters).",
        "tiling: buffer_dimension[1] is 0; it must be 1 or more (UG1603, tiling parameters).",
        "tiling: tile_traversal[0].dimension is 2, allowed are 0..1, the buffer's dimensions (UG1603, "
        "tiling parameters).",
        "tiling: tile_traversal[1].stride is -9, allowed are 0..2147483647 (UG1603, tiling parameters).",
        "tiling: tile_traversal[2].wrap is 0; it must be 1 or more (UG1603, tiling parameters).",
        "tiling: repetition is 0; it must be 1 or more (UG1603, tiling parameters).",
        "tiling: packet_port_id is 32, allowed are -1..31 (UG1603, tiling parameters).",
        "tiling: phase is -1; it must be 0 or more (UG1603, tiling parameters).",
    ]


@pytest.mark.feature("F46")
def test_rank_is_limited_by_the_memory() -> None:
    four = TilingParameters((2, 2, 2, 2))
    assert problems(four, MEMORY) == []
    assert [p.message for p in problems(four, COMPUTE)] == [
        "tiling: buffer_dimension has 4 dimensions; the compute tile has at most 3 (UG1603, tiling "
        "parameters). Join dimensions that are next to each other."
    ]


def test_an_empty_tile_means_the_whole_buffer_whatever_the_rank_of_the_offset() -> None:
    assert problems(TilingParameters((64,), (), (0, 0))) == []
    absurd = TilingParameters((64,), (64,), (0,), (TraversingParameters(0, 999, 1),))
    assert problems(absurd) == []


@pytest.mark.parametrize("number", [1 << 31, -(1 << 31) - 1, 1 << 63, 10**99])
def test_members_are_numbers_of_32_bits(number: int) -> None:
    tiling = TilingParameters((64,), (64,), (number,), (TraversingParameters(0, number, 1),))
    limits = "allowed are -2147483648..2147483647 (UG1603, tiling parameters)."
    assert messages(tiling) == [
        f"tiling: offset is {number}, {limits}",
        f"tiling: tile_traversal[0].stride is {number}, {limits}",
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
        f"{where}: the tiles cover elements -1..8 of dimension 0, allowed are 0..7 (UG1603: zero "
        "padding only for memory tile reads). Keep the tiles inside the buffer, or pad on a memory "
        "tile MM2S channel."
    ]


@pytest.mark.feature("F43")
def test_sub_word_runs_name_the_dimension_and_the_nearest_shape() -> None:
    tiling = TilingParameters((16, 4), (6, 1), (2, 0), (TraversingParameters(0, 5, 2),))
    where = "8-bit elements: dimension 0,"
    assert messages(tiling, bits=8) == [
        (
            f"{where} tile size is 6 elements; it must be a multiple of 4, one 32-bit word (AM020 ch. "
            "5: all DMA addresses are 32-bit). The nearest legal values are 4 and 8."
        ),
        (
            f"{where} offset is 2 elements; it must be a multiple of 4, one 32-bit word (AM020 ch. 5: "
            "all DMA addresses are 32-bit). The nearest legal value is 4."
        ),
        (
            f"{where} stride is 5 elements; it must be a multiple of 4, one 32-bit word (AM020 ch. 5: "
            "all DMA addresses are 32-bit). The nearest legal values are 4 and 8."
        ),
    ]


@pytest.mark.feature("F43")
def test_a_whole_row_of_odd_size_is_legal_when_the_run_is_whole_words() -> None:
    assert len(lower(TilingParameters((6, 4), (6, 2)).request(8)).descriptors) == 1


@pytest.mark.feature("F41")
def test_the_stride_example_of_the_guide_is_refused_with_the_way_out() -> None:
    tiling = TilingParameters((32, 32, 32, 16), (32, 32, 32, 4), (), (TraversingParameters(3, 8, 2),))
    assert messages(tiling) == [
        "memory tile, read (MM2S): a loop has a step of 262144 words, allowed are 1..131072 (AM025: "
        "Dn_Stepsize has 17 bits). Split the loop into separate tilings, or use elements of 16 bits, "
        "or move it from the interface tile (1..1048576 words).",
        "memory tile, read (MM2S): the buffer has 2097152 bytes, the DMA can address 1572864 (AM020 "
        "ch. 5: memory that the DMA can address). Use a smaller buffer or element type, or keep it "
        "behind the interface tile.",
    ]


def test_more_descriptors_than_a_channel_has() -> None:
    loops = tuple(TraversingParameters(d, 2, 16) for d in range(3))
    tiling = TilingParameters((32, 32, 32), (3, 3, 3), (-1, -1, -1), loops)
    (message,) = messages(tiling)
    assert message == (
        "memory tile, read (MM2S): the transfer needs 36 descriptors, a channel reaches 24 (AM020: BDs "
        "that one channel of the memory tile reaches). Split the transfer over channels, or use fewer "
        "tiles per transfer."
    )


def test_members_of_another_type_are_told() -> None:
    assert messages(TilingParameters(8)) == [  # type: ignore[arg-type]
        "tiling: buffer_dimension is 8; it must be a tuple (UG1603, tiling parameters). Write "
        "buffer_dimension=(8,) for one number."
    ]
    loops = [(0, 4, 2)]
    assert messages(TilingParameters((4, 4), (2, 4), tile_traversal=loops)) == [  # type: ignore[arg-type]
        "tiling: tile_traversal[0] is (0, 4, 2); it must be TraversingParameters(dimension, stride, "
        "wrap) (UG1603, tiling parameters)."
    ]
