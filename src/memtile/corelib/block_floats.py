"""bfp16: eight numbers that share an exponent, as in mlir-aie's ``mm_bfp.cc`` (``bfp16ebs8``).

A block is 9 bytes: the exponent, biased by 127, and eight signed bytes in 64ths, each ``byte / 64 *
2**(exponent - 127)``. Matrices are in 8 x 8 blocks; each row of such a block is a block of the format.
Source of the format and of its rounding, down: mlir-aie ``block_datatypes, helper.h``.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
import numpy.typing as npt

from memtile.arch.core import (
    BFP16_BIAS,
    BFP16_BYTES,
    BFP16_FRACTION_BITS,
    BFP16_LARGEST,
    BFP16_NUMBERS,
)
from memtile.corelib.name_types import Values, floats
from memtile.corelib.registry import CallError, answers
from memtile.corelib.rounding import Modes

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
_SIDE = BFP16_NUMBERS  # also rows and columns of a block of a matrix


def unpacked(values: Values) -> Floats:
    """The numbers of blocks: float64[blocks, 8].

    Raises:
        CallError: the bytes are not a whole number of blocks.
    """
    data = _bytes(values)
    if data.size % BFP16_BYTES:
        raise CallError("the number of bytes", str(data.size), f"a multiple of {BFP16_BYTES}")
    blocks = data.reshape(-1, BFP16_BYTES)
    exponents = blocks[:, :1].astype(np.int64) - BFP16_BIAS - BFP16_FRACTION_BITS
    return np.ldexp(blocks[:, 1:].view(np.int8).astype(np.float64), exponents)


def packed(numbers: npt.NDArray[np.floating]) -> Bytes:
    """Blocks for float[..., 8], rounded down: uint8[blocks, 9]. Too large becomes the largest exponent."""
    rows = np.asarray(numbers, np.float64).reshape(-1, _SIDE)
    _, powers = np.frexp(np.abs(rows))  # x = fraction * 2**power, the fraction from 1/2 on
    exponents = np.where(rows == 0, 0, np.clip(powers - 1 + BFP16_BIAS, 0, BFP16_LARGEST)).max(
        axis=1, keepdims=True
    )
    scaled = np.floor(np.ldexp(rows, BFP16_BIAS + BFP16_FRACTION_BITS - exponents))
    parts = np.clip(scaled, -128, 127).astype(np.int8)
    return np.concatenate([exponents.astype(np.uint8), parts.view(np.uint8)], axis=1)


@answers("matmul_vectorized_bfp16")
def matmul_blocks(a: Values, b: Values, c: Values) -> None:
    """``c += a @ b``, all bfp16: a[m/8, k/8, 8, 8], c[m/8, n/8, 8, 8], b transposed: b[n/8, k/8, 8 of n,
    8 of k]. m, k, n follow from the sizes. Sums are exact, rounded to float32, then down to bfp16.

    Source: mlir-aie ``mm_bfp.cc``, DEV-KERNEL-6, DEV-KERNEL-11.
    """
    _check_rows(a, c)
    left, right, old = (unpacked(values).reshape(-1, _SIDE, _SIDE) for values in (a, b, c))
    _bytes(c)[...] = packed(_product(left, right, old)).reshape(-1)


@answers("matmul_vectorized_different_datatypes", types={"a": "bf16", "c": "bf16"})
def matmul_mixed(a: Values, b: Values, c: Values, *, modes: Modes) -> None:
    """As ``matmul_vectorized_bfp16`` with a and c in bf16; a becomes bfp16 first, c is rounded
    by the mode of the core.

    Source: mlir-aie ``mm_bfp_mixed.cc``, DEV-KERNEL-6, DEV-KERNEL-11.
    """
    _check_rows(a, c)
    left = unpacked(packed(_whole_blocks(a, "a"))).reshape(-1, _SIDE, _SIDE)
    right = unpacked(b).reshape(-1, _SIDE, _SIDE)
    total = _product(left, right, _whole_blocks(c, "c").reshape(-1, _SIDE, _SIDE))
    c.reshape(-1)[...] = modes.into(total.reshape(-1), c.dtype)


@answers("bfp16_passthrough_vectorized", objects=("kernel",))
def passthrough(a: Values, c: Values) -> None:
    """``c = a``, byte for byte. Source: mlir-aie ``block_datatypes``."""
    source, target = (_bytes(values) for values in (a, c))
    if source.size != target.size:
        raise CallError("the number of bytes", f"{source.size} in a, {target.size} in c", "the same")
    target[...] = source


@answers("zero_kernel_bf16", types={"c": "bf16"})
@answers("zero_kernel")
def zero_kernel(c: Values) -> None:
    """``c = 0``. Source: mlir-aie ``mm_bfp.cc``, ``mm_bfp_mixed.cc``."""
    _bytes(c)[...] = 0


@answers("scalar_shuffle")
def shuffle(a: Values, c: Values, width: int, height: int, back: int = 0) -> None:
    """Rows of ``width`` numbers in bfp16 become 8 x 8 blocks, one after another; with ``back`` the other
    way. Source: mlir-aie ``mm_bfp.cc``.
    """
    if width % _SIDE or height % _SIDE:
        raise CallError("the size of the matrix", f"{width} x {height}", f"multiples of {_SIDE}")
    across, down = width // _SIDE, height // _SIDE
    size = across * down * _SIDE * BFP16_BYTES
    source, target = (_bytes(values) for values in (a, c))
    if min(source.size, target.size) < size:
        raise CallError("the length of a and c", f"{source.size}, {target.size} bytes", f"at least {size}")
    shape = (down, across, _SIDE) if back else (down, _SIDE, across)
    moved = source[:size].reshape(*shape, BFP16_BYTES).swapaxes(1, 2)
    target[:size] = moved.reshape(-1)


def _check_rows(a: Values, c: Values) -> None:
    """Refuse a c with more rows than a, which a call of another kernel of this name fills in parts."""
    if min(a.ndim, c.ndim) > 1 and a.shape[0] != c.shape[0]:
        allowed = "the same: functions of this name that fill c in parts are not in the library"
        raise CallError("the number of rows of a and c", f"{a.shape[0]} and {c.shape[0]}", allowed)


def _product(left: Floats, right: Floats, old: Floats) -> npt.NDArray[np.float32]:
    """``old + left @ right.T`` in blocks: float32[m/8 * n/8, 8, 8]."""
    sizes = (len(left), len(right), len(old))
    m = isqrt(sizes[0] * sizes[2] // sizes[1]) if min(sizes) else 0
    k, n = (sizes[0] // m, sizes[2] // m) if m else (0, 0)
    if not m or (m * k, k * n, m * n) != sizes:
        shown = ", ".join(map(str, sizes))
        raise CallError("the number of 8 x 8 blocks of a, b and c", shown, "those of m x k, k x n and m x n")
    blocks = (left.reshape(m, k, _SIDE, _SIDE), right.reshape(n, k, _SIDE, _SIDE))
    product = np.einsum("mkrs,nkts->mnrt", *blocks).reshape(-1, _SIDE, _SIDE)
    total: npt.NDArray[np.float32] = (old + product).astype(np.float32)
    return total


def _whole_blocks(values: Values, name: str) -> Floats:
    if values.size % _SIDE**2:
        raise CallError(f"the number of elements of {name}", str(values.size), f"a multiple of {_SIDE**2}")
    return floats(values).astype(np.float64).reshape(-1, _SIDE)


def _bytes(values: Values) -> Bytes:
    found: Bytes = values.reshape(-1).view(np.uint8)
    return found
