"""Do functions of lines, tiles and convolutions do what plain loops over their definition do?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile.errors import DesignError
from memtile.kernels import aie

Values = npt.NDArray[Any]
LIBRARY = aie.library()
PIXELS = {"ui8": np.uint8, "i16": np.int16, "i32": np.int32}


def drawn(dtype: Any, size: int, seed: int = 1) -> Values:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, size, dtype, endpoint=True)


def clipped(value: int, dtype: Any) -> int:
    info = np.iinfo(dtype)
    return max(info.min, min(info.max, value))


THRESHOLDS: list[Callable[[int, int, int], int]] = [
    lambda x, limit, top: top if x > limit else 0,
    lambda x, limit, top: 0 if x > limit else top,
    lambda x, limit, _: min(x, limit),
    lambda x, limit, _: x if x > limit else 0,
    lambda x, limit, _: 0 if x > limit else x,
    lambda x, limit, _: min(x, limit),
]


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("pixel", PIXELS)
def test_thresholds(pixel: str, kind: int) -> None:
    a, dtype = drawn(PIXELS[pixel], 64), PIXELS[pixel]
    c = np.zeros(64, dtype)
    wanted = [THRESHOLDS[kind](int(x), 50, 100) for x in a]
    LIBRARY["thresholdLine"](a, c, 64, 50, 100, kind)
    assert [*c] == wanted
    LIBRARY["thresholdTile"](a, c, 8, 8, 50, 100, kind)
    assert [*c] == wanted


def test_thresholds_of_channels_and_of_signed_bytes() -> None:
    a, c = drawn(np.uint8, 16), np.zeros(16, np.uint8)
    LIBRARY["threshold4ChLine"](a, c, 16, 10, 20, 30, 40, 1, 2, 3, 4, 0)
    assert [*c] == [(at % 4 + 1) * (int(x) > 10 * (at % 4 + 1)) for at, x in enumerate(a)]
    LIBRARY["thresholdLine"](a.view(np.int8), c.view(np.int8), 16, 200, 255, 0)
    assert [*c] == [255 * (int(x) > 200) for x in a]
    LIBRARY["threshold"](a, c, 100, 9, 4, 4)
    assert [*c] == [9 * (int(x) > 100) for x in a]


def test_bits() -> None:
    a, b, c = drawn(np.uint8, 64, 1), drawn(np.uint8, 64, 2), np.zeros(64, np.uint8)
    LIBRARY["bitwiseANDLine"](a, b, c, 60)
    assert [*c] == [*(a & b)[:60], 0, 0, 0, 0]
    LIBRARY["bitwiseORTile"](a, b, c, 8, 8)
    assert [*c] == [*(a | b)]


@pytest.mark.parametrize("pixel", PIXELS)
def test_weighted_sums(pixel: str) -> None:
    """DEV-KERNEL-5: the vectorized function rounds down and adds gamma before it shifts."""
    a, b, dtype = drawn(PIXELS[pixel], 64, 1), drawn(PIXELS[pixel], 64, 2), PIXELS[pixel]
    c = np.zeros(64, dtype)
    for alpha, beta, gamma in ((16384, 16384, 0), (8192, 4096, 100), (-16384, 20000, 3)):
        LIBRARY["addWeightedLine"](a, b, c, 64, alpha, beta, gamma)
        exact = [(int(x) * alpha + int(y) * beta + gamma) >> 14 for x, y in zip(a, b, strict=True)]
        assert [*c] == [clipped(value, dtype) for value in exact]


def test_grey_and_colour() -> None:
    rgba, grey = drawn(np.uint8, 256), np.zeros(64, np.uint8)
    LIBRARY["rgba2grayLine"](rgba, grey, 64)
    weights = [round(32768 * share) for share in (0.299, 0.587, 0.114)]
    exact = [sum(w * int(x) for w, x in zip(weights, pixel, strict=False)) for pixel in rgba.reshape(-1, 4)]
    assert [*grey] == [(value + 16384) >> 15 for value in exact]
    back = np.zeros(256, np.uint8)
    LIBRARY["gray2rgbaTile"](grey, back, 8, 8)
    assert back.reshape(-1, 4).tolist() == [[x, x, x, 255] for x in grey.tolist()]


def test_hue_is_an_angle_in_256ths() -> None:
    rgba = np.concatenate(
        [drawn(np.uint8, 4096), np.array([9, 9, 9, 0, 255, 0, 0, 0, 255, 255, 0, 0], np.uint8)]
    )
    table, divided, tile = (np.zeros(rgba.size // 4, np.uint8) for _ in range(3))
    LIBRARY["rgba2hueLine"](rgba, table, table.size)
    aie.library("npu2")["rgba2hueLine"](rgba, divided, divided.size)
    LIBRARY["rgba2hueTile"](rgba, tile, 1, tile.size)
    assert (divided == tile).all()
    for (r, g, b, _), by_table, by_division in zip(rgba.reshape(-1, 4).tolist(), table, divided, strict=True):
        top, spread = max(r, g, b), max(r, g, b) - min(r, g, b)
        if not spread:
            assert by_table == by_division == 0
            continue
        if top == r:
            angle = Fraction(g - b, spread)
        elif top == g:
            angle = 2 + Fraction(b - r, spread)
        else:
            angle = 4 + Fraction(r - g, spread)
        exact = angle * 85 / 2
        for hue in (int(by_table), int(by_division)):
            assert min((hue - floor(exact)) % 256, (floor(exact) - hue) % 256) <= 1


def test_hue_by_the_table_of_the_first_generation() -> None:
    rgba, hue = drawn(np.uint8, 4096, 7), np.zeros(1024, np.uint8)
    LIBRARY["rgba2hueLine"](rgba, hue, 1024)
    for (r, g, b, _), found in zip(rgba.reshape(-1, 4).tolist(), hue, strict=True):
        top, spread = max(r, g, b), max(r, g, b) - min(r, g, b)
        if spread:
            base, distance = (171, b - r) if top == g else (1, g - b) if top == r else (341, r - g)
            assert int(found) == ((base * 512 + distance * (43520 // spread)) >> 10) % 256


def test_filters_repeat_the_border_and_round_down() -> None:
    lines = [drawn(np.uint8, 40, seed) for seed in (1, 2, 3)]
    weights = np.array([[0, 4096, 0], [4096, -4 * 4096, 4100], [255, 4096, 300]], np.int16)
    c = np.zeros(40, np.uint8)
    LIBRARY["filter2dLine"](*lines, c, 40, weights)
    for at in range(40):
        total = sum(
            int(lines[row][max(0, min(39, at + column - 1))]) * (int(weights[row, column]) >> 8)
            for row, column in product(range(3), range(3))
        )
        assert c[at] == clipped(total >> 4, np.uint8)


def test_a_filter_takes_the_pixel_two_before_at_its_later_blocks() -> None:
    """DEV-KERNEL-9, as the compiled kernel does (tests/oracle/kernel_campaign.py)."""
    line, c = drawn(np.uint8, 160, 4), np.zeros(160, np.uint8)
    weights = np.array([[0, 0, 0], [4096, 0, 0], [0, 0, 0]], np.int16)
    LIBRARY["filter2dLine"](line, line, line, c, 160, weights)
    wanted = [int(line[max(0, at - 1)]) for at in range(160)]
    for at in (64, 96, 128):
        wanted[at] = int(line[at - 2])
    assert c.tolist() == wanted


def nearest(value: int, shift: int, how: str) -> int:
    """``value / 2**shift``, rounded: halves up, away from 0 or to even."""
    exact = Fraction(value, 1 << shift)
    low = floor(exact)
    if (rest := exact - low) != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    return {"up": low + 1, "away": low + (low >= 0), "even": low + low % 2}[how]


@pytest.mark.parametrize(
    ("name", "into", "out", "how"),
    [
        ("conv2dk1_i8", np.int8, np.uint8, "up"),
        ("conv2dk1_ui8", np.uint8, np.uint8, "up"),
        ("conv2dk1_i8", np.int8, np.int8, "away"),
        ("conv2dk1_relu_i8_ui8", np.int8, np.uint8, "even"),
        ("bn7_conv2dk1_ui8_i8", np.uint8, np.int8, "even"),
    ],
)
def test_convolutions_of_one(name: str, into: Any, out: Any, how: str) -> None:
    width, inputs, outputs, shift = 3, 16, 8, 6
    a, w, c = drawn(into, width * inputs), drawn(np.int8, inputs * outputs, 2) // 8, np.zeros(24, out)
    LIBRARY[name](a, w, c, width, inputs, outputs, shift)
    line, weights = a.reshape(2, width, 8), w.reshape(1, 2, 8, 8)
    for x, o in product(range(width), range(8)):
        total = sum(int(line[g, x, i]) * int(weights[0, g, i, o]) for g, i in product(range(2), range(8)))
        assert c.reshape(1, width, 8)[0, x, o] == clipped(nearest(total, shift, how), out)


def test_halves_are_told_apart() -> None:
    w = np.zeros((1, 1, 8, 8), np.int8)
    w[0, 0, 0, :4] = [2, -2, 6, -6]
    a = np.zeros(8, np.int8)
    a[0] = 1
    for name, out, wanted in (
        ("conv2dk1_i8", np.int8, [1, -1, 2, -2]),
        ("conv2dk1_i8", np.uint8, [1, 0, 2, 0]),
        ("conv2dk1_relu_i8_ui8", np.uint8, [0, 0, 2, 0]),
        ("conv2dk1_ui8_i8", np.int8, [0, 0, 2, -2]),
    ):
        c = np.zeros(8, out)
        LIBRARY[name](a, w, c, 1, 8, 8, 2)
        assert [*c[:4]] == wanted, name
    inputs = np.zeros((2, 1, 8), np.uint8)
    inputs[0, 0, 0] = 1
    weights, skip, c = np.zeros((1, 2, 8, 8), np.int8), np.ones(8, np.int8), np.zeros(8, np.uint8)
    weights[0, 0, 0, :4] = [2, -2, 6, -6]
    LIBRARY["conv2dk1_skip_i8"](inputs[0], inputs[1], weights, c, skip, 1, 16, 8, 2, 0)
    assert [*c[:4]] == [2, 1, 3, 0]


@pytest.mark.parametrize(("suffix", "kind"), [("i8", np.int8), ("ui8", np.uint8)])
def test_convolutions_with_a_skip(suffix: str, kind: Any) -> None:
    width, inputs, outputs = 3, 16, 8
    a, b = drawn(np.uint8, width * 8, 1), drawn(np.uint8, width * 8, 2)
    w, skip, c = drawn(np.int8, 16 * 8, 3) // 8, drawn(kind, width * 8, 4), np.zeros(width * 8, np.uint8)
    own = drawn(np.int8, 8 * 8, 5) // 8
    LIBRARY[f"conv2dk1_skip_{suffix}"](a, b, w, c, skip, width, inputs, outputs, 6, 1)
    started = np.zeros(width * 8, np.uint8)
    both = np.concatenate([w, own])
    LIBRARY[f"conv2dk1_skip_init_{suffix}"](a, b, both, started, skip, width, inputs, outputs, 8, 6, 1, 5)
    even = np.zeros(width * 8, np.int8)
    line = np.concatenate([a, b])
    LIBRARY[f"conv2dk1_skip_ui8_{suffix}_i8"](line, w, even, skip, width, inputs, outputs, 6, 1)
    weights, kept = w.reshape(2, 8, 8), skip.reshape(width, 8)
    for x, o in product(range(width), range(8)):
        total = sum(
            int(part.reshape(width, 8)[x, i]) * int(weights[g, i, o])
            for (g, part), i in product(enumerate((a, b)), range(8))
        )
        up = clipped(nearest(total, 6, "up"), np.int8)
        assert c[8 * x + o] == clipped(nearest(up + int(kept[x, o]), 1, "up"), np.uint8)
        other = sum(int(kept[x, i]) * int(own.reshape(8, 8)[i, o]) for i in range(8))
        other = clipped(nearest(other, 5, "up"), np.int8)
        assert started[8 * x + o] == clipped(nearest(up + other, 1, "up"), np.uint8)
        to_even = clipped(nearest(total, 6, "even"), np.int8)
        assert even[8 * x + o] == clipped(nearest(to_even + int(kept[x, o]), 1, "even"), np.int8)


@pytest.mark.parametrize("check", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "kind", "step", "how"),
    [
        ("conv2dk3_i8", np.int8, 1, "up"),
        ("conv2dk3_ui8", np.uint8, 1, "up"),
        ("conv2dk3_stride2_i8", np.int8, 2, "even"),
    ],
)
def test_convolutions_of_three(name: str, kind: Any, step: int, how: str, check: int) -> None:
    width, inputs, outputs, offset = 6, 16, 8, 8
    lines = [drawn(kind, width * inputs, seed) for seed in (1, 2, 3)]
    w, c = drawn(np.int8, 2 * 2 * 9 * 64, 4) // 16, np.zeros(width // step * 8, np.uint8)
    LIBRARY[name](*lines, w, c, width, inputs, outputs, 3, 3, check, 7, offset)
    weights = w.reshape(2, 2, 3, 3, 8, 8)[1]
    rows = [row for row in range(3) if (check, row) not in ((0, 0), (2, 2))]
    for x, o in product(range(width // step), range(8)):
        total = 0
        for row, column, g, i in product(rows, range(3), range(2), range(8)):
            if 0 <= (at := step * x + column - 1) < width:
                total += int(lines[row].reshape(2, width, 8)[g, at, i]) * int(weights[g, row, column, i, o])
        assert c[8 * x + o] == clipped(nearest(total, 7, how), np.uint8)


@pytest.mark.parametrize("step", [1, 2])
def test_depthwise_convolutions(step: int) -> None:
    width, channels = 6, 16
    lines = [drawn(np.uint8, width * channels, seed) for seed in (1, 2, 3)]
    w, c = drawn(np.int8, 2 * 9 * 8, 4), np.zeros(width // step * channels, np.uint8)
    name = f"bn1_conv2dk3_dw_stride{step}_relu_ui8_ui8"
    LIBRARY[name](*lines, w, c, width, 1, channels, 3, 3, 2, 8, 0)
    weights, out = w.reshape(2, 3, 3, 8), c.reshape(2, width // step, 8)
    for g, x, o in product(range(2), range(width // step), range(8)):
        total = 0
        for row, column in product(range(2), range(3)):
            if 0 <= (at := step * x + column - 1) < width:
                total += int(lines[row].reshape(2, width, 8)[g, at, o]) * int(weights[g, row, column, o])
        assert out[g, x, o] == clipped(nearest(total, 8, "even"), np.uint8)


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("conv2dk1_i8", (3, 12, 8, 6), "the number of input channels is 12; it must be a multiple of 8"),
        ("conv2dk1_i8", (3, 16, 64, 6), "the length of w is 512 elements; it must be at least 1024"),
        ("conv2dk1_i8", (300, 16, 8, 6), "the length of a is 512 elements; it must be at least 4800"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(name: str, numbers: tuple[int, ...], message: str) -> None:
    a = np.zeros(512, np.int8)
    with pytest.raises(DesignError, match=message):
        LIBRARY[name](a, a, a, *numbers)
    with pytest.raises(DesignError, match="the size of the filter is 5 x 3; it must be 3 x 3"):
        LIBRARY["conv2dk3_i8"](a, a, a, a, a, 1, 8, 8, 5, 3, 1, 1, 0)


def test_the_rate_of_convolutions_is_that_of_bytes() -> None:
    a = np.zeros(32 * 64, np.uint8)
    w = np.zeros(9 * 64 * 64, np.int8)
    newer = aie.library("xc2ve3858")  # of which no count is published: twice the bytes of AIE-ML a cycle
    assert newer["conv2dk1_ui8"].cycles(a, w[:4096], a, 32, 64, 64, 8) == 32 * 64 * 64 // 512
    assert newer["conv2dk3_ui8"].cycles(a, a, a, w, a, 32, 64, 64, 3, 3, 1, 8, 0) == 9 * 32 * 64 * 64 // 512


def test_channels_are_bytes_in_words_too() -> None:
    """Riallto declares its rgba lines as i32 (color_threshold_v1_1080p); the kernel has uint8_t pointers."""
    data = np.arange(16, dtype=np.uint8) * 16
    limits, largest = [10, 100, 50, 200], [255] * 4
    bytes_, words = np.zeros(16, np.uint8), np.zeros(4, np.int32)
    threshold = LIBRARY["threshold4ChLine"]
    threshold(data, bytes_, 16, *limits, *largest, 0)
    threshold(data.view(np.int32), words, 16, *limits, *largest, 0)
    assert words.view(np.uint8).tolist() == bytes_.tolist()
    assert bytes_.tolist() == [255 if each > limits[n % 4] else 0 for n, each in enumerate(data.tolist())]
