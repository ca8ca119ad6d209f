"""Do kernels in C++, compiled for the host, compute what plain NumPy does?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from left_out import needs
from memtile.importers.design import load
from memtile.kernels import cpp
from support.aie import lone_kernels, plain_references
from support.aie.lone_kernels import LoneKernels, aligned
from support.cpp.aie_api import checks

KERNELS = Path(lone_kernels.__file__).with_name("kernels")
DESIGNS = KERNELS.with_name("designs")
BF16 = np.dtype(ml_dtypes.bfloat16)
pytestmark = needs("c++", lone_kernels.compiler())


@pytest.fixture(scope="module")
def built() -> dict[str, LoneKernels]:
    """The kernels by the name of their source, compiled once."""
    return {
        path.stem: LoneKernels(lone_kernels.compiled(path, checks())) for path in sorted(KERNELS.glob("*.cc"))
    }


def filled(values: np.ndarray) -> np.ndarray:
    target = aligned(values.size, values.dtype)
    target[...] = values.reshape(-1)
    return target


def numbers(rng: np.random.Generator, way: str, count: int, dtype: type) -> np.ndarray:
    limits = np.iinfo(dtype)
    if way == "extreme":
        return rng.choice(np.array([limits.min, limits.max, 0, -1]), count).astype(dtype)
    if way == "ties":
        return (rng.integers(-8, 8, count) << 4).astype(dtype)
    return rng.integers(limits.min, limits.max, count, endpoint=True).astype(dtype)


def dot_products(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sums of a pair's products by lane, of two cores, modulo 2**32."""
    total = np.zeros(16, object)
    for pair in (first.astype(object), second.astype(object)):
        total += (pair[:256] * pair[256:]).reshape(16, 16).sum(0)
    return np.array([int(each) % 2**32 for each in total], np.uint32).view(np.int32)


