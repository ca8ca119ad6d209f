"""What kind of mistake makes an output wrong: another order, a shift, a block again, swapped bytes, zeros.

Only what fits every element is named: a wrong guess costs more than none.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.explain.evidence import Evidence
from memtile.explain.value_causes import MismatchCause, value_cause

Array = npt.NDArray[Any]

_LEAST = 4  # elements: of fewer anything could be said
_MOST = 1 << 22  # elements that are looked at
_FEW_SHAPES = 64  # divisors of the length that are tried as row lengths
_MOST_SHIFT = 4096  # elements
_MOST_RATIO = 16
_LEAST_WRONG = 8  # elements: what fewer of an output have in common may be chance
_WORD_BYTES = 4
_TELLING = 4  # what elements are at least that tell a shift from chance
_MOST_BITS = 32  # of a shift
_TWO = 2  # dimensions
_SHOWN = 4  # elements in a sentence


def cause_of(got: Array, expected: Array) -> MismatchCause | None:
    """The mistake that explains every wrong element of an output; None = no known one.

    Args:
        got: the actual elements; any type, one dimension.
        expected: what should have come, of the same type and length.
    """
    if got.shape != expected.shape or not _LEAST <= len(got) <= _MOST or _constant(expected):
        return None
    ordered = next((found for rule in _RULES for found in rule(_bits(got), _bits(expected))), None)
    computed = ordered or _scaled(got, expected) or _shifted_bits(got, expected) or value_cause(got, expected)
    return computed or _partly_scaled(got, expected)


def _bits(values: Array) -> Array:
    """Elements as numbers that are equal if their bits are; wider ones as they are."""
    size = values.dtype.itemsize
    return np.ascontiguousarray(values).view(f"u{size}") if size in (1, 2, 4, 8) else values


def _constant(values: Array) -> bool:
    return bool((values[0] == values).all())


def _swapped(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """Bytes, elements or halves of elements are in the other order within each element or word."""
    size, data = got.dtype.itemsize, [np.ascontiguousarray(each).view(np.uint8) for each in (got, expected)]
    for group, unit in ((group, unit) for group in (2, 4, 8) for unit in (1, 2, 4) if unit < group):
        if group > max(size, _WORD_BYTES) or len(data[0]) % group:
            continue
        came, wanted = (each.reshape(-1, group // unit, unit) for each in data)
        if np.array_equal(came[:, ::-1], wanted):
            yield _other_order(size, group, unit)
            return


def _other_order(size: int, group: int, unit: int) -> MismatchCause:
    """The cause where the units of each group of bytes come in the other order."""
    each = "element" if group == size else f"{8 * group}-bit word"
    if unit == size:
        text = f"has the {group // unit} elements of each {each} in the other order"
        return MismatchCause("MT0401", text, "Put the first element into the low bits of a word.")
    if unit == 1:
        text = f"has the bytes of each {each} in the other order"
        return MismatchCause("MT0404", text, "Swap them where they go in.")
    halves = "halves" if group == 2 * unit else "parts"
    text = f"has the {8 * unit}-bit {halves} of each {each} in the other order"
    fix = "Exchange them where a word is put together or cut: the first one belongs into its low bits."
    return MismatchCause("MT0404", text, fix)


def _turned(got: Array, expected: Array) -> Iterator[MismatchCause]:
    for rows in _divisors(len(got)):
        turned = expected.reshape(rows, -1).T
        if np.array_equal(got, turned.ravel()):
            shape = f"{rows} x {len(got) // rows}"
            text = f"is transposed: the expected {shape} elements came column by column"
            yield MismatchCause("MT0401", text, "Exchange the dimensions of the reader or of the writer.")


def _widened(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """Each element is followed by the upper half of a longer one."""
    half = -(-len(got) // 2)
    first, upper = got[::2], got[1::2]
    if np.array_equal(first, expected[:half]) and not upper.any() and first[1:].any():
        bits = 8 * got.dtype.itemsize
        text = f"has a zero behind each element: elements of {2 * bits} bits went in as two of {bits} bits"
        yield MismatchCause("MT0405", text, f"Convert what goes in to elements of {bits} bits (.astype).")


def _padded(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """The zeros of each row are at the other side of its data."""
    for row in [*_divisors(len(got)), len(got)]:
        rows, wanted = got.reshape(-1, row), expected.reshape(-1, row)
        before, after = _edges(rows), _edges(wanted)
        moved = before[0] - after[0]
        if moved and before[1] - after[1] == -moved and np.array_equal(np.roll(rows, -moved, axis=1), wanted):
            where = "before" if moved > 0 else "behind"
            each = f"has {abs(moved)} zeros of each {row} elements {where} the others"
            yield MismatchCause(
                "MT0402", f"{each}, not at the other side", "Exchange the padding before and after."
            )
            return


def _edges(rows: Array) -> tuple[int, int]:
    """How many columns of zeros there are before and behind the others."""
    filled = np.flatnonzero(rows.any(axis=0))
    return (int(filled[0]), rows.shape[1] - 1 - int(filled[-1])) if len(filled) else (0, 0)


def _exchanged(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """Blocks of equal elements each come in another order: all that can be said is which block it is."""
    for block in reversed(_divisors(len(got))):
        parts = got.reshape(-1, block), expected.reshape(-1, block)
        if block < _LEAST or any((part != part[:, :1]).any() for part in parts):
            continue
        if np.array_equal(np.sort(parts[0][:, 0]), np.sort(parts[1][:, 0])):
            wrong = int(np.flatnonzero(parts[0][:, 0] != parts[1][:, 0])[0])
            came = int(np.flatnonzero(parts[1][:, 0] == parts[0][wrong, 0])[0])
            text = f"has its blocks of {block} elements in another order: block {came} came as block {wrong}"
            fix = "Check the order in which blocks are sent and written."
            yield MismatchCause("MT0401", text, fix)
        return


def _reversed(got: Array, expected: Array) -> Iterator[MismatchCause]:
    if np.array_equal(got, expected[::-1]):
        yield MismatchCause("MT0401", "came backwards", "Check the sign of the strides.")


def _rotated(got: Array, expected: Array) -> Iterator[MismatchCause]:
    for first in np.flatnonzero(expected == got[0])[:_FEW_SHAPES].tolist():
        if first and np.array_equal(got, np.roll(expected, -first)):
            text = f"is rotated by {first} elements: it begins with element {first}"
            yield MismatchCause(
                "MT0402", text, "Check the offset of the reader, and whether anything is sent twice."
            )


def _shifted(got: Array, expected: Array) -> Iterator[MismatchCause]:
    most = min(len(got) // 2, _MOST_SHIFT)
    late = np.flatnonzero(got[: most + 1] == expected[0])[:_FEW_SHAPES].tolist()
    for by in late:
        if by and np.array_equal(got[by:], expected[: len(got) - by]):
            text = f"is late by {by} elements: what was expected begins at element {by}"
            yield MismatchCause(
                "MT0402",
                text,
                "Check the offset of the writer, and words left from an earlier run.",
                evidence=Evidence(late=by),
            )
    early = np.flatnonzero(expected[: most + 1] == got[0])[:_FEW_SHAPES].tolist()
    for by in early:
        if by and np.array_equal(got[: len(got) - by], expected[by:]):
            text = f"is early by {by} elements: it begins with element {by}"
            fix = "Check the offset of the reader."
            yield MismatchCause("MT0402", text, fix, evidence=Evidence(late=-by))


def _repeated(got: Array, expected: Array) -> Iterator[MismatchCause]:
    for block in _divisors(len(got)):
        if block < _LEAST or not np.array_equal(got[:block], expected[:block]):
            continue
        if np.array_equal(got, np.tile(got[:block], len(got) // block)) and not _constant(got[:block]):
            text = f"has its first {block} elements {len(got) // block} times"
            fix = "Advance the buffer or the offset from block to block: iteration, or another BD."
            yield MismatchCause("MT0406", text, fix)
            return


def _again(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """A block comes again in the place of another one, and what is not wrong is right."""
    if np.array_equal(np.sort(got), np.sort(expected)):
        return  # nothing comes again
    for block in (each for each in reversed(_divisors(len(got))) if each >= _LEAST):
        found, wanted = got.reshape(-1, block), expected.reshape(-1, block)
        bad = np.flatnonzero((found != wanted).any(axis=1))
        first = None if len(bad) == len(found) else _same(wanted, found[bad[0]])
        if first is not None and not _constant(found[bad[0]]) and _all_among(wanted, found[bad]):
            more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
            text = f"has block {first} of {block} elements again as block {bad[0]}{more}"
            fix = "Advance the buffer or the offset from block to block: iteration, or another BD."
            yield MismatchCause("MT0406", text, fix)
            return


def _all_among(rows: Array, wanted: Array) -> bool:
    """Whether each of some rows is equal to one of others; by hash, as outputs have 10,000 blocks."""
    known = {row.tobytes() for row in rows}
    return all(row.tobytes() in known for row in wanted)


def _same(rows: Array, wanted: Array) -> int | None:
    """The number of the row that is equal to another one."""
    alike = np.flatnonzero((rows == wanted).all(axis=1))
    return int(alike[0]) if len(alike) else None


def _empty(got: Array, expected: Array) -> Iterator[MismatchCause]:
    wrong = got != expected
    if wrong.any() and not got[wrong].any() and int(wrong.sum()) >= _LEAST:
        places = np.flatnonzero(wrong)
        if block := _half_empty(got, expected, int(places[0])):
            made = int(places[0]) % block
            text = f"has zeros in the last {block - made} of each {block} elements, and right ones before"
            fix = f"Have all {block} made or moved each time: {made} are."
            yield MismatchCause("MT0403", text, fix, evidence=Evidence(made=(made, block)))
            return
        text = f"has zeros in all {len(places)} elements that are wrong, from element {places[0]} on"
        yield MismatchCause(
            "MT0403", text, "Check the length, sizes and padding of what should have written them."
        )


def _half_empty(got: Array, expected: Array, first: int) -> int:
    """The length of blocks of which the first elements are right and the others zeros; 0 = there are none."""
    for block in (each for each in _divisors(len(got)) if 0 < first < each):
        rows, wanted = got.reshape(-1, block), expected.reshape(-1, block)
        if not rows[:, first:].any() and np.array_equal(rows[:, :first], wanted[:, :first]):
            return block
    return 0


def _transposed(got: Array, expected: Array) -> Iterator[MismatchCause]:
    """Two dimensions are exchanged in what came, if all elements differ."""
    places = np.argsort(expected, kind="stable")
    if (np.diff(expected[places]) == 0).any() or not np.array_equal(np.sort(got), expected[places]):
        return
    steps = _walk(places[np.searchsorted(expected[places], got)])
    if steps is None:
        return
    strides = [stride for _, stride in steps]  # the slowest first
    axes = [sorted(strides, reverse=True).index(stride) for stride in strides]
    moved = [number for number, axis in enumerate(axes) if axis != number]
    if len(moved) == _TWO and axes[moved[0]] == moved[1]:
        shape = tuple(steps[axes.index(number)][0] for number in range(len(axes)))
        text = f"has dimensions {moved[0]} and {moved[1]} of the expected {shape} elements exchanged"
        yield MismatchCause("MT0401", text, "Exchange these dimensions of the reader or of the writer.")


def _walk(places: Array) -> list[tuple[int, int]] | None:
    """Sizes and strides of nested loops that give these places, the slowest first; None = there are none."""
    steps: list[tuple[int, int]] = []
    while len(places) > 1:
        stride = int(places[1] - places[0])
        differs = np.flatnonzero(np.diff(places) != stride)
        size = int(differs[0]) + 1 if len(differs) else len(places)
        if stride <= 0 or len(places) % size:
            return None
        rows = places.reshape(-1, size)
        if (np.diff(rows, axis=1) != stride).any():
            return None
        steps.insert(0, (size, stride))
        places = rows[:, 0]
    return steps


_COMPUTED = "Check what the core computes and which inputs it gets; without a core, the reader's walk."


def _scaled(got: Array, expected: Array) -> MismatchCause | None:
    """Each number is the same multiple of what was expected, or differs from it by the same."""
    if got.dtype.kind not in "iu" or not expected.any() or got.size != expected.size:
        return None
    differs = np.flatnonzero(np.diff(got.astype(np.int64) - expected.astype(np.int64)))
    if not len(differs):
        by = int(got[0]) - int(expected[0])
        than = f"{abs(by)} {'more' if by > 0 else 'less'} than expected"
        return MismatchCause("MT0405", f"has each element {than}", _COMPUTED, evidence=Evidence(more=by))
    at = int(np.flatnonzero(expected)[0])
    ratio = Fraction(int(got[at]), int(expected[at]))
    values = [each.astype(np.int64) for each in (got, expected)]
    if ratio in (0, 1) or max(abs(ratio.numerator), ratio.denominator) > _MOST_RATIO:
        return None
    if not np.array_equal(values[0] * ratio.denominator, values[1] * ratio.numerator):
        return None
    text = f"has each element {ratio} times as large as expected"
    return MismatchCause("MT0405", text, _COMPUTED, evidence=Evidence(times=ratio))


def _shifted_bits(got: Array, expected: Array) -> MismatchCause | None:
    """Each element is as expected when it is shifted further to the right, or less far."""
    if got.dtype.kind not in "iu" or got.dtype.itemsize > _WORD_BYTES:
        return None
    came, wanted = (each.astype(np.int64) for each in (got, expected))
    for few, large, small in ((True, came, wanted), (False, wanted, came)):
        if np.count_nonzero(np.abs(small) >= _TELLING) < _LEAST_WRONG:
            continue
        fits = (n for n in range(1, _MOST_BITS) if _is_rounded(large, small, n))
        if bits := next(fits, 0):
            by = f"{bits} bit{'s' * (bits > 1)}"
            text = f"has each element shifted right by {by} too {'few' if few else 'many'}"
            fix = f"Shift it by {by} {'more' if few else 'less'} in the core."
            return MismatchCause("MT0405", text, fix, evidence=Evidence(bits=bits if few else -bits))
    return None


def _is_rounded(large: Array, small: Array, bits: int) -> bool:
    """Whether numbers shifted right are others, all rounded alike: down, or halves up."""
    return any(np.array_equal((large + half) >> bits, small) for half in (0, 1 << (bits - 1)))


def _partly_scaled(got: Array, expected: Array) -> MismatchCause | None:
    """All that is wrong is off alike and the rest is right: words of one core, or since a number changed."""
    wrong = got != expected
    many = int(wrong.sum())
    if many < _LEAST_WRONG or many == len(got) or got.dtype.kind not in "iu" or _constant(expected[wrong]):
        return None
    found = _scaled(got[wrong], expected[wrong])
    if found is None:
        return None
    places = f"all {many} elements that are wrong, from element {int(np.flatnonzero(wrong)[0])} on,"
    return found._replace(text=found.text.replace("each element", places))


def cause_in_buffer(got: Array, expected: Array, contents: Array, name: str) -> MismatchCause | None:
    """What a reader does otherwise, by the places in the buffer of what came and of what was expected.

    Args:
        got: what came out.
        expected: what should have come, of the same type and length.
        contents: of the buffer, flat.
        name: of the buffer.
    """
    order = np.argsort(contents, kind="stable")
    if len(contents) < _LEAST or len(got) < _LEAST or (np.diff(contents[order]) == 0).any():
        return None
    found = [order[np.searchsorted(contents[order], each) % len(contents)] for each in (got, expected)]
    if any(not np.array_equal(contents[at], each) for at, each in zip(found, (got, expected), strict=True)):
        return None
    walks = [_walk(at - at[0]) for at in found]
    if walks[0] is None or walks[1] is None:
        return None
    came, wanted = (", ".join(map(str, at[:_SHOWN].tolist())) for at in found)
    text = f"has elements {came}, .. of buffer {name!r}, and {wanted}, .. were expected"
    return MismatchCause("MT0405", text, _reader_fix(walks[0], walks[1], int(found[1][0])))


def _reader_fix(got: list[tuple[int, int]], wanted: list[tuple[int, int]], first: int) -> str:
    """The walk that a reader should have: one stride, or all of it."""
    others = [(one[1], two[1]) for one, two in zip(got, wanted, strict=False) if one != two]
    sizes = [[size for size, _ in walk] for walk in (got, wanted)]
    if sizes[0] == sizes[1] and len(others) == 1:
        return f"Give the reader the stride {others[0][1]} instead of {others[0][0]}."
    strides = ", ".join(str(stride) for _, stride in wanted)
    return f"Read from element {first} on with sizes {', '.join(map(str, sizes[1]))} and strides {strides}."


def _mixed(got: Array, expected: Array) -> Iterator[MismatchCause]:
    if np.array_equal(np.sort(got), np.sort(expected)):
        text = "has the expected elements in another order"
        yield MismatchCause("MT0401", text, "Check the sizes and strides of both ends.")


def _divisors(length: int) -> list[int]:
    """Row lengths that divide the length, but for 1 and the length."""
    small = [n for n in range(2, isqrt(length) + 1) if length % n == 0][:_FEW_SHAPES]
    return sorted({*small, *(length // n for n in small)})


_RULES = (
    _swapped,
    _widened,
    _turned,
    _exchanged,
    _reversed,
    _padded,
    _rotated,
    _repeated,
    _again,
    _shifted,
    _empty,
    _transposed,
    _mixed,
)
