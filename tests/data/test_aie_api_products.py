"""Are products, matrix products and filters of the host's AIE API exact, in lanes of their width?"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile.cpp.build import Sources
from memtile.cpp.compilers import compiler
from support.cpp.aie_api import AS_BLOCKS, BF16, CALLS, Values, floats, flushed, integers, run, set_modes

KINDS = (  # of both factors, and bits of a lane
    ("int8", "int8", 32),
    ("uint8", "int8", 32),
    ("uint8", "uint8", 32),
    ("int16", "int8", 32),
    ("int16", "int16", 32),
    ("uint16", "uint16", 32),
    ("int32", "int16", 64),
    ("int32", "int32", 64),
    ("uint32", "uint32", 64),
)
LANES = {32: np.int32, 64: np.int64}


@pytest.fixture(autouse=True)
def modes_of_reset() -> None:
    set_modes()


def wrapped(values: Any, bits: int) -> Any:
    """Whole numbers as lanes: their lowest bits, with a sign."""
    half = 1 << (bits - 1)
    return (values + half) % (2 * half) - half


def exact(values: Values) -> Any:
    """As Python's integers, or as float64."""
    return values.astype(np.float64) if values.dtype.kind in "fV" else values.astype(object)


@pytest.mark.parametrize(("one", "other", "bits"), KINDS)
def test_products_of_integers(one: str, other: str, bits: int) -> None:
    size = CALLS // 32 * 32
    left, right, onto = integers(one, size, 1), integers(other, size, 2), integers(LANES[bits], size, 3)
    x, y, z = exact(left), exact(right), exact(onto)
    expected = {"mul": x * y, "negmul": -x * y, "mac": z + x * y, "msc": z - x * y}
    lanes = 16 if "32" in one or one == "uint16" else 32
    for check, values in expected.items():
        found = run(f"{check}_{one}_{other}", size // lanes, (size, LANES[bits]), left, right, onto)
        assert (found == wrapped(values, bits)).all(), check


def test_products_with_numbers_of_4_bits() -> None:
    size = CALLS // 32 * 32
    left, packed = integers(np.int8, size, 4), integers(np.uint8, size // 2, 5)
    halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1).astype(np.int32)
    numbers = np.where(halves > 7, halves - 16, halves)
    found = run("mul_int8_int4", size // 32, (size, np.int32), left, packed)
    assert (found == left.astype(np.int32) * numbers).all()


@pytest.mark.parametrize(("name", "dtype"), [("bfloat16", BF16), ("float", np.dtype(np.float32))])
def test_products_of_floats_are_rounded_once(name: str, dtype: np.dtype[Any]) -> None:
    """DEV-AIEAPI-1; subnormal factors, lanes and sums are zeros (DEV-AIEAPI-11)."""
    size = CALLS // 16 * 16
    left, right, onto = floats(size, 6, dtype), floats(size, 7, dtype), floats(size, 8)
    x, y = exact(flushed(left)), exact(flushed(right))
    with np.errstate(over="ignore"):
        onto[::2] = (-x * y * 1.01).astype(np.float32)[::2]
        onto[~np.isfinite(onto)] = 1
        z = exact(flushed(onto))
        expected = {"mul": x * y, "negmul": -(x * y), "mac": z + x * y, "msc": z - x * y}
        for check, values in expected.items():
            found = run(f"{check}_{name}_{name}", size // 16, (size, np.float32), left, right, onto)
            assert (found == flushed(values)).all(), check
            signs = np.signbit(found) == np.signbit(values)
            assert signs.all() or check != "mul", "zeros keep the product's sign"


def parts(values: Values) -> tuple[Any, Any]:
    """Real and imaginary parts."""
    return exact(values[0::2]), exact(values[1::2])


@pytest.mark.parametrize(("one", "other", "dtype", "second"), [
    ("cint16", "cint16", np.int16, np.int16),
    ("cint32", "int16", np.int32, np.int16),
    ("int16", "cint16", np.int16, np.int16),
])  # fmt: skip
def test_products_of_complex_integers(
    one: str, other: str, dtype: npt.DTypeLike, second: npt.DTypeLike
) -> None:
    size = CALLS // 8 * 8
    left = integers(dtype, size * (2 if one[0] == "c" else 1), 9)
    right = integers(second, size * (2 if other[0] == "c" else 1), 10)
    onto = integers(np.int64, 2 * size, 11)
    a, b = parts(left) if one[0] == "c" else (exact(left), 0)
    c, d = parts(right) if other[0] == "c" else (exact(right), 0)
    real, imag = a * c - b * d, a * d + b * c
    found = run(f"mul_{one}_{other}", size // 8, (2 * size, np.int64), left, right)
    assert (found[0::2] == wrapped(real, 64)).all()
    assert (found[1::2] == wrapped(imag, 64)).all()
    found = run(f"msc_{one}_{other}", size // 8, (2 * size, np.int64), left, right, onto)
    assert (found[0::2] == wrapped(parts(onto)[0] - real, 64)).all()
    assert (found[1::2] == wrapped(parts(onto)[1] - imag, 64)).all()


def test_products_of_complex_floats() -> None:
    size = CALLS // 8 * 8
    rng = np.random.default_rng(12)
    left, right = (rng.normal(size=2 * size).astype(np.float32) for _ in range(2))
    (a, b), (c, d) = parts(left), parts(right)
    found = run("mul_cfloat_cfloat", size // 8, (2 * size, np.float32), left, right)
    assert (found[0::2] == (a * c - b * d).astype(np.float32)).all()
    assert (found[1::2] == (a * d + b * c).astype(np.float32)).all()


def test_the_user_chooses_wider_lanes() -> None:
    left, right = integers(np.int16, 1600, 13), integers(np.int16, 1600, 14)
    assert (run("mul_acc64", 100, (1600, np.int64), left, right) == left.astype(np.int64) * right).all()


def test_a_value_and_an_element_multiply_a_vector() -> None:
    left, right = integers(np.int16, 3200, 15), integers(np.int16, 3200, 16)
    for p in (0, 5, 31):
        assert (
            run("mul_value", 100, (3200, np.int32), left, p=p - 7) == left.astype(np.int32) * (p - 7)
        ).all()
        element = np.repeat(right.reshape(-1, 32)[:, p], 32).astype(np.int32)
        assert (
            run("mul_element", 100, (3200, np.int32), left, right, p=p) == left.astype(np.int32) * element
        ).all()
    square = run("mul_square_int16", 100, (3200, np.int32), left)
    assert (square == left.astype(np.int32) ** 2).all()


def test_products_onto_two_accumulators_and_of_changed_operands() -> None:
    left, right, onto = (
        integers(np.int16, 3200, 35),
        integers(np.int16, 3200, 36),
        integers(np.int32, 3200, 37),
    )
    left[:64], right[:64] = -32768, -32768
    x, y, z = (exact(values).reshape(-1, 32) for values in (left, right, onto))
    found = run("two_accumulators", 100, (4 * 3200, np.int32), left, right, onto).reshape(-1, 4, 32)
    for at, expected in enumerate(
        [z + y * y + x * y, z + y * y - x * y, z - y * y + x * y, z - y * y - x * y]
    ):
        assert (found[:, at] == wrapped(expected, 32)).all()
    found = run("operands", 100, (2 * 3200, np.int32), left, right, onto).reshape(-1, 2, 32)
    size = wrapped(abs(x), 16)  # of the least number: itself
    assert (found[:, 0] == wrapped(size * y - z, 32)).all()
    assert (found[:, 1] == wrapped(z + np.maximum(x, y) * np.minimum(x, y), 32)).all()


def test_conjugates_and_parts_of_complex_integers() -> None:
    values = integers(np.int16, 1600, 38)
    values[values == -32768] = 5
    real, imag = parts(values)
    found = run("conjugates", 100, (1600, np.int64), values)
    assert (found[0::2] == real * real + imag * imag).all()
    assert not found[1::2].any()
    both = run("real_parts", 100, (1600, np.int16), values).reshape(-1, 2, 8)
    assert (both[:, 0] == real.reshape(-1, 8)).all()
    assert (both[:, 1] == imag.reshape(-1, 8)).all()


def test_weighted_sums() -> None:
    left, right, weights = (
        integers(np.int16, 3200, 17),
        integers(np.int16, 3200, 18),
        integers(np.int16, 16, 19),
    )
    x, y, w = exact(left), exact(right), exact(weights)
    for p in (0, 3, 15):
        first, second, third = w[p], w[(p + 1) % 16], w[(p + 2) % 16]
        found = run("accumulate_int16", 100, (3200, np.int32), left, right, weights, p=p)
        assert (found == wrapped(first * x + second * y + third * x, 32)).all()
        found = run("accumulate_onto", 100, (3200, np.int32), left, right, weights, p=p)
        assert (found == wrapped(y * y + first * x + second * y, 32)).all()


MATRICES: tuple[tuple[str, tuple[int, int, int], str, str, int], ...] = (
    ("mmul_int8", (4, 8, 8), "int8", "int8", 32),
    ("mmul_uint8", (4, 8, 4), "uint8", "int8", 32),
    ("mmul_int16", (4, 4, 4), "int16", "int16", 64),
    ("mmul_mixed", (4, 4, 8), "int16", "int8", 32),
    ("mmul_uint16", (4, 4, 4), "uint16", "uint16", 64),
    ("mmul_int32", (4, 2, 4), "int32", "int32", 64),
)


@pytest.mark.parametrize(("check", "shape", "one", "other", "bits"), MATRICES)
def test_matrix_products_of_integers(
    check: str, shape: tuple[int, int, int], one: str, other: str, bits: int
) -> None:
    """DEV-AIEAPI-6: lanes of 64 bits for factors of 16 bits."""
    m, k, n = shape
    number = CALLS // (m * n)
    left, right = integers(one, number * m * k, 20), integers(other, number * k * n, 21)
    onto = integers(np.int32, number * m * n, 22)
    left[: m * k], right[: k * n] = np.iinfo(one).min, np.iinfo(other).min
    a, b, c = exact(left).reshape(-1, m, k), exact(right).reshape(-1, k, n), exact(onto).reshape(-1, m, n)
    product = np.stack([x @ y for x, y in zip(a, b, strict=True)])
    out = (number * m * n, LANES[bits])
    assert (run(check, number, out, left, right, onto) == wrapped(c + product, bits).reshape(-1)).all()
    assert (run(f"{check}_mul", number, out, left, right, onto) == wrapped(product, bits).reshape(-1)).all()


def test_matrix_products_with_numbers_of_4_bits() -> None:
    number = 300
    left, packed = integers(np.int8, number * 64, 23), integers(np.uint8, number * 64, 24)
    halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(number, 16, 8).astype(np.int64)
    numbers = np.where(halves > 7, halves - 16, halves)
    onto = np.zeros(number * 32, np.int32)
    found = run("mmul_int4", number, (number * 32, np.int32), left, packed, onto)
    assert (found == (left.reshape(number, 4, 16).astype(np.int64) @ numbers).reshape(-1)).all()


def test_matrix_products_of_bfloat16_are_rounded_once() -> None:
    """DEV-AIEAPI-1; subnormal factors, lanes and sums are zeros (DEV-AIEAPI-11)."""
    number = CALLS // 16
    rng = np.random.default_rng(25)
    left, right = (rng.normal(size=number * 16).astype(np.float32).astype(BF16) for _ in range(2))
    onto = rng.normal(size=number * 16).astype(np.float32)
    left[:16], right[:16], onto[:16] = 2.0**-127, 2.0**127, 0  # subnormal factors
    left[16:32], right[16:32], onto[16:32] = 2.0**-64, 2.0**-64, 0  # subnormal sums
    left[32:48], right[32:48], onto[32:48] = 2.0**-63, 2.0**-63, 2.0**-127  # subnormal lanes
    a, b = (flushed(each).astype(np.float64).reshape(-1, 4, 4) for each in (left, right))
    product = np.zeros((number, 4, 4))
    for k in range(4):
        product += a[:, :, k : k + 1] * b[:, k : k + 1, :]
    found = run("mmul_bfloat16", number, (number * 16, np.float32), left, right, onto)
    wanted = flushed(flushed(onto).astype(np.float64).reshape(-1, 4, 4) + product)
    assert (found == wanted.reshape(-1)).all()


def blocks(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each eight numbers of a row with the greatest exponent of them, in 64ths, rounded to even."""
    _, powers = np.frexp(np.abs(rows))
    unit = np.ldexp(1.0, (powers - 1).max(axis=-1, keepdims=True) - 6)
    return np.asarray(np.clip(np.rint(rows / unit), -128, 127) * unit)


def test_matrix_products_of_bfloat16_as_blocks() -> None:
    """DEV-AIEAPI-7."""
    set_modes("conv_even")
    rng = np.random.default_rng(34)
    left, right = (rng.normal(size=200 * 64).astype(np.float32).astype(BF16) for _ in range(2))
    a = blocks(left.astype(np.float64).reshape(-1, 8, 8))
    b = blocks(right.astype(np.float64).reshape(-1, 8, 8).swapaxes(1, 2)).swapaxes(1, 2)
    found = run("mmul_blocks", 200, (200 * 64, np.float32), left, right)
    assert (found == (a @ b).astype(np.float32).reshape(-1)).all()


def test_blocks_asked_for_too_late_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "late.cc"
    source.write_text(
        f"#include <aie_api/aie.hpp>\n#define {AS_BLOCKS}\n#include <aie_api/aie.hpp>\n", "utf-8"
    )
    command = [*compiler().command, *Sources((source,)).options(), "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{AS_BLOCKS} has no effect here: give it to the compiler" in done.stderr


REFUSED = {
    "aie::sparse_vector<int8, 128> sparse;": "does not have sparse vectors: UG1603 has masks of 32 bits",
    "aie::sparse_vector_input_buffer_stream<int16, 64, aie_dm_resource::a> from(at);": "Expand it and use",
    "aie::sliding_mul_sym_ops<8, 16, 1, 1, 1, int16, int16, acc64>::mul_sym(x, 0, x, 0);": "use these",
    "aie::sliding_mul_sym_xy_ops<8, 8, 1, 1, int16, int16>::mul_sym(x, 0, x, 0, 8);": "symmetric filters",
    "aie::sliding_mul_ch_ops<4, 8, 4, 1, 1, 1, int16, int16>::mul(x, 0, x, 0);": "several channels",
    "aie::fft_dit_r3_stage<8>(at, at, at, 96, 15, 15, false, to);": "stages of FFTs of radix 2 and 4",
    "aie::fft_dit_r5_stage(at, at, at, at, at, 80, 15, 15, false, to);": "round and saturate between",
}


def test_what_is_not_simulated_is_refused_by_name_and_line(tmp_path: Path) -> None:
    (source := tmp_path / "kernel.cc").write_text(
        "#include <aie_api/aie.hpp>\nvoid f(const int16 *at, int16 *to, aie::vector<int16, 32> x) {\n"
        + "".join(f"{line}\n" for line in REFUSED)
        + "}\n"
    )
    command = [*compiler().command, *Sources((source,)).options(), "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line, says in enumerate(REFUSED.values(), 3):
        assert says in done.stderr
        assert f"kernel.cc:{line}:" in done.stderr


def test_matrix_products_of_complex_integers() -> None:
    number = 300
    left, right = integers(np.int16, number * 16, 26), integers(np.int16, number * 64, 27)
    onto = integers(np.int32, number * 32, 28)
    (a, b), (c, d) = parts(left), parts(right)
    a, b, c, d = a.reshape(-1, 2, 4), b.reshape(-1, 2, 4), c.reshape(-1, 4, 8), d.reshape(-1, 4, 8)
    real = np.stack([w @ y - x @ z for w, x, y, z in zip(a, b, c, d, strict=True)]).reshape(-1)
    imag = np.stack([w @ z + x @ y for w, x, y, z in zip(a, b, c, d, strict=True)]).reshape(-1)
    found = run("mmul_cint16", number, (number * 32, np.int64), left, right, onto)
    assert (found[0::2] == wrapped(parts(onto)[0] + real, 64)).all()
    assert (found[1::2] == wrapped(parts(onto)[1] + imag, 64)).all()


def seconds(check: str, left: Values, right: Values) -> float:
    """The least time of this process for 20 products, of many tries."""
    tries = []
    for _ in range(15):
        begun = time.process_time()
        run(check, 20, (4096, np.int32), left, right)
        tries.append(time.process_time() - begun)
    return min(tries)


@pytest.mark.parametrize(("kind", "m", "k", "n"), [("int8", 4, 8, 8), ("int16", 4, 4, 4)])
def test_a_blocked_product_is_right_and_at_most_three_times_a_plain_loop(
    kind: str, m: int, k: int, n: int
) -> None:
    """The numbers are small enough for sums of 32 bits."""
    left, right = (integers(np.int8, 4096, seed).astype(kind).reshape(64, 64) for seed in (39, 40))
    a = np.ascontiguousarray(left.reshape(64 // m, m, 64 // k, k).swapaxes(1, 2))
    b = np.ascontiguousarray(right.reshape(64 // k, k, 64 // n, n).swapaxes(1, 2))
    product = left.astype(np.int64) @ right
    found = run(f"blocked_{kind}", 1, (4096, np.int32), a, b).reshape(64 // m, 64 // n, m, n)
    assert (found.swapaxes(1, 2).reshape(64, 64) == product).all()
    assert (run(f"plain_{kind}", 1, (4096, np.int32), left, right).reshape(64, 64) == product).all()
    assert seconds(f"blocked_{kind}", a, b) <= 3 * seconds(f"plain_{kind}", left, right)


def filtered(
    coefficients: Any, data: Any, lanes: int, points: int, start: tuple[int, int], steps: tuple[int, int, int]
) -> list[int]:
    """The sums of a filter, as UG1529 writes them, with indices that wrap in each vector."""
    step, across, down = steps
    return [
        sum(
            coefficients[(start[0] + p * step) % len(coefficients)]
            * data[(start[1] + lane * down + p * across) % len(data)]
            for p in range(points)
        )
        for lane in range(lanes)
    ]


def test_filters() -> None:
    coefficients, data = integers(np.int8, 32 * 20, 29), integers(np.uint8, 64 * 20, 30)
    for p in (0, 8, 30):
        found = run("sliding", 20, (640, np.int32), coefficients, data, p=p).reshape(20, 32)
        for row, c, d in zip(
            found.tolist(), exact(coefficients).reshape(20, 32), exact(data).reshape(20, 64), strict=True
        ):
            assert row == filtered(c, d, 32, 8, (p, 3), (1, 1, 1))
    coefficients, data, onto = (
        integers(np.int16, 320, 31),
        integers(np.int16, 640, 32),
        integers(np.int32, 320, 33),
    )
    found = run("sliding_steps", 20, (320, np.int32), coefficients, data, onto, p=2).reshape(20, 16)
    rows = zip(
        exact(coefficients).reshape(20, 16),
        exact(data).reshape(20, 32),
        exact(onto).reshape(20, 16),
        strict=True,
    )
    for row, (c, d, z) in zip(found.tolist(), rows, strict=True):
        sums = filtered(c, d, 16, 4, (2, 5), (2, 3, 2))
        assert row == [wrapped(x + y, 32) for x, y in zip(z, sums, strict=True)]
