"""Arithmetic of MLIR's types on Python numbers, the same in the interpreter and compiled.

An integer is its signed value, whatever its width, ``i1`` is 0 or 1; ``w8`` to ``w64`` wrap a result, ``u8``
to ``u64`` give the unsigned value. A bfloat16 number is a float32 whose lower half is zero; in memory it is a
16-bit integer. What cannot be done is a :class:`BodyError`; what else MLIR leaves open DEV-BODY-1 says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any

import numpy as np

from memtile.importers.kernels import function_types

_HALF = 16  # bits that bfloat16 has not
_ROUND, _QUIET = (1 << (_HALF - 1)) - 1, 1 << 6
_TIE = _ROUND + 1
FLOOR, POSITIVE_INF, CONV_EVEN = 0, 9, 12
"""Values of ``crRnd``: down, to the nearest with halves up, to the nearest with halves to even."""


OUTSIDE, ZERO, SHIFT, NUMBER, ENDLESS, STEP, OVERFLOW, DIVISOR, SIZE, AMOUNT, GAPS, QUOTIENT = range(12)
"""What a :class:`BodyError` is: an index, a division, a shift, a number that is none, a loop, its step, a
result that does not fit, a divisor of an index, a size that is not the type's, a shape, memory with gaps,
a quotient that does not fit."""
MOST_CYCLES = 100_000_000
"""Of a piece that neither waits nor synchronises; longer ones are said to have no end (DEV-BODY-2)."""
POLLED_PART = 256
"""A loop that polls memory reads it again after each turn, and later ever less often: after this part of the
cycles that it has polled (DEV-BODY-2)."""
_INFINITY = float("inf")


class BodyError(Exception):
    """An operation that cannot be done.

    Args:
        site: number of the operation.
        code: what is wrong.
        one: number that is.
        other: number that limits it.
    """


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


def integer(given: Any) -> int:
    """A whole number that a function of the user gave.

    Raises:
        TypeError: it is none.
    """
    return int(given) if isinstance(given, bool | np.bool_) else index(given)


def place(index: int, size: int, site: int) -> int:
    """An index that is checked: compiled code would go anywhere."""
    if index < 0 or index >= size:
        raise BodyError(site, OUTSIDE, index, size)
    return index


def reach(offset: int, count: int, step: int, size: int, site: int) -> None:
    """Check that all elements of a part are there."""
    if offset < 0 or count < 0 or step < 1:
        raise BodyError(site, OUTSIDE, min(offset, count, step), size)
    if count > 0 and (offset >= size or count > size):
        raise BodyError(site, OUTSIDE, max(offset, count - 1), size)
    if count > 1 and (step > size or offset + (count - 1) * step >= size):
        raise BodyError(site, OUTSIDE, step if step > size else offset + (count - 1) * step, size)


def sized(size: int, wanted: int, site: int) -> None:
    """Check that memory has the size that its type says."""
    if size != wanted:
        raise BodyError(site, SIZE, size, wanted)


def amount(size: int, wanted: int, is_open: int, site: int) -> None:
    """Check that so many elements have a shape of so many, or of a multiple where a size is open."""
    if (size % wanted != 0 if is_open and wanted > 0 else size != wanted) or (is_open and wanted < 1):
        raise BodyError(site, AMOUNT, size, wanted)


def packed(memory: Any, site: int) -> Any:
    """Memory whose elements follow each other."""
    if not memory.flags.c_contiguous:
        raise BodyError(site, GAPS, 0, 0)
    return memory


def positive(divisor: int, site: int) -> int:
    """What an index is divided by: more than 0."""
    if divisor < 1:
        raise BodyError(site, DIVISOR, divisor, 0)
    return divisor


def stride(step: int, site: int) -> int:
    """A step of a loop, which goes upwards."""
    if step < 1:
        raise BodyError(site, STEP, step, 0)
    return step


def endless(cycles: int, site: int) -> None:
    """A loop has turned for more cycles than any that ends."""
    raise BodyError(site, ENDLESS, cycles, MOST_CYCLES)


def floordiv(a: int, b: int, site: int = 0, low: int = 0) -> int:
    """The quotient, rounded down; of the smallest number ``low`` of a type by -1 there is none."""
    if b == 0:
        raise BodyError(site, ZERO, a, 0)
    if b == -1 and a == low and low < 0:
        raise BodyError(site, QUOTIENT, a, bits_of(low))
    return -a if b == -1 else a // b  # of the smallest number compiled code has no quotient by -1


def divide(a: int, b: int, site: int = 0, low: int = 0) -> int:
    """The quotient, towards zero."""
    quotient = floordiv(a, b, site, low)
    return quotient + 1 if quotient * b != a and (a < 0) != (b < 0) else quotient


def remainder(a: int, b: int, site: int = 0, low: int = 0) -> int:
    """What :func:`divide` leaves, with the sign of ``a``."""
    floordiv(a, b, site, low)
    rest = 0 if b == -1 else a % b
    return rest - b if rest != 0 and (rest < 0) != (a < 0) else rest


def ceildiv(a: int, b: int, site: int = 0, low: int = 0) -> int:
    """The quotient, rounded up."""
    quotient = floordiv(a, b, site, low)
    return quotient if quotient * b == a else quotient + 1


def fits_signed(operation: int, a: int, b: int, bits: int, site: int) -> None:
    """Check that a sum, a difference, a product or a shift (0 to 3) is in the type with a sign."""
    high = (1 << (bits - 1)) - 1
    low = -high - 1
    if operation == 0:
        wrong = a > high - b if b > 0 else a < low - b
    elif operation == 1:
        wrong = a < low + b if b > 0 else a > high + b
    elif operation == 2:
        wrong = (b == -1 and a == low) or (a == -1 and b == low)
        if a != 0 and b != 0 and a != -1 and b != -1:
            most = divide(high if (a > 0) == (b > 0) else low, b)
            wrong = a > most if a > 0 else a < most
    else:
        wrong = 0 <= b < bits and (a > high >> b or a < low >> b)
    if wrong:
        raise BodyError(site, OVERFLOW, a, bits)


def fits_unsigned(operation: int, a: int, b: int, bits: int, site: int) -> None:
    """Check that a sum, a difference, a product or a shift (0 to 3) is in the type without a sign."""
    most = u64(-1) >> u64(64 - bits)
    one, other = u64(a) & most, u64(b) & most
    if operation == 0:
        wrong = one > most - other
    elif operation == 1:
        wrong = one < other
    elif operation == 2:
        wrong = other != u64(0) and one > most // other
    else:
        wrong = 0 < b < bits and one > most >> u64(b)
    if wrong:
        raise BodyError(site, OVERFLOW, a, bits)


def bits_of(low: int) -> int:
    """Bits of the type whose smallest number is given."""
    bits = 1
    while low < -1:
        low >>= 1
        bits += 1
    return bits


def over(a: Any, b: Any, site: int) -> Any:
    """The quotient of unsigned numbers."""
    if b == 0:
        raise BodyError(site, ZERO, int(a), 0)
    return a // b


def over_up(a: Any, b: Any, site: int) -> Any:
    """The quotient of unsigned numbers, rounded up."""
    if b == 0:
        raise BodyError(site, ZERO, int(a), 0)
    return a // b if a % b == a - a else a // b + type_of(a, 1)


def left(a: Any, b: Any, site: int) -> Any:
    """What :func:`over` leaves of unsigned numbers."""
    if b == 0:
        raise BodyError(site, ZERO, int(a), 0)
    return a % b


def shift(count: int, bits: int, site: int) -> int:
    """A number of bits to shift by, fewer than there are."""
    if count < 0 or count >= bits:
        raise BodyError(site, SHIFT, count, bits)
    return count


def type_of(_a: Any, n: int) -> Any:
    """A number as an operand of unsigned ones; the compiled form has its own."""
    return n


def least(a: Any, b: Any) -> Any:
    """The smaller integer."""
    return a if a < b else b


def largest(a: Any, b: Any) -> Any:
    """The larger integer."""
    return a if a > b else b


def truncated(value: float, low: int, high: int, site: int) -> int:
    """The whole part of a number, held to the type's range."""
    given = float(value)
    if given != given or given == _INFINITY or given == -_INFINITY:
        raise BodyError(site, NUMBER, 0, 0)
    if given <= low:
        return low
    if given >= high:
        return high
    return int(given)


