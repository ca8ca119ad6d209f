"""Memory of a core body: NumPy views of buffers, in the types that generated code works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.importers.mlir.types import dtype_of

Array = npt.NDArray[Any]
_WORKING = {"bf16": np.dtype(np.uint16)}


@dataclass(frozen=True, slots=True)
class Piece:
    """A buffer as a core addresses it, see ``sim.kernels.Piece``.

    Attributes:
        name: for messages.
        offset: first byte in its tile.
        shape: NumPy shape.
        dtype: working type of an element.
        place: column and row of the tile.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: tuple[int, int] | None


def working_type(element: str) -> np.dtype[Any]:
    """Type in which generated code has elements: signed integers, floats, bfloat16 as its 16 bits.

    Raises:
        KeyError: no type of numbers.
    """
    if element in _WORKING:
        return _WORKING[element]
    found = dtype_of(element)
    if found is None:
        raise KeyError(element)
    if found.kind in "ub":
        return np.dtype(f"int{8 * found.itemsize}")
    return found


def for_user(array: Array, element: str) -> Array:
    """A view of the memory in the type that the text says, for a function of the user."""
    dtype = dtype_of(element)
    return array if dtype is None or dtype == array.dtype else array.view(dtype)
