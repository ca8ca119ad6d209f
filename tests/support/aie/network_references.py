"""What the kernels of networks, cascades and block floats compute, by hand: plain NumPy, without memtile.

Each takes the arguments of the C++ function in order, the words of the cascade where the case names them,
and changes its outputs. ``plain_references.py`` has the elementwise ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from support.aie.plain_references import (
    Array,
    Function,
    down,
    first_row,
    grouped,
    rounded,
    weights_of,
    wide,
)

_PIXELS = 7  # that the kernels of a partial width compute
_LANES = 16  # of an accumulator that they put on the cascade
_POOLED = np.float32(49)  # pixels of the pooled picture


def half_even(values: Array, shift: int, dtype: npt.DTypeLike) -> Array:
    """Divided by ``2**shift``, halves to even, saturated to a type."""
    found = (values + (1 << (shift - 1)) - 1 + ((values >> shift) & 1)) >> shift
    limits = np.iinfo(np.dtype(dtype).name)
    return np.clip(found, limits.min, limits.max)


def _sums(a: Array, w: Array, width: int, inputs: int, outputs: int) -> Array:
    """A 1 x 1 convolution: int64[width, outputs]."""
    return first_row(a, width).astype(np.int64)[:, :inputs] @ weights_of(w, outputs, inputs).astype(np.int64)


def bottleneck_1x1(a: Array, w: Array, c: Array, width: int, inputs: int, outputs: int, shift: int) -> None:
    kind = np.int8 if c.dtype == np.int8 else np.uint8
    c[...] = grouped(half_even(_sums(a, w, width, inputs, outputs), shift, kind))


def bottleneck_padded(a: Array, w: Array, c: Array, *numbers: int) -> None:
    """Weights have room for more input channels than there are."""
    width, inputs, room, outputs, shift = numbers
    matrix = weights_of(w, outputs, room)[:inputs].astype(np.int64)
    c[...] = grouped(half_even(first_row(a, width).astype(np.int64) @ matrix, shift, np.uint8))


def bottleneck_skip(a: Array, w: Array, c: Array, skip: Array, *numbers: int) -> None:
    width, inputs, outputs, shift, skip_shift = numbers
    found = half_even(_sums(a, w, width, inputs, outputs), shift, np.int8) + first_row(skip, width)
    c[...] = grouped(half_even(found, skip_shift, np.int8))


def pooled_row(a: Array, w: Array, c: Array, width: int, inputs: int, outputs: int, shift: int) -> None:
    c[...] = half_even(_sums(a, w, width, inputs, outputs), shift, np.uint8).sum(0)


def pooled(a: Array, w: Array, c: Array, *numbers: int) -> None:
    """Sums of rows in 16 bits; the last row makes means of them, halves up."""
    width, inputs, outputs, shift, y = numbers
    total = half_even(_sums(a, w, width, inputs, outputs), shift, np.uint8).sum(0) + (wide(c) if y else 0)
    total = total.astype(np.uint16)
    if y == width - 1:
        total = (total.astype(np.float32) / _POOLED + np.float32(0.5)).astype(np.int64)
    c[...] = total


def pooled_part(*, padded: bool) -> Function:
    """As ``pooled`` for a part of the output channels; x.5 to even, by the first digit after the point."""

    def run(a: Array, w: Array, c: Array, *numbers: int) -> None:
        width, inputs, outputs, *numbers_left = numbers
        room = numbers_left.pop(0) if padded else outputs
        shift, y, split, part = numbers_left
        tile = outputs // split
        place = slice(tile * part, tile * part + tile)
        total = half_even(_sums(a, w[: inputs * tile], width, inputs, tile), shift, np.uint8).sum(0)
        total = total + (wide(c[place]) if y else 0)
        if y == width - 1:
            mean = total.astype(np.float32) / _POOLED
            whole = mean.astype(np.int64)
            is_half = (mean * np.float32(10)).astype(np.int64) % 10 == 5
            total = np.where(is_half, whole + whole % 2, (mean + np.float32(0.5)).astype(np.int64))
        c[place] = total
        c[outputs:room] = 0

    return run


def put_sums(a: Array, w: Array, *numbers: Any) -> None:
    """Sums of the first half of the input channels go to the cascade, 16 pixels at a time."""
    width, inputs, outputs, *_, cascade = numbers
    cascade[...] = _sums(a, w, width, inputs // 2, outputs).T.reshape(-1)


def _second_half(a: Array, w: Array, width: int, inputs: int, outputs: int, cascade: Array) -> Array:
    half = inputs // 2
    matrix = weights_of(w, outputs, half).astype(np.int64)
    return first_row(a, width)[:, half:].astype(np.int64) @ matrix + cascade.reshape(outputs, width).T


def get_sums(a: Array, w: Array, c: Array, *numbers: Any) -> None:
    width, inputs, outputs, shift, cascade = numbers
    c[...] = grouped(half_even(_second_half(a, w, width, inputs, outputs, cascade), shift, np.uint8))


def get_sums_beside_skip(a: Array, w: Array, c: Array, *numbers: Any) -> None:
    """The kernel has the skip as an argument and does not add it."""
    _, width, inputs, outputs, shift, _, cascade = numbers
    c[...] = grouped(rounded(_second_half(a, w, width, inputs, outputs, cascade), shift, np.int8))


def _partial(a: Array, w: Array, width: int, inputs: int, split: int, oc: int, start: int) -> Array:
    """Sums of seven pixels and eight output channels, of one part of the input channels."""
    part = inputs // split
    pixels = first_row(a, width)[:_PIXELS, start * part : (start + 1) * part].astype(np.int64)
    matrix = w.reshape(-1, part, 8)[oc].astype(np.int64)
    return pixels @ matrix


def put_pixels(a: Array, w: Array, *numbers: Any) -> None:
    width, inputs, _, split, _, _, oc, cascade = numbers
    lanes = np.zeros((_PIXELS, _LANES), np.int64)  # lanes that nothing sets are 0: DEV-INTRINSIC-4
    lanes[:, :8] = _partial(a, w, width, inputs, split, oc, 0)
    cascade[...] = lanes.reshape(-1)


def get_pixels(start: int) -> Function:
    """``start``: which part of the input channels is the kernel's own."""

    def run(a: Array, w: Array, c: Array, *numbers: Any) -> None:
        width, inputs, outputs, shift, split, output_split, index, _, oc, cascade = numbers
        sums = _partial(a, w, width, inputs, split, oc, start) + cascade.reshape(_PIXELS, _LANES)[:, :8]
        at = oc + outputs // (8 * output_split) * index
        c.reshape(-1, width, 8)[at, :_PIXELS] = half_even(sums, shift, np.uint8)

    return run


