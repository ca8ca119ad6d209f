"""Values that a buffer is to hold or should hold: of its shape, and exactly those of the type."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from memtile.access.element_types import amd_bits
from memtile.access.request import BYTE_BITS, WORD_BITS
from memtile.errors import DesignError

Array = npt.NDArray[Any]
_OTHERS = "ml_dtypes"  # a package with the types of machine learning that NumPy lacks
_PARTS_OF_BYTES = ("int4", "uint4")  # of which ml_dtypes has one in each byte, unlike a tile's memory
_NUMBERS = "biufcV"  # NumPy kinds; V = records, and types that NumPy has from others (bfloat16)


def dtype_of(given: npt.DTypeLike, where: str) -> np.dtype[Any]:
    """The element type of an array whose bytes mean something: not of objects, and not of no bytes.

    Args:
        given: anything that NumPy takes for a type; or the name of a type of the ``ml_dtypes`` package, such
            as ``"bfloat16"`` or ``"float8_e4m3fn"``.
        where: for messages.

    Raises:
        DesignError: no type, or one whose elements are no bytes of a fixed number; names a type of
            the same size.
    """
    dtype = None if isinstance(given, str) and given in _PARTS_OF_BYTES else _numpy_type(given)
    if dtype is not None and dtype.kind in _NUMBERS and not dtype.hasobject and dtype.itemsize:
        return dtype
    raise DesignError.of(
        "dtype",
        repr(given) if dtype is None else str(dtype),
        "a NumPy type of numbers",
        next_step=_instead_of(given),
        reason="dtype",
        where=where,
        source="NumPy",
    )


def _numpy_type(given: npt.DTypeLike) -> np.dtype[Any] | None:
    """The type that NumPy, or ``ml_dtypes`` of that name, has; None for neither."""
    try:
        return np.dtype(given)
    except (TypeError, ValueError):
        pass
    try:
        return np.dtype(getattr(import_module(_OTHERS), given)) if isinstance(given, str) else None
    except (AttributeError, TypeError):
        return None


def _instead_of(given: npt.DTypeLike) -> str:
    """What to do about a type that no array has."""
    bits = amd_bits(given) if isinstance(given, str) else None
    if bits is None or bits > WORD_BITS:
        return "Give one such as np.int32."
    if bits < BYTE_BITS:
        return f"NumPy has none of {bits} bits: give np.uint8 for {BYTE_BITS // bits} of them."
    same = f"np.uint{bits} and look at it with .view"
    if isinstance(given, str) and given.startswith("cint"):
        return f"Give np.int{bits // 2} with a last axis of 2."
    return (
        f"Give a type of {_OTHERS} such as float8_e4m3fn, or {same}."
        if bits == BYTE_BITS
        else f"Give {same}."
    )


def shape_of(given: object, where: str) -> tuple[int, ...]:
    """A shape of at least one dimension, each of at least one element; a number is a shape of one.

    Raises:
        DesignError: anything else.
    """
    sizes = tuple(given) if isinstance(given, Iterable) else (given,)
    if sizes and all(
        (type(size) is int or isinstance(size, SupportsIndex)) and index(size) > 0 for size in sizes
    ):
        return tuple(map(index, sizes))
    raise DesignError.of(
        "shape",
        repr(given),
        "whole numbers of 1 or more",
        next_step="Give one such as (8, 8).",
        reason="shape",
        where=where,
        source="NumPy shapes",
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
        raise DesignError.of(
            "data",
            str(given.shape),
            str(shape),
            f"the data has shape {given.shape}; it must have {shape}",
            reason="shape",
            where=where,
            source="NumPy shapes",
        )
    with np.errstate(invalid="ignore"):  # a value that does not fit is reported below
        array = np.ascontiguousarray(given, dtype=dtype)
    if not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
        raise DesignError.of(
            "data",
            str(given.dtype),
            f"values that {dtype} holds exactly",
            f"the data is {given.dtype} with values that {dtype} does not hold exactly",
            "Convert them yourself.",
            reason="values",
            where=where,
            source="NumPy",
        )
    return array
