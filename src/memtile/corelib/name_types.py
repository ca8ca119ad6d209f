"""Element types as names of functions write them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
"""An array of any element type that a core can hold."""

BF16 = np.dtype(ml_dtypes.bfloat16)

TYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "i8": np.dtype(np.int8),
        "ui8": np.dtype(np.uint8),
        "i16": np.dtype(np.int16),
        "ui16": np.dtype(np.uint16),
        "i32": np.dtype(np.int32),
        "f32": np.dtype(np.float32),
        "bf16": BF16,
    }
)
"""Suffix of a name -> element type."""

SPELLINGS: Mapping[str, str] = MappingProxyType(
    {"int8": "i8", "uint8": "ui8", "int16": "i16", "int32": "i32", "float": "f32", "bfloat16": "bf16"}
)
"""Other ways to write a suffix."""


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floating-point; NumPy does not count bfloat16 among them."""
    return dtype == BF16 or np.issubdtype(dtype, np.floating)


def floats(values: Values) -> npt.NDArray[np.float32]:
    """The values in float32, in which AIE-ML accumulates bf16."""
    return np.asarray(values, np.float32)


def pixels(values: Values) -> Values:
    """Pixels of 8 bits are unsigned, whatever the design declares; those of 16 and 32 bits are signed."""
    return values.view(np.uint8) if values.dtype == np.int8 else values


def saturated(values: npt.NDArray[np.int64], dtype: npt.DTypeLike) -> Values:
    """The nearest values that ``dtype`` holds."""
    info = np.iinfo(np.dtype(dtype))
    return np.clip(values, info.min, info.max).astype(dtype)
