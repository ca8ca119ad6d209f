"""``aie.helpers.util``: types of NumPy and of MLIR, and what programs need around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import GenericAlias
from typing import Any, TypeVar, get_args, get_origin

import numpy as np

from memtile.iron.ops.numpy_types import TYPES, bfloat16, np_dtype_to_mlir_type, v8bfp16ebs8, v16bfp16ebs16
from memtile.iron.ops.operations import Operation, Value
from memtile.iron.ops.types import MemRefType, Type

NpuDType: Any = (
    np.int8
    | np.int16
    | np.int32
    | np.int64
    | np.uint8
    | np.uint16
    | np.uint32
    | np.uint64
    | np.float16
    | np.float32
    | np.float64
    | bfloat16
    | v8bfp16ebs8
    | v16bfp16ebs16
)
"""The types of elements."""


def mlir_type_to_np_dtype(mlir_type: Type) -> Any:
    """The type of NumPy of a type of MLIR; None if there is none."""
    return next((key for key, value in TYPES.items() if value == mlir_type), None)


def memref_type_to_np_dtype(memref_type: MemRefType) -> Any:
    """The type of NumPy of a buffer's elements."""
    return mlir_type_to_np_dtype(memref_type.element_type)


def array_type(shape: Sequence[int], dtype: Any) -> Any:
    """``np.ndarray[shape, np.dtype[dtype]]``, of values that only a run knows."""
    return GenericAlias(np.ndarray, (tuple(shape), GenericAlias(np.dtype, (dtype,))))


def np_ndarray_type_get_shape(ndarray_type: Any) -> tuple[int, ...]:
    """The shape of ``np.ndarray[(16,), np.dtype[np.int32]]``.

    Raises:
        TypeError: it is not of that form.
    """
    shape = get_args(ndarray_type)[0]
    if not isinstance(shape, tuple) or not all(isinstance(each, (int, np.integer)) for each in shape):
        raise TypeError(
            f"{ndarray_type} has no shape of whole numbers: write np.ndarray[(16,), np.dtype[np.int32]]"
        )
    return shape


def np_ndarray_type_get_dtype(ndarray_type: Any) -> Any:
    """The type of the elements of ``np.ndarray[(16,), np.dtype[np.int32]]``."""
    return get_args(get_args(ndarray_type)[1])[0]


def np_ndarray_type_to_memref_type(ndarray_type: Any) -> MemRefType:
    """The buffer of ``np.ndarray[(16,), np.dtype[np.int32]]``."""
    return MemRefType(
        np_ndarray_type_get_shape(ndarray_type),
        np_dtype_to_mlir_type(np_ndarray_type_get_dtype(ndarray_type)),
    )


def try_convert_np_type_to_mlir_type(input_type: Any) -> Any:
    """The type of MLIR of a type of NumPy; another as it is."""
    if get_origin(input_type) is np.ndarray:
        return np_ndarray_type_to_memref_type(input_type)
    found = input_type.type if isinstance(input_type, np.dtype) else input_type
    return TYPES[found] if isinstance(found, type) and found in TYPES else input_type


def pack_pad_value(value: int, elem_bytes: int) -> int:
    """The 32 bits of a channel's pad value of which each element is ``value``.

    Raises:
        ValueError: an element is wider.
    """
    if elem_bytes > 4:
        raise ValueError(f"a channel's pad value has 32 bits; an element of {elem_bytes} bytes does not fit")
    word = (value & ((1 << 8 * elem_bytes) - 1)).to_bytes(elem_bytes, "little")
    return int.from_bytes(word * (4 // elem_bytes), "little")


_Element = TypeVar("_Element")


def single_elem_or_list_to_list(val: list[_Element] | _Element) -> list[_Element]:
    """A list of one, or the list."""
    return val if isinstance(val, list) else [val]


def flatten_fn_args(args: Sequence[Any]) -> Iterator[Any]:
    """The arguments within lists, in order."""
    waiting = [*reversed(args)]
    while waiting:
        first = waiting.pop()
        if not isinstance(first, list | tuple):
            yield first
            continue
        waiting.extend(reversed(first))


def get_arg_types(objs: Sequence[Any]) -> list[Type] | None:
    """Types of values; None if one is none."""
    found = []
    for each in objs:
        if isinstance(each, Operation):
            found.append(each.result.type)
        elif isinstance(each, Value):
            found.append(each.type)
        else:
            return None
    return found


def fold_constant_operand(operand: Value) -> int | None:
    """The number of a constant; None of any other value."""
    owner = operand.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        return int(owner.attributes["value"])  # type: ignore[call-overload, no-any-return]
    return None
