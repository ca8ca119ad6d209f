"""Do operations of aievec do what AIE-ML's vector unit does, as mlir-aie lowers them?

Forms are those of AIEVecOps.td of mlir-aie 2026-08-14; modes are those that its AIECoreToStandard sets.
"""

from __future__ import annotations

import ast

import numpy as np
import pytest

from memtile.arch.core_costs import CoreCosts
from memtile.errors import InputFileError
from memtile.importers.kernels.aievec import modes_of
from memtile.importers.kernels.arithmetic import CONV_EVEN, FLOOR, POSITIVE_INF, narrowed, shifted
from memtile.importers.kernels.body import translate
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from support.bodies.core_bodies import BF16, each, ran, text_of

RNG = np.random.default_rng(29)
SHORT = RNG.integers(-(2**15), 2**15, (2, 32)).astype(np.int16)
FLOATS = RNG.normal(size=(2, 16)).astype(np.float32)
WAYS = pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])


def loads(kind: str, count: int) -> str:
    """Two vectors, the rows of ``%x``."""
    vector = f"vector<{count}x{kind}>"
    rows = [
        f"%{name} = vector.load %x[%r{n}, %zero] : memref<2x{count}x{kind}>, {vector}"
        for n, name in enumerate("ab")
    ]
    return "\n".join(["%r0 = arith.constant 0 : index", "%r1 = arith.constant 1 : index", *rows])


def stored(value: str, count: int, kind: str) -> str:
    return f"vector.store {value}, %y[%zero] : memref<{count}x{kind}>, vector<{count}x{kind}>"


def done(kind: str, data: np.ndarray, lines: str, out: np.ndarray, *, compiled: bool) -> np.ndarray:
    """What a body leaves in ``%y``."""
    body = each(f"{loads(kind, data.shape[1])}\n{lines}", 1)
    return ran(body, {"x": data, "y": out}, compiled=compiled)["y"]


@WAYS
@pytest.mark.parametrize("shift", [0, 1, 15, 31])
def test_products_of_integers_are_shifted_rounded_up_at_halves_and_saturated(
    shift: int, compiled: bool
) -> None:
    lines = f"""%s = arith.constant {shift} : i32
      %p = aievec.mul_elem %a, %b : vector<32xi16>, vector<32xi16>, vector<32xi32>
      %q = aievec.srs %p, %s : vector<32xi32>, i32, vector<32xi16>
      {stored("%q", 32, "i16")}"""
    got = done("i16", SHORT, lines, np.zeros(32, np.int16), compiled=compiled)
    exact = SHORT[0].astype(np.int64) * SHORT[1]
    rounded = (exact + (1 << shift >> 1)) >> shift
    np.testing.assert_array_equal(got, np.clip(rounded, -(2**15), 2**15 - 1).astype(np.int16))


@WAYS
def test_an_unsigned_shift_saturates_to_unsigned_numbers(compiled: bool) -> None:
    lines = f"""%s = arith.constant 8 : i32
      %p = aievec.mul_elem %a, %b : vector<32xi16>, vector<32xi16>, vector<32xi32>
      %q = aievec.srs %p, %s {{sign = 0 : i32}} : vector<32xi32>, i32, vector<32xi8>
      {stored("%q", 32, "i8")}"""
    got = done("i16", SHORT, lines, np.zeros(32, np.int8), compiled=compiled)
    rounded = (SHORT[0].astype(np.int64) * SHORT[1] + 128) >> 8
    np.testing.assert_array_equal(got.view(np.uint8), np.clip(rounded, 0, 255).astype(np.uint8))


def test_on_aie2p_nothing_saturates() -> None:
    """mlir-aie writes crSat by its number on AIE-ML: on AIE2P another register is there (DEV-AIEVEC-1).

    Products of integers are those of AIE-ML (DEV-AIEVEC-3).
    """
    lines = f"""%s = arith.constant 0 : i32
      %p = aievec.mul_elem %a, %b : vector<32xi16>, vector<32xi16>, vector<32xi32>
      %q = aievec.srs %p, %s : vector<32xi32>, i32, vector<32xi16>
      {stored("%q", 32, "i16")}"""
    text = text_of(each(f"{loads('i16', 32)}\n{lines}", 1), {"x": SHORT, "y": np.zeros(32, np.int16)})
    (device,) = devices(read(Text("body.mlir", text)))
    core = device.cores[0].operation
    assert modes_of(core, "AIE-ML")[:2] == (POSITIVE_INF, True)
    assert modes_of(core, "AIE2P")[:2] == (POSITIVE_INF, False)
    for generation, called in (("AIE-ML", True), ("AIE2P", False)):
        program = translate(device, core, CoreCosts(), generation)  # type: ignore[arg-type]
        pieces = [ast.unparse(piece.tree) for piece in program.names.values()]
        assert ("least" in "".join([program.source, *pieces])) is called


