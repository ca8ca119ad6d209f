"""Do intrinsics in C++, compiled for the host, compute what UG1583 says?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from left_out import needs
from memtile import cpp
from support.aie import lone_kernels, plain_references
from support.aie.lone_kernels import LoneKernels, aligned
from support.cpp.aie_api import checks, flushed

SOURCE = Path(lone_kernels.__file__).with_name("intrinsic_calls.cc")
SHUFFLES = Path(cpp.__file__).parent / "include" / "memtile" / "intrinsics" / "shuffles.h"
BF16 = np.dtype(ml_dtypes.bfloat16)
pytestmark = needs("c++", lone_kernels.compiler())
CALLS = 50


@pytest.fixture(scope="module")
def library() -> Path:
    """All intrinsics, compiled once."""
    return lone_kernels.compiled(SOURCE, checks())


@pytest.fixture(scope="module")
def core(library: Path) -> LoneKernels:
    """A core that calls them."""
    return LoneKernels(library)


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers for every test."""
    return np.random.default_rng(7)


def filled(values: Any) -> np.ndarray:
    given = np.asarray(values)
    target = aligned(given.size, given.dtype)
    target[...] = given.reshape(-1)
    return target


def whole(rng: np.random.Generator, dtype: type, count: int) -> np.ndarray:
    """Numbers of all sizes, with the ends of the type and halves among them."""
    limits = np.iinfo(dtype)
    found = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    found >>= rng.integers(0, limits.bits, count).astype(dtype)
    found[rng.integers(0, count, 3)] = [limits.min, limits.max, 0]
    places = rng.integers(0, count, 4)
    found[places] = (found[places] >> 7 << 7) + 64
    return found


def names_of_modes() -> list[tuple[str, int]]:
    found = re.findall(r"MODE\((T\w+), (\d+),", SHUFFLES.read_text())
    assert len(found) == 47
    return [(name, int(number)) for name, number in found]


@pytest.mark.parametrize(("name", "number"), names_of_modes())
def test_a_shuffle_transposes_the_matrix_that_its_name_says(
    core: LoneKernels, name: str, number: int
) -> None:
    """The matrix is made from the name alone. Source: UG1583, Shuffle; numbers: mlir-aie, AIEVec."""
    bits, rows, columns = (int(each) for each in re.findall(r"\d+", name)[:3])
    both = np.arange(128, dtype=np.uint8)
    width = bits // 8
    turned = both.reshape(-1, rows, columns, width).transpose(0, 2, 1, 3).reshape(-1)
    out = aligned(64, np.uint8)
    core.call("call_shuffle", filled(both[:64]), filled(both[64:]), out, number)
    assert np.array_equal(out, turned[64:] if name.endswith("_hi") else turned[:64])


def test_the_flip_swaps_neighbours(core: LoneKernels) -> None:
    out = aligned(64, np.uint8)
    core.call("call_shuffle", filled(np.arange(64, dtype=np.uint8)), aligned(64, np.uint8), out, 38)
    assert np.array_equal(
        out.view(np.uint16), np.arange(64, dtype=np.uint8).view(np.uint16).reshape(-1, 2)[:, ::-1].reshape(-1)
    )


def test_shifts_take_lanes_of_two_vectors_in_a_row(core: LoneKernels) -> None:
    both = np.arange(128, dtype=np.uint8)
    for by in range(65):
        out = aligned(64, np.uint8)
        core.call("call_shift_bytes", filled(both[:64]), filled(both[64:]), out, by)
        assert np.array_equal(out, both[by : by + 64])
    for by in range(33):
        out = aligned(64, np.uint8)
        core.call("call_shift", filled(both[:64]), filled(both[64:]), out, by)
        assert np.array_equal(out, both[2 * by : 2 * by + 64])


def rounded(value: int, shift: int, mode: str) -> int:
    """``value / 2**shift`` in whole numbers, by the definition of the mode."""
    down, rest = divmod(value, 1 << shift) if shift >= 0 else (value << -shift, 0)
    if shift <= 0 or not rest:
        return down
    half = 1 << (shift - 1)
    ties = {"negative_inf": 0, "positive_inf": 1, "symmetric_zero": value < 0, "symmetric_inf": value >= 0,
            "conv_even": down & 1, "conv_odd": not down & 1}  # fmt: skip
    if mode in ("floor", "ceil"):
        return down + (mode == "ceil")
    return down + (rest > half or (rest == half and bool(ties[mode])))


