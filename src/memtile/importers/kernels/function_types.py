"""Functions on floating-point numbers, and on bits, for core bodies: interpreted and compiled alike.

All compute in double precision; who calls them rounds once. Infinities and numbers that are none come out as
IEEE 754 has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def fdivide(a: Any, b: Any) -> Any:
    """The quotient."""
    return np.float64(a) / np.float64(b)


def fremainder(a: Any, b: Any) -> Any:
    """What is left of ``a``, with its sign."""
    return np.fmod(np.float64(a), np.float64(b))


def fmaximum(a: Any, b: Any) -> Any:
    """The larger one; no number if one of them is none; 0 is larger than -0."""
    if a != a:
        return a
    if b != b:
        return b
    if a == b:
        return a + b if a == 0 else a
    return a if a > b else b


def fminimum(a: Any, b: Any) -> Any:
    """The smaller one; no number if one of them is none; -0 is smaller than 0."""
    if a != a:
        return a
    if b != b:
        return b
    if a == b:
        return -(-a - b) if a == 0 else a
    return a if a < b else b


def fmaxnum(a: Any, b: Any) -> Any:
    """The larger one; the other one if one of them is no number."""
    if a != a:
        return b
    return a if b != b or a > b else b


def fminnum(a: Any, b: Any) -> Any:
    """The smaller one; the other one if one of them is no number."""
    if a != a:
        return b
    return a if b != b or a < b else b


def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``."""
    return float(a) * float(b) + float(c)


def exp(x: Any) -> Any:
    """e to the power."""
    return np.exp(np.float64(x))


def exp2(x: Any) -> Any:
    """2 to the power."""
    return np.exp2(np.float64(x))


def expm1(x: Any) -> Any:
    """e to the power, less 1."""
    return np.expm1(np.float64(x))


def log(x: Any) -> Any:
    """The natural logarithm."""
    return np.log(np.float64(x))


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return np.log2(np.float64(x))


def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    return np.log10(np.float64(x))


def log1p(x: Any) -> Any:
    """The natural logarithm of 1 and so much more."""
    return np.log1p(np.float64(x))


def sqrt(x: Any) -> Any:
    """The square root."""
    return np.sqrt(np.float64(x))


def rsqrt(x: Any) -> Any:
    """1 by the square root."""
    return np.float64(1.0) / np.sqrt(np.float64(x))


def cbrt(x: Any) -> Any:
    """The cube root."""
    return np.cbrt(np.float64(x))


def sin(x: Any) -> Any:
    """Sine."""
    return np.sin(np.float64(x))


def cos(x: Any) -> Any:
    """Cosine."""
    return np.cos(np.float64(x))


def tan(x: Any) -> Any:
    """Tangent."""
    return np.tan(np.float64(x))


def asin(x: Any) -> Any:
    """The angle of a sine."""
    return np.arcsin(np.float64(x))


def acos(x: Any) -> Any:
    """The angle of a cosine."""
    return np.arccos(np.float64(x))


def atan(x: Any) -> Any:
    """The angle of a tangent."""
    return np.arctan(np.float64(x))


def atan2(y: Any, x: Any) -> Any:
    """The angle of a point."""
    return np.arctan2(np.float64(y), np.float64(x))


def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return np.sinh(np.float64(x))


def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return np.cosh(np.float64(x))


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return np.tanh(np.float64(x))


def asinh(x: Any) -> Any:
    """Of which the hyperbolic sine is."""
    return np.arcsinh(np.float64(x))


def acosh(x: Any) -> Any:
    """Of which the hyperbolic cosine is."""
    return np.arccosh(np.float64(x))


def atanh(x: Any) -> Any:
    """Of which the hyperbolic tangent is."""
    return np.arctanh(np.float64(x))


def powf(x: Any, y: Any) -> Any:
    """A power."""
    return np.power(np.float64(x), np.float64(y))


def copysign(x: Any, y: Any) -> Any:
    """``x`` with the sign of ``y``."""
    return np.copysign(np.float64(x), np.float64(y))


def floor(x: Any) -> Any:
    """The whole number below."""
    return np.floor(np.float64(x))


def ceil(x: Any) -> Any:
    """The whole number above."""
    return np.ceil(np.float64(x))


def trunc(x: Any) -> Any:
    """The whole part."""
    return np.trunc(np.float64(x))


def roundeven(x: Any) -> Any:
    """The nearest whole number, ties to even."""
    return np.rint(np.float64(x))


def round_away(x: Any) -> Any:
    """The nearest whole number, ties away from 0."""
    whole = np.trunc(np.float64(x))
    return whole + np.copysign(1.0, np.float64(x)) if abs(x - whole) >= 0.5 else whole


def erf(x: Any) -> float:
    """The error function."""
    return math.erf(float(x))


def is_inf(x: Any) -> int:
    """Whether it is infinite."""
    return 1 if x == x and abs(x) == math.inf else 0


def is_finite(x: Any) -> int:
    """Whether it is a number and not infinite."""
    return 1 if x == x and abs(x) != math.inf else 0


def is_normal(x: Any, smallest: float) -> int:
    """Whether it is a normal number, of a type whose smallest one is given."""
    return 1 if x == x and smallest <= abs(x) != math.inf else 0


def power(x: int, n: int) -> int:
    """An integer to an integer's power; its lowest 64 bits."""
    if n < 0:
        return 1 if x == 1 else (-1 if n & 1 else 1) if x == -1 else 0
    result, base = 1, x
    while n:
        if n & 1:
            result = ((result * base + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
        base = ((base * base + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
        n >>= 1
    return result


def fpower(x: Any, n: int) -> Any:
    """A number to an integer's power."""
    return np.power(np.float64(x), np.float64(n))


def leading_zeros(x: int, bits: int) -> int:
    """Zeros above the highest bit that is set."""
    count = 0
    while count < bits and not (x >> (bits - 1 - count)) & 1:
        count += 1
    return count


def trailing_zeros(x: int, bits: int) -> int:
    """Zeros below the lowest bit that is set."""
    count = 0
    while count < bits and not (x >> count) & 1:
        count += 1
    return count


def ones(x: int, bits: int) -> int:
    """Bits that are set."""
    count = 0
    for n in range(bits):
        count += (x >> n) & 1
    return count


PLAIN: tuple[Callable[..., Any], ...] = (
    fmaximum, fminimum, fmaxnum, fminnum, fma, erf, is_inf, is_finite, is_normal, power,
    leading_zeros, trailing_zeros, ones,
)  # fmt: skip
"""Functions of which no NumPy operation may warn."""
LOUD: tuple[Callable[..., Any], ...] = (
    fdivide, fremainder, exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, cbrt, sin, cos, tan, asin,
    acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, powf, fpower, copysign, floor, ceil, trunc,
    roundeven, round_away,
)  # fmt: skip
"""Those of which it may, so that the interpreter calls them where warnings are off."""