def get_pixels_with_skip(a: Array, w: Array, c: Array, skip: Array, *numbers: Any) -> None:
    """The sum is saturated to -128 from -128 on."""
    width, inputs, outputs, shift, skip_shift, split, output_split, index, _, oc, cascade = numbers
    sums = _partial(a, w, width, inputs, split, oc, 0) + cascade.reshape(_PIXELS, _LANES)[:, :8]
    at = oc + outputs // (8 * output_split) * index
    added = half_even(sums, shift, np.int8) + skip.reshape(-1, width, 8)[at, :_PIXELS]
    c.reshape(-1, width, 8)[at, :_PIXELS] = half_even(added, skip_shift, np.int8)


def _framed(line: Array, width: int) -> Array:
    found = first_row(line, width).astype(np.int64)
    return np.concatenate([np.zeros_like(found[:1]), found, np.zeros_like(found[:1])])


_IN_PICTURE = {0: (1, 2), 1: (0, 1, 2), 2: (0, 1)}  # lines beside the picture are 0


def _each_channel(lines: tuple[Array, ...], w: Array, numbers: tuple[int, ...], step: int) -> Array:
    """A 3 x 3 convolution of each channel alone: uint8[pixels, channels]."""
    width, _, channels, _, _, check, shift, _ = numbers
    weights = w.reshape(-1, 3, 3, 8).transpose(1, 2, 0, 3).reshape(3, 3, -1)[:, :, :channels].astype(np.int64)
    pixels = width // step
    sums = np.zeros((pixels, channels), np.int64)
    for y in _IN_PICTURE[check]:
        framed = _framed(lines[y], width)
        for x in range(3):
            sums += framed[x : x + pixels * step : step] * weights[y, x]
    return half_even(sums, shift, np.uint8)


