"""Types of NumPy's elements as types of MLIR."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from memtile.iron.ops.types import (
    BF16Type,
    BlockFloatType,
    F16Type,
    F32Type,
    F64Type,
    IndexType,
    IntegerType,
    Type,
)

bfloat16 = ml_dtypes.bfloat16


class v8bfp16ebs8(np.generic):  # noqa: N801 - mlir-aie's name
    """Eight numbers that share an exponent of 8 bits, 8 bits each (AIE-ML v2)."""

    @staticmethod
    def get() -> BlockFloatType:
        """Its type in MLIR."""
        return BlockFloatType("v8bfp16ebs8")


class v16bfp16ebs16(np.generic):  # noqa: N801 - mlir-aie's name
    """Sixteen numbers that share an exponent of 8 bits, 8 bits each (AIE-ML v2)."""

    @staticmethod
    def get() -> BlockFloatType:
        """Its type in MLIR."""
        return BlockFloatType("v16bfp16ebs16")


TYPES: dict[Any, Type] = {
    np.int8: IntegerType(8),
    np.int16: IntegerType(16),
    np.int32: IntegerType(32),
    np.int64: IntegerType(64),
    np.uint8: IntegerType(8, "u"),
    np.uint16: IntegerType(16, "u"),
    np.uint32: IntegerType(32, "u"),
    np.uint64: IntegerType(64, "u"),
    np.float16: F16Type(),
    np.float32: F32Type(),
    np.float64: F64Type(),
    bfloat16: BF16Type(),
    v8bfp16ebs8: v8bfp16ebs8.get(),
    v16bfp16ebs16: v16bfp16ebs16.get(),
    np.longlong: IndexType(),  # as mlir-aie has it: NumPy's own type of lists of numbers
    np.uintp: IntegerType(64, "u"),
}
"""By NumPy's type."""


def np_dtype_to_mlir_type(np_dtype: Any) -> Type:
    """The type of MLIR of a type of NumPy.

    Raises:
        AttributeError: there is none.
    """
    for key in (np_dtype, getattr(np_dtype, "type", None)):
        if key in TYPES:
            return TYPES[key]
    known = ", ".join(sorted({key.__name__ for key in TYPES}))
    raise AttributeError(f"{np_dtype} is no type of elements; those are {known}")
