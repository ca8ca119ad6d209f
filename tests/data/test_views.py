"""Do descriptors made from NumPy, einops and mlir-aie notation bring every byte where NumPy puts it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from memtile.access.describe import describe
from memtile.access.lowering.lower import Lowering, lower
from memtile.access.move import gather
from memtile.access.notation import dma_dimensions, rearrange, repeat, tensor_access_pattern
from memtile.access.views import View, pad, view
from memtile.access.walk import Walk
from memtile.bd.descriptor import Dim, Iteration, Pad


def delivered(lowered: Lowering, data: np.ndarray) -> np.ndarray:
    """The stream of ``data`` as its own type."""
    memory = data.reshape(-1).view(np.uint32)
    walks = [Walk.of(d, run) for task in lowered.tasks for run in range(task.runs) for d in task.descriptors]
    return np.concatenate([gather(memory, walk) for walk in walks]).view(data.dtype)


def image(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 100, shape).astype(dtype)


WRITTEN: dict[str, tuple[tuple[int, ...], Any, Callable[[Any], Any], int]] = {
    "a window": ((16, 32), np.int32, lambda a: a[2:10, 4:20:2], 1),
    "one element": ((4, 4), np.float32, lambda a: a[2, 3], 1),
    "transposed": ((64, 48), np.int32, np.transpose, 1),
    "rows backwards": ((8, 16), np.int8, np.flipud, 8),
    "channels first": ((8, 8, 4), np.float32, lambda a: np.moveaxis(a, -1, 0), 1),
    "tiles": ((16, 32), np.int32, lambda a: a.reshape(4, 4, 4, 8).swapaxes(1, 2), 1),
    "tiles of pairs": ((16, 32), np.int16, lambda a: a.reshape(16, 16, 2).swapaxes(0, 1), 1),
    "border": ((30, 32), np.int8, lambda a: np.pad(a, ((1, 1), (4, 4))), 1),
    "halo tiles": ((8, 8), np.int32, lambda a: sliding_window_view(np.pad(a, 1), (6, 6))[::4, ::4], 4),
    "24 channels to 32": ((4, 4, 24), np.int8, lambda a: np.pad(a, [(0, 0), (0, 0), (0, 8)]), 1),
    "zeros around tiles": (
        (8, 8),
        np.int32,
        lambda a: np.pad(a.reshape(2, 4, 8), ((0, 0), (1, 1), (2, 0))),
        1,
    ),
    "three times": ((8, 8), np.int32, lambda a: np.broadcast_to(a, (3, 8, 8)), 1),
    "a corner of the zeros": ((8, 8), np.int32, lambda a: np.pad(a, 4)[2:6, 3:12], 1),
    "complex": ((8, 8), np.complex64, lambda a: a.T, 1),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_numpy_on_a_view_is_numpy_on_the_data(name: str) -> None:
    shape, dtype, written, bds = WRITTEN[name]
    data = image(shape, dtype)
    lowered = lower(written(view(shape, dtype)).request())
    assert delivered(lowered, data).tolist() == np.ravel(written(data)).tolist()
    assert len(lowered.descriptors) == bds


@pytest.mark.parametrize(
    ("pattern", "sizes"),
    [
        ("(h hp) (w wp) c -> h w hp wp c", {"hp": 4, "wp": 8}),
        ("h w c -> c h w", {}),
        ("h (w two) c -> two h w c", {"two": 2}),
        ("h w ... -> (w h) ...", {}),
    ],
)
def test_einops_on_a_view_is_einops_on_the_data(pattern: str, sizes: dict[str, int]) -> None:
    data = image((8, 16, 6), np.int32)
    expected = einops.rearrange(data, pattern, **sizes)
    array = rearrange(view(data.shape), pattern, **sizes)
    assert array.shape == expected.shape
    assert delivered(lower(array.request()), data).tolist() == expected.ravel().tolist()


def test_repeat_reads_again() -> None:
    data = image((4, 4), np.int32)
    array = repeat(view((4, 4)), "h w -> r h w", r=5)
    assert (
        delivered(lower(array.request()), data).tolist()
        == einops.repeat(data, "h w -> r h w", r=5).ravel().tolist()
    )


def test_mlir_aie_patterns_mean_offset_sizes_and_strides() -> None:
    data = image((8, 16), np.int32)
    expected = as_strided(data.ravel()[3:], (2, 4, 4), [n * data.itemsize for n in (64, 4, 1)])
    array = tensor_access_pattern((8, 16), offset=3, sizes=[2, 4, 4], strides=[64, 4, 1])
    (descriptor,) = lower(array.request()).descriptors
    assert (descriptor.address, descriptor.length, descriptor.dims) == (3, 32, (Dim(1, 16), Dim(64, 0)))
    assert delivered(lower(array.request()), data).tolist() == expected.ravel().tolist()


@pytest.mark.parametrize(
    ("dimensions", "pads"),
    [
        ([(4, 16), (8, 1)], [(1, 2), (3, 0)]),
        ("[<4, 16>, <8, 1>]", "[<1, 2>, <3, 0>]"),
        (
            "[<size = 4, stride = 16>, <size = 8, stride = 1>]",
            "[<const_pad_before = 1, const_pad_after = 2>, <const_pad_before = 3, const_pad_after = 0>]",
        ),
    ],
)
def test_mlir_aie_dimension_lists_are_read_as_pairs_and_as_text(dimensions: Any, pads: Any) -> None:
    array = dma_dimensions((8, 16), dimensions, pads, offset=2)
    (descriptor,) = lower(array.request()).descriptors
    assert (descriptor.address, descriptor.length) == (2, (1 + 4 + 2) * (3 + 8))
    assert descriptor.pad == (Pad(3, 0), Pad(1, 2))
    assert descriptor.dims == (Dim(1, 8), Dim(16, 4))


def test_step_0_becomes_runs_of_the_task() -> None:
    lowered = lower(tensor_access_pattern((64,), 0, (6, 64), (0, 1)).request())
    assert (len(lowered.descriptors), lowered.runs) == (1, 6)
    assert lowered.descriptors[0].iteration == Iteration(1, 1, 0)


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        (np.int8, 8),
        ("int4", 4),
        ("uint4", 4),
        ("bfloat16", 16),
        ("cint16", 32),
        ("cint32", 64),
        ("float32", 32),
    ],
)
def test_element_types_have_their_sizes(dtype: Any, bits: int) -> None:
    assert view(8, dtype).request().element_bits == bits


def test_an_int4_row_moves_as_words() -> None:
    (descriptor,) = lower(view((16, 64), "int4")[4:8, 8:40].request()).descriptors
    assert (descriptor.address, descriptor.length) == ((4 * 64 + 8) // 8, 4 * 32 // 8)
    assert descriptor.dims == (Dim(1, 4), Dim(8, 0))


def made(written: View) -> str:
    (descriptor,) = lower(written.request()).descriptors
    return str(describe(descriptor))


def test_descriptors_are_described_in_the_words_of_einops() -> None:
    whole = view((16, 32))
    tiles = rearrange(whole, "(h hp) (w wp) -> h w hp wp", hp=4, wp=8)
    assert made(whole) == '"n -> n" of 512 words'
    assert made(whole.T) == '"h w -> w h" of 16 x 32 words'
    assert made(tiles) == '"(h hp) (w wp) -> h w hp wp", hp=4, wp=8 of 16 x 32 words'
    assert made(whole[:, :8]) == '"h w -> h w" of 16 x 32 words[:, :8]'
    assert made(pad(whole, ((1, 2), (3, 0)))) == '"h w -> h w" of 16 x 32 words, then zeros [(1, 2), (3, 0)]'
    assert made(sliding_window_view(whole[0], 3)) == "None"
