"""Does the host's AIE API shift, round, saturate and convert as UG1529 and UG1603 say, bit by bit?

Everything here is computed anew with Python's unlimited integers and fractions.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import numpy.typing as npt
import pytest

from support.cpp.aie_api import (
    BF16,
    CALLS,
    MODES,
    SATURATION,
    Values,
    floats,
    flushed,
    integers,
    run,
    set_modes,
)

SHIFTS = (0, 1, 3, 7, 15, 31)
_TYPES = {"int4": (4, True), "uint4": (4, False)}


@pytest.fixture(autouse=True)
def modes_of_reset() -> None:
    set_modes()


def rounded(value: Fraction, mode: str) -> int:
    """The whole number that a mode makes of a value, from the words of UG1603 and UG1583."""
    down = floor(value)
    rest = value - down
    if rest == 0:
        return down
    if mode in ("floor", "ceil"):
        return down + (mode == "ceil")
    if mode in ("symmetric_floor", "symmetric_ceil"):
        towards_zero = down if value > 0 else down + 1
        away = down + 1 if value > 0 else down
        return towards_zero if mode == "symmetric_floor" else away
    if rest != Fraction(1, 2):
        return down + (rest > Fraction(1, 2))
    even = down if down % 2 == 0 else down + 1
    choice = {
        "negative_inf": down,
        "positive_inf": down + 1,
        "symmetric_zero": down if value > 0 else down + 1,
        "symmetric_inf": down + 1 if value > 0 else down,
        "conv_even": even,
        "conv_odd": down + 1 if even == down else down,
    }
    return choice[mode]


def stored(value: int, bits: int, signed: bool, saturation: str) -> int:
    """A whole number in a type: held to its range, or its lowest bits."""
    most = (1 << (bits - signed)) - 1
    least = -most - 1 if signed else 0
    if saturation == "symmetric" and signed:
        least = -most
    if saturation != "none":
        return max(least, min(most, value))
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def kind(name: str) -> tuple[int, bool]:
    """Bits of an integer type by its name, and whether it has a sign."""
    if name in _TYPES:
        return _TYPES[name]
    found = np.dtype(name)
    return 8 * found.itemsize, found.kind == "i"


def unpacked(data: Values, signed: bool) -> list[int]:
    """Numbers of 4 bits, the lower index in the lower half of a byte."""
    halves = np.stack([data.view(np.uint8) & 15, data.view(np.uint8) >> 4], axis=-1).reshape(-1).astype(int)
    return [int(x) - 16 if signed and x > 7 else int(x) for x in halves]


@pytest.mark.parametrize(
    ("lanes", "name", "size"),
    [
        *((np.int32, name, 32) for name in ("int8", "uint8", "int16", "uint16", "int4", "uint4")),
        *((np.int64, name, 16) for name in ("int16", "int32", "uint32")),
        (np.int32, "int32", 16),
        (np.int64, "int8", 32),
    ],
)
def test_lanes_become_elements(lanes: type, name: str, size: int) -> None:
    bits, signed = kind(name)
    tag = "acc32" if lanes is np.int32 else "acc64"
    number = CALLS // size // 30  # twice as many in all, over the modes and shifts
    for at, (mode, shift) in enumerate((mode, shift) for mode in MODES for shift in SHIFTS):
        saturation = list(SATURATION)[at % 3]
        values = integers(lanes, number * size, at)
        if shift:  # ties: an odd multiple of a half
            values[::4] = (values[::4] >> shift << shift) + (1 << (shift - 1))
        set_modes(mode, saturation)
        packed = name in _TYPES
        result = run(
            f"srs_{tag}_{name}",
            number,
            (number * size // (2 if packed else 1), np.uint8 if packed else name),
            values,
            p=shift,
        )
        found = unpacked(result, signed) if packed else [int(x) for x in result]
        expected = [
            stored(rounded(Fraction(int(x), 1 << shift), mode), bits, signed, saturation) for x in values
        ]
        assert found == expected, (mode, shift, saturation)


@pytest.mark.parametrize("saturation", SATURATION)
def test_every_mode_of_saturation_meets_every_rounding(saturation: str) -> None:
    values = np.array(
        [-(1 << 31), -32769, -32768, -32767, -129, -128, -127, -1, 0, 1, 127, 128, 255, 256, 32767, 32768],
        np.int32,
    )
    values = np.resize(values, 32)
    for mode in MODES:
        set_modes(mode, saturation)
        for name in ("int8", "uint8", "int16"):
            found = run(f"srs_acc32_{name}", 1, (32, name), values, p=1)
            bits, signed = kind(name)
            assert found.tolist() == [
                stored(rounded(Fraction(int(x), 2), mode), bits, signed, saturation) for x in values
            ]


def test_lanes_of_64_bits_at_their_ends_carry_nothing_away() -> None:
    values = np.resize(np.array([2**63 - 1, -(2**63), 2**62, -(2**62) - 1], np.int64), 16)
    for mode in MODES:
        for shift in (1, 40, 62, 63, 64, 65, 90):
            set_modes(mode, "saturate")
            found = run("srs_acc64_int32", 1, (16, np.int32), values, p=shift)
            expected = [
                stored(rounded(Fraction(int(x), 1 << shift), mode), 32, True, "saturate") for x in values
            ]
            assert found.tolist() == expected, (mode, shift)


def test_acc48_is_a_lane_of_64_bits() -> None:
    values = integers(np.int64, 16 * 100, 5)
    assert (
        run("srs_acc48_int16", 100, (1600, np.int16), values, p=9) == (values >> 9).astype(np.int16)
    ).all()


@pytest.mark.parametrize(("name", "part"), [("cint16", np.int16), ("cint32", np.int32)])
def test_parts_of_complex_numbers_are_converted_alone(name: str, part: type) -> None:
    values = integers(np.int64, 16 * 640, 6)
    set_modes("conv_even", "saturate")
    found = run(f"srs_cacc64_{name}", 640, (16 * 640, part), values, p=11)
    bits = 8 * np.dtype(part).itemsize
    assert found.tolist() == [
        stored(rounded(Fraction(int(x), 2048), "conv_even"), bits, True, "saturate") for x in values
    ]


@pytest.mark.parametrize(
    ("tag", "name", "size"),
    [
        ("acc32", "int8", 32),
        ("acc32", "uint8", 32),
        ("acc32", "int16", 32),
        ("acc32", "uint16", 16),
        ("acc64", "int16", 16),
        ("acc64", "int32", 16),
        ("acc64", "uint32", 8),
    ],
)
def test_elements_become_lanes(tag: str, name: str, size: int) -> None:
    width = 32 if tag == "acc32" else 64
    number = CALLS // size
    values = integers(name, number * size, 7)
    for shift in (0, 1, 9, 20, 31, 40):
        found = run(f"ups_{tag}_{name}", number, (number * size, f"int{width}"), values, p=shift)
        assert found.tolist() == [stored(int(x) << shift, width, True, "none") for x in values], shift


@pytest.mark.parametrize("saturation", SATURATION)
def test_packing_takes_the_lowest_bits_or_saturates(saturation: str) -> None:
    set_modes("floor", saturation)
    number = CALLS // 32
    for wide, narrow in (("int16", "int8"), ("uint16", "uint8"), ("int8", "int4")):
        values = integers(wide, number * 32, 8)
        packed = narrow == "int4"
        out = run(
            f"pack_{wide}", number, (number * 32 // (1 + packed), np.uint8 if packed else narrow), values
        )
        bits, signed = kind(narrow)
        found = unpacked(out, True) if packed else out.tolist()
        assert found == [stored(int(x), bits, signed, saturation) for x in values], wide


def test_unpacking_keeps_the_number() -> None:
    number = CALLS // 32
    for narrow, wide in (("int8", np.int16), ("uint8", np.uint16)):
        values = integers(narrow, number * 32, 9)
        assert (run(f"unpack_{narrow}", number, (number * 32, wide), values) == values.astype(wide)).all()
    packed = integers(np.uint8, number * 16, 10)
    assert run("unpack_int4", number, (number * 32, np.int8), packed).tolist() == unpacked(packed, True)
    assert run("unpack_uint4", number, (number * 32, np.uint8), packed).tolist() == unpacked(packed, False)


def bf16_of(value: np.float32, mode: str) -> int:
    """The word of the bfloat16 that a mode makes of a finite float: a whole multiple of the last place."""
    exact = Fraction(float(value))
    exponent = max(int(np.float32(value).view(np.uint32)) >> 23 & 255, 1) - 127 - 7
    unit = Fraction(2) ** exponent
    whole = rounded(exact / unit, mode)
    size = Fraction(abs(whole)) * unit
    sign = 0x8000 if np.signbit(value) else 0
    if size >= Fraction(2) ** 128:
        return sign | 0x7F80
    return sign | int(np.float32(float(size)).view(np.uint32)) >> 16


@pytest.mark.parametrize("mode", MODES)
def test_floats_become_bfloat16_by_the_mode_of_the_core(mode: str) -> None:
    set_modes(mode)
    values = floats(CALLS // 16 * 16, 11)
    expected = [bf16_of(x, mode) for x in flushed(values)]
    lanes = run("srs_accfloat_bfloat16", CALLS // 16, (values.size, np.uint16), values)
    assert lanes.tolist() == expected
    single = run("bfloat16_of_float", values.size, (values.size, np.uint16), values)
    assert single.tolist() == expected, "a single number (DEV-KERNEL-8)"


def test_infinities_and_what_is_no_number_stay_so() -> None:
    values = np.resize(np.array([np.inf, -np.inf, np.nan, -np.nan], np.float32), 16)
    for mode in MODES:
        set_modes(mode)
        found = run("srs_accfloat_bfloat16", 1, (16, BF16), values).astype(np.float32)
        assert (np.isnan(found) == np.isnan(values)).all()
        assert (found[np.isinf(values)] == values[np.isinf(values)]).all()


def test_a_constant_is_rounded_by_the_compiler_to_even() -> None:
    """DEV-AIEAPI-5."""
    for mode in MODES:
        set_modes(mode)
        assert run("constant_bfloat16", 1, (1, np.uint16))[0] == bf16_of(np.float32(0.044715), "conv_even")


def test_bfloat16_becomes_lanes_exactly() -> None:
    values = floats(CALLS // 16 * 16, 12).astype(BF16)
    found = run("ups_accfloat_bfloat16", CALLS // 16, (values.size, np.float32), values)
    assert (found == values.astype(np.float32)).all()


@pytest.mark.parametrize(("check", "source", "name", "mode"), [
    ("fixed_float_int32", np.float32, "int32", "conv_even"),
    ("fixed_float_int8", np.float32, "int8", "conv_even"),
    ("fixed_bfloat16_int16", BF16, "int16", "floor"),
])  # fmt: skip
def test_floats_become_fixed_point(check: str, source: npt.DTypeLike, name: str, mode: str) -> None:
    """DEV-KERNEL-8: not by the mode of the core."""
    set_modes("ceil")
    bits, signed = kind(name)
    values = floats(CALLS // 16 * 16, 13)
    values[100:5000] = (np.arange(4900) - 2450) / np.float32(8)
    values = values.astype(source)
    for shift in (0, 2, 8):
        found = run(check, CALLS // 16, (values.size, name), values, p=shift)
        exact = [Fraction(float(x)) * (1 << shift) for x in values]
        assert found.tolist() == [stored(rounded(x, mode), bits, signed, "saturate") for x in exact], shift
    nothing = np.full(16, np.nan, np.float32).astype(source)
    assert not run(check, 1, (16, name), nothing).any()


def test_fixed_point_becomes_floats() -> None:
    values = integers(np.int32, CALLS // 16 * 16, 14)
    for shift in (0, 5):
        found = run("float_of_int32", CALLS // 16, (values.size, np.float32), values, p=shift)
        assert (found == np.ldexp(values.astype(np.float64), -shift).astype(np.float32)).all()
    small = integers(np.int16, CALLS // 16 * 16, 15)
    set_modes("ceil")
    found = run("bfloat16_of_int16", CALLS // 16, (small.size, np.uint16), small)
    assert found.tolist() == [bf16_of(np.float32(x), "ceil") for x in small]


def test_modes_are_state_of_the_core() -> None:
    set_modes("symmetric_inf", "saturate")
    found = run("swap_modes", 1, (6, np.uint32))
    assert found.tolist() == [
        MODES["symmetric_inf"],
        SATURATION["saturate"],
        MODES["conv_even"],
        SATURATION["symmetric"],
        3,
        4,
    ]


def numbers_of_blocks(data: Values) -> list[Fraction]:
    """Numbers of bfp16ebs8: byte / 64 * 2**(exponent - 127)."""
    blocks = data.reshape(-1, 9)
    return [
        Fraction(int(np.int8(x))) * Fraction(2) ** (int(e[0]) - 127 - 6)
        for e in blocks
        for x in e[1:].view(np.int8)
    ]


@pytest.mark.parametrize("mode", ["floor", "conv_even", "ceil"])
def test_blocks_share_the_greatest_exponent(mode: str) -> None:
    """DEV-KERNEL-6."""
    set_modes(mode)
    number = CALLS // 64
    values = floats(number * 64, 16)
    values[64:6400] = np.random.default_rng(1).normal(size=6336).astype(np.float32)
    values[128:192] = 0
    data = run("blocks_of_floats", number, (number * 72, np.uint8), values)
    for block, eight in zip(data.reshape(-1, 9), values.reshape(-1, 8), strict=True):
        exponents = [0 if x == 0 else max(np.frexp(np.float64(abs(x)))[1] - 1 + 127, 0) for x in eight]
        assert block[0] == max(exponents)
        unit = Fraction(2) ** (int(block[0]) - 133)
        expected = [max(-128, min(127, rounded(Fraction(float(x)) / unit, mode))) for x in eight]
        assert block[1:].view(np.int8).tolist() == expected
    back = run("floats_of_blocks", number, (number * 64, np.float32), data)
    assert [Fraction(float(x)) for x in back] == numbers_of_blocks(data)


def test_a_pointer_to_blocks_steps_by_eight_numbers() -> None:
    """``converted[m * k / 8]`` of mlir-aie's ``gemm_asymmetric_tile_buffering`` holds m * k numbers."""
    data = np.random.default_rng(2).integers(0, 256, 9 * 16, dtype=np.uint8)
    data[::9] = 120
    found = run("floats_at_a_block", 8, (8 * 64, np.float32), data)
    all_of_them = numbers_of_blocks(data)
    expected = [x for at in range(8) for x in all_of_them[8 * at : 8 * at + 64]]
    assert [Fraction(float(x)) for x in found] == expected
