"""Values that a buffer is to hold or should hold: of its shape, and exactly those of the type."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from memtile.errors import DesignError, Problem

Array = npt.NDArray[Any]
_NUMBERS = "biufcV"  # NumPy kinds; V = records, and types that NumPy has from others (bfloat16)


def dtype_of(given: npt.DTypeLike, where: str) -> np.dtype[Any]:
    """The element type of an array whose bytes mean something: not of objects, and not of no bytes.

    Args:
        given: anything that NumPy takes for a type.
        where: for messages.

    Raises:
        DesignError: no type, or one whose elements are no bytes of a fixed number.
    """
    allowed, step = "a NumPy type of numbers", "Give one such as np.int32."
    try:
        dtype = np.dtype(given)
    except (TypeError, ValueError):
        raise DesignError(
            Problem(
                reason="dtype",
                where=where,
                field="dtype",
                given=repr(given),
                allowed=allowed,
                source="NumPy",
                next_step=step,
            )
        ) from None
    if dtype.kind not in _NUMBERS or dtype.hasobject or not dtype.itemsize:
        raise DesignError(
            Problem(
                reason="dtype",
                where=where,
                field="dtype",
                given=str(dtype),
                allowed=allowed,
                source="NumPy",
                next_step=step,
            )
        )
    return dtype


def shape_of(given: object, where: str) -> tuple[int, ...]:
    """A shape of at least one dimension, each of at least one element; a number is a shape of one.

    Raises:
        DesignError: anything else.
    """
    sizes = tuple(given) if isinstance(given, Iterable) else (given,)
    if sizes and all(isinstance(size, SupportsIndex) and index(size) > 0 for size in sizes):
        return tuple(map(index, sizes))
    raise DesignError(
        Problem(
            reason="shape",
            where=where,
            field="shape",
            given=repr(given),
            allowed="whole numbers of 1 or more",
            source="NumPy shapes",
            next_step="Give one such as (8, 8).",
        )
    )


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
        raise DesignError(
            Problem(
                reason="shape",
                where=where,
                field="data",
                given=str(given.shape),
                allowed=str(shape),
                source="NumPy shapes",
                says=f"the data has shape {given.shape}; it must have {shape}",
            )
        )
    with np.errstate(invalid="ignore"):  # a value that does not fit is reported below
        array = np.ascontiguousarray(given, dtype=dtype)
    if not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
        raise DesignError(
            Problem(
                reason="values",
                where=where,
                field="data",
                given=str(given.dtype),
                allowed=f"values that {dtype} holds exactly",
                source="NumPy",
                next_step="Convert them yourself.",
                says=f"the data is {given.dtype} with values that {dtype} does not hold exactly",
            )
        )
    return array