def test_modes_are_those_of_the_operations_in_the_core_itself() -> None:
    floats = "%q = aievec.srs %p, %s : vector<16xf32>, i32, vector<16xbf16>"
    product = "%m = aievec.matmul %a, %b, %c : vector<4x8xbf16>, vector<8x4xbf16> into vector<4x4xf32>"
    integer = "%r = aievec.srs %t, %s : vector<32xi32>, i32, vector<32xi16>"
    for body, modes in (
        ("", (FLOOR, False)),
        (floats, (FLOOR, True)),
        (f"{floats}\n{integer}", (POSITIVE_INF, True)),
        (f"{integer}\n{product}", (CONV_EVEN, True)),
    ):
        (device,) = devices(read(Text("body.mlir", text_of(body, {}))))
        assert modes_of(device.cores[0].operation, "AIE-ML") == (*modes, modes[0])


def test_numbers_are_shifted_by_each_mode() -> None:
    values = np.arange(-40, 40)
    for mode, wanted in (
        (FLOOR, np.floor(values / 4)),
        (POSITIVE_INF, np.floor(values / 4 + 0.5)),
        (CONV_EVEN, np.rint(values / 4)),
    ):
        assert [shifted(int(v), 2, mode) for v in values] == wanted.astype(int).tolist()
        assert [shifted(int(v), 0, mode) for v in values] == values.tolist()


def test_floats_are_narrowed_by_each_mode() -> None:
    """Down is towards minus infinity (DEV-AIEVEC-2)."""
    below, tie, above = (np.uint32(0x3F800000 + more).view(np.float32) for more in (0x7FFF, 0x8000, 0x8001))
    one, more = np.float32(1), np.float32(1.0078125)
    for value, down, nearest in ((below, one, one), (tie, one, more), (above, one, more)):
        assert (narrowed(value, FLOOR), narrowed(value, POSITIVE_INF)) == (down, nearest)
    for value, down, nearest in ((-below, -more, -one), (-tie, -more, -one), (-above, -more, -more)):
        assert (narrowed(value, FLOOR), narrowed(value, POSITIVE_INF)) == (down, nearest)
    assert np.isnan(narrowed(np.float32("nan"), FLOOR))


@WAYS
def test_bf16_is_multiplied_added_and_narrowed(compiled: bool) -> None:
    data = FLOATS.astype(BF16)
    lines = f"""%s = arith.constant 0 : i32
      %p = aievec.mul_elem %a, %b : vector<16xbf16>, vector<16xbf16>, vector<16xf32>
      %m = aievec.mac_elem %a, %a, %p : vector<16xbf16>, vector<16xbf16>, vector<16xf32>
      %u = aievec.ups %b {{shift = 0 : i8}} : vector<16xbf16>, vector<16xf32>
      %n = aievec.neg %u : vector<16xf32>
      %t = aievec.sub_elem %m, %n : vector<16xf32>
      %q = aievec.srs %t, %s : vector<16xf32>, i32, vector<16xbf16>
      {stored("%q", 16, "bf16")}"""
    got = done("bf16", data, lines, np.zeros(16, BF16), compiled=compiled)
    a, b = data.astype(np.float64)
    total = ((a * b).astype(np.float32) + a * a).astype(np.float32).astype(np.float64) + b
    wanted = [narrowed(np.float32(each), FLOOR) for each in total]
    np.testing.assert_array_equal(got.astype(np.float32), np.array(wanted, np.float32))


@WAYS
def test_vectors_are_cut_joined_and_moved(compiled: bool) -> None:
    lines = f"""%s = arith.constant 6 : i32
      %i = arith.constant 5 : i32
      %lo = aievec.ext %a {{index = 0 : i8}} : vector<32xi16>, vector<16xi16>
      %hi = aievec.ext %b {{index = 1 : i8}} : vector<32xi16>, vector<16xi16>
      %c = aievec.concat %lo, %hi : vector<16xi16>, vector<16xi16>
      %d = aievec.shift %c, %b, %s {{isAcc = false}} : vector<32xi16>, vector<32xi16>, i32, vector<32xi16>
      %e = aievec.ext_elem %a, %i : vector<32xi16>, i32, i16
      %f = aievec.broadcast_scalar %e : i16, vector<32xi16>
      %g = aievec.broadcast %a {{idx = 7 : i8}} : vector<32xi16>, vector<32xi16>
      %h = aievec.max %d, %f : vector<32xi16>
      %k = aievec.min %h, %g : vector<32xi16>
      {stored("%k", 32, "i16")}"""
    got = done("i16", SHORT, lines, np.zeros(32, np.int16), compiled=compiled)
    a, b = SHORT
    moved = np.concatenate([a[:16], b[16:], b])[3:35]
    np.testing.assert_array_equal(got, np.minimum(np.maximum(moved, a[5]), a[7]))


