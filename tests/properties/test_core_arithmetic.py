"""Do numbers in core bodies come out as another arithmetic has them, interpreted and compiled?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.bodies.core_bodies import BF16, Array, each, kind_of, ran

WAYS = [False, pytest.param(True, marks=pytest.mark.slow)]


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bare(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS: dict[str, Callable[[int, int, int], int]] = {
    "arith.addi": lambda a, b, _: a + b,
    "arith.subi": lambda a, b, _: a - b,
    "arith.muli": lambda a, b, _: a * b,
    "arith.divsi": lambda a, b, _: towards_zero(a, b),
    "arith.remsi": lambda a, b, _: a - b * towards_zero(a, b),
    "arith.floordivsi": lambda a, b, _: a // b,
    "arith.ceildivsi": lambda a, b, _: -(-a // b),
    "arith.divui": lambda a, b, w: bare(a, w) // bare(b, w),
    "arith.remui": lambda a, b, w: bare(a, w) % bare(b, w),
    "arith.ceildivui": lambda a, b, w: -(-bare(a, w) // bare(b, w)),
    "arith.andi": lambda a, b, _: a & b,
    "arith.ori": lambda a, b, _: a | b,
    "arith.xori": lambda a, b, _: a ^ b,
    "arith.shli": lambda a, b, _: a << b,
    "arith.shrsi": lambda a, b, _: a >> b,
    "arith.shrui": lambda a, b, w: bare(a, w) >> b,
    "arith.maxsi": lambda a, b, _: max(a, b),
    "arith.minsi": lambda a, b, _: min(a, b),
    "arith.maxui": lambda a, b, w: max(bare(a, w), bare(b, w)),
    "arith.minui": lambda a, b, w: min(bare(a, w), bare(b, w)),
}


def outcomes(operations: str, a: Array, b: Array, out: np.dtype[Any], *, compiled: bool) -> Array:
    """Rows of results ``%r0``, ``%r1`` ... of pairs of numbers."""
    rows = operations.count("%r")
    n, into = len(a), np.zeros((rows, len(a)), out)
    lines = [f"%a = memref.load %x[%i] : {kind_of(a)}\n%b = memref.load %y[%i] : {kind_of(b)}", operations]
    for row in range(rows):
        lines.append(f"%k{row} = arith.constant {row} : index")
        lines.append(f"memref.store %r{row}, %z[%k{row}, %i] : {kind_of(into)}")
    return ran(each("\n".join(lines), n), {"x": a, "y": b, "z": into}, compiled=compiled)["z"]


def rows_of_bits(kind: str, names: list[str], operands: str, first: int = 0) -> list[str]:
    """Operations whose result is one bit, each widened into its row."""
    return [
        f"%c{n} = {kind}{name}{operands}\n%r{n} = arith.extui %c{n} : i1 to i32"
        for n, name in enumerate(names, first)
    ]


def pairs(values: list[Any], dtype: Any) -> tuple[Array, Array]:
    found = np.array(values).astype(dtype)
    return np.repeat(found, len(found)), np.tile(found, len(found))


def check_integers(a: Array, b: Array, *, compiled: bool) -> None:
    """All operations on integers; divisors of which there is no quotient become 1, shifts fewer bits."""
    bits = 8 * a.dtype.itemsize
    none = (b == 0) | ((b == -1) & (a == np.iinfo(a.dtype).min))
    divisors, shifts = np.where(none, 1, b).astype(b.dtype), (b.astype(np.int64) % bits).astype(b.dtype)
    groups: dict[str, list[str]] = {"div": [], "rem": [], "sh": [], "": []}
    for name in INTEGERS:
        groups[next(key for key in groups if key in name)].append(name)
    for key, names in groups.items():
        other = {"div": divisors, "rem": divisors, "sh": shifts, "": b}[key]
        text = "\n".join(f"%r{n} = {name} %a, %b : i{bits}" for n, name in enumerate(names))
        got = outcomes(text, a, other, a.dtype, compiled=compiled)
        for row, name in zip(got, names, strict=True):
            rule = INTEGERS[name]
            wanted = [wrap(rule(int(x), int(y), bits), bits) for x, y in zip(a, other, strict=True)]
            np.testing.assert_array_equal(row, np.array(wanted, a.dtype), err_msg=f"{name} i{bits}")


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_at_their_edges(bits: int, compiled: bool) -> None:
    top = 1 << (bits - 1)
    edges = [0, 1, -1, 2, 3, 7, bits - 1, bits, bits + 1, -5, top - 1, -top, top // 3]
    check_integers(*pairs(edges, np.dtype(f"int{bits}")), compiled=compiled)


@pytest.mark.parametrize("compiled", WAYS)
def test_an_index_has_32_bits(compiled: bool) -> None:
    """DEV-BODY-3; what wraps, and what is cast from and to other widths."""
    a, b = pairs([0, 1, -1, 5, 2**31 - 1, -(2**31), 2**30, 65537], np.int64)
    names = ("addi", "subi", "muli", "andi", "xori", "minui", "maxsi")
    text = ["%ai = arith.index_cast %a : i64 to index\n%bi = arith.index_cast %b : i64 to index"]
    text += [f"%n{n} = arith.{name} %ai, %bi : index" for n, name in enumerate(names)]
    text += [
        "%n7 = affine.apply affine_map<(d0, d1) -> (d0 * d1 + 3)>(%ai, %bi)",
        "%n8 = affine.apply affine_map<(d0, d1) -> (d0 floordiv 7 - d1 mod 5)>(%ai, %bi)",
        "%n9 = arith.index_cast %a : i64 to index",
        "%w = arith.muli %a, %b : i64\n%n10 = arith.index_cast %w : i64 to index",
    ]
    text += [f"%r{n} = arith.index_cast %n{n} : index to i64" for n in range(11)]
    text.append("%r11 = arith.index_castui %n0 : index to i64")
    got = outcomes("\n".join(text), a, b, np.dtype(np.int64), compiled=compiled)
    rules = [INTEGERS[f"arith.{name}"] for name in names]
    rules += [lambda x, y, _: x * y + 3, lambda x, y, _: x // 7 - y % 5, lambda x, _y, _w: x]
    rules += [lambda x, y, _: x * y, lambda x, y, _: x + y]
    for n, (row, rule) in enumerate(zip(got, rules, strict=True)):
        numbers = [rule(int(x), int(y), 32) for x, y in zip(a, b, strict=True)]
        wanted = [bare(each, 32) if n == 11 else wrap(each, 32) for each in numbers]
        np.testing.assert_array_equal(row, wanted, err_msg=str(n))


@given(st.lists(st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 2), min_size=1, max_size=20))
def test_integers_anywhere(given_pairs: list[tuple[int, int]]) -> None:
    check_integers(*(np.array(column, np.int32) for column in zip(*given_pairs, strict=True)), compiled=False)


@pytest.mark.parametrize("compiled", WAYS)
def test_comparisons_and_widths(compiled: bool) -> None:
    a, b = pairs([0, 1, -1, 127, -128, 65535, 2**31 - 1, -(2**31), 8, -8], np.int32)
    names = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    text = [
        f"%c{n} = arith.cmpi {p}, %a, %b : i32\n%r{n} = arith.extui %c{n} : i1 to i32"
        for n, p in enumerate(names)
    ]
    text += [
        "%n8 = arith.trunci %a : i32 to i8\n%r10 = arith.extsi %n8 : i8 to i32",
        "%r11 = arith.extui %n8 : i8 to i32",
        "%n4 = arith.trunci %a : i32 to i4\n%r12 = arith.extsi %n4 : i4 to i32",
        "%r13 = arith.extui %n4 : i4 to i32",
        "%r14 = arith.extsi %c0 : i1 to i32",
        "%r15 = math.ctlz %a : i32\n%r16 = math.cttz %a : i32",
        "%r17 = math.ctpop %a : i32\n%r18 = math.absi %a : i32",
        "%r19, %r20 = arith.mulsi_extended %a, %b : i32\n%r21, %r22 = arith.mului_extended %a, %b : i32",
        "%r23, %cy = arith.addui_extended %a, %b : i32, i1\n%r24 = arith.extui %cy : i1 to i32",
    ]
    got = outcomes("\n".join(text), a, b, np.dtype(np.int32), compiled=compiled)
    wide, u = a.astype(np.int64), lambda v: v.astype(np.uint32).astype(np.int64)
    signed, unsigned = wide * b, u(a).astype(object) * u(b)
    bits = [f"{x:032b}" for x in u(a)]
    wanted = [
        a == b,
        a != b,
        a < b,
        a <= b,
        a > b,
        a >= b,
        u(a) < u(b),
        u(a) <= u(b),
        u(a) > u(b),
        u(a) >= u(b),
    ]
    wanted += [
        a.astype(np.int8),
        a.astype(np.uint8),
        [wrap(int(x), 4) for x in a],
        a & 15,
        -(a == b).astype(int),
    ]
    wanted += [
        [len(x) - len(x.lstrip("0")) for x in bits],
        [len(x) - len(x.rstrip("0")) for x in bits],
        [x.count("1") for x in bits],
        [wrap(abs(int(x)), 32) for x in a],
    ]
    wanted += [[wrap(int(x), 32) for x in signed], signed >> 32]
    wanted += [[wrap(int(x), 32) for x in unsigned], [wrap(int(x) >> 32, 32) for x in unsigned]]
    wanted += [[wrap(int(x), 32) for x in wide + b], (u(a) + u(b)) >> 32]
    for n, (row, each_) in enumerate(zip(got, wanted, strict=True)):
        np.testing.assert_array_equal(row, np.array(each_, np.int64).astype(np.int32), err_msg=f"row {n}")


FLOATS = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf")
EXTREMES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
VALUES = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    3.1415927,
    1e-3,
    3.3895e38,
    -1e38,
    1e-40,
    np.inf,
    -np.inf,
    np.nan,
    0.1,
    65504.0,
]


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float64), BF16], ids=str)
def test_floats_are_rounded_once_after_each_operation(dtype: np.dtype[Any], compiled: bool) -> None:
    a, b = pairs(VALUES, dtype)
    kind = kind_of(a).split("x")[-1][:-1]
    text = "\n".join(f"%r{n} = {name} %a, %b : {kind}" for n, name in enumerate((*FLOATS, *EXTREMES)))
    got = outcomes(text, a, b, dtype, compiled=compiled)
    wide = np.float64 if dtype == np.float64 else np.float32
    x, y = a.astype(wide), b.astype(wide)
    with np.errstate(all="ignore"):
        wanted = [
            x + y,
            x - y,
            x * y,
            x / y,
            np.fmod(x, y),
            np.maximum(x, y),
            np.minimum(x, y),
            np.fmax(x, y),
            np.fmin(x, y),
        ]
        wanted = [each_.astype(dtype) for each_ in wanted]
    for name, row, each_ in zip((*FLOATS, *EXTREMES), got, wanted, strict=True):
        np.testing.assert_array_equal(row.astype(np.float64), each_.astype(np.float64), err_msg=name)
    zero = (a == 0) & (b == 0)
    for row, way in ((got[5], np.logical_and), (got[6], np.logical_or)):  # of zeros, the sign
        signs = way(np.signbit(a.astype(wide)), np.signbit(b.astype(wide)))[zero]
        np.testing.assert_array_equal(np.signbit(row.astype(wide))[zero], signs)


@pytest.mark.parametrize("compiled", WAYS)
def test_floats_compare_with_what_is_no_number(compiled: bool) -> None:
    a, b = pairs(VALUES, np.float32)
    orders = ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "true"]
    orders += ["ueq", "ugt", "uge", "ult", "ule", "une", "uno", "false"]
    kinds = ["isnan", "isinf", "isfinite", "isnormal"]
    text = rows_of_bits("arith.cmpf ", orders, ", %a, %b : f32")
    text += rows_of_bits("math.", kinds, " %a : f32", len(orders))
    got = outcomes("\n".join(text), a, b, np.dtype(np.int32), compiled=compiled)
    known = ~(np.isnan(a) | np.isnan(b))
    with np.errstate(invalid="ignore"):
        plain = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
    fixed = {"ord": known, "uno": ~known, "true": known | ~known, "false": known & ~known}
    wanted = [
        fixed[p] if p in fixed else known & plain[p[1:]] if p[0] == "o" else ~known | plain[p[1:]]
        for p in orders
    ]
    small = np.abs(a) >= np.finfo(np.float32).smallest_normal
    wanted += [np.isnan(a), np.isinf(a), np.isfinite(a), np.isfinite(a) & small]
    for name, row, each_ in zip(
        (*orders, "isnan", "isinf", "isfinite", "isnormal"), got, wanted, strict=True
    ):
        np.testing.assert_array_equal(row, each_.astype(np.int32), err_msg=name)


@pytest.mark.parametrize("compiled", WAYS)
def test_floats_to_integers_are_held_to_what_these_hold(compiled: bool) -> None:
    """DEV-BODY-1."""
    finite = [value for value in VALUES if np.isfinite(value)]
    a, b = pairs([*finite, 300.7, -300.7, 2.0**31, -(2.0**31), 4e9], np.float32)
    text = """%s8 = arith.fptosi %a : f32 to i8\n%r0 = arith.extsi %s8 : i8 to i64
    %u8 = arith.fptoui %a : f32 to i8\n%r1 = arith.extui %u8 : i8 to i64
    %s32 = arith.fptosi %a : f32 to i32\n%r2 = arith.extsi %s32 : i32 to i64
    %u32 = arith.fptoui %a : f32 to i32\n%r3 = arith.extui %u32 : i32 to i64"""
    got = outcomes(text, a, b, np.dtype(np.int64), compiled=compiled)
    for row, low, high in zip(got, (-128, 0, -(2**31), 0), (127, 255, 2**31 - 1, 2**32 - 1), strict=True):
        whole = np.trunc(a.astype(np.float64))
        np.testing.assert_array_equal(row, np.clip(whole, low, high).astype(np.int64))


@pytest.mark.parametrize("compiled", WAYS)
def test_functions_of_floats(compiled: bool) -> None:
    a, b = pairs([0.0, 0.5, 1.0, -0.75, 2.5, -2.5, 88.9, -3.5, 1e-6, np.inf, np.nan, 1000.0], np.float32)
    plain = {
        "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
        "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt, "sin": np.sin, "cos": np.cos,
        "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
        "cosh": np.cosh, "tanh": np.tanh,
        "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "floor": np.floor, "ceil": np.ceil,
        "trunc": np.trunc, "roundeven": np.rint, "absf": np.abs,
    }  # fmt: skip
    text = [f"%r{n} = math.{name} %a : f32" for n, name in enumerate(plain)]
    more = ("atan2", "powf", "copysign")
    text += [f"%r{n} = math.{name} %a, %b : f32" for n, name in enumerate(more, len(plain))]
    n = len(plain) + len(more)
    text += [
        f"%r{n} = math.round %a : f32\n%r{n + 1} = math.rsqrt %a : f32\n%r{n + 2} = math.fma %a, %b, %a : f32"
    ]
    got = outcomes("\n".join(text), a, b, a.dtype, compiled=compiled)
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        wanted = [f(x) for f in plain.values()] + [np.arctan2(x, y), np.power(x, y), np.copysign(x, y)]
        wanted += [np.where(np.isinf(x), x, np.trunc(x + np.copysign(0.5, x))), 1 / np.sqrt(x), x * y + x]
        wanted = [each_.astype(np.float32) for each_ in wanted]
    for name, row, each_ in zip((*plain, *more, "round", "rsqrt", "fma"), got, wanted, strict=True):
        np.testing.assert_allclose(row, each_, rtol=2e-7, err_msg=name)


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), BF16], ids=str)
def test_numbers_between_are_in_double_precision(dtype: np.dtype[Any], compiled: bool) -> None:
    """Compiled too, where ``float`` of a single-precision number does not make it a double."""
    rng = np.random.default_rng(1)
    exponents = rng.integers(-70, -62, 4000)  # products among the smallest numbers
    a = np.concatenate([rng.normal(size=4000), np.ldexp(rng.uniform(1, 2, 4000), exponents)]).astype(dtype)
    b = np.concatenate([rng.normal(size=4000), np.ldexp(rng.uniform(1, 2, 4000), exponents)]).astype(dtype)
    kind = kind_of(a).split("x")[-1][:-1]
    text = f"""%r0 = math.fma %a, %b, %a : {kind}\n%r1 = math.erf %a : {kind}\n%r2 = math.erfc %a : {kind}
    %r3 = arith.mulf %a, %b : {kind}\n%p = arith.addf %a, %b : {kind}\n%r4 = math.fma %a, %p, %b : {kind}"""
    got = outcomes(text, a, b, dtype, compiled=compiled)
    x, y = a.astype(np.float64), b.astype(np.float64)
    erf = np.array([math.erf(each_) for each_ in x])
    total = (x + y).astype(dtype).astype(np.float64)
    for row, wanted in zip(got, (x * y + x, erf, 1 - erf, x * y, x * total + y), strict=True):
        np.testing.assert_array_equal(row.astype(np.float64), _rounded(wanted, dtype).astype(np.float64))


def _rounded(wide: Array, dtype: np.dtype[Any]) -> Array:
    """Doubles rounded once: NumPy takes bfloat16 through single precision."""
    if dtype != BF16:
        return wide.astype(dtype)
    step = np.ldexp(1.0, np.maximum(np.frexp(wide)[1] - 8, -133))
    return (np.rint(wide / step) * step).astype(dtype)


@pytest.mark.parametrize("compiled", WAYS)
def test_one_bit_with_a_sign_is_0_or_minus_1(compiled: bool) -> None:
    a, b = pairs([0, 1], np.int32)
    names = {"minsi": min, "maxsi": max, "minui": max, "maxui": min}  # of numbers below 0
    text = ["%x1 = arith.trunci %a : i32 to i1\n%y1 = arith.trunci %b : i32 to i1"]
    for n, name in enumerate(names):
        text.append(f"%v{n} = arith.{name} %x1, %y1 : i1\n%r{n} = arith.extsi %v{n} : i1 to i32")
    text.append("%c = arith.cmpi slt, %x1, %y1 : i1\n%r4 = arith.extui %c : i1 to i32")
    text.append("%r5 = arith.extsi %x1 : i1 to i32")
    got = outcomes("\n".join(text), a, b, np.dtype(np.int32), compiled=compiled)
    for row, rule in zip(got, names.values(), strict=False):
        np.testing.assert_array_equal(row, [rule(-x, -y) for x, y in zip(a, b, strict=True)])
    np.testing.assert_array_equal(got[4], -a < -b)
    np.testing.assert_array_equal(got[5], -a)


def test_a_wide_float_becomes_bfloat16_in_one_step() -> None:
    a = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8, -(1 + 3 * 2**-8 - 2**-40), 3.39e38, 1e300, np.nan])
    got = outcomes("%r0 = arith.truncf %a : f64 to bf16", a, a, BF16, compiled=False)[0].astype(np.float64)
    np.testing.assert_array_equal(
        got, [1 + 2**-7, 1, -(1 + 2**-7), float(np.float64(got[3])), np.inf, np.nan]
    )


def test_indices() -> None:
    a, b = pairs([0, 1, -7, 12, 5], np.int32)
    names = {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
        "divs": lambda x, y: towards_zero(x, y or 1),
        "floordivs": lambda x, y: x // (y or 1), "maxs": max, "mins": min, "and": lambda x, y: x & y,
    }  # fmt: skip
    text = [
        "%p = arith.index_cast %a : i32 to index\n%q = index.casts %b : i32 to index",
        "%none = index.constant 0\n%k = index.constant 1\n%e = index.cmp eq(%q, %none)",
        "%d = arith.select %e, %k, %q : index",
    ]
    for n, name in enumerate(names):
        other = "%d" if "div" in name else "%q"
        text.append(f"%v{n} = index.{name} %p, {other}\n%r{n} = index.casts %v{n} : index to i32")
    text.append("%v8 = index.cmp slt(%p, %q)\n%r8 = arith.extui %v8 : i1 to i32")
    text.append("%v9 = index.constant 41\n%r9 = index.casts %v9 : index to i32")
    got = outcomes("\n".join(text), a, b, np.dtype(np.int32), compiled=False)
    for row, rule in zip(got, names.values(), strict=False):
        assert row.tolist() == [rule(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert got[8].tolist() == (a < b).astype(int).tolist()
    assert set(got[9].tolist()) == {41}
