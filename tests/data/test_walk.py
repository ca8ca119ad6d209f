"""Where does a descriptor's walk go? Sequences worked out by hand from AM020 and from compiled programs."""

from __future__ import annotations

import numpy as np
import pytest

from memtile.access.boxes import check_walk, last_address
from memtile.access.move import gather, scatter
from memtile.access.walk import PAD, Walk, addresses, chunks
from memtile.arch.tiles import COMPUTE, MEMORY
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import DmaAddress
from memtile.errors import TransferError


def listed(walk: Walk) -> list[int]:
    return addresses(walk).tolist()


@pytest.mark.parametrize(
    ("walk", "expected"),
    [
        pytest.param(Walk(5, 4), [5, 6, 7, 8], id="linear"),
        pytest.param(Walk(0, 0), [], id="empty"),
        pytest.param(Walk(0, 6, (4, 1), (2,)), [0, 4, 1, 5, 2, 6], id="transpose"),
        pytest.param(Walk(0, 5, (1, 8), (0,)), [0, 1, 2, 3, 4], id="wrap-0-never-reaches-D1"),
        pytest.param(Walk(0, 5, (2, 8), (3,)), [0, 2, 4, 8, 10], id="length-cuts-a-row"),
        pytest.param(Walk(0, 7, (1, 2), (2,)), list(range(7)), id="rows-that-continue"),
        pytest.param(Walk(0, 5, (3,), (2,)), [0, 3, 1, 4, 2], id="missing-step-is-1"),
        pytest.param(Walk(9, 4, (1, 8), (2,), (1,), (1,)), [PAD, 9, 10, PAD], id="Z-D-D-Z"),
        pytest.param(Walk(9, 4, (2,), (0,), (3,)), [PAD, PAD, PAD, 9], id="before-without-wrap"),
        pytest.param(
            Walk(0, 8, (1, 2), (2, 1), (0, 1), (0, 1)),
            [PAD, PAD, 0, 1, PAD, PAD, PAD, PAD],
            id="D1-rows-in-box",
        ),
        pytest.param(
            Walk(0, 9, (1, 1, 4), (1, 1, 2), (0, 0, 1), (0, 0, 1)),
            [PAD, 0, 4, PAD, PAD, 1, 5, PAD, PAD],
            id="D3-repeats",
        ),
    ],
)
def test_sequence(walk: Walk, expected: list[int]) -> None:
    assert listed(walk) == expected


def test_length_8_over_a_walk_of_24() -> None:
    """mlir-aie issue 2678, seen on hardware: the length cuts the walk."""
    assert listed(Walk(0, 8, (1, 6, 12), (2, 3))) == [0, 1, 6, 7, 12, 13, 12, 13]


def test_61_by_14_padded_to_64_by_16() -> None:
    walk = Walk(0, 64 * 16, (1, 61), (61, 14), (0, 0), (3, 2))
    grid = addresses(walk).reshape(16, 64)
    assert (grid == PAD).sum() == 170
    assert np.array_equal(grid[:14, :61], np.arange(14 * 61).reshape(14, 61))


def test_walk_of_descriptor_follows_the_iteration() -> None:
    descriptor = Descriptor("memory", 4, DmaAddress(100), (Dim(2, 2), Dim(50)), iteration=Iteration(10, 3, 1))
    bases = [Walk.of(descriptor, execution).base for execution in range(4)]
    assert bases == [110, 120, 100, 110]
    assert listed(Walk.of(descriptor)) == [110, 112, 160, 162]


def test_an_iteration_beyond_its_wrap_is_met_once() -> None:
    iteration = Iteration(10, 3, 7)
    descriptor = Descriptor("memory", 4, DmaAddress(100), iteration=iteration)
    bases = [Walk.of(descriptor, execution).base for execution in range(6)]
    assert bases == [170, 100, 110, 120, 100, 110]
    assert len(set(bases)) == iteration.different == 4


def test_walk_of_descriptor_ignores_a_wrap_the_tile_lacks() -> None:
    dims = (Dim(1, 2), Dim(4, 2), Dim(8, 1))
    assert listed(Walk.of(Descriptor("compute", 6, DmaAddress(0), dims))) == [0, 1, 4, 5, 8, 9]


def test_s2mm_ignores_padding() -> None:
    descriptor = Descriptor("memory", 4, DmaAddress(0), (Dim(1, 2), Dim(8)), pad=(Pad(1, 1),))
    assert listed(Walk.of(descriptor)) == [PAD, 0, 1, PAD]
    assert listed(Walk.of(descriptor).unpadded()) == [0, 1, 8, 9]


def test_gather_reads_zero_on_pads_and_honours_the_origin() -> None:
    memory = np.arange(100, 164, dtype=np.uint32)
    walk = Walk(1000, 12, (1, 8), (4,), (1,), (1,))
    assert gather(memory, walk, origin=1000).tolist() == [0, 100, 101, 102, 103, 0, 0, 108, 109, 110, 111, 0]


def test_scatter_lets_later_words_win() -> None:
    memory = np.zeros(8, np.uint32)
    scatter(memory, Walk(0, 8, (1, 1), (4,)), np.arange(1, 9, dtype=np.uint32))
    assert memory.tolist() == [1, 5, 6, 7, 8, 0, 0, 0]


@pytest.mark.parametrize("move", [gather, lambda m, w: scatter(m, w, np.zeros(w.length, np.uint32))])
def test_data_outside_the_memory_is_refused(move) -> None:
    with pytest.raises(TransferError) as caught:
        move(np.zeros(8, np.uint32), Walk(4, 5))
    assert str(caught.value) == (
        "data movement: the walk covers words 0x4..0x8, allowed are 0x0..0x7 (size of the memory "
        "given). Change the base address, a step, a wrap or the length."
    )


def test_walk_leaving_the_address_space_is_one_problem() -> None:
    end = MEMORY.dma_address_words
    assert check_walk(Walk(end - 4, 4), MEMORY) == []
    (problem,) = check_walk(Walk(end - 4, 5), MEMORY)
    assert problem.reason == "walk"
    assert problem.message == (
        "memory tile: the walk covers words 0x5fffc..0x60000, allowed are 0x0..0x5ffff (AM020 ch. 5, "
        "DMA address space). Change the base address, a step, a wrap or the length."
    )


def test_cut_walk_is_judged_by_the_words_it_moves() -> None:
    whole = Walk(0, 4 * 3, (1, COMPUTE.dma_address_words // 2), (4,))
    assert [p.reason for p in check_walk(whole, COMPUTE)] == ["walk"]
    assert check_walk(Walk(0, 8, whole.steps, whole.wraps), COMPUTE) == []


def test_padding_alone_touches_nothing() -> None:
    walk = Walk(1 << 40, 3, (1,), (8,), (4,))
    assert last_address(walk) is None
    assert check_walk(walk, MEMORY) == []


def test_chunks_keep_to_their_size() -> None:
    sizes = [len(piece) for piece in chunks(Walk(0, 100, (3, 1), (7,)), 32)]
    assert sizes == [32, 32, 32, 4]
