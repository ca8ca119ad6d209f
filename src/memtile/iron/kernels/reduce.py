"""``aie.iron.kernels.reduce``: one value of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.kernels._common import array, bfloat16, kernel, one_of, whole_words

_FILE = "reduce_max.cc.o"  # both functions of it are compiled once


def _reduce(word: str, tile_size: int, dtype: Any, vectorized: bool) -> Any:
    one_of(f"reduce_{word}", "dtype", np.dtype(dtype), (np.dtype(np.int32),))
    name = f"reduce_{word}_{'vector' if vectorized else 'scalar'}"
    return kernel(name, f"reduce_{word}.cc", [array(tile_size, np.int32), array(1, np.int32), np.int32])


def reduce_add(tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True) -> Any:
    """The sum."""
    return _reduce("add", tile_size, dtype, vectorized)


def reduce_min(tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True) -> Any:
    """The least."""
    return _reduce("min", tile_size, dtype, vectorized)


def _kind(who: str, dtype: Any) -> tuple[Any, str, Any]:
    one_of(who, "dtype", np.dtype(dtype), (np.dtype(np.int32), np.dtype(bfloat16)))
    kind = bfloat16 if np.dtype(dtype) == np.dtype(bfloat16) else np.int32
    return kind, "_bfloat16" if kind is bfloat16 else "", array(whole_words(kind), kind)


def reduce_max(tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True) -> Any:
    """The greatest."""
    kind, suffix, out = _kind("reduce_max", dtype)
    name = f"reduce_max_{'vector' if vectorized else 'scalar'}{suffix}"
    return kernel(name, "reduce_max.cc", [array(tile_size, kind), out, np.int32], object_file_name=_FILE)


def compute_max(dtype: Any = np.int32) -> Any:
    """The greater of two."""
    _, suffix, out = _kind("compute_max", dtype)
    return kernel(f"compute_max{suffix}", "reduce_max.cc", [out, out, out], object_file_name=_FILE)
