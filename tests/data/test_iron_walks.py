"""Do patterns of ``memtile.iron.helpers.taplib`` walk tensors as NumPy and AMD's reference of taplib say?"""

import itertools

import numpy as np
import pytest

from memtile.iron.helpers import util
from memtile.iron.helpers.taplib import TensorAccessPattern, TensorAccessSequence, TensorTiler2D

KEYS = [
    np.s_[1:5, 2:8],
    np.s_[::2, 1::3],
    np.s_[3],
    np.s_[:, -2],
    np.s_[-3:, ...],
    np.s_[None, 2:4, :],
    np.s_[..., 4],
    np.s_[2:3, 4:5],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_index_walks_the_elements_of_numpy(key):
    array = np.arange(7 * 9).reshape(7, 9)
    part = TensorAccessPattern.full((7, 9))[key]
    assert part.to_stream(array).tolist() == array[key].ravel().tolist()


def test_permute_split_merge_and_repeat_walk_like_numpy():
    array = np.arange(24).reshape(2, 3, 4)
    full = TensorAccessPattern.full((2, 3, 4))
    assert full.permute((2, 0, 1)).to_stream(array).tolist() == array.transpose(2, 0, 1).ravel().tolist()
    assert full.T.to_stream(array).tolist() == array.T.ravel().tolist()
    cut = full.split(2, 2)
    assert (cut.sizes, cut.strides) == ([2, 3, 2, 2], [12, 4, 2, 1])
    assert cut.merge(2) == full
    assert cut.coalesce().transformation_dims == [(24, 1)]
    assert full.repeat(3).to_stream(array).tolist() == array.ravel().tolist() * 3
    assert TensorAccessPattern((8,), 0, [4, 1], [2, 5]).merge(0).transformation_dims == [(4, 2)]


def test_dimensions_of_one_element_do_not_make_patterns_different():
    long = TensorAccessPattern((4,), 0, [1, 4, 1], [0, 1, 0])
    assert long == TensorAccessPattern((4,), 0, [4], [1])
    assert hash(long) == hash(TensorAccessPattern((4,), 0, [4], [1]))
    assert long != TensorAccessPattern((4,), 0, [2, 2], [2, 1])


# AMD's reference of taplib (1.4.6) prints these patterns
def test_grids_are_those_of_the_reference():
    grid = TensorAccessPattern.full((16, 16)).tile((4, 4)).group((2, 2))
    assert len(grid) == 4
    assert (
        str(grid[0]) == "TensorAccessPattern([16, 16] offset=0, sizes=[2, 2, 4, 4], strides=[64, 4, 16, 1])"
    )
    part = TensorAccessPattern.full((1, 1024)).partition(4)[2]
    assert str(part) == "TensorAccessPattern([1, 1024] offset=512, sizes=[1, 256], strides=[0, 1])"


def test_groups_of_tiles_that_are_apart():
    grid = TensorAccessPattern.full((4, 32)).tile((2, 2)).group((1, 2), steps=(1, 4))
    assert (grid.grid_shape, grid.tile_shape, grid.num_steps) == ([2, 8], [1, 2, 2, 2], 16)
    array = np.arange(4 * 32).reshape(4, 32)
    first = [array[:2, 2 * tile : 2 * tile + 2].ravel() for tile in (9, 13)]
    assert grid[5].to_stream(array).tolist() == np.concatenate(first).tolist()
    assert TensorAccessPattern.full((8, 8)).tile((2, 2)).group((2, 2), order="col").tile_strides == [
        2,
        16,
        8,
        1,
    ]
    ragged = TensorAccessPattern.full((3, 28)).tile((3, 2)).group((1, 7), steps=(1, 3), partial=True)
    assert [each.sizes[0] for each in ragged] == [5, 5, 4]


def test_places_and_steps_of_a_grid_agree():
    grid = TensorAccessPattern.full((8, 12)).tile((2, 3))
    down = grid.order("col")
    for row, col in itertools.product(range(4), range(4)):
        assert grid[row, col] == grid[row * 4 + col] == down[col * 4 + row]
    assert grid[-1] == grid[15]
    assert list(grid)[1:3] == list(grid[1:3])
    assert grid[1, ::2].transformation_dims == [(2, 6), (2, 12), (3, 1)]


@pytest.mark.parametrize("order", ["row", "col"])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0)])
def test_inverse_reads_a_buffer_of_tiles_in_the_order_of_the_tensor(order, axes):
    array = np.arange(8 * 12).reshape(8, 12)
    grid = TensorAccessPattern.full((8, 12)).tile((2, 3)).order(order).permute_tile(axes)
    tiles = np.concatenate([tile.to_stream(array) for tile in grid])
    assert grid.tap.to_stream(array).tolist() == tiles.tolist()
    assert grid.inverse().to_stream(tiles).tolist() == array.ravel().tolist()


# AMD's migration page: with prune_step=False both have the same offset, sizes and strides
@pytest.mark.parametrize("columns", list(itertools.product([False, True], repeat=3)), ids=str)
@pytest.mark.parametrize(("repeats", "steps"), [((2, 3), (1, 2)), ((4, 3), (2, 1)), ((1, 1), (1, 1))])
def test_algebra_is_what_tensortiler2d_was(columns, repeats, steps):
    tile_col, group_col, iter_col = columns
    old = TensorTiler2D.step_tiler(
        (24, 36),
        (3, 2),
        repeats,
        steps,
        tile_col_major=tile_col,
        tile_group_col_major=group_col,
        iter_col_major=iter_col,
        pattern_repeat=1 if min(repeats) > 1 else 3,
        prune_step=False,
    )
    grid = TensorAccessPattern.full((24, 36)).tile((3, 2))
    grid = grid.permute_tile((1, 0)) if tile_col else grid
    grid = grid.order("col") if iter_col else grid
    grid = grid.group(repeats, steps=steps, order="col" if group_col else "row")
    grid = grid if min(repeats) > 1 else grid.repeat(3)
    assert list(old) == list(grid)


