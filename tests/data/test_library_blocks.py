"""Do block floats (DEV-KERNEL-6), filters of patches and pooled convolutions do what plain loops do?"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from memtile.errors import DesignError
from memtile.kernels import aie
from support.engine.rounded_numbers import down_to

Values = npt.NDArray[Any]
LIBRARY = aie.library("npu2")
BF16 = ml_dtypes.bfloat16


def number(block: Values, at: int) -> Fraction:
    """A number of a block of 9 bytes, as the format says."""
    byte = int(block[1 + at]) - 256 * (int(block[1 + at]) >= 128)
    return Fraction(byte, 64) * Fraction(2) ** (int(block[0]) - 127)


def block(numbers: list[Fraction]) -> list[int]:
    """Eight numbers as a block, rounded down: the exponent is that of the largest."""
    largest = max(abs(x) for x in numbers)
    exponent = 0
    if largest:
        exponent = 127
        while largest >= 2:
            largest, exponent = largest / 2, exponent + 1
        while largest < 1:
            largest, exponent = largest * 2, exponent - 1
    step = Fraction(2) ** (exponent - 127) / 64
    return [exponent, *(floor(x / step) % 256 for x in numbers)]


def drawn(blocks: int, seed: int) -> Values:
    """Blocks with exponents near that of 1, of both signs."""
    random = np.random.default_rng(seed)
    found = random.integers(0, 256, (blocks, 9), np.uint8)
    found[:, 0] = random.integers(124, 130, blocks)
    return found


def rows(data: Values, row: int, column: int, across: int) -> list[Values]:
    """The eight rows of an 8 x 8 block of a matrix that has so many across."""
    start = 8 * (row * across + column)
    return list(data[start : start + 8])


def products(a: Values, b: Values, sizes: tuple[int, int, int]) -> dict[tuple[int, int, int], list[Fraction]]:
    """By block and row of c: what is added to its eight numbers."""
    m, k, n = sizes
    found: dict[tuple[int, int, int], list[Fraction]] = {}
    for i, j in product(range(m), range(n)):
        left = [[[number(r, s) for s in range(8)] for r in rows(a, i, x, k)] for x in range(k)]
        right = [[[number(r, s) for s in range(8)] for r in rows(b, j, x, k)] for x in range(k)]
        for r in range(8):
            found[i, j, r] = [
                sum(
                    (left[x][r][s] * right[x][t][s] for x in range(k) for s in range(8)),
                    start=Fraction(0),
                )
                for t in range(8)
            ]
    return found


SIZES = (2, 3, 2)


def test_products_of_block_floats() -> None:
    m, k, n = SIZES
    a, b, c = drawn(8 * m * k, 1), drawn(8 * k * n, 2), drawn(8 * m * n, 3)
    wanted = c.copy()
    for (i, j, r), added in products(a, b, SIZES).items():
        at = 8 * (i * n + j) + r
        sums = [Fraction(float(np.float32(float(number(c[at], t) + x)))) for t, x in enumerate(added)]
        wanted[at] = block(sums)
    typed = np.dtype([("exponent", "u1"), ("mantissas", "i1", 8)])
    given = c.copy().view(typed).reshape(-1)
    LIBRARY["matmul_vectorized_bfp16"](a.view(typed).reshape(-1), b.view(typed).reshape(-1), given)
    np.testing.assert_array_equal(given.view(np.uint8).reshape(-1, 9), wanted)


def test_products_of_bf16_and_block_floats() -> None:
    m, k, n = SIZES
    random = np.random.default_rng(4)
    a = random.normal(0, 3, 64 * m * k).astype(BF16)
    c = random.normal(0, 3, 64 * m * n).astype(BF16)
    b = drawn(8 * k * n, 5)
    left = np.array([block([Fraction(float(x)) for x in row]) for row in a.reshape(-1, 8)], np.uint8)
    wanted = c.copy()
    for (i, j, r), added in products(left, b, SIZES).items():
        for t, x in enumerate(added):
            at = 64 * (i * n + j) + 8 * r + t
            wanted[at] = down_to(np.float32(float(Fraction(float(c[at])) + x)), BF16)
    LIBRARY["matmul_vectorized_different_datatypes"](a, b.reshape(-1), c)
    np.testing.assert_array_equal(c.view(np.uint16), wanted.view(np.uint16))


def test_the_largest_negative_number_needs_no_other_exponent() -> None:
    """-2 + 1/64 has the exponent of 1; nothing is lost at the ends of the bytes, and zeros stay zeros."""
    one = np.array([[127, 64, 0, 0, 0, 0, 0, 0, 0]] + [[0] * 9] * 7, np.uint8)
    b = np.array([[127, 0x82, 0, 0, 0, 0, 0, 0, 0]] + [[0] * 9] * 7, np.uint8)
    c = np.zeros((8, 9), np.uint8)
    LIBRARY["matmul_vectorized_bfp16"](one, b, c)
    assert c[0].tolist() == [127, 0x82, 0, 0, 0, 0, 0, 0, 0]
    assert not c[1:].any()


def test_rows_become_blocks_and_rows_again() -> None:
    width, height = 24, 16
    a = np.arange(width * height * 9 // 8).astype(np.uint8)
    c, back = np.zeros_like(a), np.zeros_like(a)
    wanted = [
        a[(8 * y + i) * (width // 8 * 9) + 9 * x + j]
        for y, x, i, j in product(range(height // 8), range(width // 8), range(8), range(9))
    ]
    LIBRARY["scalar_shuffle"](a, c, width, height)
    assert [*c] == wanted
    LIBRARY["scalar_shuffle"](c, back, width, height, 1)
    np.testing.assert_array_equal(back, a)
    LIBRARY["zero_kernel"](c)
    assert not c.any()
    bf16 = np.ones(5, BF16)
    LIBRARY["zero_kernel_bf16"](bf16)
    assert not bf16.view(np.uint16).any()


def bytes_of(size: int, seed: int, dtype: Any) -> Values:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, size, dtype, endpoint=True)


def test_a_filter_of_patches() -> None:
    patches, outputs, pairs, shift = 16, 16, 98, 9
    a, w = bytes_of(patches * pairs * 8, 1, np.uint8), bytes_of(outputs * pairs * 8, 2, np.int8)
    c = np.zeros(patches * outputs, np.int8)
    halves = 0
    wanted = np.zeros_like(c)
    for oc, t in product(range(outputs), range(patches)):
        total = 0
        for pair, byte in product(range(pairs), range(8)):
            pixel = int(a[((t // 8 * pairs + pair) * 8 + t % 8) * 8 + byte])
            total += pixel * int(w[((oc // 8 * pairs + pair) * 8 + byte) * 8 + oc % 8])
        rounded = floor(Fraction(abs(total), 1 << shift) + Fraction(1, 2)) * (1 if total >= 0 else -1)
        halves += 2 * total % (1 << shift) == 0
        at = ((oc // 8 * (patches // 8) + t // 8) * 8 + t % 8) * 8 + oc % 8
        wanted[at] = max(-128, min(127, rounded))
    LIBRARY["conv2dk14_i8"](a, w, c, patches * 14, 4, outputs, 14, shift)
    np.testing.assert_array_equal(c, wanted)
    assert len(set(wanted.tolist())) > 9
    # halves go away from 0
    a[:], w[:] = 0, 0
    a[0], w[0], w[1] = 1, 1 << 4, -(1 << 4)
    LIBRARY["conv2dk14_i8"](a, w, c, patches * 14, 4, outputs, 14, 5)
    assert c[:2].tolist() == [1, -1]
    with pytest.raises(DesignError, match="the size of the filter"):
        LIBRARY["conv2dk14_i8"](a, w, c, patches * 14 + 8, 4, outputs, 14, 5)


def even(value: int, shift: int) -> int:
    return round(Fraction(value, 1 << shift))


def line_sums(a: Values, w: Values, width: int, inputs: int, outputs: int, shift: int) -> list[int]:
    found = []
    for oc in range(outputs):
        total = 0
        for x in range(width):
            pixel = sum(
                int(a[ic // 8 * width * 8 + x * 8 + ic % 8])
                * int(w[(oc // 8 * (inputs // 8) + ic // 8) * 64 + ic % 8 * 8 + oc % 8])
                for ic in range(inputs)
            )
            total += max(0, min(255, even(pixel, shift)))
        found.append(total)
    return found


def test_pooled_convolutions() -> None:
    sizes = (7, 16, 8)
    width, inputs, outputs = sizes
    w, c = bytes_of(inputs * outputs, 6, np.int8), np.zeros(outputs, np.uint16)
    total = np.zeros(outputs, np.int64)
    for row in range(width):
        a = bytes_of(width * inputs, 7 + row, np.int8)
        total += line_sums(a, w, *sizes, 8)
        one = np.zeros(outputs, np.uint16)
        LIBRARY["conv2dk1_x_pool_fused_relu_i8_ui8"](a, w, one, *sizes, 8)
        assert one.tolist() == line_sums(a, w, *sizes, 8)
        LIBRARY["conv2dk1_xy_pool_fused_relu_i8_ui8"](a, w, c, *sizes, 8, row)
        if row < width - 1:
            assert c.tolist() == total.tolist()
    assert c.tolist() == [floor(Fraction(int(x), 49) + Fraction(1, 2)) for x in total]
    assert len(set(c.tolist())) > 3


def test_convolutions_behind_the_pool() -> None:
    w = bytes_of(128, 3, np.int8)
    for name, kind in (
        ("post_L1_conv2dk1_relu_i8_ui8", np.int8),
        ("post_L2_conv2dk1_relu_i16_ui8", np.uint16),
    ):
        a, c = bytes_of(16, 2, kind), np.zeros(8, np.uint8)
        shift = 8 if kind is np.int8 else 16
        LIBRARY[name](a, w, c, 1, 16, 8, shift)
        assert c.tolist() == line_sums(a, w, 1, 16, 8, shift)


@pytest.mark.parametrize("block_number", [13, 14])
def test_a_depthwise_convolution_of_two_halves(block_number: int) -> None:
    width, channels, shift = 5, 32, 7
    lines = [bytes_of(width * channels, seed, np.uint8) for seed in range(3)]
    w = bytes_of(9 * channels, 9, np.int8)
    numbers = (width, 1, channels, 3, 3, 1, shift, 0)
    whole = np.zeros(width * channels, np.uint8)
    halves = [np.zeros(width * channels // 2, np.uint8) for _ in range(2)]
    LIBRARY[f"bn{block_number}_conv2dk3_ui8_out_split"](*lines, w, *halves, *numbers)
    for group, x, lane in product(range(channels // 8), range(width), range(8)):
        total = sum(
            int(lines[row][(group * width + x + column - 1) * 8 + lane])
            * int(w[(group * 9 + row * 3 + column) * 8 + lane])
            for row, column in product(range(3), range(3))
            if 0 <= x + column - 1 < width
        )
        whole[(group * width + x) * 8 + lane] = max(0, min(255, even(total, shift)))
    np.testing.assert_array_equal(np.concatenate(halves), whole)
    one = np.zeros_like(whole)
    LIBRARY[f"bn{block_number}_conv2dk3_ui8"](*lines, w, one, *numbers)
    np.testing.assert_array_equal(one, whole)


def test_what_follows_a_product() -> None:
    a = np.linspace(-6, 6, 48).astype(np.float32)
    for mode, wanted in (
        (0, a),
        (1, a / (1 + np.exp(-a.astype(float)))),
        (2, a / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a.astype(float) ** 3)))),
    ):
        c = np.zeros(48, np.float32)
        LIBRARY["mm_activation_epilogue_row"](a, c, 32, mode)
        np.testing.assert_allclose(c[:32], wanted[:32], rtol=1e-5, atol=1e-6)
        assert not c[32:].any()


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("matmul_vectorized_bfp16", [np.zeros(70, np.uint8)] * 3, "the number of bytes is 70"),
        ("matmul_vectorized_bfp16", [np.zeros(72 * n, np.uint8) for n in (2, 3, 1)], "8 x 8 blocks"),
        (
            "matmul_vectorized_different_datatypes",
            [np.zeros(60, BF16), np.zeros(72, np.uint8), np.zeros(64, BF16)],
            "the number of elements of a is 60",
        ),
        ("scalar_shuffle", [np.zeros(72, np.uint8)] * 2 + [8, 9], "8 x 9"),
        ("scalar_shuffle", [np.zeros(72, np.uint8)] * 2 + [8, 16], "72, 72 bytes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(name: str, arguments: list[Any], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](*arguments)


@pytest.mark.parametrize("name", ["matmul_vectorized_bfp16", "matmul_vectorized_different_datatypes"])
def test_a_product_in_parts_is_refused_by_its_rows(name: str) -> None:
    """DEV-KERNEL-11: rows of a and c as in the designs of gemm_asymmetric_tile_buffering."""
    kind, each = (BF16, 8) if "different" in name else (np.dtype("V9"), 1)
    a, c = np.zeros((32, 8 * each), kind), np.zeros((128, 16 * each), kind)
    says = "the number of rows of a and c is 32 and 128; it must be the same: functions of this name that"
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](a, np.zeros((64, 16), "V9"), c)
