"""Kernels whose geometry is compiled in, and those that set modes, each against a scalar reference."""

from __future__ import annotations

from math import floor, frexp, tanh
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import DesignError
from memtile.corelib.rounding import Modes
from memtile.kernels import aie

BF16 = ml_dtypes.bfloat16
RNG = np.random.default_rng(30)
MODES = (
    "floor",
    "ceil",
    "positive_inf",
    "negative_inf",
    "symmetric_inf",
    "symmetric_zero",
    "conv_even",
    "conv_odd",
)


def test_the_mode_of_a_name_stays_on_its_core() -> None:
    library, core = aie.library("npu1"), SimpleNamespace(modes=Modes())
    for mode in MODES:
        library[f"set_rounding_{mode}"](core=core)
        assert core.modes.rounding == mode
    third, c = np.full(16, 1 + 2**-8 + 2**-9, np.float32), np.zeros(16, BF16)
    for mode, wanted in (("floor", 1.0), ("ceil", 1 + 2**-7)):
        library[f"set_rounding_{mode}"](core=core)
        library["convert_f32_to_bf16"](third, c, core=core)
        assert c.astype(float).tolist() == [wanted] * 16
    assert "set_rounding_nearest" not in library


def test_a_sized_relu() -> None:
    a, c = RNG.normal(0, 2, 64).astype(BF16), np.zeros(64, BF16)
    aie.library("npu2")["relu_bf16_size"](a, c, 64)
    assert c.astype(float).tolist() == [max(float(x), 0.0) for x in a]


