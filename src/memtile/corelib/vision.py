"""Lines and tiles of pictures, as in mlir-aie's vision kernels (``aie_kernels/aie2``).

Pixels of 8 bits are unsigned, of 16 and 32 bits signed. A line is ``width`` pixels, a tile ``height`` times
``width``. What AMD's vectorized functions do counts where it differs from their scalar ones: sums are shifted
right and rounded by the mode of the core, down after reset (DEV-KERNEL-5).
"""

from __future__ import annotations

from math import prod

import numpy as np

from memtile.arch.tiles import Generation
from memtile.corelib.name_types import Values, pixels
from memtile.corelib.registry import CallError, answers, first, same_size
from memtile.corelib.rounding import Modes

_WEIGHT_BITS, _GRAY_BITS, _FILTER_BITS = 14, 15, 12
_COEFFICIENT_BITS = 8  # that filter2d drops from its coefficients
_FILTER_BLOCK = 32  # pixels that filter2d does at once
_GRAY = tuple(round(share * (1 << _GRAY_BITS)) for share in (0.299, 0.587, 0.114))  # ITU-R BT.470
_SIXTH, _HUE_BITS = 85, 9  # of a circle of 510; hue is half of it
_CHANNELS = 4
_BINARY, _BINARY_INVERSE, _TRUNCATE, _TO_ZERO, _TO_ZERO_INVERSE = range(5)


@answers("thresholdLine", "thresholdTile")
def threshold(a: Values, c: Values, *numbers: int) -> None:
    """(a, c, width, threshold, largest, kind), a tile has height before width. Pixels above the threshold
    become by kind: 0 the largest, others 0; 1 the reverse; 2 the threshold; 3 themselves, others 0; 4 the
    reverse. Another kind is as 2. Threshold and largest are taken in the type of the pixels.

    Source: mlir-aie ``threshold.cc``.
    """
    sizes, (limit, largest, kind) = _split(numbers, 3)
    source, target = _pixels({"a": a, "c": c}, prod(sizes))
    _threshold(source, target, limit, largest, kind)


@answers("threshold")
def threshold_of(a: Values, c: Values, limit: int, largest: int, width: int, height: int) -> None:
    """As ``thresholdTile`` of kind 0. Source: mlir-aie ``threshold.cc``."""
    source, target = _pixels({"a": a, "c": c}, width * height)
    _threshold(source, target, limit, largest, _BINARY)


@answers("threshold4ChLine")
def threshold_of_channels(a: Values, c: Values, count: int, *numbers: int) -> None:
    """(a, c, width, four thresholds, four largest, kind): as ``thresholdLine``, every fourth pixel its own.

    Pixels are bytes, whatever the design declares: Riallto's are i32. Source: mlir-aie ``threshold.cc``.
    """
    if len(numbers) != 2 * _CHANNELS + 1:
        raise CallError("the number of arguments", str(3 + len(numbers)), "12")
    source, target = _pixels({"a": a.reshape(-1).view(np.uint8), "c": c.reshape(-1).view(np.uint8)}, count)
    for channel in range(_CHANNELS):
        limit, largest = numbers[channel], numbers[_CHANNELS + channel]
        _threshold(source[channel::_CHANNELS], target[channel::_CHANNELS], limit, largest, numbers[-1])


def _threshold(source: Values, target: Values, limit: int, largest: int, kind: int) -> None:
    edge, top = (np.asarray([number]).astype(source.dtype) for number in (limit, largest))
    zero = np.zeros(1, source.dtype)
    above = source > edge
    if kind == _BINARY:
        target[...] = np.where(above, top, zero)
    elif kind == _BINARY_INVERSE:
        target[...] = np.where(above, zero, top)
    elif kind == _TO_ZERO:
        target[...] = np.where(above, source, zero)
    elif kind == _TO_ZERO_INVERSE:
        target[...] = np.where(above, zero, source)
    else:
        target[...] = np.minimum(source, edge)


