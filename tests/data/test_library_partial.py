"""Do convolutions in parts, over two cores or over calls, do what plain loops over their definition do?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile import Array, Status
from memtile.errors import DesignError
from memtile.kernels import aie
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core

Values = npt.NDArray[Any]
WIDTH, INPUTS, OUTPUTS, SHIFT = 7, 32, 32, 8
LIBRARY = aie.library("npu1")


def drawn(size: int, seed: int, dtype: Any) -> Values:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, size, dtype, endpoint=True)


def even(value: int, shift: int) -> int:
    return round(Fraction(value, 1 << shift))


def clipped(value: int, dtype: Any) -> int:
    info = np.iinfo(dtype)
    return max(info.min, min(info.max, value))


def product_of(a: Values, w: Values, x: int, channels: range, group: int, lane: int) -> int:
    """A sum of one pixel; weights begin with the first of the channels."""
    return sum(
        int(a[ic // 8 * WIDTH * 8 + x * 8 + ic % 8])
        * int(w[(group * len(channels) // 8 + n // 8) * 64 + n % 8 * 8 + lane])
        for n, ic in enumerate(channels)
    )


def two_cores(put: tuple[str, list[Any]], get: tuple[str, list[Any]]) -> None:
    array = Array("npu1", 2)
    west, east = array.compute_tile(0, 2), array.compute_tile(1, 2)
    west.cascade_to(east)

    def kernel(name: str, arguments: list[Any]) -> Any:
        def run(core: Core) -> Iterator[Action]:
            yield from LIBRARY[name](*arguments, core=core)

        return run

    west.run_kernel(kernel(*put))
    east.run_kernel(kernel(*get))
    assert array.run().status is Status.FINISHED


@pytest.mark.parametrize(("group", "part"), [(0, 0), (1, 1)])
def test_two_cores_share_the_input_channels(group: int, part: int) -> None:
    """Each has half of them; two groups of two parts of the output channels."""
    a = drawn(WIDTH * INPUTS, 1, np.int8)
    first, second = (drawn(2 * 8 * INPUTS // 2, seed, np.int8) for seed in (2, 3))
    c, split = np.zeros(WIDTH * OUTPUTS, np.uint8), 2
    put = [a, first, WIDTH, INPUTS, OUTPUTS, split, part, 0, group]
    get = [a, second, c, WIDTH, INPUTS, OUTPUTS, SHIFT, split, 2, part, 0, group]
    name = "bn13_1_conv2dk1_i8_ui8_partial_width"
    two_cores((f"{name}_put_new", put), (f"{name}_get_new", get))
    wanted = np.zeros_like(c).reshape(OUTPUTS // 8, WIDTH, 8)
    for x, lane in product(range(WIDTH), range(8)):
        total = product_of(a, first, x, range(16), group, lane)
        total += product_of(a, second, x, range(16, 32), group, lane)
        wanted[group + 2 * part, x, lane] = clipped(even(total, SHIFT), np.uint8)
    np.testing.assert_array_equal(c.reshape(wanted.shape), wanted)
    assert len(set(wanted.reshape(-1).tolist())) > 9


def test_two_cores_add_a_skip() -> None:
    group, part, skip_shift = 1, 1, 1
    ours, theirs = (drawn(WIDTH * INPUTS, seed, np.uint8) for seed in (4, 5))
    first, second = (drawn(2 * 8 * INPUTS, seed, np.int8) for seed in (6, 7))
    skip, c = drawn(WIDTH * OUTPUTS, 8, np.int8), np.zeros(WIDTH * OUTPUTS, np.int8)
    put = [theirs, first, WIDTH, INPUTS, OUTPUTS, 1, part, 0, group]
    get = [ours, second, c, skip, WIDTH, INPUTS, OUTPUTS, 11, skip_shift, 1, 2, part, 0, group]
    two_cores(
        ("bn14_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new", put),
        ("bn_14_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new", get),
    )
    wanted, beside = np.zeros_like(c).reshape(OUTPUTS // 8, WIDTH, 8), skip.reshape(OUTPUTS // 8, WIDTH, 8)
    at = group + 2 * part
    for x, lane in product(range(WIDTH), range(8)):
        total = product_of(theirs, first, x, range(INPUTS), group, lane)
        total += product_of(ours, second, x, range(INPUTS), group, lane)
        whole = clipped(even(total, 11), np.int8) + int(beside[at, x, lane])
        wanted[at, x, lane] = clipped(even(whole, skip_shift), np.int8)
    np.testing.assert_array_equal(c.reshape(wanted.shape), wanted)


def rounded(total: int) -> int:
    """49ths of a sum: where the first digit behind the point is 5 to the even number, else to the nearest."""
    average = Fraction(total, 49)
    whole = floor(average)
    if floor(10 * average) % 10 == 5:
        return whole + whole % 2
    return floor(average + Fraction(1, 2))


def test_averages_of_parts_of_the_channels() -> None:
    outputs, padded = 16, 24
    c = np.full(padded, 9, np.uint16)
    weights = [drawn(8 * INPUTS, seed, np.int8) for seed in (9, 10)]
    total = np.zeros(outputs, np.int64)
    for row in range(WIDTH):
        a = drawn(WIDTH * INPUTS, 20 + row, np.int8)
        for part, lane in product(range(2), range(8)):
            for x in range(WIDTH):
                one = product_of(a, weights[part], x, range(INPUTS), 0, lane)
                total[8 * part + lane] += clipped(even(one, SHIFT), np.uint8)
        for part in range(2):
            LIBRARY["conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8"](
                a, weights[part], c, WIDTH, INPUTS, outputs, padded, SHIFT, row, 2, part
            )
        if row < WIDTH - 1:
            assert c[:outputs].tolist() == total.tolist()
        assert not c[outputs:].any()
    assert c[:outputs].tolist() == [rounded(int(x)) for x in total]


def test_averages_near_a_half_are_even() -> None:
    """Sums of 25, 26 and 74 in 49ths: 0.510, 0.531 and 1.510."""
    a, w = np.zeros(WIDTH * 8, np.int8), np.zeros(64, np.int8)
    for total in (24, 25, 26, 27, 74, 75, 98, 123):
        c = np.array([total] + [0] * 7, np.uint16)
        LIBRARY["conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8"](
            a, w, c, WIDTH, 8, 8, 8, SHIFT, WIDTH - 1, 1, 0
        )
        assert c[0] == rounded(total), total


def test_weights_for_more_channels_than_there_are() -> None:
    padded, outputs = 24, 16
    a, w = drawn(16, 1, np.uint16), drawn(padded * outputs, 2, np.int8)
    c = np.zeros(outputs, np.uint16)
    LIBRARY["post_L2_conv2dk1_relu_i16_ui16_pad"](a, w, c, 1, 16, padded, outputs, 15)
    for oc in range(outputs):
        total = sum(
            int(a[ic]) * int(w[(oc // 8 * padded // 8 + ic // 8) * 64 + ic % 8 * 8 + oc % 8])
            for ic in range(16)
        )
        assert c[oc] == clipped(even(total, 15), np.uint8)
    with pytest.raises(DesignError, match="padded input channels"):
        LIBRARY["post_L2_conv2dk1_relu_i16_ui16_pad"](a, w, c, 1, 16, 8, outputs, 15)


@pytest.mark.parametrize(
    ("width", "inputs", "split", "says"),
    [(6, 32, 2, "the width is 6"), (7, 32, 0, "parts of the input channels"), (7, 24, 2, "a multiple of 8")],
)
def test_sizes_that_do_not_fit_are_refused(width: int, inputs: int, split: int, says: str) -> None:
    a, w = np.zeros(999, np.int8), np.zeros(9999, np.int8)
    with pytest.raises(DesignError, match=says):
        list(
            LIBRARY["bn13_1_conv2dk1_i8_ui8_partial_width_put_new"](
                a, w, width, inputs, 8, split, 0, 0, 0, core=Core
            )
        )
