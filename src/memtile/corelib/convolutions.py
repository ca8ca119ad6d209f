"""Convolutions of one line of a picture, as in mlir-aie's ``conv2d*.cc`` and its ``bottleneck`` kernels.

Lines are [channels / 8, width, 8]; weights of 1 x 1 are [out / 8, in / 8, 8 in, 8 out], of 3 x 3
[out / 8, in / 8, row, column, 8 in, 8 out], of a depthwise filter [channels / 8, row, column, 8]. Activations
are i8 or ui8 as declared, weights i8. Sums are exact, then shifted, rounded and saturated.

It also has convolutions of the last bottlenecks of mlir-aie's MobileNet, in parts: over cores, or over calls.

Two cores have half of the input channels each; one puts its sums on the cascade for 7 pixels and 8 output
channels, eight numbers of 64 bits and eight that nobody reads, and the other one adds its own to them. A call
does the group ``group`` of eight output channels of its weights. Layouts are those of ``convolutions.py``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.corelib.name_types import Values, saturated
from memtile.corelib.registry import CallError, answers, first
from memtile.corelib.rounding import Modes, shifted

Sums = npt.NDArray[np.int64]
_LANES = 8
_TOP, _BOTTOM = 0, 2  # of ``check``: the line above, or below, is outside the picture
_LINES = {"w": "i8", "c": "ui8"}


def _macs1(*given: Any) -> tuple[int, str]:
    width, inputs, outputs = [n for n in given if not isinstance(n, np.ndarray)][:3]
    return width * inputs * outputs, "i8"


def _macs3(*given: Any) -> tuple[int, str]:
    macs, kind = _macs1(*given)
    return 9 * macs, kind


@answers(
    "conv2dk1_i8", "conv2dk1_ui8", types={"w": "i8"}, macs=_macs1, objects=("conv2dk1_i8", "conv2dk1_ui8")
)
def conv2dk1(
    a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int, *, modes: Modes
) -> None:
    """1 x 1; to ui8 with halves up, to i8 (where c is i8) with halves away from 0.

    Source: mlir-aie ``conv2dk1.cc``, ``conv2dk1_i8.cc``.
    """
    total = sums_of_pixels(a, w, width, inputs, outputs)
    modes.set("symmetric_inf" if c.dtype == np.int8 else "positive_inf", "saturate")
    store(c, modes.shifted(total, shift))


@answers("conv2dk1_i8", "conv2dk1_ui8", types={"w": "i8", "c": "ui8"}, macs=_macs1, objects=("conv2dk1",))
def conv2dk1_relu(
    a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int, *, modes: Modes
) -> None:
    """1 x 1 to ui8 with halves up, whatever the design declares: in ``conv2dk1.o``.

    Source: mlir-aie ``conv2dk1.cc``.
    """
    conv2dk1(a, w, c, width, inputs, outputs, shift, modes=modes)


@answers(
    "conv2dk1_relu_i8_ui8",
    "bn{block}_conv2dk1_relu_i8_ui8",
    "post_L1_conv2dk1_relu_i8_ui8",
    types={"a": "i8", "w": "i8", "c": "ui8"},
    macs=_macs1,
)
@answers("conv2dk1_ui8_i8", "bn{block}_conv2dk1_ui8_i8",
         types={"a": "ui8", "w": "i8", "c": "i8"}, macs=_macs1)  # fmt: skip
@answers("post_L2_conv2dk1_relu_i16_ui8", types={"a": "ui16", "w": "i8", "c": "ui8"}, macs=_macs1)
def conv2dk1_even(a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int) -> None:
    """1 x 1 with halves to even. Source: mlir-aie ``bn_conv2dk1_relu.cc``, ``bn_conv2dk1_i8.cc``."""
    store(c, shifted(sums_of_pixels(a, w, width, inputs, outputs), shift, "conv_even"))


@answers("conv2dk1_x_pool_fused_relu_i8_ui8", types={"a": "i8", "w": "i8", "c": "ui16"}, macs=_macs1)
def conv2dk1_sum(a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int) -> None:
    """1 x 1 with halves to even, saturated to ui8, and the pixels of the line added: c has an element for
    each output channel. Source: mlir-aie ``bn_conv2dk1_relu.cc``.
    """
    store(c, line_sums(a, w, (width, inputs, outputs), shift))


@answers("conv2dk1_xy_pool_fused_relu_i8_ui8", types={"a": "i8", "w": "i8", "c": "ui16"}, macs=_macs1)
def conv2dk1_average(
    a: Values, w: Values, c: Values, width: int, inputs: int, outputs: int, shift: int, row: int
) -> None:
    """As ``conv2dk1_x_pool_fused_relu_i8_ui8``, added to c from the second row on; the row ``width - 1``
    divides by 49, rounded in float32 to nearest, halves up. Sums wrap. Source: mlir-aie
    ``bn_conv2dk1_relu.cc``.
    """
    sums = first(c, outputs, "c")
    before = sums.astype(np.int64) if row else np.zeros(outputs, np.int64)
    total = (before + line_sums(a, w, (width, inputs, outputs), shift)).astype(np.uint16)
    if row == width - 1:
        total = (total.astype(np.float32) / np.float32(49) + np.float32(0.5)).astype(np.uint16)
    sums[...] = total


@answers("conv2dk14_i8", types={"a": "ui8", "w": "i8", "c": "i8"})
def conv2dk14(
    a: Values, w: Values, c: Values, width: int, _inputs: int, outputs: int, kernel_width: int, shift: int,
    *, modes: Modes,
) -> None:  # fmt: skip
    """A filter as large as its step, over patches of 4 bytes a pixel: a[patches / 8, pixels / 2, 8 patches,
    2 pixels, 4], w[out / 8, pixels / 2, 2 pixels, 4, 8 out], c[out / 8, patches / 8, 8, 8]. There are
    ``width / kernel_width`` patches. Halves away from 0. Source: mlir-aie ``conv2dk14.cc``.
    """
    if kernel_width < 1 or kernel_width % 2 or width % (kernel_width * _LANES):
        allowed = f"an even kernel_width, width a multiple of {_LANES} kernel_width"
        raise CallError("the size of the filter", f"{kernel_width} in {width}", allowed)
    patches, pairs = width // kernel_width // _LANES, kernel_width * kernel_width // 2
    groups = eights(outputs, "output channels")
    given = first(a, patches * pairs * _LANES**2, "a").reshape(patches, pairs, _LANES, _LANES)
    weights = first(w, groups * pairs * _LANES**2, "w").reshape(groups, pairs, _LANES, _LANES)
    total = np.einsum("npti,opic->ontc", given.astype(np.float64), weights.astype(np.float64), optimize=True)
    modes.set("symmetric_inf", "saturate")
    store(c, modes.shifted(total.astype(np.int64), shift))


@answers("conv2dk1_skip_i8", types={"a": "ui8", "b": "ui8", "w": "i8", "c": "ui8", "skip": "i8"}, macs=_macs1)
@answers(
    "conv2dk1_skip_ui8", types={"a": "ui8", "b": "ui8", "w": "i8", "c": "ui8", "skip": "ui8"}, macs=_macs1
)
def conv2dk1_skip(
    a: Values, b: Values, w: Values, c: Values, skip: Values,
    width: int, inputs: int, outputs: int, shift: int, skip_shift: int, *, modes: Modes,
) -> None:  # fmt: skip
    """1 x 1 over the channels of a, then of b, half of ``inputs`` each, saturated to i8; plus ``skip``,
    shifted again, to ui8. Halves up. Source: mlir-aie ``conv2dk1_skip.cc``.
    """
    modes.set("positive_inf", "saturate")
    total = _sum1_of_two(a, b, w, width, inputs, outputs)
    part = saturated(modes.shifted(total, shift), np.int8).astype(np.int64)
    store(c, modes.shifted(part + _line(skip, width, outputs, "skip"), skip_shift))


@answers(
    "conv2dk1_skip_init_i8", types={"a": "ui8", "b": "ui8", "w": "i8", "c": "ui8", "skip": "i8"}, macs=_macs1
)
@answers(
    "conv2dk1_skip_init_ui8",
    types={"a": "ui8", "b": "ui8", "w": "i8", "c": "ui8", "skip": "ui8"},
    macs=_macs1,
)
def conv2dk1_skip_init(
    a: Values, b: Values, w: Values, c: Values, skip: Values,
    width: int, inputs: int, outputs: int, skip_inputs: int, shift: int, skip_shift: int, own_shift: int,
    *, modes: Modes,
) -> None:  # fmt: skip
    """As ``conv2dk1_skip``, but ``skip`` has ``skip_inputs`` channels and a 1 x 1 filter of its own,
    behind the other weights, shifted by ``own_shift`` and saturated to i8. Source: mlir-aie
    ``conv2dk1_skip_init.cc`` (that of ui8: DEV-KERNEL-10).
    """
    modes.set("positive_inf", "saturate")
    total = _sum1_of_two(a, b, w, width, inputs, outputs)
    part = saturated(modes.shifted(total, shift), np.int8).astype(np.int64)
    behind = first(w, inputs * outputs + skip_inputs * outputs, "w")[inputs * outputs :]
    own = modes.shifted(sums_of_pixels(skip, behind, width, skip_inputs, outputs), own_shift)
    store(c, modes.shifted(part + saturated(own, np.int8).astype(np.int64), skip_shift))


@answers("conv2dk1_skip_ui8_i8_i8", "bn{block}_conv2dk1_skip_ui8_i8_i8",
         types={"a": "ui8", "w": "i8", "c": "i8", "skip": "i8"}, macs=_macs1)  # fmt: skip
@answers("conv2dk1_skip_ui8_ui8_i8", "bn{block}_conv2dk1_skip_ui8_ui8_i8",
         types={"a": "ui8", "w": "i8", "c": "i8", "skip": "ui8"}, macs=_macs1)  # fmt: skip
def conv2dk1_skip_even(
    a: Values, w: Values, c: Values, skip: Values,
    width: int, inputs: int, outputs: int, shift: int, skip_shift: int,
) -> None:  # fmt: skip
    """1 x 1, saturated to i8, plus ``skip``, shifted again, to i8. Halves to even.

    Source: mlir-aie ``bn_conv2dk1_skip.cc``.
    """
    total = shifted(sums_of_pixels(a, w, width, inputs, outputs), shift, "conv_even")
    part = saturated(total, np.int8).astype(np.int64)
    store(c, shifted(part + _line(skip, width, outputs, "skip"), skip_shift, "conv_even"))


@answers("conv2dk3_i8", types={**_LINES, "above": "i8", "a": "i8", "below": "i8"}, macs=_macs3)
@answers("conv2dk3_ui8", types={**_LINES, "above": "ui8", "a": "ui8", "below": "ui8"}, macs=_macs3)
def conv2dk3(
    above: Values, a: Values, below: Values, w: Values, c: Values,
    width: int, inputs: int, outputs: int, kernel_width: int, kernel_height: int,
    check: int, shift: int, channel_offset: int, *, modes: Modes,
) -> None:  # fmt: skip
    """3 x 3 over three lines, 0 to the left and right. ``check`` 0 leaves the line above out, 2 the one
    below.

    Weights from output channel ``channel_offset`` on; halves up. Source: mlir-aie ``conv2dk3.cc``.
    """
    _check_kernel(kernel_width, kernel_height)
    total = _sum3((above, a, below), w, (width, inputs, outputs), check, channel_offset)
    modes.set("positive_inf", "saturate")
    store(c, modes.shifted(total, shift))


@answers("conv2dk3_stride2_i8", "bn{block}_conv2dk3_stride2_i8",
         types={**_LINES, "above": "i8", "a": "i8", "below": "i8"})  # fmt: skip
def conv2dk3_stride2(
    above: Values, a: Values, below: Values, w: Values, c: Values,
    width: int, inputs: int, outputs: int, kernel_width: int, kernel_height: int,
    check: int, shift: int, channel_offset: int,
) -> None:  # fmt: skip
    """As ``conv2dk3``, every second pixel, halves to even. Source: mlir-aie ``bn_conv2dk3.cc``."""
    _check_kernel(kernel_width, kernel_height)
    total = _sum3((above, a, below), w, (width, inputs, outputs), check, channel_offset)
    store(c, shifted(total[:, ::2][:, : width // 2], shift, "conv_even"))


@answers("conv2dk3_dw_stride1_relu_ui8_ui8", "bn{block}_conv2dk3_dw_stride1_relu_ui8_ui8",
         "conv2dk3_dw_stride2_relu_ui8_ui8", "bn{block}_conv2dk3_dw_stride2_relu_ui8_ui8",
         "bn{block}_conv2dk3_ui8",
         types={**_LINES, "above": "ui8", "a": "ui8", "below": "ui8"})  # fmt: skip
def conv2dk3_depthwise(
    above: Values, a: Values, below: Values, w: Values, c: Values,
    width: int, inputs: int, outputs: int, kernel_width: int, kernel_height: int,
    check: int, shift: int, channel_offset: int, *, spelling: str,
) -> None:  # fmt: skip
    """3 x 3 within each channel, 0 to the left and right, ``check`` as in ``conv2dk3``; halves to even.

    With ``stride2`` in its name every second pixel. Source: mlir-aie ``bn_conv2dk3_dw.cc``.
    """
    _check_kernel(kernel_width, kernel_height)
    del inputs, channel_offset  # AMD's function does not look at them
    groups = eights(outputs, "output channels")
    weights = first(w, groups * 9 * _LANES, "w").reshape(groups, 3, 3, 1, _LANES).astype(np.int64)
    total = np.zeros((groups, width, _LANES), np.int64)
    for row, padded in _rows((above, a, below), width, outputs, check):
        for column in range(3):
            total += padded[:, column : column + width] * weights[:, row, column]
    step = 2 if "stride2" in spelling else 1
    store(c, shifted(total[:, ::step][:, : width // step], shift, "conv_even"))


@answers("bn{block}_conv2dk3_ui8_out_split", writes=("c", "d"),
         types={**_LINES, "d": "ui8", "above": "ui8", "a": "ui8", "below": "ui8"})  # fmt: skip
def conv2dk3_depthwise_split(
    above: Values, a: Values, below: Values, w: Values, c: Values, d: Values,
    width: int, inputs: int, outputs: int, kernel_width: int, kernel_height: int,
    check: int, shift: int, channel_offset: int,
) -> None:  # fmt: skip
    """As ``conv2dk3_dw_stride1_relu_ui8_ui8``; the first half of the channels goes to c, the other to d.

    Source: mlir-aie ``bn_conv2dk3_dw.cc``.
    """
    half = eights(outputs // 2, "output channels in each half") * width * _LANES
    both = np.zeros(2 * half, np.uint8)
    conv2dk3_depthwise(
        above, a, below, w, both,
        width, inputs, outputs, kernel_width, kernel_height, check, shift, channel_offset, spelling="",
    )  # fmt: skip
    first(c, half, "c")[...], first(d, half, "d")[...] = both[:half], both[half:]


def line_sums(a: Values, w: Values, sizes: tuple[int, int, int], shift: int) -> Sums:
    """For each output channel the sum of the line's pixels, each saturated to ui8."""
    pixels = saturated(shifted(sums_of_pixels(a, w, *sizes), shift, "conv_even"), np.uint8)
    sums: Sums = pixels.astype(np.int64).sum(axis=1).reshape(-1)
    return sums


