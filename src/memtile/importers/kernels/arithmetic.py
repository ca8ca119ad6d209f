"""Arithmetic of MLIR's types on Python numbers, the same in the interpreter and compiled.

An integer is its signed value, whatever its width; ``w8`` to ``w64`` wrap a result, ``u8`` to ``u64`` give
the unsigned value. A bfloat16 number is a float32 whose lower half is zero; in memory it is a 16-bit integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_HALF = 16  # bits that bfloat16 has not
_ROUND, _QUIET = (1 << (_HALF - 1)) - 1, 1 << 6


def _wrap(bits: int) -> Callable[[int], int]:
    half, mask = 1 << (bits - 1), (1 << bits) - 1

    def wrap(value: int) -> int:
        return ((value + half) & mask) - half

    return wrap


def _unsigned(bits: int) -> Callable[[int], int]:
    mask = (1 << bits) - 1

    def unsigned(value: int) -> int:
        return value & mask

    return unsigned


w8, w16, w32, w64 = (_wrap(bits) for bits in (8, 16, 32, 64))
u8, u16, u32, u64 = (_unsigned(bits) for bits in (8, 16, 32, 64))


def divide(a: int, b: int) -> int:
    """The quotient, towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """What :func:`divide` leaves, with the sign of ``a``."""
    left = abs(a) % abs(b)
    return -left if a < 0 else left


def truncated(value: float) -> int:
    """The whole part of a number."""
    return int(value)


def from_bf16(word: int) -> Any:
    """The number of a 16-bit word."""
    return np.uint32((int(word) & 0xFFFF) << _HALF).view(np.float32)


def to_bf16(value: Any) -> int:
    """The 16-bit word of a number, rounded to the nearest, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return (bits >> _HALF) | _QUIET
    return (bits + _ROUND + ((bits >> _HALF) & 1)) >> _HALF


def from_f32(value: Any) -> int:
    """The 32 bits of a float32 number, as a signed integer."""
    return int(np.float32(value).view(np.int32))


def to_f32(word: int) -> Any:
    """The float32 number that 32 bits are."""
    return np.uint32(word & 0xFFFFFFFF).view(np.float32)


def bf16(value: Any) -> Any:
    """A number rounded to bfloat16."""
    return from_bf16(to_bf16(value))


def f32(value: Any) -> Any:
    """A number rounded to float32."""
    return np.float32(value)


def least(a: Any, b: Any) -> Any:
    """The smaller one."""
    return a if a < b else b


def largest(a: Any, b: Any) -> Any:
    """The larger one."""
    return a if a > b else b


NAMES: dict[str, Any] = {
    **{
        f.__name__: f
        for f in (
            divide,
            remainder,
            truncated,
            from_bf16,
            to_bf16,
            from_f32,
            to_f32,
            bf16,
            f32,
            least,
            largest,
        )
    },
    **dict(zip(("w8", "w16", "w32", "w64"), (w8, w16, w32, w64), strict=True)),
    **dict(zip(("u8", "u16", "u32", "u64"), (u8, u16, u32, u64), strict=True)),
    "np": np,
    "math": math,
}
"""What generated code may call, by name."""
