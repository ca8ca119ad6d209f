"""What kind of mistake makes an output wrong: another order, a shift, swapped bytes, zeros, a repeat.

Only what fits every element is named: a wrong guess costs more than none.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_LEAST = 4  # elements: of fewer anything could be said
_MOST = 1 << 22  # elements that are looked at
_FEW_SHAPES = 64  # divisors of the length that are tried as row lengths
_MOST_SHIFT = 4096  # elements


class Cause(NamedTuple):
    """A kind of mistake.

    Attributes:
        code: of ``finding_codes``.
        text: the end of a sentence about an output.
        fix: what to look at.
    """

    code: str
    text: str
    fix: str


def cause_of(got: Array, expected: Array) -> Cause | None:
    """The mistake that explains every wrong element of an output; None = no known one.

    Args:
        got: what came out; any type, one dimension.
        expected: what should have come, of the same type and length.
    """
    if got.shape != expected.shape or not _LEAST <= len(got) <= _MOST or _constant(expected):
        return None
    return next((found for rule in _RULES for found in rule(_bits(got), _bits(expected))), None)


def _bits(values: Array) -> Array:
    """Elements as numbers that are equal if their bits are; wider ones as they are."""
    size = values.dtype.itemsize
    return np.ascontiguousarray(values).view(f"u{size}") if size in (1, 2, 4, 8) else values


def _constant(values: Array) -> bool:
    return bool((values[0] == values).all())


def _swapped(got: Array, expected: Array) -> Iterator[Cause]:
    if got.dtype.itemsize > 1 and np.array_equal(got.byteswap(), expected):
        yield Cause(
            "MT0404", "has the bytes of each element in the other order", "Swap them where they go in."
        )


def _turned(got: Array, expected: Array) -> Iterator[Cause]:
    for rows in _divisors(len(got)):
        turned = expected.reshape(rows, -1).T
        if np.array_equal(got, turned.ravel()):
            shape = f"{rows} x {len(got) // rows}"
            text = f"is transposed: the expected {shape} elements came column by column"
            yield Cause("MT0401", text, "Exchange the dimensions of the reader or of the writer.")


def _reversed(got: Array, expected: Array) -> Iterator[Cause]:
    if np.array_equal(got, expected[::-1]):
        yield Cause("MT0401", "came backwards", "Look at the sign of the strides.")


def _rotated(got: Array, expected: Array) -> Iterator[Cause]:
    for first in np.flatnonzero(expected == got[0])[:_FEW_SHAPES].tolist():
        if first and np.array_equal(got, np.roll(expected, -first)):
            text = f"is turned round by {first} elements: it begins with element {first}"
            yield Cause("MT0402", text, "Look at the offset of the reader, and at what is sent twice.")


def _shifted(got: Array, expected: Array) -> Iterator[Cause]:
    most = min(len(got) // 2, _MOST_SHIFT)
    late = np.flatnonzero(got[: most + 1] == expected[0])[:_FEW_SHAPES].tolist()
    for by in late:
        if by and np.array_equal(got[by:], expected[: len(got) - by]):
            text = f"is late by {by} elements: what was expected begins at element {by}"
            yield Cause("MT0402", text, "Look at the offset of the writer, and at words of before.")
    early = np.flatnonzero(expected[: most + 1] == got[0])[:_FEW_SHAPES].tolist()
    for by in early:
        if by and np.array_equal(got[: len(got) - by], expected[by:]):
            text = f"is early by {by} elements: it begins with element {by}"
            yield Cause("MT0402", text, "Look at the offset of the reader.")


def _repeated(got: Array, expected: Array) -> Iterator[Cause]:
    for block in _divisors(len(got)):
        if block < _LEAST or not np.array_equal(got[:block], expected[:block]):
            continue
        if np.array_equal(got, np.tile(got[:block], len(got) // block)) and not _constant(got[:block]):
            text = f"has its first {block} elements {len(got) // block} times"
            fix = "Move the buffer or the offset from one block to the next: iteration, or another BD."
            yield Cause("MT0406", text, fix)
            return


def _empty(got: Array, expected: Array) -> Iterator[Cause]:
    wrong = got != expected
    if wrong.any() and not got[wrong].any() and int(wrong.sum()) >= _LEAST:
        places = np.flatnonzero(wrong)
        text = f"has zeros in all {len(places)} elements that are wrong, from element {places[0]} on"
        yield Cause("MT0403", text, "Look at who should have written there: length, sizes and padding.")


def _mixed(got: Array, expected: Array) -> Iterator[Cause]:
    if np.array_equal(np.sort(got), np.sort(expected)):
        text = "has the expected elements in another order"
        yield Cause("MT0401", text, "Look at sizes and strides of both ends.")


def _divisors(length: int) -> list[int]:
    """Row lengths that divide the length, but for 1 and the length."""
    small = [n for n in range(2, isqrt(length) + 1) if length % n == 0][:_FEW_SHAPES]
    return sorted({*small, *(length // n for n in small)})


_RULES = (_swapped, _turned, _reversed, _rotated, _shifted, _repeated, _empty, _mixed)
