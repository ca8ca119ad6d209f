"""``aie.iron.kernels.eltwise``: one element after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.kernels._common import array, bfloat16, bits, fixed, kernel, one_of


def passthrough(tile_size: int = 4096, dtype: Any = np.int32) -> Any:
    """Copies."""
    tile = array(tile_size, dtype)
    flags = [f"-DBIT_WIDTH={bits(dtype, 'passthrough')}"]
    return kernel("passThroughLine", "passThrough.cc", [tile, tile, np.int32], flags)


def scale(
    tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True, use_chess: bool = False
) -> Any:
    """Multiplies by a number."""
    one_of("scale", "dtype", dtype, (np.int16, np.int32))
    tile = array(tile_size, dtype)
    name = f"vector_scalar_mul_{'vector' if vectorized else 'scalar'}"
    flags = [f"-DBIT_WIDTH={bits(dtype, 'scale')}"]
    return kernel(name, "scale.cc", [tile, tile, array(1, np.int32), np.int32], flags, use_chess=use_chess)


def _two(word: str, tile_size: int, dtype: Any, vectorized: bool) -> Any:
    fixed(word, tile_size)
    one_of(word, "dtype", dtype, (bfloat16,))
    name = f"eltwise_{word}_bf16_{'vector' if vectorized else 'scalar'}"
    return kernel(name, f"{word}.cc", [array(tile_size, bfloat16)] * 3)


def add(tile_size: int = 1024, dtype: Any = bfloat16, vectorized: bool = True) -> Any:
    """Adds."""
    return _two("add", tile_size, dtype, vectorized)


def mul(tile_size: int = 1024, dtype: Any = bfloat16, vectorized: bool = True) -> Any:
    """Multiplies."""
    return _two("mul", tile_size, dtype, vectorized)


def relu(tile_size: int = 1024) -> Any:
    """The greater of an element and 0."""
    fixed("relu", tile_size)
    return kernel("bf16_relu", "relu.cc", [array(tile_size, bfloat16)] * 2)
