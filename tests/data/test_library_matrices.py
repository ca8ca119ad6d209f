"""Are products of matrices those of NumPy, in every layout that kernels of mlir-aie have?"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from memtile.errors import DesignError
from memtile.kernels import aie
from support.engine.rounded_numbers import down_to

Values = npt.NDArray[Any]
BF16 = ml_dtypes.bfloat16
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "bf16": BF16, "f32": np.float32}
PAIRS = ["i8_i8", "i8_i16", "i8_i32", "i16_i16", "i16_i32", "bf16_bf16", "bf16_f32"]
BLOCKS = {
    "npu1": {"i8": (4, 8, 8), "i16": (4, 4, 4), "bf16": (4, 8, 4)},
    "npu2": {"i8": (8, 8, 8), "i16": (4, 4, 8), "bf16": (4, 8, 8)},
}


def drawn(kind: str, shape: tuple[int, ...], seed: int) -> Values:
    rng = np.random.default_rng(seed)
    if kind in ("bf16", "f32"):
        return rng.normal(0, 3, shape).astype(DTYPES[kind])
    info = np.iinfo(DTYPES[kind])
    return rng.integers(info.min, info.max, shape, DTYPES[kind], endpoint=True)


def expected(a: Values, b: Values, c: Values) -> Values:
    """``c + a @ b`` in plain loops and exact numbers: wrapped, or rounded to float32 and once more."""
    result = np.empty_like(c)
    exact = [Fraction if c.dtype in (BF16, np.float32) else int][0]
    for i, j in product(range(a.shape[0]), range(b.shape[1])):
        total: Any = sum(
            (exact(float(x)) * exact(float(y)) for x, y in zip(a[i], b[:, j], strict=True)),
            exact(float(c[i, j])),
        )
        if exact is int:
            bits = 8 * c.itemsize
            result[i, j] = (total + (1 << bits >> 1)) % (1 << bits) - (1 << bits >> 1)
        else:
            result[i, j] = down_to(np.float32(float(total)), c.dtype)
    return result


def expected_in_steps(a: Values, b: Values, c: Values) -> Values:
    """As ``expected``, with each product of floats rounded and added in the type of c, as scalar loops do."""
    if c.dtype not in (BF16, np.float32):
        return expected(a, b, c)
    result = np.empty_like(c)
    for i, j in product(range(a.shape[0]), range(b.shape[1])):
        total = c.dtype.type(0)
        for x, y in zip(a[i], b[:, j], strict=True):
            total = down_to(np.float32(np.float32(total) + np.float32(x) * np.float32(y)), c.dtype)
        result[i, j] = down_to(np.float32(np.float32(c[i, j]) + np.float32(total)), c.dtype)
    return result


def in_blocks(matrix: Values, r: int, s: int) -> Values:
    rows, columns = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows // r, r, columns // s, s).transpose(0, 2, 1, 3))


@pytest.mark.parametrize("device", BLOCKS)
@pytest.mark.parametrize("pair", PAIRS)
def test_blocks_are_those_of_the_type(pair: str, device: str) -> None:
    into, out = pair.split("_")
    r, s, t = BLOCKS[device][into]
    a, b, c = drawn(into, (3 * r, 2 * s), 1), drawn(into, (2 * s, 2 * t), 2), drawn(out, (3 * r, 2 * t), 3)
    blocked = in_blocks(c, r, t).reshape(-1)
    aie.library(device)[f"matmul_{pair}"](
        in_blocks(a, r, s).reshape(-1), in_blocks(b, s, t).reshape(-1), blocked
    )
    np.testing.assert_array_equal(blocked, in_blocks(expected(a, b, c), r, t).reshape(-1))


@pytest.mark.parametrize("pair", ["i8_i16", "i8_i32"])
def test_c_of_bytes_stays_row_major_on_npu1(pair: str) -> None:
    """DEV-KERNEL-12: with columns of b and c, whatever the shape of the arrays."""
    _, out = pair.split("_")
    r, s, t = BLOCKS["npu1"]["i8"]
    a, b, c = drawn("i8", (2 * r, 3 * s), 1), drawn("i8", (3 * s, 2 * t), 2), drawn(out, (2 * r, 2 * t), 3)
    blocked = in_blocks(c, r, t)
    own = aie.library("npu1", b_columns=True, c_columns=True)
    own[f"matmul_{pair}"](in_blocks(a, r, s), in_blocks(b.T, t, s), blocked)
    np.testing.assert_array_equal(blocked, in_blocks(expected(a, b, c), r, t))


@pytest.mark.parametrize(
    ("pair", "device"), [("i8_i32", "npu2"), ("i8_i8", "npu1"), ("i16_i16", "npu1"), ("bf16_f32", "npu1")]
)
def test_column_major_operands_are_transposed_within_and_among_blocks(pair: str, device: str) -> None:
    into, out = pair.split("_")
    r, s, t = BLOCKS[device][into]
    a, b, c = drawn(into, (2 * r, 3 * s), 1), drawn(into, (3 * s, 2 * t), 2), drawn(out, (2 * r, 2 * t), 3)
    blocked, wanted = in_blocks(c.T, t, r), expected(a, b, c)
    own = aie.library(device, b_columns=True, c_columns=True)
    own[f"matmul_{pair}"](in_blocks(a, r, s), in_blocks(b.T, t, s), blocked)
    np.testing.assert_array_equal(blocked, in_blocks(wanted.T, t, r))
    flat = np.ascontiguousarray(c.T)
    own[f"matmul_scalar_{pair}"](a, np.ascontiguousarray(b.T), flat)
    np.testing.assert_array_equal(flat.T, expected_in_steps(a, b, c))


def test_four_dimensions_say_blocks_and_their_order() -> None:
    a, b, c = drawn("bf16", (64, 16), 1), drawn("bf16", (16, 32), 2), drawn("bf16", (64, 32), 3)
    wanted = in_blocks(expected(a, b, c), 8, 4)
    straight, across = in_blocks(c, 8, 4), np.ascontiguousarray(in_blocks(c, 8, 4).swapaxes(0, 1))
    left, right = in_blocks(a, 8, 8), in_blocks(b, 8, 4)
    matmul = aie.library()["matmul_bf16_bf16"]
    matmul(left, right, straight)
    matmul(*(np.ascontiguousarray(part.swapaxes(0, 1)) for part in (left, right)), across)
    np.testing.assert_array_equal(straight, wanted)
    np.testing.assert_array_equal(across.swapaxes(0, 1), wanted)


@pytest.mark.parametrize("pair", [*PAIRS, "i32_i32", "f32_f32"])
def test_scalar_products_are_row_major(pair: str) -> None:
    into, out = pair.split("_")
    a, b, c = drawn(into, (3, 5), 1), drawn(into, (5, 7), 2), drawn(out, (3, 7), 3)
    wanted = expected_in_steps(a, b, c)
    aie.library()[f"matmul_scalar_{pair}"](a, b.reshape(-1), c)
    np.testing.assert_array_equal(c, wanted)


@pytest.mark.parametrize("name", ["matmul_scalar_bf16_bf16", "matvec_scalar_bf16_f32"])
def test_scalar_sums_of_floats_are_rounded_at_every_step(name: str) -> None:
    """In c's type: 256 + 1 is 256 in bfloat16, down, however often; in float32 the last bit of 2**24 + 1."""
    bf16 = np.dtype(ml_dtypes.bfloat16)
    high = 256.0 if name.endswith("bf16_bf16") else 2.0**24
    a = np.array([high, 1, 1, 1], bf16)
    b, c = np.ones(4, bf16), np.zeros(1, bf16 if name.endswith("bf16_bf16") else np.float32)
    aie.library()[name](a, b, c)
    assert c[0] == high
    a = a[::-1].copy()
    c[...] = 0
    aie.library()[name](a, b, c)
    assert c[0] == (258 if high == 256 else 2.0**24 + 4)  # 259 goes down to 258


