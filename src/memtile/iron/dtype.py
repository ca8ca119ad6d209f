"""``aie.iron.dtype``: short names of types of elements."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

dtype_map: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "f32": np.float32,
    "i32": np.int32,
}


def str_to_dtype(dtype_str: str) -> Any:
    """The type of a short name.

    Raises:
        ValueError: there is none.
    """
    if dtype_str not in dtype_map:
        raise ValueError(f"type {dtype_str!r}: known are {', '.join(dtype_map)}")
    return dtype_map[dtype_str]


def dtype_to_str(dtype: Any) -> str:
    """The short name of a type.

    Raises:
        ValueError: it has none.
    """
    for name, value in dtype_map.items():
        if value == dtype:
            return name
    raise ValueError(f"type {dtype}: those with a short name are {', '.join(dtype_map)}")