def kept(value: int, dtype: np.dtype[Any], saturation: str, signed: bool) -> int:
    bits = 8 * dtype.itemsize
    if saturation != "none":
        low, high = (
            (-(1 << bits - 1) + (saturation == "symmetric"), (1 << bits - 1) - 1)
            if signed
            else (0, (1 << bits) - 1)
        )
        value = min(max(value, low), high)
    return value % (1 << bits)


NARROW = [("ssrs", "v32acc32", np.int8), ("ussrs", "v32acc32", np.uint8), ("lsrs", "v32acc32", np.int16),
          ("ulsrs", "v32acc32", np.uint16), ("ssrs", "v16acc64", np.int16), ("ussrs", "v16acc64", np.uint16),
          ("lsrs", "v16acc64", np.int32), ("ulsrs", "v16acc64", np.uint32)]  # fmt: skip


@pytest.mark.parametrize(("name", "acc", "result"), NARROW)
@pytest.mark.parametrize("rounding", list(lone_kernels.ROUNDING))
@pytest.mark.parametrize("saturation", list(lone_kernels.SATURATION))
def test_shift_round_saturate(
    core: LoneKernels,
    rng: np.random.Generator,
    name: str,
    acc: str,
    result: type,
    rounding: str,
    saturation: str,
) -> None:
    count = int(acc[1:3])
    lane = np.int32 if acc.endswith("32") else np.int64
    for signed in (0, 1):
        for shift in (0, 1, 7, 16):
            given, out = filled(whole(rng, lane, count)), aligned(count, result)
            core.set_modes(rounding, saturation)
            core.call(f"call_{name}_{acc}", given, out, shift, signed)
            wanted = [
                kept(rounded(int(v), shift, rounding), out.dtype, saturation, bool(signed)) for v in given
            ]
            bits = out.view(f"u{out.dtype.itemsize}")
            assert bits.tolist() == wanted
    core.set_modes()


@pytest.mark.parametrize(
    ("name", "given", "lane", "count"),
    [("sups_v32int8", np.int8, np.int32, 32), ("sups_v32uint16", np.uint16, np.int32, 32),
     ("lups_v16int16", np.int16, np.int64, 16), ("lups_v16uint32", np.uint32, np.int64, 16)],
)  # fmt: skip
def test_upshifts_wrap(
    core: LoneKernels, rng: np.random.Generator, name: str, given: type, lane: type, count: int
) -> None:
    for by in (0, 3, 20):
        values, out = filled(whole(rng, given, count)), aligned(count, lane)
        core.call(f"call_{name}", values, out, by)
        bits = 8 * out.dtype.itemsize
        assert out.view(f"u{out.dtype.itemsize}").tolist() == [(int(v) << by) % (1 << bits) for v in values]


PRODUCTS = [
    ("elem_32_2_v64int8", np.int8, np.int8, np.int32, 64, 64, lambda a, b: (a * b).reshape(2, 32).sum(0)),
    ("elem_32_v32uint16", np.uint16, np.int16, np.int32, 32, 32, lambda a, b: a * b),
    ("elem_16_2_v32int16", np.int16, np.uint16, np.int64, 32, 32, lambda a, b: (a * b).reshape(2, 16).sum(0)),
    ("elem_16_v16int32", np.int32, np.int32, np.int64, 16, 16, lambda a, b: a * b),
    (
        "4x8_8x8_v32int8",
        np.int8,
        np.uint8,
        np.int32,
        32,
        64,
        lambda a, b: (a.reshape(4, 8) @ b.reshape(8, 8)).reshape(-1),
    ),
    (
        "4x4_4x4_v16int16",
        np.int16,
        np.int16,
        np.int64,
        16,
        16,
        lambda a, b: (a.reshape(4, 4) @ b.reshape(4, 4)).reshape(-1),
    ),
]


