"""Do functions of cores round and saturate by the modes of their core, as AMD defines these?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from memtile import Array
from memtile.corelib.rounding import shifted
from memtile.errors import DesignError
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.kernels import Action, Core, aie
from support.engine.rounded_numbers import MODES, bf16_number, down_to, whole_number

Values = npt.NDArray[Any]
BF16 = ml_dtypes.bfloat16
MANY = 10_000
NAN = float("nan")


def words(seed: int) -> Values:
    """Float32 numbers: any bits, ties between two numbers of bfloat16, and those at the ends of the range."""
    random = np.random.default_rng(seed)
    free = random.integers(0, 1 << 32, MANY, np.uint32)
    ties = (random.integers(0, 1 << 16, MANY, np.uint32) << 16) | 0x8000
    near = ties[:1000] + random.integers(-1, 2, 1000).astype(np.uint32)
    ends = [0, 1 << 31, 1, 0x80000001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001]
    return np.concatenate([free, ties, near, np.array(ends, np.uint32)]).view(np.float32)


@pytest.mark.parametrize("mode", MODES)
def test_a_number_becomes_bf16_as_the_mode_says(mode: Any) -> None:
    """DEV-KERNEL-8; subnormal numbers become zeros (DEV-AIEAPI-11)."""
    given = words(1)
    found = np.zeros(given.size, BF16)
    aie.library(rounding=mode)["convert_copy_f32_to_bf16"](given, found)
    with np.errstate(invalid="ignore"):
        kept = np.where(np.abs(given) < 2.0**-126, np.copysign(0, given), given)
        wanted = np.array([bf16_number(float(value), mode) for value in kept], np.float64).astype(BF16)
    same = (found.view(np.uint16) == wanted.view(np.uint16)) | (np.isnan(found) & np.isnan(wanted))
    assert same.all(), (given[~same][:3], found[~same][:3], wanted[~same][:3])


@pytest.mark.parametrize("mode", MODES)
def test_a_sum_is_shifted_as_the_mode_says(mode: Any) -> None:
    random = np.random.default_rng(2)
    for bits in (0, 1, 2, 7, 17):
        values = random.integers(-(1 << 30), 1 << 30, MANY // 5)
        values[::3] = (values[::3] >> bits << bits) + (1 << bits >> 1)
        wanted = [whole_number(Fraction(int(value), 1 << bits), mode) for value in values]
        assert [*shifted(values, bits, mode)] == wanted


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_sums_and_products_of_bf16_are_rounded_down_after_reset(operation: str) -> None:
    """``floor`` is the default of ``to_vector`` (UG1603); mlir-aie's ``add.cc`` and ``mul.cc`` set none."""
    random = np.random.default_rng(3)
    a, b = (random.normal(0, 3, MANY).astype(BF16) for _ in range(2))
    found = np.zeros(MANY, BF16)
    aie.library()[f"eltwise_{operation}_bf16_vector"](a, b, found)
    exact = np.add if operation == "add" else np.multiply
    wanted = down_to(exact(a.astype(np.float32), b.astype(np.float32)), BF16)
    np.testing.assert_array_equal(found, wanted)
    assert (found != exact(a, b)).mean() > 0.2  # where the nearest number is above


@pytest.mark.parametrize(
    ("mode", "values"),
    [("none", [8 * 127 * 127 % 256, 0]), ("saturate", [127, -128]), ("symmetric", [127, -127])],
)
def test_a_product_that_does_not_fit(mode: Any, values: list[int]) -> None:
    a, b, c = np.full((4, 8), 127, np.int8), np.full((8, 8), 127, np.int8), np.zeros((4, 8), np.int8)
    b[:, 1] = -128
    aie.library(saturation=mode)["matmul_i8_i8"](a, b, c)
    assert [*c[0, :2]] == [np.uint8(values[0]).view(np.int8) if mode == "none" else values[0], values[1]]


def test_vectors_of_products_saturate_and_loops_do_not() -> None:
    functions = aie.library(saturation="saturate")
    a, c, factor = np.full(32, 30000, np.int16), np.zeros(32, np.int16), np.array([2], np.int32)
    functions["vector_scalar_mul_int16_vector"](a, c, factor, 32)
    assert (c == 32767).all()
    functions["vector_scalar_mul_int16_scalar"](a, c, factor, 32)
    assert (c == 60000 - 65536).all()
    functions["matmul_scalar_i16_i16"](a.reshape(8, 4), a.reshape(4, 8), wide := np.zeros((8, 8), np.int16))
    assert (wide == np.int64(4 * 30000**2).astype(np.int16)).all()


