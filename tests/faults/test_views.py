"""Is every view that makes no transfer refused, saying what was given and what would do?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import memtile
from memtile.access.lowering.lower import lower
from memtile.access.notation import dma_dimensions, rearrange, repeat, tensor_access_pattern
from memtile.access.views import View, view
from memtile.errors import TransferError

X = view((8, 8))
BYTES = view((8, 8), np.int8)
LOOPS = "(AM020 ch. 5: descriptors walk loops of fixed steps)"
INDEX = "a view takes integers, slices, ... and None (NumPy basic indexing). Use one view for each piece."


def message(act: Callable[[], Any]) -> str:
    with pytest.raises(TransferError) as caught:
        act()
    return str(caught.value)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: X[[0, 2]],
            f"the index has an item of type list; {INDEX}",
        ),
        (
            lambda: X[np.ones((8, 8), bool)],
            f"the index has an item of type ndarray; {INDEX}",
        ),
        (
            lambda: X[True],
            f"the index has an item of type bool; {INDEX}",
        ),
        (
            lambda: X[1.5],
            f"the index has an item of type float; {INDEX}",
        ),
        (lambda: X[8], "the index of axis 0 is 8, allowed are -8..7 (NumPy basic indexing)."),
        (lambda: X[:, -9], "the index of axis 1 is -9, allowed are -8..7 (NumPy basic indexing)."),
        (
            lambda: X[0, 0, 0],
            "the index is (0, 0, 0); it can have at most 2 indices and one ellipsis (NumPy basic indexing).",
        ),
        (
            lambda: X[3:3],
            "the slice of axis 0 is empty; it must have at least one element (NumPy basic indexing).",
        ),
        (
            lambda: X.T.reshape(-1)[1:12],
            f"the slice 1:12:1 of axis 0 must take whole turns of its loops of 8 x 8 {LOOPS}. Slice "
            "before the reshape.",
        ),
    ],
)
def test_indices_that_are_no_view(act: Callable[[], Any], text: str) -> None:
    assert message(act).partition(": ")[2] == text


def test_a_reshape_that_cuts_a_loop_names_the_axis() -> None:
    assert message(lambda: X[:, :6].reshape(-1, 4)) == (
        f"view of (8, 6): axis 1 of the new shape (12, 4) cuts through loops of 8 x 6 elements {LOOPS}. "
        "Reshape before slicing, or split the transfer."
    )
    assert message(lambda: X.reshape(5, -1)) == (
        "view of (8, 8): the new shape is (5, -1); it must have 64 elements (NumPy)."
    )
    assert (
        "reshape has order 'F', copy=None; a view can only be reshaped in order 'C' and without a copy"
        in message(lambda: np.reshape(X, 64, order="F"))
    )


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: np.pad(X, 1, mode="edge"),
            "pad has mode 'edge', constant_values 0; the hardware pads with zeros only, which is mode "
            "'constant' with 0 (AM020 ch. 5: zero padding).",
        ),
        (
            lambda: np.pad(X, 1, constant_values=3),
            "pad has mode 'constant', constant_values 3; the hardware pads with zeros only, which is "
            "mode 'constant' with 0 (AM020 ch. 5: zero padding).",
        ),
        (
            lambda: np.pad(X, (1, -1)),
            "pad_width is (1, -1); it must be widths of 0 or more for 2 axes (numpy.pad).",
        ),
        (lambda: np.pad(X, 1.5), "pad_width is 1.5; it must be widths of 0 or more for 2 axes (numpy.pad)."),
        (
            lambda: np.pad(X, ((1, 1),) * 3),
            "pad_width is ((1, 1), (1, 1), (1, 1)); it must be widths of 0 or more for 2 axes (numpy.pad).",
        ),
        (
            lambda: np.pad(X.T.reshape(-1), 1),
            (
                f"pad needs an axis of one step; axis 0 is made of loops of 8 x 8 {LOOPS}. Call pad "
                "before the reshape."
            ),
        ),
        (
            lambda: np.pad(sliding_window_view(np.pad(X[0], 1), 3), 1),
            f"axis 0 cannot be padded: it is a part of an axis that has zeros already {LOOPS}. Pad "
            "once, before windows and reshapes.",
        ),
    ],
)
def test_zeros_that_no_descriptor_makes(act: Callable[[], Any], text: str) -> None:
    assert message(act).partition(": ")[2] == text


def test_windows_and_broadcasts_that_do_not_fit() -> None:
    assert message(lambda: sliding_window_view(X, 9, 1)) == (
        "view of (8, 8): the window has a size of 9, allowed are 1..8, the size of axis 1 (NumPy)."
    )
    assert message(lambda: sliding_window_view(X, 3)) == (
        "view of (8, 8): sliding_window_view has 1 windows for 2 axes; it needs one for each (NumPy)."
    )
    assert message(lambda: memtile.sliding_window_view(X[0], 0)) == (
        "view of (8,): the window has a size of 0, allowed are 1..8, the size of axis 0 (NumPy)."
    )
    assert message(lambda: memtile.sliding_window_view(X, (3, 3), 1)) == (
        "view of (8, 8): sliding_window_view has 2 windows for 1 axes; it needs one for each (NumPy)."
    )
    assert message(lambda: np.broadcast_to(X, (3, 8))) == (
        "view of (8, 8): the view cannot be broadcast to (3, 8) (NumPy)."
    )


def test_axes_that_do_not_exist_are_numpys_own_errors() -> None:
    with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of bounds"):
        np.transpose(X, (5, 0))
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds"):
        memtile.sliding_window_view(X, 3, 2)
    with pytest.raises(ValueError, match="repeated axis"):
        X.transpose(0, 0)


def test_what_needs_values_is_refused() -> None:
    assert message(lambda: np.asarray(X)) == (
        "view of (8, 8): a view cannot become an array; NumPy functions of the shape alone work on "
        "it (a view has no data)."
    )
    assert (
        "numpy.concatenate does not work on a view; these functions do: broadcast_to, expand_dims, "
        "flip, fliplr, flipud, moveaxis, ndim, pad, ravel, reshape, rollaxis, shape, size, "
        "sliding_window_view, squeeze, swapaxes, transpose"
    ) in message(lambda: np.concatenate([X, X]))
    with pytest.raises(TypeError, match="unsupported operand"):
        X + 1


@pytest.mark.feature("F43")
@pytest.mark.parametrize(
    ("array", "step"),
    [(BYTES.T, 8), (np.flip(BYTES, 1), -1), (BYTES[:, ::2], 2), (BYTES[..., None, None].T, 8)],
)
def test_orders_that_take_words_apart(array: View, step: int) -> None:
    assert message(array.request) == (
        f"view of {array.shape}: 8-bit elements are read in steps of {step}; they must come in runs of "
        "4 neighbours, which make one 32-bit word (AM020 ch. 5: all DMA addresses are 32-bit). Keep 4 "
        "neighbours together as the innermost axis."
    )


@pytest.mark.feature("F43")
def test_parts_of_words_name_the_offset_and_the_size() -> None:
    assert message(lambda: lower(BYTES[:, 2:6].request())) == (
        "8-bit elements: dimension 0, offset is 2 elements; it must be a multiple of 4, one 32-bit "
        "word (AM020 ch. 5: all DMA addresses are 32-bit). The nearest legal value is 4."
    )
    assert message(lambda: lower(BYTES[:, :6].request())) == (
        "8-bit elements: dimension 0, tile size is 6 elements; it must be a multiple of 4, one 32-bit "
        "word (AM020 ch. 5: all DMA addresses are 32-bit). The nearest legal values are 4 and 8."
    )


def test_a_long_transfer_backwards_has_too_few_descriptors() -> None:
    with pytest.raises(TransferError) as caught:
        lower(np.flip(view(64)).request())
    assert {"bds"} <= {problem.reason for problem in caught.value.problems}


def test_a_padded_axis_walked_both_ways() -> None:
    windows = sliding_window_view(np.pad(view(8), 1), 3)
    assert message(lambda: np.flip(windows, 1).request()) == (
        "view of (8, 3): a padded axis is walked in both directions; all its loops must go the same "
        f"way {LOOPS}. Flip before padding."
    )


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_types_of_ml_dtypes_are_known_before_anybody_has_used_them(name: str) -> None:
    """In a fresh process, since NumPy knows them as soon as the package is there."""
    code = f"from memtile import view; print(view(8, {name!r}).element_bits, view(8, 'int2').element_bits)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "8 2\n", told.stderr


def test_a_part_of_a_byte_is_one_whatever_else_is_imported() -> None:
    assert ml_dtypes.int2 is not None
    assert view(16, "int2").element_bits == 2


def test_buffers_and_types_that_do_not_exist() -> None:
    assert (
        message(lambda: view((4, 0)))
        == "view: the shape is (4, 0); every axis must have at least 1 element (NumPy shape)."
    )
    for name in ("int3", "nonsense", "U"):
        assert message(lambda name=name: view(4, name)) == (
            f"view: dtype is {name}; it must be a NumPy type of 2^n bits, or int4, bfloat16, cint16 and "
            "the like (UG1079, data types)."
        )


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: rearrange(X, "(h i) w -> h w i", i=3),
            "the pattern '(h i) w -> h w i' does not fit this shape (einops: Shape mismatch, can't "
            "divide axis of length 8 in chunks of 3).",
        ),
        (
            lambda: repeat(X, "h w -> h w r"),
            "the pattern 'h w -> h w r' does not fit this shape (einops: Specify sizes for new axes in "
            "repeat: {'r'}).",
        ),
    ],
)
def test_einops_says_what_is_wrong_with_a_pattern(act: Callable[[], Any], text: str) -> None:
    assert message(act) == f"view of (8, 8): {text}"


def test_einops_is_asked_for_only_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "einops", None)
    assert message(lambda: rearrange(X, "h w -> w h")) == (
        'Einops patterns need the einops package, which is not installed: pip install "einops".'
    )


def test_all_problems_of_an_mlir_aie_pattern_are_reported_at_once() -> None:
    assert message(lambda: tensor_access_pattern((4, 0), 0, (3, 0), (1, -2, 3))).split("\n") == [
        "access pattern: tensor_dims is [4, 0]; it must be a list of one or more numbers, each at "
        "least 1 (mlir-aie, TensorAccessPattern).",
        "access pattern: sizes is [3, 0]; it must be a list of one or more numbers, each at least 1 "
        "(mlir-aie, TensorAccessPattern).",
        "access pattern: strides is [1, -2, 3]; it must be a list of one or more numbers, each at "
        "least 0 (mlir-aie, TensorAccessPattern).",
        (
            "access pattern: strides has 3 numbers, sizes has 2; each size needs its stride (mlir-aie, "
            "TensorAccessPattern)."
        ),
    ]


def test_nothing_wraps_around() -> None:
    for offset, given in ((8, "8..39"), (-1, "-1..30")):
        assert message(lambda offset=offset: tensor_access_pattern((4, 8), offset, (4, 8), (8, 1))) == (
            f"access pattern: the pattern covers elements {given}, the tensor has 0..31 (mlir-aie, "
            "TensorAccessPattern). Nothing wraps around: make the pattern smaller, or the tensor "
            "larger."
        )


def test_dimension_lists_are_read_strictly() -> None:
    assert message(lambda: dma_dimensions((4, 8), "[<4,8>; <8,1>]")) == (
        "access pattern: dimensions is '[<4,8>; <8,1>]'; it must be [<number, number>, ...] (mlir-aie, "
        "aie.dma_bd)."
    )
    assert message(lambda: dma_dimensions((4, 8), "[<4, 8>, <8, 1>]", "[<1, 1>]")) == (
        "access pattern: pad_dimensions has 1 pairs, dimensions has 2; it needs one for each "
        "(mlir-aie, aie.dma_bd)."
    )
