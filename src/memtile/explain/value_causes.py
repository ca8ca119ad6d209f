"""What a core does otherwise than was meant, by the numbers that come out: wraps, rounds, goes on adding.

Only what fits every element that is wrong is named, and only where enough of them are wrong that chance is
no explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.explain.evidence import NO_EVIDENCE, Evidence

Array = npt.NDArray[Any]

NUMBERS, SUMS = "MT0411", "MT0413"
"""Codes of numbers that the core makes in another way, and of sums that go on."""
_LEAST = 4  # elements: what fewer have in common may be chance
_FEW_SHAPES = 64  # block lengths that are tried
_BYTE = 8
_HALF = 16
_LOW = (1 << _HALF) - 1
_SINGLE, _SHORT = "float32", "bfloat16"


class MismatchCause(NamedTuple):
    """A kind of mistake.

    Attributes:
        code: of ``finding_codes``.
        text: the end of a sentence about an output.
        fix: what to change, or to look at.
        other: the output that should have what came, where there is one.
        evidence: by how much elements are off.
    """

    code: str
    text: str
    fix: str
    other: str = ""
    evidence: Evidence = NO_EVIDENCE


def value_cause(got: Array, expected: Array) -> MismatchCause | None:
    """What a core does otherwise, from what came out and what should have; None = no known mistake.

    Args:
        got: the actual elements; any type, one dimension.
        expected: what should have come, of the same type and length.
    """
    wrong = got != expected
    many = int(np.count_nonzero(wrong))
    if many < _LEAST:
        return None
    if got.dtype.kind in "iu" and got.dtype.itemsize < _BYTE:
        came, wanted = got.astype(np.int64), expected.astype(np.int64)
        limits = np.iinfo(got.dtype)
        return next(_of_integers(came, wanted, wrong, limits), None)
    if got.dtype.name in (_SINGLE, _SHORT):
        return next(_of_floats(got, expected, many), None)
    return None


def _of_integers(
    came: Array, wanted: Array, wrong: Array, limits: np.iinfo[np.integer[Any]]
) -> Iterator[MismatchCause]:
    yield from _limited(came, wanted, wrong, limits)
    yield from _narrow(came, wanted, limits.bits)
    yield from _bytes_alone(came, wanted, limits.bits)
    yield from _signed(came, wanted, wrong, limits)
    yield from _rounded(came, wanted, wrong)
    around = 1 << limits.bits
    yield from _summed(lambda block: not ((came - _sums(wanted, block)) % around).any(), len(came))


def _limited(
    came: Array, wanted: Array, wrong: Array, limits: np.iinfo[np.integer[Any]]
) -> Iterator[MismatchCause]:
    """All that is wrong was expected at an end of the type, or came there."""
    name, many = limits.dtype.name, f"all {int(wrong.sum())} elements that are wrong"
    ends = [limits.max] if limits.min == 0 else [limits.min, limits.max]
    if np.isin(wanted[wrong], ends).all():
        text = f"wraps around at the limit of {name}: {many} were expected at {' or '.join(map(str, ends))}"
        fix = f"Saturate before the conversion to {name}: np.clip, or core.set_saturation('saturate')."
        yield MismatchCause(NUMBERS, text, fix)
    elif np.isin(came[wrong], ends).all():
        text = f"is saturated: {many} came as {' or '.join(map(str, ends))}"
        fix = f"Compute and store wider elements than {name}, shift by more, or do not saturate."
        yield MismatchCause(NUMBERS, text, fix)


def _narrow(came: Array, wanted: Array, bits: int) -> Iterator[MismatchCause]:
    """The numbers went through elements of fewer bits on their way."""
    for fewer in (each for each in (_BYTE, _HALF) if each < bits):
        half = 1 << (fewer - 1)
        is_low = not ((came - wanted) % (1 << fewer)).any()
        if is_low and came.min() >= -half and came.max() < 2 * half:
            text = f"has only the low {fewer} bits of each expected element"
            fix = f"Keep elements of {bits} bits on the way: an array or a sum in between has {fewer}."
            yield MismatchCause(NUMBERS, text, fix)


def _bytes_alone(came: Array, wanted: Array, bits: int) -> Iterator[MismatchCause]:
    """No carry goes from the low part of an element into the high one: it was computed in parts."""
    for fewer in (each for each in (_BYTE, _HALF) if each < bits):
        apart = (wanted - came) % (1 << bits)
        if not (apart % (1 << fewer)).any() and (apart >> fewer <= 1).all():
            text = f"lacks what carries from the low {fewer} bits of an element to the next ones"
            fix = f"Take the elements as {bits} bits wide: the core computes with parts of {fewer} bits."
            yield MismatchCause(NUMBERS, text, fix)


def _signed(
    came: Array, wanted: Array, wrong: Array, limits: np.iinfo[np.integer[Any]]
) -> Iterator[MismatchCause]:
    """The highest bits are set, or not, in all elements that are wrong: a sign was shifted in, or was not."""
    around, by = 1 << limits.bits, came[wrong] - wanted[wrong]
    high = {around - (1 << bit) for bit in range(limits.bits // 2, limits.bits)}
    for differs, taken, other in ((by, "signed", "unsigned"), (-by, "unsigned", "signed")):
        each = differs % around
        if int(each[0]) in high and (each == each[0]).all() and not wrong.all():
            some = f"{int(wrong.sum())} of {len(wrong)} elements, and right in all others"
            text = f"has other high bits in {some}: {other} numbers were taken as {taken} ones"
            yield MismatchCause(NUMBERS, text, f"Take the elements as {other} in the core.")
            return


def _rounded(came: Array, wanted: Array, wrong: Array) -> Iterator[MismatchCause]:
    """Some elements are one less, or one more, and all others right: halves go the other way."""
    by = came[wrong] - wanted[wrong]
    if abs(int(by[0])) == 1 and (by == by[0]).all() and wrong.sum() < len(wrong):
        less = "less" if by[0] < 0 else "more"
        some = f"{int(wrong.sum())} of {len(wrong)} elements"
        text = f"is 1 {less} than expected in {some}, and right in all others"
        fix = "Round as expected where bits are shifted out: core.set_rounding, or add half before."
        yield MismatchCause(NUMBERS, text, fix, evidence=Evidence(more=int(by[0])))


def _summed(is_sum: Callable[[int], bool], length: int) -> Iterator[MismatchCause]:
    """Each block has the sum of all expected blocks so far."""
    block = next(filter(is_sum, _blocks(length)), 0)
    if block:
        text = f"has in each block of {block} elements the sum of it and of the blocks before"
        fix = "Reset the sum before each block: the core keeps adding to the previous one."
        yield MismatchCause(SUMS, text, fix)


def _sums(expected: Array, block: int) -> Array:
    return expected.reshape(-1, block).cumsum(axis=0).ravel()


def _of_floats(got: Array, expected: Array, many: int) -> Iterator[MismatchCause]:
    """The numbers were kept with fewer bits, or rounded in another way."""
    if got.dtype.name == _SINGLE:
        upper = got.view(np.uint32) >> _HALF, expected.view(np.uint32) >> _HALF
        up = upper[0] - upper[1]  # of elements that are rounded up
        if not (got.view(np.uint32) & _LOW).any() and (up <= 1).all():
            how = "rounded" if up.any() else "cut"
            text = f"has each element {how} to bfloat16"
            fix = "Keep float32 on the way: an array, a sum or a result in between is bfloat16."
            yield MismatchCause(NUMBERS, text, fix)
    else:
        steps = np.abs(got.view(np.int16).astype(np.int64) - expected.view(np.int16).astype(np.int64))
        if steps.max() == 1:
            text = f"is off by one in the last place in {many} of {len(got)} elements"
            fix = (
                "Round as expected: core.set_rounding('conv_even') is NumPy's way, 'floor' that after reset."
            )
            yield MismatchCause(NUMBERS, text, fix)
    near = 1e-4 if got.dtype.name == _SINGLE else 1e-2
    came, wanted = got.astype(np.float64), expected.astype(np.float64)
    yield from _summed(lambda block: np.allclose(came, _sums(wanted, block), near, 1e-6), len(came))


def _blocks(length: int) -> list[int]:
    """Lengths that divide the length, the largest first, but for the length itself."""
    small = [n for n in range(1, isqrt(length) + 1) if length % n == 0][:_FEW_SHAPES]
    return sorted({*small, *(length // n for n in small)} - {length}, reverse=True)
