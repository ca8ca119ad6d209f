"""Which descriptors come out for the shapes that matter: AMD's tutorial, field limits, borders?"""

from __future__ import annotations

import pytest

from memtile.access.lowering.fit import Fields
from memtile.access.lowering.lower import Lowering, lower
from memtile.access.lowering.search import recognise
from memtile.access.tiling import TilingParameters, TraversingParameters
from memtile.arch.tiles import COMPUTE, MEMORY, TileName
from memtile.bd.descriptor import Dim, Iteration, Pad

LENGTH = MEMORY.limits("Buffer_Length")[1]


def tiled(
    buffer: tuple[int, ...],
    tile: tuple[int, ...] = (),
    offset: tuple[int, ...] = (),
    loops: tuple[tuple[int, int, int], ...] = (),
    bits: int = 32,
    on: TileName = "memory",
) -> Lowering:
    """``loops`` as (dimension, stride, wrap), innermost first."""
    traversal = tuple(TraversingParameters(*loop) for loop in loops)
    return lower(TilingParameters(buffer, tile, offset, traversal).request(bits), on)


@pytest.mark.feature("F37", "F38")
def test_the_tutorial_case_that_amd_cannot_fit_is_one_descriptor() -> None:
    """8x8x16 in 4x4 tiles: 16 BDs per phase in AMD's compiler, error 77-4352."""
    result = tiled((8, 8, 16), (4, 4, 1), (), ((0, 4, 2), (1, 4, 2), (2, 1, 16)))
    (descriptor,) = result.descriptors
    assert descriptor.dims == (Dim(1, 4), Dim(8, 4), Dim(4, 2), Dim(32, 0))
    assert (descriptor.length, result.runs) == (1024, 1)


def test_a_stream_that_ends_with_its_data_is_recognised_whatever_zeros_would_follow() -> None:
    assert recognise([None] * 69 + [16, 17], Fields(MEMORY)) is not None


@pytest.mark.feature("F07", "F39", "F42")
def test_padding_merges_with_the_loop_it_belongs_to() -> None:
    """Tiles wholly above and below the image: 24 BDs in AMD's compiler."""
    (descriptor,) = tiled((64, 512), (16, 4), (0, -4), ((1, 4, 130), (0, 16, 4))).descriptors
    assert descriptor.dims == (Dim(1, 16), Dim(64, 512), Dim(16, 0))
    assert descriptor.pad == (Pad(0, 0), Pad(4, 4))
    assert descriptor.length == 33280


@pytest.mark.feature("F40")
def test_overlapping_tiles_take_one_descriptor_per_padding_class() -> None:
    result = tiled((8, 8), (6, 6), (-1, -1), ((0, 4, 2), (1, 4, 2)))
    assert [d.pad for d in result.descriptors] == [
        (Pad(1, 0), Pad(1, 0)),
        (Pad(0, 1), Pad(1, 0)),
        (Pad(1, 0), Pad(0, 1)),
        (Pad(0, 1), Pad(0, 1)),
    ]


def test_a_fifth_loop_goes_on_iteration() -> None:
    buffer, tile = (4, 4, 4, 8), (2, 2, 2, 1)
    loops = ((0, 2, 2), (3, 1, 7))
    result = tiled(buffer, tile, (), loops)
    assert len(result.descriptors) == 1
    assert result.runs == 7
    assert result.descriptors[0].iteration == Iteration(64, 7, 0)


def test_without_runs_the_fifth_loop_is_unrolled() -> None:
    traversal = tuple(TraversingParameters(*loop) for loop in ((0, 2, 2), (3, 1, 7)))
    request = TilingParameters((4, 4, 4, 8), (2, 2, 2, 1), (), traversal).request(32)
    result = lower(request, iteration=False)
    assert (len(result.descriptors), result.runs) == (7, 1)


def test_repetition_is_a_repeat_count() -> None:
    request = TilingParameters((512,), (128,), (), (TraversingParameters(0, 128, 4),), repetition=14)
    result = lower(request.request(32))
    assert (len(result.descriptors), result.runs) == (1, 14)
    assert result.descriptors[0].iteration == Iteration()


@pytest.mark.parametrize(
    ("words", "descriptors", "runs"),
    [(LENGTH, 1, 1), (LENGTH + 1, 1, 2), (2 * LENGTH + 5, 2, 3)],  # the last is prime: two tasks
)
def test_long_streams_use_runs_when_they_divide(words: int, descriptors: int, runs: int) -> None:
    result = tiled((words,))
    assert (len(result.descriptors), result.runs) == (descriptors, runs)


@pytest.mark.feature("F41")
@pytest.mark.parametrize(
    ("rows", "dims"),
    [
        (1023, (Dim(4, 1023), Dim(1, 0))),
        (1024, (Dim(4, 512), Dim(2048, 2), Dim(1, 0))),
    ],
)
def test_a_wrap_above_the_field_is_factored(rows: int, dims: tuple[Dim, ...]) -> None:
    (descriptor,) = tiled((4, rows), (1, rows), (), ((0, 1, 4),)).descriptors
    assert descriptor.but(dims=dims) == descriptor


@pytest.mark.feature("F42")
@pytest.mark.parametrize(
    ("zeros", "pad"),
    [(63, (Pad(63, 0),)), (64, (Pad(0, 0), Pad(1, 0)))],
)
def test_padding_above_the_field_becomes_rows(zeros: int, pad: tuple[Pad, ...]) -> None:
    (descriptor,) = tiled((256,), (256 + zeros,), (-zeros,)).descriptors
    assert descriptor.pad == pad


@pytest.mark.feature("F41")
def test_the_stride_example_of_the_guide_fits_the_interface_tile_and_int8() -> None:
    shape = ((32, 32, 32, 16), (32, 32, 32, 4), (), ((3, 8, 2),))
    (wide,) = tiled(*shape, on="interface").descriptors
    assert wide.dims[-1].step == 2 * MEMORY.limits("D0_Stepsize")[1]
    assert len(tiled(*shape, bits=8).descriptors) == 1


def test_transpose_of_a_megaword_is_one_descriptor() -> None:
    result = tiled((1024, 1024), (1, 1024), (), ((0, 1, 1024),), on="interface")
    assert len(result.descriptors) == 1
    assert result.certificate.words == 1 << 20


def test_a_prime_row_above_the_wrap_field_takes_runs() -> None:
    result = tiled((2048, 10), (1031, 10))
    assert [(d.length, d.iteration.step) for d in result.descriptors] == [(1031, 2048)]
    assert result.runs == 10


def test_a_zero_only_stream_touches_no_memory() -> None:
    (descriptor,) = tiled((8,), (5000,), (8,)).descriptors
    assert descriptor.length == 5000
    assert tiled((8,), (5000,), (8,)).certificate.pads == 5000


def test_compute_tile_has_three_dimensions() -> None:
    result = tiled((8, 8, 16), (4, 4, 1), (), ((0, 4, 2), (1, 4, 2), (2, 1, 16)), on="compute")
    assert len(result.descriptors) == 1
    assert result.runs == 32
    assert len(result.descriptors[0].dims) <= COMPUTE.dimensions