def test_what_a_function_or_its_core_sets_stays() -> None:
    """mlir-aie's ``conv2dk1.cc`` sets both modes, and never sets them back; ``add.cc`` has what it finds."""
    array = Array("npu1", 1)
    functions, found = aie.library(), np.zeros((4, 8), BF16)
    tie = np.array([1 + 2**-7, -1 - 2**-7] * 4, np.float32).astype(BF16)
    half = np.full(8, 2.0**-8, np.float32).astype(BF16)
    half[1::2] *= -1
    lines, weights, out = np.ones(64, np.int8), np.ones(64, np.int8), np.zeros(64, np.uint8)

    def body(core: Core) -> Iterator[Action]:
        add = functions["eltwise_add_bf16_vector"]
        add(tie, half, found[0], core=core)
        functions["conv2dk1_i8"](lines, weights, out, 8, 8, 8, 0, core=core)
        add(tie, half, found[1], core=core)
        core.set_rounding("symmetric_zero")
        add(tie, half, found[2], core=core)
        aie.library(rounding="ceil")["eltwise_add_bf16_vector"](tie, half, np.zeros(8, BF16), core=core)
        add(tie, half, found[3], core=core)
        assert core.modes.saturation == "saturate"
        core.set_saturation("none")
        yield core.cycles(1)

    array.compute_tile(0, 2).run_kernel(body)
    assert array.run().status == "finished"
    near, far = 1 + 2**-7, 1 + 2**-6
    assert found[:, :2].astype(float).tolist() == [[near, -far], [far, -near], [near, -near], [far, -near]]


DESIGN = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %c = aie.tile(0, 2)
    func.func private @eltwise_mul_bf16_vector(memref<32xbf16>, memref<32xbf16>, memref<32xbf16>)
    aie.objectfifo @in(%s, {%c}, 1 : i32) : !aie.objectfifo<memref<32xbf16>>
    aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<32xbf16>>
    aie.core(%c) {
      BODY
      %a = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<32xbf16>>
      %x = aie.objectfifo.subview.access %a[0] : !aie.objectfifosubview<memref<32xbf16>> -> memref<32xbf16>
      %b = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<32xbf16>>
      %y = aie.objectfifo.subview.access %b[0] : !aie.objectfifosubview<memref<32xbf16>> -> memref<32xbf16>
      func.call @eltwise_mul_bf16_vector(%x, %x, %y) : (memref<32xbf16>, memref<32xbf16>, memref<32xbf16>) -> ()
      aie.objectfifo.release @in(Consume, 1)
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }
    aiex.runtime_sequence(%a: memref<16xi32>, %b: memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<16xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<16xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""  # noqa: E501
SHIFT = """%v = arith.constant dense<0> : vector<16xi32>
      %z = arith.constant 0 : i32
      %q = aievec.srs %v, %z : vector<16xi32>, i32, vector<16xi8>"""


@pytest.mark.parametrize(("body", "mode"), [("", "floor"), (SHIFT, "positive_inf")])
def test_a_core_begins_with_the_modes_that_its_text_has(body: str, mode: str) -> None:
    """mlir-aie's AIECoreToStandard sets them for ``aievec.srs``: halves up, if that shifts integers."""
    values = np.random.default_rng(4).normal(0, 3, 32).astype(BF16)
    done = load(Text("modes", DESIGN.replace("BODY", body))).run(values.view(np.int32))
    exact = values.astype(np.float32) ** 2
    wanted = np.array([bf16_number(float(value), mode) for value in exact]).astype(BF16)
    np.testing.assert_array_equal(done.arrays["1"].view(BF16).reshape(-1), wanted)


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_what_is_no_number_never_wins(kind: str) -> None:
    """mlir-aie's ``reduce_max.cc`` compares and selects, from the smallest finite number on."""
    dtype = BF16 if kind == "bf16" else np.float32
    limit = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    for values, largest, smallest in (
        ([NAN, 1, NAN, -3], 1, -3),
        ([NAN, NAN], -limit, limit),
        ([-np.inf, NAN], -limit, -np.inf),
        ([np.inf, 2], np.inf, 2),
    ):
        a, c = np.array(values, dtype), np.zeros(1, dtype)
        aie.library()[f"reduce_max_{kind}"](a, c)
        assert c[0] == largest
        aie.library()[f"reduce_min_{kind}"](a, c)
        assert c[0] == smallest
    number, none, c = np.ones(1, dtype), np.full(1, NAN, dtype), np.zeros(1, dtype)
    for name in ("compute_max", "compute_min"):
        aie.library()[f"{name}_{kind}"](none, number, c)
        assert c[0] == 1
        aie.library()[f"{name}_{kind}"](number, none, c)
        assert np.isnan(c[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "name", ["softmax_bf16", "layer_norm", "rms_norm", "gelu_bf16", "mean", "rope", "saxpy"]
)
def test_numpy_warns_nobody(name: str) -> None:
    a, b, c = np.array([np.inf, NAN, -np.inf, 3e38], BF16), np.full(4, 3e38, BF16), np.zeros(4, BF16)
    more = {"softmax_bf16": (), "gelu_bf16": (), "rope": (4,), "saxpy": ()}.get(name, (4,))
    aie.library()[name](*([a, b] if name in ("rope", "saxpy") else [a]), c, *more)


def test_modes_that_the_api_has_not() -> None:
    with pytest.raises(DesignError, match=r"rounding is 'up'; it must be floor, ceil, .*UG1603"):
        aie.library(rounding="up")  # type: ignore[arg-type]
    with pytest.raises(DesignError, match=r"saturation is 'wrap'; it must be none, saturate, symmetric"):
        aie.library(saturation="wrap")  # type: ignore[arg-type]