@WAYS
def test_elements_are_compared_selected_and_combined_bit_by_bit(compiled: bool) -> None:
    lines = f"""%c = aievec.cmp %a, %b {{pred = "slt"}} : vector<32xi16>, vector<32xi16>, ui32
      %d = aievec.sel %a, %b, %c : vector<32xi16>, vector<32xi16>, ui32, vector<32xi16>
      %e = aievec.bneg %a : vector<32xi16>
      %f = aievec.bxor %d, %e : vector<32xi16>, vector<32xi16>, vector<32xi16>
      %g = aievec.band %f, %b : vector<32xi16>, vector<32xi16>, vector<32xi16>
      %h = aievec.bor %g, %a : vector<32xi16>, vector<32xi16>, vector<32xi16>
      {stored("%h", 32, "i16")}"""
    got = done("i16", SHORT, lines, np.zeros(32, np.int16), compiled=compiled)
    a, b = SHORT
    np.testing.assert_array_equal(got, (np.where(a < b, b, a) ^ ~a) & b | a)


@WAYS
@pytest.mark.parametrize("sign", ["", "u"])
def test_small_matrices_are_multiplied_with_the_sign_of_their_types(sign: str, compiled: bool) -> None:
    kind = f"{sign}i8"
    body = f"""%a = vector.load %x[%zero] : memref<32xi8>, vector<32xi8>
      %b = vector.load %w[%zero] : memref<64xi8>, vector<64xi8>
      %c = vector.load %y[%zero] : memref<32xi32>, vector<32xi32>
      %a0 = vector.shape_cast %a : vector<32xi8> to vector<4x8xi8>
      %b0 = vector.shape_cast %b : vector<64xi8> to vector<8x8xi8>
      %a1 = builtin.unrealized_conversion_cast %a0 : vector<4x8xi8> to vector<4x8x{kind}>
      %c1 = vector.shape_cast %c : vector<32xi32> to vector<4x8xi32>
      %m = aievec.matmul %a1, %b0, %c1 : vector<4x8x{kind}>, vector<8x8xi8> into vector<4x8xi32>
      %n = vector.shape_cast %m : vector<4x8xi32> to vector<32xi32>
      vector.store %n, %y[%zero] : memref<32xi32>, vector<32xi32>"""
    x, w = (RNG.integers(-128, 128, size).astype(np.int8) for size in (32, 64))
    y = RNG.integers(-(2**31), 2**31, 32).astype(np.int32)
    got = ran(each(body, 1), {"x": x, "w": w, "y": y}, compiled=compiled)["y"]
    left = (x.view(np.uint8) if sign else x).astype(np.int64).reshape(4, 8)
    wanted = y.astype(np.int64).reshape(4, 8) + left @ w.astype(np.int64).reshape(8, 8)
    np.testing.assert_array_equal(got, wanted.astype(np.int32).reshape(-1))


def test_a_shuffle_transposes_a_matrix_that_fills_its_vectors() -> None:
    lines = f"""%l = aievec.shuffle %a, %b [t32_4x8_lo] : vector<16xi32>
      %h = aievec.shuffle %a, %b [t32_4x8_hi] : vector<16xi32>
      %s = aievec.shuffle %l [t32_4x4] : vector<16xi32>
      %c = aievec.concat %l, %h, %s : vector<16xi32>, vector<16xi32>
      {stored("%c", 48, "i32")}"""
    data = np.arange(32, dtype=np.int32).reshape(2, 16)
    got = done("i32", data, lines, np.zeros(48, np.int32), compiled=False)
    both = data.reshape(4, 8).T.reshape(-1)
    assert got.tolist() == [*both, *both[:16].reshape(4, 4).T.reshape(-1)]


@pytest.mark.parametrize(
    ("kind", "lines", "says"),
    [
        ("f32", "%p = aievec.mul_elem %a, %b : vector<16xf32>, vector<16xf32>, vector<16xf32>", "bf16"),
        ("i16", "%p = aievec.add_elem %a, %b : vector<16xi16>", "which mlir-aie does not lower"),
        (
            "bf16",
            """%u = aievec.ups %a {shift = 0 : i8} : vector<16xbf16>, vector<16xf32>
      %p = aievec.mac_elem %a, %b, %u {fmsub = true} : vector<16xbf16>, vector<16xbf16>, vector<16xf32>""",
            "it subtracts",
        ),
        ("i16", "%p = aievec.ups %a {shift = 20 : i8} : vector<16xi16>, vector<16xi32>", "it shifts by 20"),
        ("i16", "%p = aievec.ext %a {index = 2 : i8} : vector<16xi16>, vector<8xi16>", "part 2 of vector"),
        ("i16", "%p = aievec.exp %a : vector<16xi16>", "nothing is known of this operation"),
        ("i32", "%p = aievec.shuffle %a [t8_8x4] : vector<16xi32>", "it shuffles vector<16xi32> by t8_8x4"),
        ("i32", "%p = aievec.cast %a {isResAcc = true} : vector<16xi32>, vector<16xf32>", "does not lower"),
    ],
)  # fmt: skip
def test_what_is_not_exact_is_refused_by_name(kind: str, lines: str, says: str) -> None:
    data = np.zeros((2, 16), {"f32": np.float32, "bf16": BF16}.get(kind, f"int{kind[1:]}"))  # type: ignore[call-overload]
    with pytest.raises(InputFileError, match=says):
        done(kind, data, lines, np.zeros(1, np.int32), compiled=False)
