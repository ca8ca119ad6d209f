"""Convolutions of the last bottlenecks of mlir-aie's MobileNet, in parts: over two cores, or over calls.

Two cores have half of the input channels each; one puts its sums on the cascade for 7 pixels and 8 output
channels, eight numbers of 64 bits and eight that nobody reads, and the other one adds its own to them. A call
does the group ``group`` of eight output channels of its weights. Layouts are those of ``convolutions.py``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from memtile.arch.core import CORE
from memtile.corelib.convolutions import Sums, eights, line_sums, sums_of_pixels
from memtile.corelib.registry import CallError, answers, first
from memtile.corelib.types import Values, half_even_shift, saturated

Actions = Generator[Any, Values, None]
_PIXELS, _LANES = 7, 8
_AREA = np.float32(49)  # pixels of the picture that is averaged
_TENTHS, _HALF = 10, 5


@answers("bn{block}_1_conv2dk1_i8_ui8_partial_width_put_new", writes=(), types={"a": "i8", "w": "i8"})
@answers("bn{block}_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new", writes=(),
         types={"a": "ui8", "w": "i8"})  # fmt: skip
def put_part(
    a: Values, w: Values, width: int, inputs: int, _outputs: int,
    split: int, _part: int, _start: int, group: int, *, core: Any,
) -> Actions:  # fmt: skip
    """1 x 1 over the first ``inputs / split`` channels of a, put on the cascade.

    Source: mlir-aie ``bn_conv2dk1_i8.cc``.
    """
    for sums in _part_sums(a, w, (width, inputs, split, group), 0):
        yield core.put_cascade(sums.view(np.int32))
        yield core.put_cascade(np.zeros(CORE.cascade_words, np.int32))


@answers("bn{block}_1_conv2dk1_i8_ui8_partial_width_get_new", types={"a": "i8", "w": "i8", "c": "ui8"})
def get_part(
    a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int,
    split: int, output_split: int, part: int, _start: int, group: int, *, core: Any,
) -> Actions:  # fmt: skip
    """1 x 1 over the channels of a behind the first ``inputs / split``, plus what comes over the cascade, to
    ui8 with halves to even; group ``group`` of part ``part`` of the output channels.

    Source: mlir-aie ``bn_conv2dk1_relu.cc``.
    """
    own = _part_sums(a, w, (width, inputs, split, group), 1)
    at = (group + outputs // (_LANES * output_split) * part) * width * _LANES
    target = first(c, at + width * _LANES, "c")[at:].reshape(width, _LANES)
    for pixel, sums in enumerate(own):
        total = sums + (yield from _from_cascade(core))
        target[pixel] = saturated(half_even_shift(total, shift), np.uint8)


@answers("bn_{block}_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new",
         types={"a": "ui8", "w": "i8", "c": "i8", "skip": "i8"})  # fmt: skip
def get_part_skip(
    a: Values, w: Values, c: Values, skip: Values, width: int, inputs: int, outputs: int, shift: int,
    skip_shift: int, split: int, output_split: int, part: int, _start: int, group: int, *, core: Any,
) -> Actions:  # fmt: skip
    """1 x 1 over the first ``inputs / split`` channels of a, plus what comes over the cascade, saturated to
    i8; plus ``skip``, shifted again, to i8. Halves to even. Source: mlir-aie ``bn_conv2dk1_skip.cc``.
    """
    own = _part_sums(a, w, (width, inputs, split, group), 0)
    at = (group + outputs // (_LANES * output_split) * part) * width * _LANES
    target, beside = (
        first(values, at + width * _LANES, name)[at:].reshape(width, _LANES)
        for values, name in ((c, "c"), (skip, "skip"))
    )
    for pixel, sums in enumerate(own):
        total = half_even_shift(sums + (yield from _from_cascade(core)), shift)
        whole = saturated(total, np.int8).astype(np.int64) + beside[pixel]
        target[pixel] = saturated(half_even_shift(whole, skip_shift), np.int8)


@answers("conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8", types={"a": "i8", "w": "i8", "c": "ui16"})
def average_padded(
    a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, padded: int,
    shift: int, row: int, output_split: int, part: int,
) -> None:  # fmt: skip
    """As ``conv2dk1_xy_pool_fused_relu_i8_ui8``, for part ``part`` of ``output_split`` of the channels; an
    average whose first digit behind the point is 5 goes to the even number. Channels from ``outputs`` to
    ``padded`` become 0. Source: mlir-aie ``bn_conv2dk1_relu.cc``.
    """
    many = outputs // output_split
    at = eights(many, "output channels of a part") * _LANES * part
    whole = first(c, max(at + many, padded), "c")
    own = whole[at : at + many]
    before = own.astype(np.int64) if row else np.zeros(many, np.int64)
    total = before + line_sums(a, w, (width, inputs, many), shift)
    own[...] = _averages(total) if row == width - 1 else total.astype(np.uint16)
    whole[outputs:padded] = 0


@answers("post_L2_conv2dk1_relu_i16_ui16_pad", types={"a": "ui16", "w": "i8", "c": "ui16"})
def conv2dk1_padded(
    a: Values, w: Values, c: Values, width: int, inputs: int, padded: int, outputs: int, shift: int
) -> None:
    """1 x 1 with halves to even, saturated to ui8 values; weights are for ``padded`` input channels, of which
    ``inputs`` are there. Source: mlir-aie ``bn_conv2dk1_relu.cc``.
    """
    if padded < inputs:
        raise CallError("padded input channels", str(padded), f"at least {inputs}")
    groups = eights(outputs, "output channels")
    size = eights(padded, "padded input channels") * _LANES**2
    given = first(w, groups * size, "w").reshape(groups, size)
    used = np.ascontiguousarray(given[:, : eights(inputs, "input channels") * _LANES**2]).reshape(-1)
    total = half_even_shift(sums_of_pixels(a, used, width, inputs, outputs), shift)
    first(c, total.size, "c")[...] = saturated(total, np.uint8).reshape(-1)


def _part_sums(a: Values, w: Values, sizes: tuple[int, int, int, int], number: int) -> Sums:
    """[7 pixels, 8 output channels]: sums over part ``number`` of the input channels."""
    width, inputs, split, group = sizes
    if width < _PIXELS:
        raise CallError("the width", str(width), f"{_PIXELS} or more")
    if split < 1:
        raise CallError("parts of the input channels", str(split), "1 or more")
    channels = inputs // split
    size = eights(channels, "input channels of a part") * _LANES**2
    line = first(a, (number + 1) * channels * width, "a")[number * channels * width :]
    weights = first(w, (group + 1) * size, "w")[group * size :]
    found: Sums = sums_of_pixels(line, weights, width, channels, _LANES)[0, :_PIXELS]
    return found


def _from_cascade(core: Any) -> Generator[Any, Values, Sums]:
    """The eight numbers of two values; the second one has none."""
    low = yield core.get_cascade(np.int32)
    yield core.get_cascade(np.int32)
    sums: Sums = low.view(np.int64)
    return sums


def _averages(total: Sums) -> Values:
    average = total.astype(np.float32) / _AREA
    whole = average.astype(np.int64)
    near_half = (average * np.float32(_TENTHS)).astype(np.int64) % _TENTHS == _HALF
    even = whole + whole % 2
    rounded: Values = np.where(near_half, even, (average + np.float32(0.5)).astype(np.int64)).astype(
        np.uint16
    )
    return rounded
