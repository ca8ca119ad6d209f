"""Arrays that must come out of a design, compared bit by bit, or floats with a tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError
from memtile.explain.results import Status
from memtile.input_files import read_text
from memtile.io.npy import read_array
from memtile.runs.program import Run

Array = npt.NDArray[Any]

LAST_NAME = ""
"""Name of an expected array without a number: the last argument that the array writes."""
_TEXT = (".txt", ".csv")
_EXACT = 1 << 53  # beyond it, floats leave out whole numbers


def read_expected(path: str) -> Array:
    """The array of a NumPy file, or the numbers of a text; times and TLAST of a file of a PLIO are left out.

    Raises:
        InputFileError: the file cannot be read, or has something else.
    """
    if Path(path).suffix not in _TEXT:
        found = read_array(Path(path))
        return found.astype(found.dtype.newbyteorder("<"), copy=False)
    lines = read_text(Path(path)).replace(",", " ").splitlines()
    words = [word for line in lines if not line.startswith("T") for word in line.split()]
    with suppress(ValueError):
        return _integers([int(word) for word in words], path)
    with suppress(ValueError):
        return np.array(words, np.float64)
    raise InputFileError(f"{path}: this is no text of numbers. Give numbers alone, or a .npy file.")


def _integers(numbers: Sequence[int], path: str) -> Array:
    """Return integers of 64 bits, unsigned ones where signed ones do not hold them."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    kind = np.int64 if high <= np.iinfo(np.int64).max else np.uint64
    limits = np.iinfo(kind)
    if low < limits.min or high > limits.max:
        says = f"no integers of 64 bits hold the numbers from {low} to {high}"
        raise InputFileError(f"{path}: {says}. Give numbers of the output's type, floats with a point.")
    return np.array(numbers, kind)


def comparable(got: Array, expected: Array, tolerance: float) -> tuple[Array, Array]:
    """Two arrays of one type, whose elements differ where they count as different.

    Args:
        got: what came out.
        expected: what should have.
        tolerance: of floats: ``|got - expected| <= tolerance * max(1, |expected|)``; 0 = bit by bit.

    Returns:
        What came out, with elements within the tolerance as they are expected; and what was expected. Bytes
        are taken as the expected type; floats with a tolerance and numbers of texts as what came out.

    Raises:
        InputFileError: an expected number does not fit the integers that came out.
    """
    if got.dtype != expected.dtype:
        fits = tolerance and is_float(got.dtype) and is_float(expected.dtype)
        are_bytes = got.nbytes == expected.nbytes and got.size != expected.size
        large = expected.dtype == np.uint64 and not are_bytes
        if fits or large or expected.dtype in (np.int64, np.float64):
            _check_whole(expected, got.dtype)
            expected = expected.astype(got.dtype)
        elif got.nbytes == expected.nbytes:
            got = np.ascontiguousarray(got).reshape(-1).view(expected.dtype)
    if not tolerance or got.dtype != expected.dtype or not is_float(got.dtype) or got.size != expected.size:
        return got, expected
    found, right = got.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    is_near = np.abs(found - right) <= tolerance * np.maximum(1.0, np.abs(right))
    return np.where(is_near, expected.reshape(-1), got.reshape(-1)), expected


def _check_whole(expected: Array, dtype: np.dtype[Any]) -> None:
    """Refuse numbers that an integer type does not hold, as signed or unsigned ones of its bits."""
    if dtype.kind not in "iu" or not expected.size:
        return
    limits, wrong = np.iinfo(dtype), list[Any]()
    if expected.dtype.kind == "f":
        is_exact = (expected == np.trunc(expected)) & (np.abs(expected) <= _EXACT)
        wrong += list(expected[~(is_exact & (expected >= limits.min) & (expected <= limits.max))][:1])
    else:
        ends = int(expected.min()), int(expected.max())
        wrong += [end for end in ends if not -(1 << limits.bits - 1) <= end < 1 << limits.bits]
    if wrong:
        raise InputFileError(
            f"expected values: {wrong[0]} does not fit the output of {dtype.name}. "
            "Give whole numbers in its range, large ones without a point or exponent."
        )


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floats, those of machine learning too."""
    return "float" in dtype.name


def against(done: Run, expected: Mapping[str, Array], tolerance: float) -> Run:
    """The run with its arrays compared, if it finished; an array without a name is the last that is written.

    Args:
        done: the run.
        expected: arrays that must come out, by name or number of the argument.
        tolerance: of floats, as of :func:`comparable`.

    Raises:
        InputFileError: a name that no array of the run has.
    """
    if not expected or done.result.status is not Status.FINISHED:
        return done
    written = [buffer.region.argument for buffer in done.buffers if buffer.region.writes]
    last = max((n for n in written if n is not None), default="out")
    named = {str(last) if name == LAST_NAME else name: array for name, array in expected.items()}
    arrays, right = dict(done.arrays), dict[str, Array]()
    if unknown := [name for name in named if name not in arrays]:
        raise InputFileError(
            f"expected array {unknown[0]!r}: the run leaves {', '.join(arrays) or 'none'}. Name one of these."
        )
    for name, array in named.items():
        arrays[name], right[name] = comparable(arrays[name], array, tolerance)
    return replace(done, arrays=arrays).against(right)