def from_bf16(word: int) -> Any:
    """The number of a 16-bit word."""
    return np.uint32((int(word) & 0xFFFF) << _HALF).view(np.float32)


def to_bf16(value: Any) -> int:
    """The 16-bit word of a number, rounded to the nearest, ties to even."""
    single = np.float32(value)
    bits = int(single.view(np.uint32))
    if value != value:
        return (bits >> _HALF) | _QUIET
    exact, rounded = float(value), float(single)
    if exact != rounded:  # keep that there was more, so that it is rounded once
        bits = (bits - 1 if abs(rounded) > abs(exact) else bits) | 1
    return (bits + _ROUND + ((bits >> _HALF) & 1)) >> _HALF


def from_f32(value: Any) -> int:
    """The 32 bits of a float32 number, as a signed integer."""
    return int(np.float32(value).view(np.int32))


def to_f32(word: int) -> Any:
    """The float32 number that 32 bits are."""
    return np.uint32(word & 0xFFFFFFFF).view(np.float32)


def shifted(value: int, count: int, rounding: int) -> int:
    """A number without its lowest bits, as the vector unit rounds in a mode."""
    if count == 0:
        return value
    down, half = value >> count, (value >> (count - 1)) & 1
    if rounding == FLOOR:
        return down
    if rounding == CONV_EVEN and value & ((1 << (count - 1)) - 1) == 0:
        return down + (half & down)
    return down + half


