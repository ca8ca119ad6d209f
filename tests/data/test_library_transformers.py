"""Kernels of ``aie.iron.kernels`` for models, each against a scalar reference of its own."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, prod, sqrt, tanh
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import DesignError
from memtile.kernels import aie

BF16 = ml_dtypes.bfloat16
LIBRARY = aie.library("npu2")
EVEN = aie.library("npu2", rounding="conv_even")  # what mlir-aie's contracts set before these functions
SIZE = 96


def values(seed: int, size: int = SIZE, dtype: Any = BF16) -> Any:
    """Numbers of both signs."""
    return np.random.default_rng(seed).normal(0, 2, size).astype(dtype)


def same(found: Any, wanted: list[float]) -> None:
    """Within one rounding of bf16, as each result is rounded once."""
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=2**-8, atol=2**-16)


A, B = values(1), values(2)
NUMBERS = [float(each) for each in A]
PAIRS = [float(each) for each in B]


def silu(x: float) -> float:
    return x / (1 + exp(-x))


def gelu(x: float) -> float:
    return x / 2 * (1 + tanh(0.7978845608 * (x + 0.044715 * x**3)))


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("leaky_relu_bf16", (SIZE, 0.125), [x if x > 0 else x / 8 for x in NUMBERS]),
        (
            "rms_norm_eps",
            (SIZE, 0.5),
            [x / sqrt(sum(y * y for y in NUMBERS) / SIZE + 0.5) for x in NUMBERS],
        ),
    ],
)
def test_functions_of_a_row(name: str, arguments: tuple[float, ...], wanted: list[float]) -> None:
    c = np.zeros(SIZE, BF16)
    EVEN[name](A, c, *arguments)
    same(c, wanted)


@pytest.mark.parametrize(
    ("name", "wanted"), [("silu_bf16_size", silu), ("gelu_bf16_size", gelu)], ids=["silu", "gelu"]
)
def test_sized_activations_round_down_as_the_others(name: str, wanted: Callable[[float], float]) -> None:
    c = np.zeros(SIZE, BF16)
    LIBRARY[name](A, c, SIZE)
    exact = np.array([wanted(x) for x in NUMBERS])
    assert (c.astype(np.float64) <= exact + 2**-16).all()
    np.testing.assert_allclose(c.astype(np.float64), exact, rtol=2**-7, atol=2**-16)


def test_a_slope_is_a_bf16() -> None:
    """The design passes bf16: 0.01 is 0.010009765625."""
    c = np.zeros(1, BF16)
    LIBRARY["leaky_relu_bf16"](np.full(1, -256, BF16), c, 1, 0.01)
    assert float(c[0]) == -2.5625


def _pairs_of_rope(a: Any, b: Any) -> list[float]:
    half = SIZE // 2
    low = [a[n] * b[2 * n] - a[n + half] * b[2 * n + 1] for n in range(half)]
    return low + [a[n + half] * b[2 * n] + a[n] * b[2 * n + 1] for n in range(half)]


EXACT = {
    "leaky_relu_bf16": ((A,), (SIZE, 0.3), [max(x, float(BF16(0.3)) * x) for x in NUMBERS]),
    "rms_norm_eps": (
        (A,),
        (SIZE, 0.5),
        [x / sqrt(sum(y * y for y in NUMBERS) / SIZE + 0.5) for x in NUMBERS],
    ),
    "saxpy": ((A, B, 0.3), (SIZE,), [float(BF16(0.3)) * x + y for x, y in zip(NUMBERS, PAIRS, strict=True)]),
    "rope_two_halves": ((A, B), (SIZE,), _pairs_of_rope(NUMBERS, PAIRS)),
}


@pytest.mark.parametrize("name", EXACT)
def test_they_round_by_the_mode_of_the_core(name: str) -> None:
    """Down after reset, to nearest once a design has called ``set_rounding_conv_even``."""
    given, numbers, wanted = EXACT[name]
    down, nearest = np.zeros(SIZE, BF16), np.zeros(SIZE, BF16)
    for library, target in ((LIBRARY, down), (EVEN, nearest)):
        library.all_of(name)[-1](*given, target, *numbers)
    exact, low = np.array(wanted), down.astype(np.float64)
    assert (low <= exact + 1e-5).all()
    assert (np.abs(exact - nearest.astype(np.float64)) <= np.abs(exact - low) + 1e-5).all()
    assert 0.3 < np.mean(low < nearest.astype(np.float64)) < 0.7 or name == "leaky_relu_bf16"
    assert (low < nearest.astype(np.float64)).any()


def test_powers_of_two_of_f32() -> None:
    a, c = np.array([-200, -111, -0.5, 0, 3, 127], np.float32), np.zeros(6, np.float32)
    LIBRARY["exp2f_vec_f32"](a, c, 6)
    np.testing.assert_allclose(c, [2.0**-111, 2.0**-111, sqrt(0.5), 1, 8, 2.0**127], rtol=1e-6)


def test_a_number_times_a_row_and_another() -> None:
    c = np.zeros(SIZE, BF16)
    of_five = next(each for each in EVEN.all_of("saxpy") if each.entry.signature == "a, b, factor, c, count")
    of_five(A, B, 2.5, c, SIZE)
    same(c, [2.5 * x + y for x, y in zip(NUMBERS, PAIRS, strict=True)])


def test_a_row_of_f32_becomes_bf16_to_nearest_even() -> None:
    a = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8], np.float32)
    c = np.zeros(3, BF16)
    LIBRARY["cast_f32_bf16_row"](a, c, 3)
    assert c.astype(float).tolist() == [1, 1 + 2**-6, -1]


@pytest.mark.parametrize("group", [32, 48])
def test_numbers_of_four_bits_times_a_scale(group: int) -> None:
    numbers = [(7 * n) % 16 for n in range(SIZE)]
    scales = [0.5 + n for n in range(SIZE // group)]
    packed = np.array(
        [low | high << 4 for low, high in zip(numbers[::2], numbers[1::2], strict=True)], np.uint8
    )
    a, c = np.concatenate([packed, np.array(scales, BF16).view(np.uint8)]), np.zeros(SIZE, BF16)
    LIBRARY["expand_uint4_to_bfloat16"](a, c)
    assert c.astype(float).tolist() == [number * scales[n // group] for n, number in enumerate(numbers)]


def test_halves_turn_as_pairs() -> None:
    c, half = np.zeros(SIZE, BF16), SIZE // 2
    EVEN["rope_two_halves"](A, B, c, SIZE)
    low = [NUMBERS[n] * PAIRS[2 * n] - NUMBERS[n + half] * PAIRS[2 * n + 1] for n in range(half)]
    high = [NUMBERS[n + half] * PAIRS[2 * n] + NUMBERS[n] * PAIRS[2 * n + 1] for n in range(half)]
    np.testing.assert_allclose(c.astype(float), [*low, *high], rtol=2**-8, atol=2**-6)


def test_a_norm_with_gammas_and_betas() -> None:
    a, w, c = values(3, dtype=np.float32), values(4, 2 * SIZE, np.float32), np.zeros(SIZE, BF16)
    LIBRARY["layer_norm_affine_cast"](a, w, c, SIZE)
    mean = sum(map(float, a)) / SIZE
    root = sqrt(sum((float(x) - mean) ** 2 for x in a) / SIZE + 1e-5)
    wanted = [
        (float(x) - mean) / root * float(g) + float(b) for x, g, b in zip(a, w[:SIZE], w[SIZE:], strict=True)
    ]
    np.testing.assert_allclose(c.astype(float), wanted, rtol=2**-8, atol=2**-6)


def test_a_filter_along_a_line() -> None:
    a, w, c = values(5, SIZE + 16), values(6, 10), np.zeros(SIZE, BF16)
    LIBRARY["dwconv1d_bf16"](a, w, c, SIZE)
    wanted = [sum(float(w[k]) * float(a[n + k]) for k in range(9)) + float(w[9]) for n in range(SIZE)]
    np.testing.assert_allclose(c.astype(float), wanted, rtol=2**-8, atol=2**-5)


def test_a_filter_of_five_lines_is_clamped() -> None:
    filters, lines = [values(7 + n) for n in range(5)], [values(20 + n) for n in range(5)]
    c, low, high = np.zeros(SIZE, BF16), np.full(1, -6, np.float32), np.full(1, 6, np.float32)
    LIBRARY["dwconv1d_channels_last_k5_bf16"](*filters, *lines, c, low, high)
    sums = [
        sum(prod(map(float, pair)) for pair in zip(w, x, strict=True)) for w, x in _channels(filters, lines)
    ]
    assert max(map(abs, sums)) > 6
    np.testing.assert_allclose(c.astype(float), np.clip(sums, -6, 6), rtol=2**-8, atol=2**-5)


def _channels(filters: list[Any], lines: list[Any]) -> Any:
    return zip(zip(*filters, strict=True), zip(*lines, strict=True), strict=True)


def test_the_fourth_epilogue_keeps_what_is_positive() -> None:
    a, c = values(9, dtype=np.float32), np.zeros(SIZE, np.float32)
    LIBRARY["mm_activation_epilogue_row"](a, c, SIZE, 3)
    assert c.tolist() == [max(x, 0) for x in a.tolist()]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (
            "expand_uint4_to_bfloat16",
            (np.zeros(51, np.uint8), np.zeros(96, BF16)),
            "the number of bytes of a is 51",
        ),
        ("rope_two_halves", (A, B, np.zeros(SIZE, BF16), 7), "count is 7; it must be even"),
        ("rms_norm_eps", (A, np.zeros(SIZE, BF16), 0, 1.0), "count is 0; it must be 1 or more"),
        ("dwconv1d_bf16", (A, B[:1], np.zeros(SIZE, BF16), 8), "the number of elements of w is 1"),
        ("dwconv1d_bf16", (A, B[:10], np.zeros(SIZE, BF16), SIZE), "the length of a is 96 elements"),
        (
            "layer_norm_affine_cast",
            (np.zeros(8, np.float32), np.zeros(8, np.float32), A, 8),
            "the length of w is 8",
        ),
    ],
)
def test_what_does_not_fit_is_refused(name: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](*arguments)


@pytest.mark.parametrize(
    ("device", "name", "arguments", "says"),
    [
        (
            "npu1",
            "expand_uint4_to_bfloat16",
            (np.zeros(576, np.uint8), np.zeros(1024, BF16)),
            "161 (measured)",
        ),
        (
            "npu2",
            "dwconv1d_bf16",
            (np.zeros(1040, BF16), np.zeros(10, BF16), np.zeros(1024, BF16), 1024),
            "1,505 (measured)",
        ),
        ("npu2", "layer_norm_f32", (*(np.zeros(1024, np.float32),) * 2, 1024), "6,094 (measured)"),
        ("npu1", "rope_two_halves", (*(np.zeros(64, BF16),) * 3, 64), "68 (measured)"),
        ("npu1", "leaky_relu_bf16", (*(np.zeros(2048, BF16),) * 2, 2048, 0.5), "364 (rule)"),
    ],
)
def test_they_cost_what_is_published(device: str, name: str, arguments: tuple[Any, ...], says: str) -> None:
    assert str(aie.library(device)[name].cost(*arguments)) == says