@pytest.mark.parametrize(("side", "rows", "columns"), [(4, 8, 16), (8, 16, 24), (4, 4, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, BF16, np.int32])
@pytest.mark.parametrize("flat", [True, False])
def test_blocks_are_transposed_in_their_places(
    side: int, rows: int, columns: int, dtype: Any, flat: bool
) -> None:
    library = aie.library("npu1", defines={"DIM_m": columns} if flat else None)
    a = RNG.integers(0, 100, (rows, columns)).astype(dtype)
    c = np.zeros_like(a)
    given = (a.reshape(-1), c.reshape(-1)) if flat else (a, c)
    library[f"transpose_{side}x{side}"](*given)
    for row in range(rows):
        for column in range(columns):
            top, left = row // side * side, column // side * side
            assert c[row, column] == a[top + column - left, left + row - top]


@pytest.mark.parametrize(("lanes", "rounds", "m"), [(16, 3, 5), (4, 1, 16), (64, 2, 3)])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_matrix_of_columns_times_a_vector(lanes: int, rounds: int, m: int, calls: int) -> None:
    """The sums of the kernel in its order: float32, every lane-th row, then halves of the lanes."""
    k = lanes * rounds
    a, b = RNG.normal(0, 1, (calls * k, m)).astype(BF16), RNG.normal(0, 1, calls * k).astype(BF16)
    sums, c = np.full(lanes * m, np.nan, np.float32), np.zeros(m, BF16)
    function = aie.library("npu2")["matvec_vectorized_col_maj_bf16_bf16"]
    for call in range(calls):
        flags = (call == 0) | (call == calls - 1) << 1
        part = slice(call * k, (call + 1) * k)
        function(int(flags), a[part].reshape(-1), b[part], sums, c)
    for column in range(m):
        total = [np.float32(0)] * lanes
        for row in range(calls * k):
            total[row % lanes] += np.float32(a[row, column]) * np.float32(b[row])
        while len(total) > 1:
            half = len(total) // 2
            total = [x + y for x, y in zip(total[:half], total[half:], strict=True)]
        assert sums[column] == total[0]
        assert c[column] == BF16(total[0])


def _block(values: list[float]) -> list[int]:
    """A block of bfp16: the largest exponent, then 64ths of its power, rounded down."""
    most = max((frexp(abs(x))[1] - 1 for x in values if x), default=-127)
    return [most + 127, *(min(floor(x / 2.0**most * 64), 127) % 256 for x in values)]


def _down(x: float) -> float:
    """The bfloat16 number below or at a float32 one."""
    word = np.array(x, np.float32).view(np.uint32)
    low = np.array(int(word) & 0xFFFF0000, np.uint32).view(np.float32)
    return (
        float(low) if low <= x else float(np.array((int(word) >> 16) + 1 << 16, np.uint32).view(np.float32))
    )


@pytest.mark.parametrize(
    ("m", "k", "group", "part"), [(32, 256, 32, 128), (16, 32, 8, 16), (48, 48, 16, 24), (16, 48, 24, 16)]
)
def test_weights_of_four_bits_become_bfp16(m: int, k: int, group: int, part: int) -> None:
    usual = (m, k, group, part) == (32, 256, 32, 128)
    library = aie.library("npu2", defines=None if usual else {"Q4NX_M_TILE": m, "Q4NX_CT_K": part})
    scales, minima = (RNG.normal(0, 2, (k // group, m)).astype(BF16) for _ in range(2))
    numbers = RNG.integers(0, 16, (m, k))
    flat = [numbers[16 * high + low, at] for high in range(m // 16) for at in range(k) for low in range(16)]
    packed = np.array(
        [low | high << 4 for low, high in zip(flat[::2], flat[1::2], strict=True)], dtype=np.uint8
    )
    a = np.concatenate([scales.reshape(-1).view(np.uint8), minima.reshape(-1).view(np.uint8), packed])
    c = np.zeros(m * k * 9 // 8, np.uint8)
    library["q4nx_dequant_bfp"](a, c)
    wanted = list[int]()
    for begin in range(0, k, part):
        for rows in range(0, m, 8):
            for at in range(begin, begin + part, 8):
                for row in range(rows, rows + 8):
                    exact = [
                        float(minima[n // group, row]) + float(scales[n // group, row]) * numbers[row, n]
                        for n in range(at, at + 8)
                    ]
                    wanted += _block([_down(float(np.float32(x))) for x in exact])
    assert c.tolist() == wanted


def _activation(x: float, mode: int) -> float:
    sigmoid = (tanh((1.702 * x if mode == 1 else x) / 2) + 1) / 2
    return (x, x * sigmoid, x * sigmoid, sigmoid)[mode]


def _places(loops: Any, kind: str, high: int, wide: int) -> list[tuple[int, int]]:
    """Rows and columns in the order of the memory: loops over blocks, each row-major."""
    found = []
    for first in loops[0]:
        for second in loops[1]:
            for third in loops[2]:
                row, column = {
                    "hrd": (second, first + third),
                    "hcd": (first + third, second),
                    "rc": (first, second),
                }[kind]
                found += [(row + at, column + beside) for at in range(high) for beside in range(wide)]
    return found


@pytest.mark.parametrize(("device", "r", "s", "t"), [("npu1", 4, 8, 4), ("npu2", 4, 8, 8)])
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("told", [True, False])
def test_a_product_with_what_follows_it(device: str, r: int, s: int, t: int, mode: int, told: bool) -> None:
    m, k, n, chunk = 16, 32, 16, 8
    defines = {"MM_FUSED_CT_K": chunk, **({} if told else {"MM_FUSED_EPILOGUE_MODE": mode})}
    left, right = (RNG.normal(0, 0.5, shape).astype(BF16) for shape in ((m, k), (k, n)))
    places = [
        _places((range(0, k, chunk), range(0, m, r), range(0, chunk, s)), "hrd", r, s),
        _places((range(0, k, chunk), range(0, n, t), range(0, chunk, s)), "hcd", s, t),
        _places((range(0, m, r), range(0, n, t), range(1)), "rc", r, t),
    ]
    a, b = (np.array([x[at] for at in order], BF16) for x, order in zip((left, right), places, strict=False))
    c = np.zeros(m * n, BF16)
    limits = [int(np.array(x, np.float32).view(np.int32)) for x in (-0.25, 0.75)] if told else []
    aie.library(device, defines=defines)["fused_mm_tile"](a, b, c, *([mode] if told else []), *limits)
    for at, (row, column) in enumerate(places[2]):
        exact = sum(float(left[row, deep]) * float(right[deep, column]) for deep in range(k))
        wanted = _activation(exact, mode)
        wanted = min(max(wanted, -0.25), 0.75) if told else wanted
        assert float(c[at]) == pytest.approx(wanted, rel=2**-8, abs=2**-14)


LIBRARY = aie.library("npu2")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("transpose_8x8", (np.zeros(1024, np.int16),) * 2, "DIM_m is not known; it must be the columns of"),
        ("transpose_8x8", (np.zeros((8, 12), np.int16),) * 2, "96 elements in rows of 12"),
        ("transpose_4x4", (np.zeros((4, 8), np.int16), np.zeros((4, 4), np.int16)), "the same in all arrays"),
        ("q4nx_dequant_bfp", (np.zeros(320, np.uint8), np.zeros(576, np.uint8)), "Q4NX_M_TILE is not known"),
        (
            "q4nx_dequant_bfp",
            (np.zeros(5121, np.uint8), np.zeros(9216, np.uint8)),
            "a tile of 32 rows in slices",
        ),
        (
            "fused_mm_tile",
            (np.zeros(96, BF16), np.zeros(96, BF16), np.zeros(64, BF16)),
            "MM_FUSED_CT_K is not",
        ),
        (
            "matvec_vectorized_col_maj_bf16_bf16",
            (3, np.zeros(48, BF16), np.zeros(12, BF16), np.zeros(20, np.float32), np.zeros(4, BF16)),
            "k in whole lanes",
        ),
    ],
)
def test_what_does_not_fit_is_refused(name: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](*arguments)


def test_a_product_that_is_not_of_whole_chunks_is_refused() -> None:
    a, b, c = (np.zeros(size, BF16) for size in (96, 96, 64))
    with pytest.raises(DesignError, match="m, k, n is 8, 12, 8; it must be multiples of 4, 8, 8"):
        aie.library("npu2", defines={"MM_FUSED_CT_K": 8})["fused_mm_tile"](a, b, c)


@pytest.mark.parametrize(
    "defines",
    [{"DIM_X": 4}, {"DIM_m": -4}, {"DIM_m": 4.0}, {"DIM_m": True}],
    ids=["name", "sign", "kind", "bool"],
)
def test_what_no_function_is_compiled_with_is_refused(defines: dict[str, Any]) -> None:
    with pytest.raises(DesignError, match="one of AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16, DIM_m, "):
        aie.library("npu1", defines=defines)
