"""Arrays that must come out of a design, compared bit by bit, or floats with a tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.npy import read_array

Array = npt.NDArray[Any]

LAST_NAME = ""
"""Name of an expected array without a number: the last argument that the array writes."""
_TEXT = (".txt", ".csv")


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
    for kind in (np.int64, np.float64):
        try:
            return np.array(words, kind)
        except ValueError:
            continue
    raise InputFileError(f"{path}: this is no text of numbers. Give numbers alone, or a .npy file.")


def comparable(got: Array, expected: Array, tolerance: float) -> tuple[Array, Array]:
    """Two arrays of one type, whose elements differ where they count as different.

    Args:
        got: what came out.
        expected: what should have.
        tolerance: of floats: ``|got - expected| <= tolerance * max(1, |expected|)``; 0 = bit by bit.

    Returns:
        What came out, with elements within the tolerance as they are expected; and what was expected. Bytes
        are taken as the expected type; floats with a tolerance and numbers of texts as what came out.
    """
    if got.dtype != expected.dtype:
        fits = tolerance and is_float(got.dtype) and is_float(expected.dtype)
        if fits or expected.dtype in (np.int64, np.float64):
            expected = expected.astype(got.dtype)
        elif got.nbytes == expected.nbytes:
            got = np.ascontiguousarray(got).reshape(-1).view(expected.dtype)
    if not tolerance or got.dtype != expected.dtype or not is_float(got.dtype) or got.size != expected.size:
        return got, expected
    found, right = got.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    is_near = np.abs(found - right) <= tolerance * np.maximum(1.0, np.abs(right))
    return np.where(is_near, expected.reshape(-1), got.reshape(-1)), expected


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floats, those of machine learning too."""
    return "float" in dtype.name
