"""Constants with several elements: ``dense<[1, 2]>``, ``dense<0.0>``, ``dense<"0x0102">``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.importers.kernels.arithmetic import from_bf16
from memtile.importers.kernels.expressions import bits_of
from memtile.importers.kernels.views import working_type
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped

Array = npt.NDArray[Any]
_LEAST_BITS = {"bf16": 1 << 7, "f32": 1 << 16, "f64": 1 << 32}  # smaller whole numbers are numbers
_WORDS: dict[str, Any] = {"bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def numbers_of(form: Form, given: object, shape: Shaped) -> Array:
    """The elements of a constant as numbers, in its shape: integers as int64, floats as float32 or float64.

    Raises:
        InputFileError: they lie elsewhere, or are not as many as the type says.
    """
    name = given.name if isinstance(given, Compound) else str(given)
    if not isinstance(given, Compound) or name.removeprefix("builtin.") != "dense":
        says = f"its numbers are {name.partition('<')[0] or 'nowhere'}, which is outside of the text"
        raise form.error(says, "dense<..>", reason="mlir_constant", given=name)
    first = given.listed[0] if given.listed else []
    if isinstance(first, str) and first[:2] == "0x":
        flat = _from_bytes(form, first, shape.element)
    else:
        flat = _flat(given.listed, shape.element)
    count = max(shape.elements, 1) if shape.shape else 1
    if flat.size not in (1, count):
        says = f"it has {flat.size} numbers, its type {count}"
        raise form.error(says, "one number, or as many as the type says", reason="mlir_constant")
    return np.broadcast_to(flat, (count,)).reshape(shape.shape).copy()


def memory_of_constant(form: Form, given: object, shape: Shaped) -> Array:
    """The elements of a constant as memory has them, see ``views.working_type``."""
    values, dtype = numbers_of(form, given, shape), working_type(shape.element)
    if shape.element == "bf16":
        words = (values.astype(np.float32).view(np.uint32) >> 16).astype(dtype)
        return words.reshape(shape.shape or (1,))
    with np.errstate(all="ignore"):
        return values.astype(dtype).reshape(shape.shape or (1,))


def float_of(found: int | float, element: str) -> float:
    """A floating-point number: written as one, or as its bits."""
    if isinstance(found, float) or found < _LEAST_BITS.get(element, 1 << 32):
        return float(found)
    word = _WORDS.get(element, np.uint64)(found)
    return float(from_bf16(int(word)) if element == "bf16" else word.view(f"f{word.nbytes}"))


def _flat(values: Any, element: str) -> Array:
    found: list[Any] = []
    waiting = list(values)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list | tuple):
            waiting = [*each, *waiting]
        else:
            found.append(each)
    if bits_of(element) is not None:
        wrap = (1 << 64) - 1
        return np.array([int(each) & wrap for each in found], np.uint64).view(np.int64)
    kind = np.float64 if element == "f64" else np.float32
    exact = np.array([float_of(each, element) for each in found], np.float64)
    if element == "bf16":
        import ml_dtypes

        return exact.astype(ml_dtypes.bfloat16).astype(np.float32)
    with np.errstate(all="ignore"):
        return exact.astype(kind)


def _from_bytes(form: Form, text: str, element: str) -> Array:
    """Elements from the bytes of a string, the lowest first."""
    bits = bits_of(element)
    if element not in _WORDS and bits not in (8, 16, 32, 64):
        raise form.error(
            f"bytes of {element} are not known", "i8 to i64, bf16, f32, f64", reason="mlir_constant"
        )
    try:
        data = bytes.fromhex(text[2:])
        if element == "bf16":
            words = np.frombuffer(data, "<u2").astype(np.uint32) << 16
            return words.view(np.float32)
        size = 8 if element == "index" else (bits or 8 * _WORDS[element]().nbytes) // 8
        found = np.frombuffer(data, f"<{'f' if bits is None else 'i'}{size}")
    except ValueError as error:
        raise form.error(
            f"its bytes are no elements of {element} ({error})", "whole elements", reason="mlir_constant"
        ) from None
    return found.astype(np.int64) if bits is not None else found.copy()