def narrowed(value: Any, rounding: int) -> Any:
    """A float32 number as a bfloat16 one: down, or to the nearest with halves up (DEV-AIEVEC-2)."""
    bits = int(np.float32(value).view(np.int32))
    rest, word = bits & 0xFFFF, bits >> _HALF
    if value != value:
        return from_bf16(word | _QUIET)
    if rounding == FLOOR:
        return from_bf16(word + 1 if bits < 0 and rest != 0 else word)
    return from_bf16(word + 1 if rest > _TIE or (rest == _TIE and bits > 0) else word)


def bf16(value: Any) -> Any:
    """A number rounded to bfloat16."""
    return from_bf16(to_bf16(value))


def f32(value: Any) -> Any:
    """A number rounded to float32."""
    return np.float32(value)


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without NumPy's warnings, for the interpreter: compiled code has none."""

    @wraps(function)
    def quiet(*given: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*given)

    return quiet


_PLAIN = (
    integer, place, reach, sized, amount, packed, positive, stride, endless, bits_of, floordiv, divide,
    remainder, ceildiv, fits_signed, fits_unsigned, type_of, over, over_up, left, shift, least, largest,
    truncated, from_bf16, from_f32, to_f32, shifted, narrowed, *function_types.PLAIN,
)  # fmt: skip
_LOUD = (to_bf16, f32, *function_types.LOUD)
_AFTER = (bf16,)  # of those before
NAMES: dict[str, Any] = {
    **{f.__name__: f for f in _PLAIN},
    **{f.__name__: _quiet(f) for f in _LOUD},
    **{f.__name__: _quiet(f) for f in _AFTER},
    **dict(zip(("w8", "w16", "w32", "w64"), (w8, w16, w32, w64), strict=True)),
    **dict(zip(("u8", "u16", "u32", "u64"), (u8, u16, u32, u64), strict=True)),
    "MOST_CYCLES": MOST_CYCLES,
    "POLLED_PART": POLLED_PART,
    "np": np,
    "abs": abs,
    "float": float,
    "len": len,
    "range": range,
    "whole": int,  # of an element of memory; compiled, 64 bits of it
}
"""What generated code may call, by name; each knows only those before it."""