def test_products_of_named_blocks_go_column_by_column() -> None:
    a, b, c = drawn("i32", (16, 16), 1), drawn("i32", (16, 16), 2), drawn("i32", (16, 16), 3)
    packed = [
        np.ascontiguousarray(in_blocks(x, *size).swapaxes(0, 1))
        for x, size in ((a, (4, 8)), (b, (8, 4)), (c, (4, 4)))
    ]
    aie.library()["matmul_scalar_4x2x4_4x8x4_i32_i32"](*packed)
    np.testing.assert_array_equal(packed[2].swapaxes(0, 1), in_blocks(expected(a, b, c), 4, 4))


@pytest.mark.parametrize(("name", "words"), [("matvec_scalar", False), ("matvec_vectorized", True)])
@pytest.mark.parametrize("pair", ["i16_i32", "bf16_f32"])
def test_a_matrix_times_a_vector(pair: str, name: str, words: bool) -> None:
    into, out = pair.split("_")
    a, b, c = drawn(into, (32, 8), 1), drawn(into, (8,), 2), drawn(out, (32,), 3)
    wanted = (expected if words else expected_in_steps)(a, b[:, None], c[:, None])[:, 0]
    stored = np.ascontiguousarray(a.reshape(32, 4, 2).swapaxes(0, 1)) if words else a
    aie.library()[f"{name}_{pair}"](stored.reshape(-1), b, c)
    np.testing.assert_array_equal(c, wanted)


