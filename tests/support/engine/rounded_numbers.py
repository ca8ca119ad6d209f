"""Rounding one number at a time, by fractions: how a core's modes are defined, without its arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
BF16 = ml_dtypes.bfloat16
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


def whole_number(value: Fraction, mode: str) -> int:
    """The whole number that a fraction becomes (UG1603, Rounding and Saturation Modes)."""
    down = math.floor(value)
    rest = value - down
    if mode == "floor" or not rest:
        return down
    if mode == "ceil":
        return down + 1
    if rest != Fraction(1, 2):
        return down + (rest > Fraction(1, 2))
    up = {
        "positive_inf": True,
        "negative_inf": False,
        "symmetric_inf": value > 0,
        "symmetric_zero": value < 0,
        "conv_even": down % 2 == 1,
        "conv_odd": down % 2 == 0,
    }
    return down + up[mode]


def bf16_number(value: float, mode: str) -> float:
    """The bfloat16 number that a float32 number becomes: 8 bits, as many steps as it has at its size."""
    if not math.isfinite(value) or value == 0:
        return value
    step = Fraction(2) ** max(math.frexp(value)[1] - 8, -133)
    found = whole_number(Fraction(value) / step, mode) * step
    if abs(found) >= Fraction(2) ** 128:
        return math.copysign(math.inf, value)
    return math.copysign(float(found), value)


def down_to(values: Values, dtype: npt.DTypeLike) -> Values:
    """Numbers in float32, or in bfloat16 by ``floor``, the mode of a core after reset."""
    single = np.asarray(values, np.float32)
    if np.dtype(dtype) != BF16:
        return single.astype(dtype)
    found = [bf16_number(float(value), "floor") for value in single.reshape(-1)]
    return np.array(found, np.float64).astype(BF16).reshape(single.shape)