def convolved(line: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Three taps over a line, in whole numbers."""
    padded = np.pad(line.astype(np.int64), 1)
    sums = sum(int(weights[tap]) * padded[tap : tap + len(line)] for tap in range(3))
    return np.clip([round(Fraction(int(each), 2**14)) for each in np.asarray(sums)], -32768, 32767)


WAYS = ("random", "extreme", "ties")


@pytest.mark.parametrize("way", WAYS)
def test_matrices_of_bytes_are_multiplied_in_blocks(built: dict[str, LoneKernels], way: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (filled(numbers(rng, way, 32 * 64, np.int8)) for _ in range(2))
    c, wanted = aligned(32 * 32, np.int32), aligned(32 * 32, np.int32)
    kernels = built["gemm"]
    kernels.call("clear_i32", c)
    for _ in range(2):
        kernels.call("gemm_i8_i32", a, b, c)
        plain_references.matmul(32, 64, 32, 4, 8, 8)(a, b, wanted)
    assert np.array_equal(c, wanted)


@pytest.mark.parametrize("way", WAYS)
def test_a_convolution_rounds_halves_to_even_and_saturates(built: dict[str, LoneKernels], way: str) -> None:
    rng = np.random.default_rng(2)
    line, weights = filled(numbers(rng, way, 256, np.int16)), filled(numbers(rng, way, 3, np.int16))
    out = aligned(256, np.int16)
    if way == "ties":
        weights[:] = [1 << 9, -(1 << 9), 3 << 9]  # products that end in half of the last bit that stays
    built["convolution"].call("convolve_i16", line, weights, out)
    assert np.array_equal(out, convolved(line, weights))


def test_a_softmax_is_within_what_bfloat16_and_the_tables_lose(built: dict[str, LoneKernels]) -> None:
    rng = np.random.default_rng(3)
    for spread in (0.1, 2, 20):
        x = filled((rng.standard_normal(256) * spread).astype(BF16))
        out = aligned(256, BF16)
        built["softmax"].call("softmax_256", x, out)
        powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max())
        wanted = powers / powers.sum()
        assert np.abs(out.astype(np.float64) - wanted).max() <= 0.03 * wanted.max()
        assert out.astype(np.float64).sum() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("way", WAYS)
def test_a_cascade_carries_sums_from_core_to_core(built: dict[str, LoneKernels], way: str) -> None:
    rng = np.random.default_rng(4)
    first, second = (numbers(rng, way, 512, np.int32) for _ in range(2))
    c, kernels = aligned(16, np.int32), built["cascade"]
    kernels.call("dot_put", filled(first))
    words = kernels.take("cascade out")
    assert len(words) == 16
    kernels.put("cascade in", words)
    kernels.call("dot_get", filled(second), c)
    assert np.array_equal(c, dot_products(first, second))


def test_a_stream_is_read_word_by_word(built: dict[str, LoneKernels]) -> None:
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**32, 40, dtype=np.uint32)
    seen, kernels = aligned(40, np.int32), built["stream"]
    kernels.put("stream in", words)
    kernels.call("running_sums", seen, 40)
    assert np.array_equal(seen.view(np.uint32), words)
    assert np.array_equal(kernels.take("stream out"), np.cumsum(words, dtype=np.uint32))


def ran(name: str, *arrays: np.ndarray) -> np.ndarray:
    """The last array of a design that runs with the kernels of its name."""
    done: Any = load(DESIGNS / f"{name}.mlir", functions=cpp(KERNELS / f"{name}.cc")).run(*arrays)
    assert done.result.good, done.result
    return np.asarray(done.arrays[str(len(arrays) - 1)])


def test_a_design_multiplies_matrices_with_its_own_kernel() -> None:
    rng = np.random.default_rng(11)
    a, b = (numbers(rng, "random", 4096, np.int8) for _ in range(2))
    wanted = np.zeros(1024, np.int32)
    for half in (slice(0, 2048), slice(2048, 4096)):
        plain_references.matmul(32, 64, 32, 4, 8, 8)(a[half], b[half], wanted)
    assert np.array_equal(ran("gemm", a, b, np.zeros(1024, np.int32)), wanted)


def test_a_design_convolves_with_its_own_kernel() -> None:
    rng = np.random.default_rng(12)
    lines, weights = numbers(rng, "random", 768, np.int16), numbers(rng, "random", 4, np.int16)
    wanted = np.concatenate([convolved(line, weights) for line in lines.reshape(3, 256)])
    assert np.array_equal(ran("convolution", lines, weights, np.zeros(768, np.int16)), wanted)


def test_a_design_takes_softmax_with_its_own_kernel() -> None:
    rows = (np.random.default_rng(13).standard_normal((4, 256)) * 3).astype(BF16)
    found = ran("softmax", rows.reshape(-1), np.zeros(1024, BF16)).astype(np.float64).reshape(4, 256)
    powers = np.exp(rows.astype(np.float64) - rows.astype(np.float64).max(1, keepdims=True))
    wanted = powers / powers.sum(1, keepdims=True)
    assert np.abs(found - wanted).max() <= 0.03 * wanted.max()


def test_two_cores_of_a_design_share_dot_products_over_their_cascade() -> None:
    rng = np.random.default_rng(14)
    first, second = (numbers(rng, "random", 1536, np.int32) for _ in range(2))
    pairs = zip(first.reshape(3, 512), second.reshape(3, 512), strict=True)
    wanted = np.concatenate([dot_products(one, two) for one, two in pairs])
    assert np.array_equal(ran("cascade", first, second, np.zeros(48, np.int32)), wanted)


def test_a_core_of_a_design_reads_its_stream_word_by_word() -> None:
    words = np.random.default_rng(15).integers(-(2**31), 2**31, 40).astype(np.int32)
    found = ran("stream", words, np.zeros(40, np.int32))
    assert np.array_equal(found.view(np.uint32), np.cumsum(words.view(np.uint32), dtype=np.uint32))