@pytest.mark.parametrize("numbers", [(4, 16, 2), (4, 2)])
def test_rows_of_a_bf16_product_go_to_their_offset(numbers: tuple[int, ...]) -> None:
    a, b, c = drawn("bf16", (4, 16), 1), drawn("bf16", (16,), 2), drawn("bf16", (8,), 3)
    wanted = c.copy()
    wanted[2:6] = expected(a, b[:, None], np.zeros((4, 1), BF16))[:, 0]
    aie.library()["matvec_vectorized_bf16_bf16"](*numbers, a, b, c)
    np.testing.assert_array_equal(c, wanted)


def test_a_target_with_gaps_is_written_in_place() -> None:
    a, b = drawn("i16", (4, 4), 1), drawn("i16", (4, 4), 2)
    memory = np.zeros((4, 8), np.int16)
    aie.library()["matmul_i16_i16"](a, b, memory[:, ::2])
    np.testing.assert_array_equal(memory[:, ::2], expected(a, b, np.zeros((4, 4), np.int16)))
    assert not memory[:, 1::2].any()


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("matmul_i16_i16", ((4, 4), (4, 4), (4, 5)), "the number of elements of a, b and c is 16, 16, 20"),
        ("matmul_i16_i16", ((6, 4), (4, 4), (6, 4)), "m, k, n is 6, 4, 4; it must be multiples of 4, 4, 4"),
        ("matmul_i16_i16", ((1, 1, 4, 4), (1, 1, 8, 2), (1, 1, 4, 4)), "the size of the blocks"),
        (
            "matmul_i16_i16",
            ((2, 3, 4, 4), (5, 1, 4, 4), (2, 1, 4, 4)),
            "the number of elements of a, b and c",
        ),
        ("matmul_i16_i16", ((0,), (0,), (0,)), "the number of elements of a, b and c is 0, 0, 0"),
        ("matmul_scalar_2x2x2_4x8x4_i16_i16", ((8, 8), (8, 8), (8, 8)), "the number of elements of a is 64"),
        ("matvec_scalar_i16_i32", ((8, 4), (4,), (8,)), "the element type of c is int16; it must be int32"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, shapes: Any, message: str) -> None:
    with pytest.raises(DesignError, match=f"{name}\\(a, b, c\\): {message}"):
        aie.library()[name](*(np.zeros(shape, np.int16) for shape in shapes))


def test_cycles_are_macs_at_full_rate() -> None:
    """DEV-KERNEL-1: where no count is published of a kernel, as of AIE-ML v2, the peak is a bound."""
    sizes = {"i8": 64 * 64 * 64 // 512, "i16": 64 * 64 * 64 // 128, "bf16": 64 * 64 * 64 // 256}
    for kind, cycles in sizes.items():
        a = np.zeros(64 * 64, DTYPES[kind])
        found = aie.library("xc2ve3858")[f"matmul_{kind}_{kind}"].cost(a, a, a)
        assert found == (cycles, "lower bound", 0, 0)
    a = np.zeros(64, np.int16)
    assert aie.library()["matmul_scalar_i16_i16"].cycles(a, a, a) == 8**3


def test_rounding_and_layout_where_amd_says_nothing() -> None:
    """DEV-KERNEL-2: sums of floats are exact before they are rounded; integers wrap."""
    a, b = np.ones((4, 8), BF16), np.zeros((8, 4), BF16)
    b[0], b[1:3], b[3] = 2.0**30, 1.0, -(2.0**30)
    c = np.zeros((4, 4), np.float32)
    aie.library()["matmul_bf16_f32"](a, b, c)
    assert (c == 2).all()
    wide, target = np.full((4, 8), 127, np.int8), np.zeros((4, 8), np.int8)
    aie.library()["matmul_i8_i8"](wide, np.full((8, 8), 127, np.int8), target)
    assert (target == 8 * 127 * 127 % 256).all()
