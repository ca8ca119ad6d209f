"""What a call of a library function costs, and where the cycles come from."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile.kernels import aie

BF16 = ml_dtypes.bfloat16
SOFTMAX = [("bf16", 4096), ("bf16", 4096), ("f32", 256), ("i32", 2), 1, 64, 64]
F = "f32"
DTYPES = {"f32": np.float32, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "i32": np.int32, "bf16": BF16}
B, I8, U8, I16, I32 = "bf16", "i8", "ui8", "i16", "i32"


def cost(device: str, name: str, *given: Any) -> str:
    """The cost of a call with zeros; arguments are a type and a shape each, or numbers."""
    made = [each if isinstance(each, int) else np.zeros(each[1], DTYPES[each[0]]) for each in given]
    return str(aie.library(device)[name].cost(*made))


@pytest.mark.parametrize(
    ("device", "name", "given", "says"),
    [
        ("npu1", "eltwise_add_bf16_vector", [(B, 1024)] * 3, "78 (measured)"),
        ("npu2", "eltwise_add_bf16_vector", [(B, 1024)] * 3, "150 (measured)"),
        ("npu1", "gelu_bf16", [(B, 1024), (B, 1024), 1024], "1,439 (measured)"),
        ("npu1", "exp_bf16_1024", [(B, 1024)] * 2, "1,057 (measured)"),
        ("npu2", "zero_bf16", [(B, 4096)], "134 (measured)"),
        ("npu1", "vector_scalar_mul_scalar", [(I32, 1024), (I32, 1024), (I32, 2), 1024], "12,297 (measured)"),
        ("npu1", "matmul_i16_i32", [(I16, (64, 32)), (I16, (32, 64)), (I32, (64, 64))], "3,219 (measured)"),
        ("npu1", "eltwise_mul_add_bf16_vector", [(B, 1024)] * 3 + [1], "85 (measured)"),
        (
            "npu1",
            "conv2dk1_i8",
            [(I8, 2048), (I8, 4096), (U8, 2048), 32, 64, 64, 10],
            "801 (measured)",
        ),
        # the row of 1,024 and 192 trips more of one cycle each
        ("npu1", "eltwise_add_bf16_vector", [(B, 4096)] * 3, "270 (rule)"),
        # a pipeline of 14 stages does not fill: short rows take another way
        ("npu1", "eltwise_add_bf16_vector", [(B, 64)] * 3, "8 (range 5 to 30)"),
        # the loops of the object are not published: 96 cycles more at least, at full rate
        ("npu2", "eltwise_add_bf16_vector", [(B, 4096)] * 3, "600 (range 246 to 600)"),
        # as i16_i32, of which three shapes are measured
        ("npu1", "matmul_i16_i16", [(I16, (64, 64))] * 3, "6,438 (range 4,096 to 8,100)"),
        ("npu1", "zero_bf16", [(B, 4096)], "256 (lower bound)"),
        # bytes with a sign take what bytes without one do
        ("npu1", "bitwiseORLine", [(I8, 1920)] * 3 + [1920], "101 (rule)"),
        # between 4 rows of 128 and 4 of 2,048: 125 and 408 cycles
        ("npu2", "matvec_vectorized_bf16_bf16", [4, 0, (B, 4 * 1024), (B, 1024), (B, 4)], "257 (rule)"),
        ("npu2", "matvec_vectorized_bf16_bf16", [4, 0, (B, 4 * 64), (B, 64), (B, 4)], "110 (measured)"),
        ("npu2", "matmul_bf16_bf16_wrapper", [(B, (64, 64))] * 3 + [(I32, 2)], "10,001 (measured)"),
        (
            "npu2",
            "matmul_PV",
            [(B, (64, 64))] * 2 + [(F, 4096), (F, 256), 64, 1, (I32, 2), 64],
            "9,913 (measured)",
        ),
        ("npu2", "prefill_fv_step", [(F, 4096), (B, 64), (B, 4096), 0], "1,265 (measured)"),
        ("npu2", "prefill_fv_step", [(F, 4096), (B, 2048), (B, 4096), 0], "2,707 (measured)"),
        ("npu1", "fused_mm_tile", [(B, (32, 32)), (B, (32, 16)), (B, (32, 16))], "691 (measured)"),
        ("npu1", "transpose_8x8", [(B, (8, 256)), (B, (8, 256))], "272 (rule)"),
        ("npu1", "transpose_8x8", [(B, (32, 32)), (B, (32, 32))], "144 (measured)"),
        ("npu1", "transpose_8x8", [(B, (64, 32)), (B, (64, 32))], "272 (rule)"),
        ("npu2", "q4nx_dequant_bfp", [(U8, 5120), (U8, 9216)], "2,115 (rule)"),
        ("npu1", "transpose_4x4", [(U8, (32, 32)), (U8, (32, 32))], "63 (measured)"),
        ("npu2", "partial_softmax", [*SOFTMAX, 64, 64], "2,162 (measured)"),
        ("npu2", "partial_softmax", [*SOFTMAX, 37, 37], "1,740 (measured)"),
        ("npu1", "eltwise_add_i32", [(I32, 1024)] * 3, "128 (lower bound)"),
    ],
)
def test_each_basis(device: str, name: str, given: list[Any], says: str) -> None:
    assert cost(device, name, *given) == says


def test_a_library_remembers_what_it_charged() -> None:
    function = aie.library("npu1")["relu_bf16"]
    x = np.zeros(1024, BF16)
    assert (function.cycles(x, x), function.cycles(x[:512], x[:512])) == (75, 43)
    assert list(map(str, function.charged)) == ["75 (measured)", "43 (rule)"]


def test_a_range_begins_at_full_rate() -> None:
    """Of a matrix of other types nothing is known below its MACs: 64 x 64 x 64 at 256 a cycle."""
    assert cost("npu1", "matmul_i8_i8", *[(I8, (64, 64))] * 3) == "2,898 (range 1,024 to 2,898)"


def test_beyond_all_counts_there_is_a_range() -> None:
    """4 rows of 4,096: counts end at 2,048."""
    row, vector = np.zeros(4 * 4096, BF16), np.zeros(4096, BF16)
    found = aie.library("npu2")["matvec_vectorized_bf16_bf16"].cost(4, 0, row, vector, vector[:4])
    assert found.basis == "range"


def test_blocks_of_another_size_are_another_loop() -> None:
    """8 x 8 blocks of bytes: counts are of 4 x 4."""
    assert cost("npu1", "transpose_8x8", ("ui8", (64, 32)), ("ui8", (64, 32))) == "252 (range 111 to 252)"


def test_a_bound_is_one() -> None:
    """A call that returns at once takes no time, and of arrays that it reads in part nothing is counted."""
    later = np.array([2, 1], np.int32)
    tile = np.zeros((64, 64), BF16)
    assert (
        str(aie.library("npu2")["matmul_bf16_bf16_wrapper"].cost(tile, tile, tile, later))
        == "0 (lower bound)"
    )
    chunk, words = (
        np.zeros(5344, BF16),
        (np.zeros(4, np.int32), np.zeros(272, np.int32), np.zeros(1138, np.int32)),
    )
    assert str(aie.library("npu2")["sample_select"].cost(chunk, *words)) == "84 (lower bound)"