@answers("bitwiseANDLine", "bitwiseANDTile")
def bitwise_and(a: Values, b: Values, c: Values, *sizes: int) -> None:
    """``c = a & b`` for the first elements, as many as the product of ``sizes``. Source:
    ``bitwiseAND.cc``.
    """
    x, y, target = same_size({"a": a, "b": b, "c": c}, prod(_split(sizes, 0)[0]))
    target[...] = x & y


@answers("bitwiseORLine", "bitwiseORTile")
def bitwise_or(a: Values, b: Values, c: Values, *sizes: int) -> None:
    """``c = a | b`` for the first elements, as many as the product of ``sizes``. Source: ``bitwiseOR.cc``."""
    x, y, target = same_size({"a": a, "b": b, "c": c}, prod(_split(sizes, 0)[0]))
    target[...] = x | y


@answers("addWeightedLine", "addWeightedTile")
def add_weighted(a: Values, b: Values, c: Values, *numbers: int, modes: Modes) -> None:
    """(a, b, c, width, alpha, beta, gamma), a tile has height before width: ``(a * alpha + b * beta +
    gamma) >> 14``, rounded by the mode of the core and saturated. Alpha and beta have 14 bits behind the
    point; gamma is added before the shift, as in AMD's vectorized function. Source: mlir-aie
    ``addWeighted.cc``.
    """
    sizes, (alpha, beta, gamma) = _split(numbers, 3)
    x, y, target = _pixels({"a": a, "b": b, "c": c}, prod(sizes))
    added = int(np.asarray([gamma]).astype(target.dtype)[0])
    total = x.astype(np.int64) * alpha + y.astype(np.int64) * beta + added
    modes.set(saturation="saturate")
    target[...] = modes.stored(modes.shifted(total, _WEIGHT_BITS), target.dtype)


@answers("rgba2grayLine", "rgba2grayTile")
def rgba2gray(a: Values, c: Values, *sizes: int, modes: Modes) -> None:
    """``c = 0.299 red + 0.587 green + 0.114 blue``, coefficients of 15 bits, plus a half, rounded by the
    mode of the core. Source: mlir-aie ``rgba2gray.cc``.
    """
    colours, target = _coloured(a, c, prod(_split(sizes, 0)[0]))
    total = colours[:, :3].astype(np.int64) @ np.array(_GRAY, np.int64) + (1 << _GRAY_BITS >> 1)
    target[...] = modes.stored(modes.shifted(total, _GRAY_BITS), np.uint8)


@answers("gray2rgbaLine", "gray2rgbaTile")
def gray2rgba(a: Values, c: Values, *sizes: int) -> None:
    """Red, green and blue become the grey value, alpha 255. Source: mlir-aie ``gray2rgba.cc``."""
    colours, grey = _coloured(c, a, prod(_split(sizes, 0)[0]))
    colours[:, :3] = grey[:, None]
    colours[:, 3] = np.iinfo(np.uint8).max


@answers("rgba2hueLine")
def rgba2hue(a: Values, c: Values, width: int, *, generation: Generation) -> None:
    """The hue of RGBA pixels, 0 to 255 around the circle; 0 for greys.

    AIE-ML multiplies by a reciprocal from a table, green first where two are largest; other generations
    divide.
    Source: mlir-aie ``rgba2hue.cc``.
    """
    colours, target = _coloured(a, c, width)
    target[...] = _hue_by_table(colours) if generation == "AIE-ML" else _hue(colours)


@answers("rgba2hueTile")
def rgba2hue_tile(a: Values, c: Values, height: int, width: int) -> None:
    """The hue of RGBA pixels, 0 to 255 around the circle; 0 for greys; by division. Source:
    ``rgba2hue.cc``.
    """
    colours, target = _coloured(a, c, height * width)
    target[...] = _hue(colours)


