"""Do kernels in C++, compiled for the host, compute what plain NumPy does?"""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from support.aie import lone_kernels, plain_references
from support.aie.lone_kernels import LoneKernels, aligned

KERNELS = Path(lone_kernels.__file__).with_name("kernels")
BF16 = np.dtype(ml_dtypes.bfloat16)
pytestmark = pytest.mark.skipif(lone_kernels.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoneKernels]:
    """The kernels by the name of their source, compiled once."""
    folder = tmp_path_factory.mktemp("kernels")
    return {
        path.stem: LoneKernels(lone_kernels.compiled(path, folder)) for path in sorted(KERNELS.glob("*.cc"))
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
    padded = np.pad(line.astype(np.int64), 1)
    sums = sum(int(weights[tap]) * padded[tap : tap + 256] for tap in range(3))
    wanted = np.clip([round(int(each) / 2**14) for each in np.asarray(sums)], -32768, 32767)
    assert np.array_equal(out, wanted)


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
    a, b = (numbers(rng, way, 512, np.int32) for _ in range(2))
    c, kernels = aligned(16, np.int32), built["cascade"]
    kernels.call("dot_put", filled(a[:256]), filled(b[:256]))
    words = kernels.take("cascade out")
    assert len(words) == 16
    kernels.put("cascade in", words)
    kernels.call("dot_get", filled(a[256:]), filled(b[256:]), c)
    wanted = sum(int(x) * int(y) for x, y in zip(a, b, strict=True)) % 2**32
    assert int(c.astype(np.int64).sum()) % 2**32 == wanted


def test_a_stream_is_read_word_by_word(built: dict[str, LoneKernels]) -> None:
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**32, 40, dtype=np.uint32)
    seen, kernels = aligned(40, np.int32), built["stream"]
    kernels.put("stream in", words)
    kernels.call("running_sums", seen, 40)
    assert np.array_equal(seen.view(np.uint32), words)
    assert np.array_equal(kernels.take("stream out"), np.cumsum(words, dtype=np.uint32))