@pytest.mark.parametrize(("name", "left", "right", "lane", "m", "n", "product"), PRODUCTS)
def test_products_of_integers_wrap(
    core: LoneKernels,
    rng: np.random.Generator,
    name: str,
    left: type,
    right: type,
    lane: type,
    m: int,
    n: int,
    product: Any,
) -> None:
    for _ in range(CALLS):
        a, b = filled(whole(rng, left, m)), filled(whole(rng, right, n))
        exact = product(a.astype(object), b.astype(object))
        c, d = (filled(whole(rng, lane, len(exact))) for _ in range(2))
        bits = 8 * c.dtype.itemsize
        signs = [
            exact,
            -exact,
            c + exact,
            c - exact,
            c.astype(object) + d + exact,
            c.astype(object) + d - exact,
        ]
        for which, wanted in enumerate(signs):
            out = aligned(len(exact), lane)
            core.call(f"call_{name}", a, b, c, d, out, which)
            assert out.view(f"u{out.dtype.itemsize}").tolist() == [int(v) % (1 << bits) for v in wanted]


@pytest.mark.parametrize("name", ["elem_16_2_v32bfloat16", "4x8_8x4_v32bfloat16"])
def test_products_of_bfloat16_are_summed_and_rounded_once(
    core: LoneKernels, rng: np.random.Generator, name: str
) -> None:
    """DEV-INTRINSIC-1; subnormal factors, lanes and sums are zeros (DEV-AIEAPI-11)."""
    for number in range(CALLS):
        size = (4, 2.0**-62, 2.0**-66)[number % 3]
        a, b = (filled((rng.standard_normal(32) * size).astype(BF16)) for _ in range(2))
        c, d = (filled((rng.standard_normal(16) * size**2).astype(np.float32)) for _ in range(2))
        a[::5], b[::5] = 2.0**-127, 2.0**100
        lanes = (c, d)
        c, d, x, y = (flushed(each).astype(np.float64) for each in (c, d, a, b))
        exact = (
            (x * y).reshape(2, 16).sum(0)
            if name.startswith("elem")
            else (x.reshape(4, 8) @ y.reshape(8, 4)).reshape(-1)
        )
        for which, wanted in enumerate([exact, -exact, c + exact, c - exact, c + d + exact, c + d - exact]):
            out = aligned(16, np.float32)
            core.call(f"call_{name}", a, b, *lanes, out, which)
            assert np.array_equal(out, flushed(wanted))


def doubled(table: np.ndarray) -> np.ndarray:
    """A table as UG1603 wants it: every 16 bytes twice."""
    pieces = table.view(np.uint8).reshape(-1, 16)
    return filled(np.repeat(pieces, 2, axis=0))


@pytest.mark.parametrize(
    ("name", "dtype", "step"),
    [("call_lookup", np.int16, 4), ("call_lookup_int16", np.int32, 8), ("call_lookup_float", np.int64, 16)],
)
def test_lookups_find_their_entries_in_doubled_tables(
    core: LoneKernels, rng: np.random.Generator, name: str, dtype: type, step: int
) -> None:
    """From the middle of a table, and with offsets that point into entries, as mlir-aie's tanh has them."""
    table = rng.integers(-30000, 30000, 64).astype(dtype)
    index = rng.integers(0, 64, 16).astype(np.int32)
    first, second, middle = doubled(table), doubled(table), 32 * step
    low, high = aligned(64, np.uint8), aligned(64, np.uint8)
    offsets = index * step - middle + rng.integers(0, step, 16).astype(np.int32)
    core.call(name, first.reshape(-1)[middle:], second.reshape(-1)[middle:], filled(offsets), low, high)
    found = np.concatenate([low, high]).reshape(16, 8)[:, : table.itemsize].copy().view(dtype).reshape(-1)
    assert np.array_equal(found, table[index])
    assert not np.concatenate([low, high]).reshape(16, 8)[:, table.itemsize :].any()


def test_lanes_take_turns_among_the_four_copies(core: LoneKernels) -> None:
    """DEV-INTRINSIC-2."""
    first, second = (
        filled(np.repeat(np.array([[low], [high]], np.int16), 8, axis=1)) for low, high in ((1, 2), (3, 4))
    )
    low, high = aligned(64, np.uint8), aligned(64, np.uint8)
    core.call("call_lookup", first, second, aligned(16, np.int32), low, high)
    found = np.concatenate([low, high]).view(np.int16)[::4]
    assert found.tolist() == [1, 2, 3, 4] * 4