def depthwise(step: int) -> Function:
    def run(above: Array, a: Array, below: Array, w: Array, c: Array, *numbers: int) -> None:
        c[...] = grouped(_each_channel((above, a, below), w, numbers, step))

    return run


def depthwise_split(above: Array, a: Array, below: Array, w: Array, *rest: Any) -> None:
    """The channels' two halves go to two outputs."""
    one, other, *numbers = rest
    found = _each_channel((above, a, below), w, tuple(numbers), 1)
    half = numbers[2] // 2
    one[...], other[...] = grouped(found[:, :half]), grouped(found[:, half:])


def strided_3x3(above: Array, a: Array, below: Array, w: Array, c: Array, *numbers: int) -> None:
    """Every second pixel, the first centred on pixel 0."""
    width, inputs, outputs, _, _, check, shift, offset = numbers
    tiles = w.reshape(-1, inputs // 8, 3, 3, 8, 8)[offset // 8 :][: outputs // 8].astype(np.int64)
    sums = np.zeros((width // 2, outputs), np.int64)
    for y in _IN_PICTURE[check]:
        framed = _framed((above, a, below)[y], width)
        for x in range(3):
            matrix = tiles[:, :, y, x].transpose(1, 2, 0, 3).reshape(inputs, outputs)
            sums += framed[x : x + width : 2] @ matrix
    c[...] = grouped(half_even(sums, shift, np.uint8))


def skip_with_convolution(a: Array, b: Array, w: Array, c: Array, skip: Array, *numbers: int) -> None:
    width, inputs, outputs, skips, shift, skip_shift, own_shift = numbers
    both = np.concatenate([first_row(a, width), first_row(b, width)], 1).astype(np.int64)
    sums = both @ weights_of(w[: inputs * outputs], outputs, inputs).astype(np.int64)
    beside = _sums(skip, w[inputs * outputs :], width, skips, outputs)
    added = rounded(sums, shift, np.int8).astype(np.int64) + rounded(beside, own_shift, np.int8)
    c[...] = grouped(rounded(added, skip_shift, np.uint8))


def nothing(*_: Any) -> None:
    """A function whose body is a comment."""


def patches(*, away: bool) -> Function:
    """14 x 14 pixels of four bytes each to 16 channels, 16 patches."""

    def run(a: Array, w: Array, c: Array, *numbers: int) -> None:
        width, _, outputs, side, shift = numbers
        pixels, tiles = side * side // 2, width // side // 8
        values = a.reshape(tiles, pixels, 8, 2, 4).transpose(0, 2, 1, 3, 4).reshape(tiles * 8, -1)
        weights = w.reshape(outputs // 8, pixels * 2 * 4, 8)
        sums = values.astype(np.int64) @ weights.astype(np.int64)  # outputs / 8, patches, 8
        c[...] = rounded(sums, shift, np.int8, away=away).reshape(-1)

    return run


def _hues(a: Array) -> tuple[Array, ...]:
    r, g, b = a.reshape(-1, 4)[:, :3].astype(np.int64).T
    return r, g, b, np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)


def hue(a: Array, c: Array, *_: int) -> None:
    """The scalar function: red comes first, quotients towards 0."""
    r, g, b, most, least = _hues(a)
    apart = np.maximum(most - least, 1)

    def part(numbers: Array, start: int) -> Array:
        return start + np.sign(numbers) * (np.abs(85 * numbers) // apart)

    found = np.where(most == r, part(g - b, 0), np.where(most == g, part(b - r, 170), part(r - g, 340)))
    c[...] = np.where(most == least, 0, (found + 1) >> 1).astype(np.uint8)


def hue_by_inverses(inverses: Array) -> Function:
    """The vectorized function: green comes first, products with 85 / n in 512ths."""

    def run(a: Array, c: Array, *_: int) -> None:
        r, g, b, most, least = _hues(a)
        factor = inverses[most - least]
        found = np.where(
            most == g,
            (171 << 9) + (b - r) * factor,
            np.where(most == r, (1 << 9) + (g - b) * factor, (341 << 9) + (r - g) * factor),
        )
        c[...] = np.where(most == least, 0, found >> 10).astype(np.uint8)

    return run


def tiled_matmul(m: int, k: int, n: int, r: int, s: int, t: int, *, put: bool, get: bool) -> Function:
    """``c += a @ b`` in blocks; sums come from lane 0 of the cascade's values, or go there."""

    def run(a: Array, b: Array, c: Array, *cascade: Array) -> None:
        left, right = a.reshape(k, m, r, s).astype(np.int64), b.reshape(n, k, s, t).astype(np.int64)
        total = c.reshape(n, m, r, t) + np.einsum("kmab,nkbc->nmac", left, right)
        if get:
            total = total + cascade[0].reshape(m, n, r, t, -1)[..., 0].transpose(1, 0, 2, 3)
        c[...] = total.astype(c.dtype).reshape(-1)
        if put:
            lanes = np.zeros((m, n, r, t, 32), np.int32)
            lanes[..., 0] = c.reshape(n, m, r, t).transpose(1, 0, 2, 3)
            cascade[-1][...] = lanes.reshape(-1)

    return run


def cascaded_matmul(m: int, k: int, n: int, *, put: bool, get: bool) -> Function:
    """Sums in the type of c, one product after another; lane 0 of 16 takes them on, cut to integers."""

    def stored(values: Array, c: Array) -> Array:
        return values.astype(c.dtype) if c.dtype != down(0).dtype else down(values)

    def run(a: Array, b: Array, c: Array, *cascade: Array) -> None:
        left, right = wide(a).reshape(m, k), wide(b).reshape(k, n)
        total = np.zeros((m, n), c.dtype)
        for at in range(k):
            total = stored(wide(total) + left[:, at, None] * right[at], c)
        if get:
            total = stored(wide(total) + cascade[0].reshape(m, n, _LANES)[..., 0].astype(wide(c).dtype), c)
        if put:
            lanes = np.zeros((m, n, _LANES), np.int32)
            if get:
                lanes[...] = cascade[0].reshape(lanes.shape)
            lanes[..., 0] = wide(total)
            cascade[-1][...] = lanes.reshape(-1)
        else:
            c[...] = stored(wide(c) + wide(total).reshape(-1), c)

    return run


def unpacked(values: Array) -> Array:
    """The numbers of bfp16 blocks, an exponent and eight bytes in 64ths: float64[blocks, 8]."""
    rows = values.view(np.uint8).reshape(-1, 9)
    return rows[:, 1:].view(np.int8) * 2.0 ** (rows[:, :1].astype(np.float64) - 127 - 6)


def packed(numbers: Array) -> Array:
    """bfp16 blocks of float[..., 8], rounded down to 64ths of the largest's power of two (DEV-KERNEL-6)."""
    rows = np.asarray(numbers, np.float64).reshape(-1, 8)
    found = np.zeros((len(rows), 9), np.uint8)
    _, power = np.frexp(np.abs(rows).max(1))  # of a half and more: one above that of the largest
    exponent = np.clip(power - 1 + 127, 0, 254)
    scaled = np.clip(np.floor(np.ldexp(rows, (127 + 6 - exponent)[:, None])), -128, 127)
    found[:, 0], found[:, 1:] = exponent, scaled.astype(np.int8).view(np.uint8)
    return np.where(rows.any(1)[:, None], found, 0).astype(np.uint8).reshape(-1)


def _product(left: Array, right: Array, old: Array, m: int, k: int, n: int) -> Array:
    """``old + left @ right`` of blocks, right transposed: float32[m / 8, n / 8, 8, 8]; all sums are exact."""
    a = left.reshape(m // 8, k // 8, 8, 8).swapaxes(1, 2).reshape(m, k)
    b = right.reshape(n // 8, k // 8, 8, 8).swapaxes(1, 2).reshape(n, k)
    sums = (a @ b.T).reshape(m // 8, 8, n // 8, 8).swapaxes(1, 2)
    return (old.reshape(m // 8, n // 8, 8, 8) + sums).astype(np.float32)


def matmul_bfp(m: int, k: int, n: int, *, adds: bool = True) -> Function:
    """``c (+)= a @ b``, b transposed, all bfp16 in blocks of 8 x 8."""

    def run(a: Array, b: Array, c: Array) -> None:
        old = unpacked(c) if adds else np.zeros(m * n)
        c[...] = packed(_product(unpacked(a), unpacked(b), old, m, k, n))

    return run


def matmul_bfp_in_pairs(m: int, k: int, n: int, calls: int) -> Function:
    """As ``matmul_bfp``: pairs of rows of blocks of a and of columns of b lie beside each other, four blocks
    of c likewise, and c has a part for each of ``calls`` calls, in turns.
    """
    state = {"call": 0}

    def run(a: Array, b: Array, c: Array) -> None:
        part = c.reshape(calls, -1)[state["call"] % calls]
        state["call"] += 1
        left, right = (unpacked(each).reshape(-1, k // 8, 2, 64).swapaxes(1, 2) for each in (a, b))
        old = unpacked(part).reshape(m // 16, n // 16, 2, 2, 64).swapaxes(1, 2)
        found = _product(left, right, old, m, k, n).reshape(m // 16, 2, n // 16, 2, 64).swapaxes(1, 2)
        part[...] = packed(found)

    return run


def matmul_mixed(m: int, k: int, n: int, calls: int = 1, pair: int = 1) -> Function:
    """As ``matmul_bfp`` with a and c in bfloat16; c has a part for each of ``calls`` calls, in turns, and b's
    blocks of ``pair`` columns lie beside each other.
    """
    state = {"call": 0}

    def run(a: Array, b: Array, c: Array) -> None:
        part = c.reshape(calls, m * n)[state["call"] % calls]
        state["call"] += 1
        left = unpacked(packed(a.astype(np.float64)))
        right = unpacked(b).reshape(-1, k // 8, pair, 64).swapaxes(1, 2)
        part[...] = down(_product(left, right, part.astype(np.float64), m, k, n)).reshape(-1)

    return run


def matmul_bfp_staged(m: int, k: int, n: int, parts: int, calls: int) -> Function:
    """As ``matmul_bfp_in_pairs`` with sums in bfloat16: those of the first half of the parts lie in c, the
    others in a buffer of the kernel's own; after ``calls`` calls all become bfp16, in c.
    """
    state, half = {"call": 0}, parts // 2
    staged = np.zeros((half, m * n), down(0).dtype)

    def run(a: Array, b: Array, c: Array) -> None:
        part = state["call"] % parts
        numbers = c.view(staged.dtype)
        place = staged[part - half] if part >= half else numbers[part * m * n : (part + 1) * m * n]
        left, right = (unpacked(each).reshape(-1, k // 8, 2, 64).swapaxes(1, 2) for each in (a, b))
        total = place.astype(np.float64).reshape(m // 16, n // 16, 2, 2, 64).swapaxes(1, 2)
        for at in range(k // 8):  # each product of blocks is added and rounded: DEV-AIEAPI-1
            total = _product(left[:, :, at], right[:, :, at], total, m, 8, n)
        found = total.reshape(m // 16, 2, n // 16, 2, 64).swapaxes(1, 2)
        place[...] = down(found).reshape(-1)
        if state["call"] % calls == calls - 1:
            sums = np.concatenate([numbers[: half * m * n], staged.reshape(-1)])
            c[...] = packed(sums.astype(np.float64)).view(c.dtype)
        state["call"] += 1

    return run


def zero_first(count: int) -> Function:
    """The first elements become 0."""

    def run(c: Array) -> None:
        c[:count] = 0

    return run


def to_bfp(a: Array, b: Array, one: Array, other: Array) -> None:
    """Rows of the first matrix, columns of the second."""
    one[...] = packed(a.astype(np.float64))
    other[...] = packed(b.astype(np.float64).reshape(8, 8).T)


def shuffled(a: Array, c: Array, width: int, height: int, back: int) -> None:
    shape = (height // 8, width // 8, 8, 9) if back else (height // 8, 8, width // 8, 9)
    c[...] = a.reshape(shape).swapaxes(1, 2).reshape(-1)


def gathered(a: Array, c: Array, table: Array, first: int, offset: int) -> None:
    """Rows of eight of a table, by every fourth index."""
    rows = (a[first::4][: len(c) // 8].astype(np.int64) << 3) | offset
    c[...] = table.reshape(-1, 8)[rows].reshape(-1)
