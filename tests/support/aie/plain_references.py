"""What public C++ kernels compute, by hand: plain NumPy on whole arrays, without memtile.

Each takes the arguments of the C++ function and changes its output arrays. bfloat16 numbers are rounded
down, the mode of a core after reset, unless a kernel sets another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Function = Callable[..., None]
BF16 = np.dtype(ml_dtypes.bfloat16)


def down(values: npt.ArrayLike) -> Array:
    """The bfloat16 numbers at or below float32 ones."""
    given = np.asarray(values, np.float32)
    bits = given.view(np.uint32)
    cut = (bits >> 16).astype(np.uint16)
    lower = (bits & 0xFFFF != 0) & (bits >> 31 == 1)
    words = np.where(np.isnan(given), cut | 0x40, cut + lower)
    return words.astype(np.uint16).view(BF16)


def even(values: npt.ArrayLike) -> Array:
    """The nearest bfloat16 numbers, halves to even."""
    return np.asarray(values, np.float32).astype(BF16)


def _stored(values: Array, target: Array) -> Array:
    """Floats in the type of the target; integers as their lowest bits."""
    return down(values) if target.dtype == BF16 else values.astype(target.dtype)


def wide(values: Array) -> Array:
    """Numbers in a type that holds sums of their products."""
    return values.astype(np.float32 if values.dtype.kind not in "iu" else np.int64)


def copy(a: Array, c: Array, *_: int) -> None:
    c[...] = a


def zero(c: Array) -> None:
    c[...] = 0


def add(a: Array, b: Array, c: Array, *_: int) -> None:
    c[...] = _stored(wide(a) + wide(b), c)


def multiply(a: Array, b: Array, c: Array, *_: int) -> None:
    c[...] = _stored(wide(a) * wide(b), c)


def multiply_or_add(a: Array, b: Array, c: Array, is_product: int) -> None:
    (multiply if is_product else add)(a, b, c)


def scale(a: Array, c: Array, factor: Array, *_: int) -> None:
    c[...] = (wide(a) * int(factor[0].astype(c.dtype))).astype(c.dtype)


def add_one(a: Array, c: Array, *_: int) -> None:
    c[...] = wide(a) + 1


def scaled_by(number: int) -> Function:
    def run(a: Array, c: Array, *_: int) -> None:
        c[...] = wide(a) * number

    return run


def saxpy(a: Array, b: Array, c: Array) -> None:
    c[...] = down(np.float32(3) * a.astype(np.float32) + b.astype(np.float32))


def bias_rows(a: Array, b: Array, c: Array) -> None:
    c[...] = (a.reshape(-1, len(b)) + b).reshape(-1)


def total(a: Array, c: Array, *_: int) -> None:
    c[0] = a.astype(np.int64).sum().astype(c.dtype)


def largest(a: Array, c: Array, *_: int) -> None:
    c[0] = wide(a).max()


def smallest(a: Array, c: Array, *_: int) -> None:
    c[0] = wide(a).min()


def larger(a: Array, b: Array, c: Array) -> None:
    c[0] = a[0] if wide(a)[0] > wide(b)[0] else b[0]


def maximum(a: Array, b: Array, c: Array) -> None:
    c[...] = np.where(wide(a) > wide(b), a, b)


def minimum(a: Array, b: Array, c: Array) -> None:
    c[...] = np.where(wide(a) < wide(b), a, b)


def relu(a: Array, c: Array) -> None:
    c[...] = np.where(a.astype(np.float32) > 0, a, np.zeros((), a.dtype))


def added_up(a: Array, c: Array) -> None:
    c[...] = (wide(c) + wide(a)).astype(c.dtype)


def bit_and(a: Array, b: Array, c: Array, *_: int) -> None:
    c[...] = a & b


def bit_or(a: Array, b: Array, c: Array, *_: int) -> None:
    c[...] = a | b


def weighted(a: Array, b: Array, c: Array, *numbers: int) -> None:
    alpha, beta, gamma = numbers[-3:]
    # The accumulator has 32 bits; gamma is not shifted up.
    acc = (a.astype(np.int64) * alpha + b.astype(np.int64) * beta + gamma).astype(np.int32).astype(np.int64)
    c[...] = np.clip(acc >> 14, np.iinfo(c.dtype).min, np.iinfo(c.dtype).max)


def threshold(a: Array, c: Array, *numbers: int) -> None:
    """Tile and line: sizes, threshold, largest, kind."""
    limit, top, kind = numbers[-3:]
    _threshold(a, c, limit, top, kind)


def threshold_binary(a: Array, c: Array, limit: int, top: int, *_: int) -> None:
    _threshold(a, c, np.array(limit).astype(c.dtype), np.array(top).astype(c.dtype), 0)


def threshold_channels(a: Array, c: Array, *numbers: int) -> None:
    limits, tops, kind = numbers[1:5], numbers[5:9], numbers[9]
    for channel in range(4):
        found = np.empty_like(c[channel::4])
        _threshold(a[channel::4], found, limits[channel], tops[channel], kind)
        c[channel::4] = found


def _threshold(a: Array, c: Array, limit: Any, top: Any, kind: int) -> None:
    above = a > limit
    nothing = np.zeros_like(a)
    c[...] = {
        0: lambda: np.where(above, top, nothing),
        1: lambda: np.where(above, nothing, top),
        2: lambda: np.minimum(a, limit),
        3: lambda: np.where(above, a, nothing),
        4: lambda: np.where(above, nothing, a),
    }[kind]()


def gray(a: Array, c: Array, *_: int) -> None:
    weights = np.array([round(part * 32768) for part in (0.299, 0.587, 0.114)], np.int64)
    c[...] = (a.reshape(-1, 4)[:, :3] @ weights + 16384) >> 15


def rgba(a: Array, c: Array, *_: int) -> None:
    c.reshape(-1, 4)[:, :3] = a[:, None]
    c.reshape(-1, 4)[:, 3] = 255


def filtered(above: Array, a: Array, below: Array, c: Array, width: int, weights: Array) -> None:
    """Left of the third block of 32 pixels and later ones the kernel has the pixel two before."""
    kernel = (weights.reshape(3, 3) >> 8).astype(np.int8).astype(np.int64)  # the upper byte of each
    acc = np.zeros(width, np.int64)
    for line, (left, middle, right) in zip((above, a, below), kernel, strict=True):
        x = line.astype(np.int64)
        before = np.concatenate([x[:1], x[:-1]])
        before[64::32] = x[62:-2:32]
        acc += left * before + middle * x + right * np.concatenate([x[1:], x[-1:]])
    c[...] = np.clip(acc >> 4, 0, 255)


def blocks(values: Array, rows: int, columns: int, r: int, s: int) -> Array:
    """A matrix that lies in blocks of r x s, row-major in and among blocks."""
    return values.reshape(rows // r, columns // s, r, s).transpose(0, 2, 1, 3).reshape(rows, columns)


def unblocks(matrix: Array, r: int, s: int) -> Array:
    rows, columns = matrix.shape
    return matrix.reshape(rows // r, r, columns // s, s).transpose(0, 2, 1, 3).reshape(-1)


def matmul(m: int, k: int, n: int, r: int = 1, s: int = 0, t: int = 0, *, columns: str = "") -> Function:
    """``c += a @ b``; blocks of r x s, s x t and r x t, or plain matrices; ``columns``: those transposed."""
    s, t = s or k, t or n

    def run(a: Array, b: Array, c: Array) -> None:
        left = blocks(a, m, k, r, s)
        right = blocks(b, n, k, t, s).T if "b" in columns else blocks(b, k, n, s, t)
        start = blocks(c, n, m, t, r).T if "c" in columns else blocks(c, m, n, r, t)
        # float64 has the sums of these products as they are; of 32-bit numbers it would not
        exact = start.astype(np.float64) + left.astype(np.float64) @ right.astype(np.float64)
        found = exact.astype(np.int64 if c.dtype.kind in "iu" else np.float32)
        c[...] = _stored(unblocks(found.T, t, r) if "c" in columns else unblocks(found, r, t), c)

    return run


def matmul_in_steps(m: int, k: int, n: int, *, columns: bool = False) -> Function:
    """``c += a @ b`` of plain matrices, one product after another, each sum in the type of c."""

    def run(a: Array, b: Array, c: Array) -> None:
        left = wide(a).reshape(m, k)
        right = wide(b).reshape(n, k).T if columns else wide(b).reshape(k, n)
        total = np.zeros((m, n), c.dtype)
        for at in range(k):
            total = _stored(wide(total) + left[:, at, None] * right[at], c)
        c[...] = _stored(wide(c) + wide(total.T if columns else total).reshape(-1), c)

    return run


def matvec(m: int, k: int, *, pairs: bool) -> Function:
    """``c += a @ b``; a plain, or in pairs: element (row, column) at ``(column // 2 * m + row) * 2``."""

    def run(a: Array, b: Array, c: Array) -> None:
        matrix = a.reshape(k // 2, m, 2).transpose(1, 0, 2).reshape(m, k) if pairs else a.reshape(m, k)
        if c.dtype.kind in "iu":
            c[...] += (matrix.astype(np.int64) @ b.astype(np.int64)).astype(c.dtype)
        else:
            c[...] = (c + matrix.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)

    return run


def joined(a: Array, b: Array, c: Array, *_: int) -> None:
    c[...] = np.concatenate([a, b])[: len(c)]


def transposed(rows: int, columns: int, side: int = 0) -> Function:
    """A matrix, or each of its tiles of ``side``, where it is."""

    def run(a: Array, c: Array) -> None:
        if side:
            tiles = a.reshape(rows // side, side, columns // side, side)
            c[...] = tiles.transpose(0, 3, 2, 1).reshape(-1)
        else:
            c[...] = a.reshape(rows, columns).T.reshape(-1)

    return run


def first_row(values: Array, width: int) -> Array:
    """A line of groups of eight channels as pixels x channels."""
    return values.reshape(-1, width, 8).transpose(1, 0, 2).reshape(width, -1)


def grouped(pixels: Array) -> Array:
    """Pixels x channels as a line of groups of eight channels."""
    return pixels.reshape(len(pixels), -1, 8).transpose(1, 0, 2).reshape(-1)


def weights_of(values: Array, outputs: int, inputs: int) -> Array:
    """Weights of a 1 x 1 convolution, inputs x outputs, from blocks of 8 x 8."""
    return values.reshape(outputs // 8, inputs // 8, 8, 8).transpose(1, 2, 0, 3).reshape(inputs, outputs)


def rounded(values: Array, shift: int, dtype: npt.DTypeLike, *, away: bool = False) -> Array:
    """Divided by ``2**shift``, halves up or away from zero, saturated: as convolutions set their core."""
    half = 1 << (shift - 1)
    found = np.where((values >= 0) | (not away), (values + half) >> shift, -((-values + half) >> shift))
    limits = np.iinfo(np.dtype(dtype).name)
    return np.clip(found, limits.min, limits.max).astype(dtype)


def convolved_1x1(a: Array, w: Array, c: Array, width: int, inputs: int, outputs: int, shift: int) -> None:
    sums = first_row(a, width).astype(np.int64) @ weights_of(w, outputs, inputs).astype(np.int64)
    c[...] = grouped(rounded(sums, shift, c.dtype, away=c.dtype == np.int8))


def convolved_skip(
    a: Array, b: Array, w: Array, c: Array, skip: Array, width: int, inputs: int, outputs: int, *shifts: int
) -> None:  # fmt: skip
    shift, skip_shift = shifts
    both = np.concatenate([first_row(a, width), first_row(b, width)], 1).astype(np.int64)
    sums = both @ weights_of(w, outputs, inputs).astype(np.int64)
    added = rounded(sums, shift, np.int8).astype(np.int64) + first_row(skip, width)
    c[...] = grouped(rounded(added, skip_shift, c.dtype))


def convolved_3x3(
    above: Array, a: Array, below: Array, w: Array, c: Array,
    width: int, inputs: int, outputs: int, *numbers: int,
) -> None:  # fmt: skip
    """Numbers: width and height of the kernel, which lines are in the image, shift, offset of the channels.

    Lines beside the image are 0: 0 has none above, 2 none below.
    """
    check, shift, channel_offset = numbers[2:]
    lines = [first_row(each, width).astype(np.int64) for each in (above, a, below)]
    used = {0: (1, 2), 1: (0, 1, 2), 2: (0, 1)}[check]
    tiles = w.reshape(-1, inputs // 8, 3, 3, 8, 8)[channel_offset // 8 :][: outputs // 8].astype(np.int64)
    sums = np.zeros((width, outputs), np.int64)
    for y in used:
        padded = np.concatenate([np.zeros_like(lines[y][:1]), lines[y], np.zeros_like(lines[y][:1])])
        for x in range(3):
            matrix = tiles[:, :, y, x].transpose(1, 2, 0, 3).reshape(inputs, outputs)
            sums += padded[x : x + width] @ matrix
    c[...] = grouped(rounded(sums, shift, c.dtype))


def exp(a: Array, c: Array, *_: int) -> None:
    with np.errstate(over="ignore"):
        c[...] = np.exp(a.astype(np.float64)).astype(BF16)


def gelu(a: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64)
    c[...] = (0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))).astype(c.dtype)


def silu(a: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64)
    c[...] = (x / (1 + np.exp(-x))).astype(c.dtype)


def swiglu(a: Array, v: Array, w: Array, c: Array) -> None:
    x = a.astype(np.float64) * w.astype(np.float64)
    c[...] = (a.astype(np.float64) * v.astype(np.float64) * x / (1 + np.exp(-x))).astype(BF16)


def softmax(a: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64)
    powers = np.exp(x - x.max())
    c[...] = (powers / powers.sum()).astype(BF16)


def rms_norm(a: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64)
    c[...] = (x / np.sqrt(np.mean(x * x) + 1e-5)).astype(c.dtype)


def layer_norm(a: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64)
    c[...] = ((x - x.mean()) / np.sqrt(x.var() + 1e-5)).astype(c.dtype)


def rope(a: Array, b: Array, c: Array, *_: int) -> None:
    x = a.astype(np.float64).reshape(-1, 2)
    turn = b.astype(np.float64).reshape(-1, 2)
    pairs = [x[:, 0] * turn[:, 0] - x[:, 1] * turn[:, 1], x[:, 0] * turn[:, 1] + x[:, 1] * turn[:, 0]]
    c[...] = np.stack(pairs, 1).reshape(-1).astype(BF16)


def epilogue(a: Array, c: Array, *numbers: int) -> None:
    {1: silu, 2: gelu, 3: lambda x, y: np.copyto(y, np.maximum(x, 0))}.get(numbers[1], copy)(a, c)