def _hue_by_table(colours: Values) -> Values:
    red, green, blue = colours[:, :3].astype(np.int64).T
    largest = np.maximum(np.maximum(red, green), blue)
    spread = largest - np.minimum(np.minimum(red, green), blue)
    reciprocal = (_SIXTH << _HUE_BITS) // np.maximum(spread, 1)
    distance = np.where(largest == green, blue - red, np.where(largest == red, green - blue, red - green))
    sector = np.where(largest == green, 2, np.where(largest == red, 0, 4))
    total = ((_SIXTH * sector + 1) << _HUE_BITS) + distance * reciprocal
    wrapped: Values = np.where(spread == 0, 0, total >> (_HUE_BITS + 1)).astype(np.uint8)
    return wrapped


def _hue(colours: Values) -> Values:
    red, green, blue = colours[:, :3].astype(np.int64).T
    largest = np.maximum(np.maximum(red, green), blue)
    spread = largest - np.minimum(np.minimum(red, green), blue)
    distance = np.where(largest == red, green - blue, np.where(largest == green, blue - red, red - green))
    sector = np.where(largest == red, 0, np.where(largest == green, 2, 4))
    quotient = np.sign(distance) * (_SIXTH * np.abs(distance) // np.maximum(spread, 1))
    halved = (_SIXTH * sector + quotient + 1) >> 1
    wrapped: Values = np.where(spread == 0, 0, halved).astype(np.uint8)
    return wrapped


@answers("filter2dLine", types={"weights": "i16"})
def filter2d(
    above: Values, a: Values, below: Values, c: Values, count: int, weights: Values, *, modes: Modes
) -> None:
    """A 3 x 3 filter over three lines of ``count`` pixels, the border pixel repeated to the left and right.

    Weights have 12 bits behind the point; their low 8 bits are dropped, as AMD's function does. The sum is
    rounded by the mode of the core and saturated to 0..255. Left of pixels 64, 96, 128, ... stands the pixel
    two before, not the one before: AMD's function keeps its blocks of 32 after it has shifted them
    (DEV-KERNEL-9). Source: mlir-aie ``filter2d.cc``.
    """
    given = {"above": above, "a": a, "below": below, "c": c}
    *lines, target = (pixels(line) for line in same_size(given, count))
    coarse = first(weights, 9, "weights").reshape(3, 3).astype(np.int64) >> _COEFFICIENT_BITS
    total = np.zeros(count, np.int64)
    for line, row in zip(lines, coarse, strict=True):
        padded = np.pad(line.astype(np.int64), 1, mode="edge") if count else np.zeros(2, np.int64)
        before = padded[:count].copy()
        before[2 * _FILTER_BLOCK :: _FILTER_BLOCK] = line[2 * _FILTER_BLOCK - 2 : -2 : _FILTER_BLOCK]
        for weight, pixel in zip(row, (before, padded[1 : count + 1], padded[2 : count + 2]), strict=True):
            total += weight * pixel
    modes.set(saturation="saturate")
    target[...] = modes.stored(modes.shifted(total, _FILTER_BITS - _COEFFICIENT_BITS), np.uint8)


def _split(numbers: tuple[int, ...], last: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Width, or height and width, and the ``last`` numbers behind them."""
    if len(numbers) - last not in (1, 2):
        raise CallError(
            "the number of arguments that are numbers", str(len(numbers)), f"{1 + last} or {2 + last}"
        )
    return numbers[: len(numbers) - last], numbers[len(numbers) - last :]


def _pixels(given: dict[str, Values], count: int) -> list[Values]:
    return [pixels(values) for values in same_size(given, count)]


def _coloured(rgba: Values, single: Values, count: int) -> tuple[Values, Values]:
    colours = pixels(first(rgba, _CHANNELS * count, "the RGBA pixels")).reshape(-1, _CHANNELS)
    return colours, pixels(first(single, count, "the other pixels"))