def test_data_path_of_the_reference_transposes_tiles():
    rows, cols, high, wide, side = 64, 64, 16, 16, 8
    host = np.arange(rows * cols).reshape(rows, cols)
    shim = TensorAccessPattern.full((rows, cols)).tile((high, wide)).tap
    inside = TensorAccessPattern.full((wide, high)).tile((side, side)).tap.permute((1, 2, 0, 3))
    for at, tile in enumerate(shim.to_stream(host).reshape(-1, high * wide)):
        row, col = divmod(at, cols // wide)
        blocks = inside.from_stream(tile).reshape(wide // side, side, high // side, side)
        got = blocks.transpose(0, 3, 2, 1).reshape(wide, high)
        assert (got == host[row * high : (row + 1) * high, col * wide : (col + 1) * wide].T).all()


def test_padding_is_sent_around_the_elements():
    padded = TensorAccessPattern.full((2, 3)).pad([(1, 0), (0, 2)])
    assert padded.padded_sizes == [3, 5]
    sent = padded.to_stream(np.arange(6).reshape(2, 3), pad_value=9).reshape(3, 5)
    assert sent.tolist() == [[9] * 5, [0, 1, 2, 9, 9], [3, 4, 5, 9, 9]]


def test_repeat_becomes_the_repeats_of_a_task():
    tap = TensorAccessPattern.full((2, 8)).repeat(3)._dma_form()
    assert (tap.sizes, tap.strides) == ([3, 1, 2, 8], [0, 0, 8, 1])
    tap = TensorAccessPattern.full((2, 8))._dma_form()
    assert (tap.sizes, tap.strides) == ([1, 1, 2, 8], [0, 0, 8, 1])


FULL = TensorAccessPattern.full((8, 6))
BAD = [
    (lambda: FULL.split(1, 4), ValueError, "dimension 1 of size 6 is not divisible by 4"),
    (
        lambda: FULL[:, 0:3].merge(0),
        ValueError,
        "dimensions 0 and 1 are not contiguous: stride 6, not 3 [*] 1",
    ),
    (lambda: FULL.merge(1), ValueError, "dimension 1 is the innermost"),
    (lambda: FULL[5:5], ValueError, "slice .* of 8 elements has none"),
    (lambda: FULL[::-1], ValueError, "a step of at least 1, not -1"),
    (lambda: FULL[9], IndexError, "place 9 of a dimension of 8"),
    (lambda: FULL[1, 2, 3], IndexError, "3 indices, with 0 times '...', for 2 dimensions"),
    (lambda: FULL[[1, 2]], TypeError, "numbers, slices"),
    (lambda: FULL.permute((0, 0)), ValueError, r"axes \[0, 0\] are no order of 2 dimensions"),
    (lambda: FULL.repeat(0), ValueError, "a count of at least 1, not 0"),
    (lambda: FULL.pad([(1, 1)]), ValueError, "padding has 1 pairs for 2 dimensions"),
    (lambda: FULL.pad([(0, 0), (-1, 0)]), ValueError, "padding is at least 0"),
    (lambda: FULL.pad([(0, 1), (0, 0)]).T, ValueError, r"pad\(\) comes last"),
    (lambda: FULL.tile((2,)), ValueError, "a walk of 2 dimensions has tiles of as many"),
    (lambda: FULL.tile((3, 2)), ValueError, "dimension 0 of size 8 is not divisible by 3"),
    (lambda: FULL.partition(4), ValueError, "dimension 1 of size 6 is not divisible into 4 parts"),
    (
        lambda: FULL.tile((2, 2)).group((3, 1)),
        ValueError,
        "axis 0 has 4 tiles, no multiple of 3 [*] 1: partial=True",
    ),
    (lambda: FULL.tile((2, 2)).group((2, 1)).tap, ValueError, "use tap before group"),
    (
        lambda: FULL.tile((2, 2)).repeat(2).permute_tile((1, 0)),
        ValueError,
        r"before group\(\) and repeat\(\)",
    ),
    (lambda: FULL.tile((2, 2)).order("down"), ValueError, "an order is"),
    (lambda: FULL.tile((2, 2))[12], IndexError, "place 12 of 12 steps"),
    (lambda: FULL.tile((2, 2))[1, 1, 1], IndexError, r"a place of a grid \[4, 3\] has 2 numbers"),
    (lambda: FULL.tile((2, 2)).insert(0, FULL), TypeError, r"TensorAccessSequence.from_taps\(list\(grid\)\)"),
    (lambda: FULL.split(0, 2).split(0, 2).split(0, 2)._dma_form(), ValueError, "at most 4 dimensions, not 5"),
]


@pytest.mark.parametrize(("does", "error", "message"), BAD, ids=[message for _, _, message in BAD])
def test_what_is_no_walk_is_refused(does, error, message):
    with pytest.raises(error, match=message):
        does()


def test_grid_is_copied_into_a_sequence_that_changes():
    taps = TensorAccessSequence.from_taps(list(FULL.tile((4, 3))))
    del taps[0]
    assert len(taps) == 3


@pytest.mark.parametrize(
    ("value", "size", "word"), [(5, 1, 0x05050505), (-2, 2, 0xFFFEFFFE), (-7, 4, 0xFFFFFFF9)]
)
def test_a_pad_value_fills_the_word_of_its_channel(value, size, word):
    assert util.pack_pad_value(value, size) == word
    with pytest.raises(ValueError, match="an element of 8 bytes does not fit"):
        util.pack_pad_value(value, 8)
