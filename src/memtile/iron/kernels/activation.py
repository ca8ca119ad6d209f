"""``aie.iron.kernels.activation``: activations of bf16, and their references in NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from memtile.iron.kernel import ExternalFunction
from memtile.iron.kernels._common import arch, array, bfloat16, fixed, includes, source
from memtile.iron.utils import config


def _table(who: str, name: str, file: str, tile_size: int, more: list[Any], count: int) -> Any:
    """A kernel that needs tables on AIE-ML, not on AIE-ML v2."""
    fixed(who, tile_size)
    types = [array(tile_size, bfloat16)] * count + more
    path, root = source(file), config.checkout()
    folders = [*includes(), str(path.parent)]
    if arch() == "aie2" and root is not None:
        tables: Path = root / "aie_runtime_lib" / "AIE2"
        text = f'#include "{path}"\n#include "{tables / "lut_based_ops.cpp"}"\n'
        return ExternalFunction(
            name, source_string=text, arg_types=types, include_dirs=[*folders, str(tables)]
        )
    return ExternalFunction(name, source_file=str(path), arg_types=types, include_dirs=folders)


def softmax(tile_size: int = 1024) -> Any:
    """Softmax of each tile."""
    return _table("softmax", "softmax_bf16", "softmax.cc", tile_size, [np.int32], 2)


def gelu(tile_size: int = 1024) -> Any:
    """GELU by tanh."""
    return _table("gelu", "gelu_bf16", "gelu.cc", tile_size, [], 2)


def silu(tile_size: int = 1024) -> Any:
    """SiLU."""
    return _table("silu", "silu_bf16", "silu.cc", tile_size, [], 2)


def swiglu(tile_size: int = 1024) -> Any:
    """SwiGLU."""
    return _table("swiglu", "swiglu_bf16", "swiglu.cc", tile_size, [], 4)


def bf16_exp(tile_size: int = 1024) -> Any:
    """The exponential."""
    return _table("bf16_exp", "exp_bf16_1024", "bf16_exp.cc", tile_size, [], 2)


def _in_float(x: Any, does: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return does(np.asarray(x).astype(np.float32)).astype(x.dtype)


def relu_ref(x: Any) -> Any:
    """The greater of ``x`` and 0."""
    return _in_float(x, lambda f: np.maximum(f, 0.0))


def silu_ref(x: Any) -> Any:
    """``x / (1 + exp(-x))``."""
    return _in_float(x, lambda f: f / (1.0 + np.exp(-f)))


def gelu_ref(x: Any) -> Any:
    """GELU by tanh."""
    return _in_float(x, lambda f: 0.5 * f * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (f + 0.044715 * f**3))))


def bf16_exp_ref(x: Any) -> Any:
    """``exp(x)``."""
    return _in_float(x, np.exp)


def softmax_ref(x: Any, *, tile_size: int = 1024) -> Any:
    """Softmax of each tile.

    Raises:
        ValueError: the elements are no multiple of the tile.
    """
    if x.size % tile_size:
        raise ValueError(f"softmax_ref: {x.size} elements are no multiple of a tile of {tile_size}")

    def of_tiles(f: Any) -> Any:
        flat = f.reshape(-1, tile_size)
        powers = np.exp(flat - flat.max(axis=1, keepdims=True))
        return (powers / powers.sum(axis=1, keepdims=True)).reshape(f.shape)

    return _in_float(x, of_tiles)