def sums_of_pixels(a: Values, w: Values, width: int, inputs: int, outputs: int) -> Sums:
    """[out / 8, width, 8]; float64 holds such sums exactly, and multiplies fast."""
    into, out = eights(inputs, "input channels"), eights(outputs, "output channels")
    line = _line(a, width, inputs, "a").transpose(1, 0, 2).reshape(width, inputs)
    weights = first(w, inputs * outputs, "w").reshape(out, into, _LANES, _LANES)
    matrix = weights.transpose(1, 2, 0, 3).reshape(inputs, outputs)
    product = line.astype(np.float64) @ matrix.astype(np.float64)
    return product.astype(np.int64).reshape(width, out, _LANES).transpose(1, 0, 2)


def _sum1_of_two(a: Values, b: Values, w: Values, width: int, inputs: int, outputs: int) -> Sums:
    if inputs % (2 * _LANES):
        raise CallError("the number of input channels", str(inputs), f"a multiple of {2 * _LANES}")
    halves = [_line(part, width, inputs // 2, name) for part, name in ((a, "a"), (b, "b"))]
    return sums_of_pixels(np.concatenate(halves), w, width, inputs, outputs)


def _sum3(
    lines: tuple[Values, ...], w: Values, sizes: tuple[int, int, int], check: int, channel_offset: int
) -> Sums:
    width, inputs, outputs = sizes
    into, out = eights(inputs, "input channels"), eights(outputs, "output channels")
    start = eights(channel_offset, "channels before the first")
    size = into * 9 * _LANES * _LANES  # weights of eight output channels
    weights = first(w, (start + out) * size, "w")[start * size :].reshape(out, into, 3, 3, _LANES, _LANES)
    total = np.zeros((width, outputs))
    for row, padded in _rows(lines, width, inputs, check):
        for column in range(3):
            line = padded[:, column : column + width].transpose(1, 0, 2).reshape(width, inputs)
            matrix = weights[:, :, row, column].transpose(1, 2, 0, 3).reshape(inputs, outputs)
            total += line.astype(np.float64) @ matrix.astype(np.float64)
    return total.astype(np.int64).reshape(width, out, _LANES).transpose(1, 0, 2)


def _rows(lines: tuple[Values, ...], width: int, channels: int, check: int) -> list[tuple[int, Sums]]:
    """The lines that count, with their row of the filter, and a 0 on both sides."""
    out = {_TOP: 0, _BOTTOM: 2}.get(check)
    return [
        (row, np.pad(_line(line, width, channels, f"line {row}"), ((0, 0), (1, 1), (0, 0))))
        for row, line in enumerate(lines)
        if row != out
    ]


def _line(values: Values, width: int, channels: int, name: str) -> Sums:
    groups = eights(channels, "channels")
    return first(values, width * channels, name).reshape(groups, width, _LANES).astype(np.int64)


def store(c: Values, sums: Sums) -> None:
    """Put sums where they belong, saturated to the type of c."""
    first(c, sums.size, "c")[...] = saturated(sums, c.dtype).reshape(-1)


def eights(channels: int, name: str) -> int:
    """How many groups of eight channels there are.

    Raises:
        CallError: there are others.
    """
    if channels % _LANES:
        raise CallError(f"the number of {name}", str(channels), f"a multiple of {_LANES}")
    return channels // _LANES


def _check_kernel(width: int, height: int) -> None:
    if (width, height) != (3, 3):
        raise CallError("the size of the filter", f"{width} x {height}", "3 x 3")


Actions = Generator[Any, Values, None]
_PIXELS, _EIGHT = 7, 8
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
    at = (group + outputs // (_EIGHT * output_split) * part) * width * _EIGHT
    target = first(c, at + width * _EIGHT, "c")[at:].reshape(width, _EIGHT)
    for pixel, sums in enumerate(own):
        total = sums + (yield from _from_cascade(core))
        target[pixel] = saturated(shifted(total, shift, "conv_even"), np.uint8)


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
    at = (group + outputs // (_EIGHT * output_split) * part) * width * _EIGHT
    target, beside = (
        first(values, at + width * _EIGHT, name)[at:].reshape(width, _EIGHT)
        for values, name in ((c, "c"), (skip, "skip"))
    )
    for pixel, sums in enumerate(own):
        total = shifted(sums + (yield from _from_cascade(core)), shift, "conv_even")
        whole = saturated(total, np.int8).astype(np.int64) + beside[pixel]
        target[pixel] = saturated(shifted(whole, skip_shift, "conv_even"), np.int8)


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
    at = eights(many, "output channels of a part") * _EIGHT * part
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
    size = eights(padded, "padded input channels") * _EIGHT**2
    given = first(w, groups * size, "w").reshape(groups, size)
    used = np.ascontiguousarray(given[:, : eights(inputs, "input channels") * _EIGHT**2]).reshape(-1)
    total = shifted(sums_of_pixels(a, used, width, inputs, outputs), shift, "conv_even")
    first(c, total.size, "c")[...] = saturated(total, np.uint8).reshape(-1)


def _part_sums(a: Values, w: Values, sizes: tuple[int, int, int, int], number: int) -> Sums:
    """[7 pixels, 8 output channels]: sums over part ``number`` of the input channels."""
    width, inputs, split, group = sizes
    if width < _PIXELS:
        raise CallError("the width", str(width), f"{_PIXELS} or more")
    if split < 1:
        raise CallError("parts of the input channels", str(split), "1 or more")
    channels = inputs // split
    size = eights(channels, "input channels of a part") * _EIGHT**2
    line = first(a, (number + 1) * channels * width, "a")[number * channels * width :]
    weights = first(w, (group + 1) * size, "w")[group * size :]
    found: Sums = sums_of_pixels(line, weights, width, channels, _EIGHT)[0, :_PIXELS]
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
