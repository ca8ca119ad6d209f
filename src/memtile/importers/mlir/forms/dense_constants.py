"""Contents of memory that a text gives: ``dense<[1, 2]>``, ``dense<0>``, ``dense<"0x01000000">``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.types import Shaped

Numbers = Sequence[int | float]
_HEX = "0x"
_LEAST_BITS = {"bf16": 1 << 7, "f16": 1 << 10, "f32": 1 << 16, "f64": 1 << 32}  # smaller ones are numbers
_WORDS: dict[str, Any] = {"bf16": np.uint16, "f16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def dense(given: object, shape: Shaped | None = None) -> Numbers | None:
    """The numbers of ``dense<[1, 2]>``, in order; of ``dense<0>`` one for all; None if it is something else.

    Args:
        given: attribute.
        shape: type of the whole, which bytes in a string need.
    """
    if not isinstance(given, Compound):
        return None
    (only,) = given.listed if len(given.listed) == 1 else (None,)
    if isinstance(only, str) and only.startswith(_HEX) and shape is not None and shape.dtype is not None:
        found: list[int | float] = np.frombuffer(bytes.fromhex(only[2:]), shape.dtype).tolist()
        return found
    return list(_leaves(given.listed))


def _leaves(given: Sequence[object]) -> Iterator[int | float]:
    for item in given:
        if isinstance(item, list | tuple):
            yield from _leaves(item)
        elif isinstance(item, int | float):
            yield item
        else:
            raise ValueError(f"{item} is no number")


def _integers(form: OperationForm, values: Numbers, element: str, bits: int) -> npt.NDArray[np.generic]:
    """Whole numbers as unsigned ones of so many bits."""
    for value in values:
        if not isinstance(value, int) or not -(1 << (bits - 1)) <= value < 1 << bits:
            says = f"the value {shown(value)} is no {element}"
            raise form.error(says, f"whole numbers of {bits} bits", reason="mlir_initial")
    return np.array([int(value) & ((1 << bits) - 1) for value in values], f"uint{bits}")


def float_of(found: int | float, element: str) -> float:
    """A floating-point number of a text: written as one, or as its bits (``0x7F80 : bf16`` is infinity)."""
    if isinstance(found, float) or found < _LEAST_BITS.get(element, 1 << 32):
        return float(found)
    word = _WORDS.get(element, np.uint64)(found)
    if element == "bf16":
        return float((word.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return float(word.view(f"f{word.nbytes}"))


def array_of(form: OperationForm, values: Numbers, shape: Shaped, most: int) -> npt.NDArray[np.generic]:
    """Contents of memory as an array of its shape; a memref without dimensions has one element.

    Args:
        form: of the operation that gives them.
        values: in order, or one for all elements.
        shape: type of the whole.
        most: bytes that it may have.

    Raises:
        InputFileError: no type of numbers, numbers that it does not hold, too few or too many of them.
    """
    dtype, sizes = shape.dtype, shape.shape or (1,)
    if dtype is None:
        raise form.error(f"elements of {shape.element} have no NumPy type", "i8 to i64, bf16, f16, f32")
    size = prod(sizes)
    if min(sizes) < 0 or size * dtype.itemsize > most:
        says = f"its size is {'x'.join(map(str, sizes))} elements of {dtype.itemsize} bytes"
        raise form.error(says, f"up to {most} bytes", reason="mlir_size")
    if len(values) not in (1, size):
        says = f"{len(values)} values are given for {size} elements"
        raise form.error(says, f"{size} values, or one for all", reason="mlir_initial")
    if dtype.kind in "iu":
        made = _integers(form, values, shape.element, 8 * dtype.itemsize).view(dtype)
    else:
        made = np.array([float_of(value, shape.element) for value in values]).astype(dtype)
    return np.broadcast_to(made, sizes) if made.size == 1 else made.reshape(sizes)
