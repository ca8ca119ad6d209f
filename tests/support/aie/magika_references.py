"""What the kernels of mlir-aie's magika example compute, by hand: norms, products and a softmax by tables.

Its arrays are bfloat16 numbers as their bits. Products and the sum that they are added to become float32 once
(DEV-INTRINSIC-1), float32 becomes bfloat16 with halves away from 0, the mode that these kernels set.
"""

from __future__ import annotations

import numpy as np

from support.aie.plain_references import BF16, Array, even

_LENGTH = 512  # of a row that is normalised
_PART = np.float64(-1 / _LENGTH)
_LEAST = np.float64(np.float32(-9.999999974752427e-7))  # added to a variance, as the kernel spells it
_EXPONENTS = 190 << 8  # twice the bits of the exponent that is mirrored for an inverse root
_TABLE = 512  # numbers of a table of 256 that is doubled


def away(values: Array) -> Array:
    """The bits of the nearest bfloat16 numbers, halves away from 0."""
    return ((np.asarray(values, np.float32).view(np.uint32) + np.uint32(0x8000)) >> 16).astype(np.uint16)


def _summed(*products: Array) -> Array:
    """The float32 sum of products, from +0 on: two times -0 are 0."""
    return sum(products, np.float64(0)).astype(np.float32)


def numbers(bits: Array) -> Array:
    """float64 of bfloat16 bits."""
    return np.ascontiguousarray(bits).view(BF16).astype(np.float64)


def looked_up(first: Array, second: Array, index: Array) -> Array:
    """Entries of tables that lie in pieces of eight, each twice; lanes take turns at the four copies."""
    lane = np.arange(index.size) % 16
    place = (2 * (index // 8) + lane % 2) * 8 + index % 8
    return np.where(lane // 2 % 2, second[place], first[place])


def _inverse_root(variance: Array, table: Array) -> Array:
    """Bits of a number by a table of the lower byte, and the mirrored exponent."""
    exponent = ((_EXPONENTS - (variance.astype(np.int64) & 0x7F00)) >> 1).astype(np.uint16)
    return away(_summed(numbers(table) * numbers(exponent)))


def _sums(rows: Array) -> tuple[Array, Array]:
    """Of rows of 32 numbers, lane by lane: -1/512 of the sum, and the sum of squares, in float32."""
    sums = squares = np.zeros(16, np.float32)
    for row in rows:
        low, high = row[:16], row[16:]
        sums = (sums.astype(np.float64) + low * _PART + high * _PART).astype(np.float32)
        squares = (squares.astype(np.float64) + low * low + high * high).astype(np.float32)
    return sums, squares


def normed(x: Array, c: Array, first: Array, second: Array) -> None:
    """512 rows of 8 channels. ``first`` has a table, factors and room, ``second`` the table's other copy and
    what is added.
    """
    sums, squares = (each[:8] + each[8:] for each in _sums(numbers(x).reshape(-1, 32)))
    mean, square = away(sums), away(squares)
    variance = away(_summed(numbers(mean) ** 2, numbers(square) * _PART, _LEAST))
    table = looked_up(first[:_TABLE], second[:_TABLE], variance.astype(np.int64) & 0xFF)
    scale = numbers(_inverse_root(variance, table))
    centred = _summed(numbers(x).reshape(-1, 8) * scale, numbers(mean) * scale)
    size = x.size
    room = first[_TABLE + size : _TABLE + 2 * size]
    room[...] = away(centred).reshape(-1)
    factors, added = (numbers(each[_TABLE : _TABLE + size]) for each in (first, second))
    c[...] = away(_summed(numbers(room) * factors, added))


def _norm(x: Array, table: Array) -> Array:
    """Bits of one row of 512, normalised."""
    halves = [numbers(away(each)) for each in _sums(numbers(x).reshape(-1, 32))]
    mean, square = (away(_of_two_halves(each)) for each in halves)
    variance = away(_summed(numbers(mean) ** 2, numbers(square) * _PART, _LEAST))
    scale = numbers(_inverse_root(variance, table[variance.astype(np.int64) & 0xFF]))
    return away(_summed(numbers(x) * scale, numbers(mean) * scale))


def _of_two_halves(sixteen: Array) -> Array:
    """The sum of 16 numbers by two products of matrices, float32 after each."""
    half = sixteen[:8].sum().astype(np.float32)
    return (half.astype(np.float64) + sixteen[8:].sum()).astype(np.float32).reshape(1)


def _product(x: Array, low: Array, high: Array, bias: Array) -> Array:
    """Bits of ``x @ w + bias``; blocks of 8 x 4 of w have four rows in each of two arrays, and two lie beside
    each other.
    """
    halves = [numbers(each).reshape(-1, _LENGTH // 8, 2, 4, 4) for each in (low, high)]
    blocks = np.concatenate(halves, axis=3)  # outputs / 8, inputs / 8, 2, 8, 4
    total = numbers(bias).astype(np.float32).reshape(-1, 2, 4)
    for at, eight in enumerate(numbers(x).reshape(-1, 8)):
        total = (total.astype(np.float64) + eight @ blocks[:, at]).astype(np.float32)
    return away(total).reshape(-1)


def _exponentials(x: Array, first: Array, second: Array) -> Array:
    """Bits of exp(x - largest) by a table, at eighths of the bits of the difference."""
    largest = numbers(x).max()
    bits = away((largest - numbers(x)).astype(np.float32)).view(np.int16).astype(np.int64) - 127 * 128
    eighths = np.clip(np.sign(bits) * ((np.abs(bits) + 4) >> 3), -128, 127)
    return looked_up(first, second, eighths & 0xFF)


def softmax(x: Array, first: Array, second: Array, inverses: Array) -> tuple[Array, Array]:
    """Bits of the powers of 224 numbers, and their parts of the sum in float32."""
    x[214:] = even(np.float32(-1e25)).view(np.uint16)
    powers = _exponentials(x, first, second)
    total = np.zeros(16, np.float32)
    for each in numbers(powers).reshape(-1, 16):
        total = (total + each).astype(np.float32)
    whole = away(_of_two_halves(numbers(away(total))))
    exponent = (254 * 128 - (whole.astype(np.int64) & 0x7F80)).astype(np.uint16)
    scale = away(_summed(numbers(inverses[whole & 0x7F]) * numbers(exponent)))
    return powers, _summed(numbers(powers) * numbers(scale))


def classified(x: Array, a: Array, b: Array, c: Array, d: Array, words: Array) -> None:
    """12 of each 16 numbers, normalised, times a matrix, as a softmax of 214 that goes to the stream.

    d has room for steps, a fourth part of the matrix, and tables.
    """
    ends = np.cumsum([1024, 8192, 512, 128, 256, 224, 1024, 8192, 512])
    room, low, first, inverses, roots, bias, other, high, second = np.split(d, ends[:-1])
    other[:_LENGTH] = x.reshape(-1, 16)[:, :12].reshape(-1)[:_LENGTH]
    room[:_LENGTH] = _norm(other[:_LENGTH], roots)
    row, at = room[:_LENGTH], 0
    for weights in (a, b, c, np.concatenate([low, high])):
        half = weights.size // 2
        count = half // (_LENGTH // 2)
        place = slice(at, at + count)
        other[place] = _product(row, weights[:half], weights[half:], bias[place])
        at += count
    room[:224], parts = softmax(other[:224], first, second, inverses)
    other[:448] = parts.view(np.uint16)
    words[...] = parts[:214]
