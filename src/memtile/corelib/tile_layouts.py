"""Kernels of tiles whose geometry is compiled in: transposes of blocks, weights of four bits, fused products.

Their arguments are flat, so some of a tile's sizes are in no type of a design: ``aie.library(defines=...)``
says them, or they are the defaults of mlir-aie's factories where the arguments have the sizes of those. What
neither says is refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile.arch.core import BFP16_BYTES, BFP16_NUMBERS
from memtile.arch.core_costs import BLOCKS
from memtile.arch.tiles import Generation
from memtile.corelib.block_floats import packed
from memtile.corelib.matrices import dimensions, macs_of
from memtile.corelib.name_types import BF16, Values, floats
from memtile.corelib.registry import CallError, answers, same_size, unsaid
from memtile.corelib.rounding import Modes, to_bf16

_LANES = 16  # rows of q4nx weights whose numbers lie together
_M_TILE, _K_TILE, _GROUP, _CT_K = 32, 256, 32, 128  # q4nx: the factory's defaults
_FUSED, _CHUNK_K = (32, 32, 16), 16  # fused_mm: the factory's defaults
_GELU = 1.702  # of the sigmoid that stands for the curve
_MODES = ("none", "gelu", "silu", "sigmoid")


@answers("transpose_4x4", "transpose_8x8", defines={"columns": "DIM_m"})
def transpose(a: Values, c: Values, *, spelling: str, columns: int | None = None) -> None:
    """Each block of 4 x 4 or 8 x 8 elements of a matrix is transposed in its place. A matrix of two
    dimensions says how many columns it has, for a flat one ``DIM_m`` does. Source: mlir-aie ``transpose.cc``.
    """
    side = int(spelling[-1])
    if columns is None and a.ndim != 2:
        raise unsaid("DIM_m", "the columns of the matrix")
    wide = a.shape[1] if columns is None else columns
    x, target = same_size({"a": a, "c": c})
    if not wide or wide % side or x.size % (wide * side):
        raise CallError(
            "the size of a", f"{x.size} elements in rows of {wide}", f"whole {side} x {side} blocks"
        )
    blocks = x.reshape(-1, side, wide // side, side)
    target[...] = blocks.transpose(0, 3, 2, 1).reshape(-1)


@answers("q4nx_dequant_bfp", defines={"rows": "Q4NX_M_TILE", "slice_": "Q4NX_CT_K"})
def dequantise(a: Values, c: Values, *, rows: int | None = None, slice_: int | None = None) -> None:
    """Weights of four bits become bfp16: ``minimum + scale * number``, exact, rounded to float32, down to
    bf16 and down to bfp16. a has the scales and the minima of [group of k, row] in bf16, then the numbers of
    [row / 16, k, row % 16], the low half of a byte first; c has blocks of eight k of
    [k / slice, row / 8, k % slice / 8, row % 8]. Rows and slice are ``Q4NX_M_TILE`` and ``Q4NX_CT_K``, 32 and
    128 for a tile of 32 x 256. Source: mlir-aie ``q4nx_dequant.cc``, DEV-KERNEL-6.
    """
    given, target = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (a, c))
    m, k, group, part = _q4nx(given.size, target.size, rows, slice_)
    many = m * k // group
    scales, minima = floats(given[: 4 * many].view(BF16)).reshape(2, k // group, m)
    packed_ = given[4 * many :]
    numbers = np.stack([packed_ & 15, packed_ >> 4], axis=1).reshape(m // _LANES, k, _LANES)
    whole = numbers.transpose(1, 0, 2).reshape(k, m).astype(np.float64)
    exact = np.repeat(scales, group, axis=0) * whole + np.repeat(minima, group, axis=0)
    values = floats(to_bf16(exact.astype(np.float32), "floor"))
    blocks = values.reshape(
        k // part, part // BFP16_NUMBERS, BFP16_NUMBERS, m // BFP16_NUMBERS, BFP16_NUMBERS
    ).transpose(0, 3, 1, 4, 2)
    c.reshape(-1).view(np.uint8)[...] = packed(blocks).reshape(-1)


def _q4nx(given: int, wanted: int, rows: int | None, part: int | None) -> tuple[int, int, int, int]:
    """m, k, group and slice of a tile, from its bytes and what was said."""
    size, rest = divmod(wanted * BFP16_NUMBERS, BFP16_BYTES)
    many, odd = divmod(given - size // 2, 4)
    usual = size == _M_TILE * _K_TILE and many == size // _GROUP
    m, slice_ = rows or (_M_TILE if usual else 0), part or (_CT_K if usual else 0)
    if not m or not slice_:
        raise unsaid("Q4NX_CT_K" if m else "Q4NX_M_TILE", "the slice of k" if m else "the rows of the tile")
    k = size // m
    group = size // many if many > 0 else 0
    whole = not rest and not odd and group and m * k == size and many * group == size
    if not whole or m % _LANES or k % slice_ or slice_ % BFP16_NUMBERS or group % BFP16_NUMBERS or k % group:
        allowed = (
            f"those of a tile of {m} rows in slices of {slice_}, and 4 for each group of 8, 16, ... numbers"
        )
        raise CallError("the number of bytes of a and c", f"{given}, {wanted}", allowed)
    return m, k, group, slice_


@answers(
    "fused_mm_tile",
    types=dict.fromkeys("abc", "bf16"),
    macs=macs_of,
    defines={
        "chunk": "MM_FUSED_CT_K",
        "compiled": "MM_FUSED_EPILOGUE_MODE",
    },
)
def fused_product(
    a: Values,
    b: Values,
    c: Values,
    mode: int | None = None,
    low: int | None = None,
    high: int | None = None,
    *,
    generation: Generation,
    modes: Modes,
    chunk: int | None = None,
    compiled: int | None = None,
) -> None:
    """``c = f(a @ b)`` in bf16, summed in float32, rounded once to nearest even, which stays the core's mode.
    f by ``mode``: 0 nothing, 1 gelu as ``x * sigmoid(1.702 * x)``, 2 silu, 3 sigmoid; then not below ``low``
    and not above ``high``, float32 as bits. Where these are no arguments the mode is
    ``MM_FUSED_EPILOGUE_MODE``, 0 if nothing says it, and nothing is cut off. k is in chunks of
    ``MM_FUSED_CT_K``, 16 for 32 x 32 x 16: a[k/chunk, m/r, chunk/s, r, s], b[k/chunk, n/t, chunk/s, s, t],
    c[m/r, n/t, r, t]. Source: mlir-aie ``fused_mm_tile.cc``.
    """
    m, k, n = dimensions(a, b, c)
    r, s, t = BLOCKS[generation]["bf16"]
    if chunk is None and (m, k, n) != _FUSED:
        raise unsaid("MM_FUSED_CT_K", "the chunk of k")
    chunk = chunk or _CHUNK_K
    if m % r or n % t or k % chunk or chunk % s:
        raise CallError("m, k, n", f"{m}, {k}, {n}", f"multiples of {r}, {chunk}, {t}, the chunk one of {s}")
    left = floats(a).reshape(k // chunk, m // r, chunk // s, r, s).transpose(1, 3, 0, 2, 4).reshape(m, k)
    right = floats(b).reshape(k // chunk, n // t, chunk // s, s, t).transpose(0, 2, 3, 1, 4).reshape(k, n)
    total = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)
    found = _activated(total, compiled or 0 if mode is None else mode)
    if low is not None and high is not None:
        found = np.maximum(np.minimum(found, _from_bits(high)), _from_bits(low))
    modes.set("conv_even")
    blocks = found.reshape(m // r, r, n // t, t).transpose(0, 2, 1, 3)
    c.reshape(-1)[...] = modes.into(blocks.reshape(-1), c.dtype)


def _activated(x: npt.NDArray[np.float32], mode: int) -> npt.NDArray[np.float32]:
    if mode not in range(len(_MODES)):
        mode = 0  # the kernel's switch takes others so
    if mode == _MODES.index("none"):
        return x
    inner = x * np.float32(_GELU) if mode == _MODES.index("gelu") else x
    half = np.float32(0.5)
    sigmoid = (np.tanh(inner * half) + np.float32(1)) * half
    found: npt.NDArray[np.float32] = sigmoid if mode == _MODES.index("sigmoid") else x * sigmoid
    return found


def _from_bits(word: int) -> np.float32:
    return np.float32(np.array(word & 0xFFFF_FFFF, np.uint32).view(np.float32)[()])