def every_bf16() -> np.ndarray:
    words = np.arange(1 << 16, dtype=np.uint16)
    return words.view(BF16)[np.isfinite(words.view(BF16).astype(np.float32))]


def over_all(core: LoneKernels, name: str, values: np.ndarray, dtype: type) -> np.ndarray:
    rows = values[: len(values) // 16 * 16].reshape(-1, 16)
    found = []
    for row in rows:
        out = aligned(16, dtype)
        core.call(name, filled(row), out)
        found.append(out)
    return np.concatenate(found)


def test_the_exponential_is_near_for_what_its_tables_reach(core: LoneKernels) -> None:
    """DEV-INTRINSIC-5: two entries, each rounded to bfloat16, and the fraction cut to 8 bits."""
    values = every_bf16()
    near = values[np.abs(values.astype(np.float32)) < 80]
    got, exact = (
        over_all(core, "call_exp", near, np.float32),
        np.exp(near.astype(np.float64))[: len(near) // 16 * 16],
    )
    relative = got / exact - 1
    assert relative.max() < 2**-7
    assert relative.min() > -(2**-7) - 2**-8
    far = over_all(core, "call_exp", np.full(16, 130, BF16), np.float32)
    assert far[0] == pytest.approx(np.exp(130.0 - 256), rel=2**-6)  # the whole part wraps


def test_tanh_is_near(core: LoneKernels) -> None:
    """DEV-INTRINSIC-5: chords of a quarter."""
    values = every_bf16()
    got = over_all(core, "call_tanh", values, BF16).astype(np.float64)
    assert np.abs(got - np.tanh(values.astype(np.float64))[: len(got)]).max() < 0.011


def test_the_reciprocal_is_that_of_the_rounded_number(core: LoneKernels, rng: np.random.Generator) -> None:
    values = np.exp2(rng.uniform(-100, 100, 1600)).astype(np.float32)
    got = over_all(core, "call_inverse", values, BF16).astype(np.float64)
    assert np.abs(got * values.astype(np.float64) - 1).max() < 2**-7


def test_bfloat16_becomes_an_integer_downwards(core: LoneKernels) -> None:
    values = filled(
        np.array(
            [0.99, -0.01, 1.5, -1.5, 3e38, -3e38, np.inf, -np.inf, np.nan, 0, 2, -2, 100, 0.5, -0.5, 7], BF16
        )
    )
    out = aligned(16, np.int32)
    core.call("call_floor", values, out, 1)
    exact = np.floor(values.astype(np.float64) * 2)
    wanted = [0 if np.isnan(v) else int(min(max(v, -(2.0**31)), 2.0**31 - 1)) for v in exact]
    assert out.tolist() == wanted


def test_an_element_is_shifted_in_at_either_end(core: LoneKernels) -> None:
    """LLVM-AIE: ``shiftl_elem`` is the pair (vector, element) from its second element on."""
    given, out = filled(np.arange(64, dtype=np.uint8)), aligned(128, np.uint8)
    core.call("call_pushed", given, out)
    assert out[:64].tolist() == [*range(2, 64), 200, 201]
    assert out[64:].tolist() == [201, 200, *range(62)]


def test_parts_of_vectors(core: LoneKernels) -> None:
    a, b, out = (
        filled(np.arange(32, dtype=np.int16)),
        filled(np.arange(100, 108, dtype=np.int16)),
        aligned(128, np.int16),
    )
    core.call("call_parts", a, b, out)
    wanted = np.concatenate(
        [[77], np.arange(1, 8), np.arange(24, 32), np.arange(100, 108), np.arange(24, 32)]
    )
    assert out[:32].tolist() == wanted.tolist()
    assert out[32:64].tolist() == [0] * 16 + list(
        range(16, 32)
    )  # lanes that nothing sets are 0: DEV-INTRINSIC-4
    assert out[64:96].tolist() == [31] * 32
    assert np.array_equal(out[96:], (a | 0x0F0F) & ~(a ^ 1))


def test_calls_into_the_core(core: LoneKernels) -> None:
    core.call("call_locks", 49)
    assert core.asked() == [
        ("acquire_greater_equal", 49, 2),
        ("acquire_equal", 49, 1),
        ("release", 49, -1),
        ("event", 1, 0),
    ]
    values = filled(np.arange(16, dtype=np.int64) * 3)
    core.call("call_cascade", values)
    words = core.take("cascade out")
    assert np.array_equal(words, values.view(np.uint32))  # the low half first: DEV-INTRINSIC-3
    core.put("cascade in", words)
    back = aligned(16, np.int64)
    core.call("call_cascade_back", back)
    assert np.array_equal(back, values)
    wide = filled(np.arange(64, dtype=np.int32) * 5)
    core.call("call_wide_cascade", wide)
    words = core.take("cascade out")
    assert np.array_equal(words, wide.view(np.uint32))  # the lowest first: DEV-INTRINSIC-3
    core.put("cascade in", words)
    back = aligned(64, np.int32)
    core.call("call_wide_cascade_back", back)
    assert np.array_equal(back, wide)
    found = aligned(4, np.int32)
    core.call("call_hints", found)
    assert found.tolist() == [0, 1, 2, 3]
    core.call("call_modes", found)
    assert found.tolist() == [12, 1, 3, 0]
    core.set_modes()
    core.call("call_nothing_there", found)
    assert found[:3].tolist() == [0, 0, 1]
    assert core.take("stream out").tolist() == [7]


LANE = "an intrinsic got the index of a lane that its vector does not have"
SHIFT = "a shift between vector and accumulator is outside what UG1583 allows"
REFUSED = [
    (0, LANE), (1, LANE), (2, LANE), (4, SHIFT),
    (3, "shuffle got a mode that UG1583 does not have (0 to 47)"),
    (5, "read_tm reads a register of the tile"), (6, "write_tm writes a register of the tile"),
]  # fmt: skip


@pytest.mark.parametrize(("which", "says"), REFUSED)
def test_what_the_hardware_does_not_define_ends_the_run(library: Path, which: int, says: str) -> None:
    code = f"""
from pathlib import Path
from support.aie.lone_kernels import LoneKernels, aligned
LoneKernels(Path({str(library)!r})).call("call_refused", aligned(128, "i2"), aligned(32, "i2"), {which})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=SOURCE.parents[2], check=False
    )
    assert done.returncode != 0
    assert f"lone core: {says}" in done.stderr


def test_a_variable_behind_the_processor_bus_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cc"
    source.write_text(
        "static volatile unsigned chess_storage(TM : 0x80000) registers;\nint chess_storage(dm1) local;"
    )
    with pytest.raises(
        lone_kernels.CompileError, match="processor bus of the core, which C\\+\\+ kernels on the host cannot"
    ):
        lone_kernels.compiled(source, tmp_path)
    source.write_text(source.read_text().replace("TM : 0x80000", "DM_bankA"))
    assert lone_kernels.compiled(source, tmp_path).is_file()


def test_down_is_what_a_core_rounds_to_after_reset() -> None:
    """The reference by hand and the library's own mode agree on every upper half of a float."""
    from memtile.corelib.rounding import to_bf16

    words = (np.arange(1 << 16, dtype=np.uint32) << 16) + np.uint32(0x7FFF)
    values = words.view(np.float32)
    assert np.array_equal(
        plain_references.down(values).view(np.uint16), to_bf16(values, "floor").view(np.uint16)
    )


@pytest.mark.parametrize("value", [0, 1, 5, -1, -6, 2**31 - 1, -(2**31), 2**40 + 3, -(2**40)])
def test_leading_bits_are_counted_as_the_sign_is(core: LoneKernels, value: int) -> None:
    """AI Engine-ML Intrinsics: leading zeros of a positive number, leading ones of another."""
    found = aligned(5, np.uint32)
    core.call("call_integers", filled(np.int64(value)), found)

    def zeros(number: int, bits: int) -> int:
        return bits - (number % 2**bits).bit_length()

    half = int(np.int64(value).astype(np.int32))
    wanted = [
        zeros(~half if half < 0 else half, 32),
        zeros(value, 32),
        zeros(~value if value < 0 else value, 64),
        zeros(value, 64),
        abs(half) % 2**32,
    ]
    assert found.tolist() == wanted
