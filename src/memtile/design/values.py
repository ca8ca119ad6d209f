"""Values that a buffer is to hold or should hold: of its shape, and exactly those of the type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import DesignError, Problem

Array = npt.NDArray[Any]


def exactly(
    data: npt.ArrayLike, dtype: np.dtype[Any], where: str, shape: tuple[int, ...] | None = None
) -> Array:
    """The data as a contiguous array of ``dtype`` that holds every value exactly.

    Args:
        data: the values.
        dtype: what holds them.
        where: for messages.
        shape: what they must have; None = any.

    Raises:
        DesignError: another shape, or a value that the type does not hold.
    """
    given = np.asarray(data)
    if shape is not None and given.shape != shape:
        raise DesignError(Problem("shape", where, "data", str(given.shape), str(shape), "NumPy shapes"))
    with np.errstate(invalid="ignore"):  # a value that does not fit is told below
        array = np.ascontiguousarray(given, dtype=dtype)
    if not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
        allowed, step = f"values that {dtype} holds exactly", "convert them yourself"
        raise DesignError(Problem("values", where, "data", str(given.dtype), allowed, "NumPy", step))
    return array
