"""``aie.iron.kernels.conv``: convolutions of lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.kernels._common import array, kernel, one_of

_BOTTLENECK = "bottleneck/bn_conv2d"


def _i32(count: int) -> list[Any]:
    return [np.int32] * count


def _activation(who: str, name: str, dtype: Any) -> tuple[str, list[str]]:
    one_of(who, "act_dtype", dtype, (np.int8, np.uint8))
    return (f"{name}_i8", ["-DINT8_ACT"]) if dtype == np.int8 else (f"{name}_ui8", [])


def conv2dk1(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64, act_dtype: Any = np.int8
) -> Any:
    """1 x 1."""
    name, flags = _activation("conv2dk1", "conv2dk1", act_dtype)
    types = [
        array(input_width * input_channels, act_dtype),
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.uint8),
    ]
    return kernel(name, "conv2dk1.cc", types + _i32(4), flags)


def conv2dk3(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
    weight_output_channels: int | None = None,
) -> Any:
    """3 x 3; the weights may be those of more output channels."""
    name, flags = _activation("conv2dk3", "conv2dk3", act_dtype)
    line = array(input_width * input_channels, act_dtype)
    weights = array(9 * input_channels * (weight_output_channels or output_channels), np.int8)
    out = array(input_width * output_channels, np.uint8)
    return kernel(name, "conv2dk3.cc", [line, line, line, weights, out, *_i32(8)], flags)


def conv2dk1_skip(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64, act_dtype: Any = np.int8
) -> Any:
    """1 x 1 of two halves, and a skip connection."""
    name, flags = _activation("conv2dk1_skip", "conv2dk1_skip", act_dtype)
    half = array(input_width * (input_channels // 2), np.uint8)
    types = [
        half,
        half,
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.uint8),
        array(input_width * output_channels, act_dtype),
    ]
    return kernel(name, "conv2dk1_skip.cc", types + _i32(5), flags, folder="aie2")


def conv2dk1_i8(input_width: int = 32, input_channels: int = 64, output_channels: int = 64) -> Any:
    """1 x 1 of int8."""
    types = [
        array(input_width * input_channels, np.int8),
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.int8),
    ]
    return kernel("conv2dk1_i8", "conv2dk1_i8.cc", types + _i32(4), ["-DINT8_ACT"])


def conv2dk14(
    input_width: int = 224, input_channels: int = 16, output_channels: int = 16, kernel_width: int = 14
) -> Any:
    """14 x 14 of RGBA."""
    tiles, pixels = input_width // kernel_width, kernel_width * kernel_width
    types = [
        array(tiles * pixels * 4, np.uint8),
        array(output_channels * pixels * 4, np.int8),
        array(output_channels * tiles * 8, np.int8),
    ]
    return kernel("conv2dk14_i8", "conv2dk14.cc", types + _i32(5), folder="aie2p")


def conv2dk1_skip_init(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
    skip_input_channels: int | None = None,
) -> Any:
    """1 x 1 of two halves, and a skip connection with weights of its own."""
    name, flags = _activation("conv2dk1_skip_init", "conv2dk1_skip_init", act_dtype)
    skip = skip_input_channels if skip_input_channels is not None else input_channels
    half = array(input_width * (input_channels // 2), np.uint8)
    types = [
        half,
        half,
        array((input_channels + skip) * output_channels, np.int8),
        array(input_width * output_channels, np.uint8),
        array(input_width * skip, act_dtype),
    ]
    return kernel(name, "conv2dk1_skip_init.cc", types + _i32(7), flags, folder="aie2")


def _bottleneck(name: str, file: str, types: list[Any], flags: list[str]) -> Any:
    return kernel(name, f"{_BOTTLENECK}{file}.cc", types, flags, folder="aie2")


def bn_conv2dk1_relu(input_width: int = 32, input_channels: int = 64, output_channels: int = 64) -> Any:
    """1 x 1 and ReLU."""
    types = [
        array(input_width * input_channels, np.int8),
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.uint8),
    ]
    return _bottleneck("conv2dk1_relu_i8_ui8", "k1_relu", types + _i32(4), ["-DREGULAR", "-DINT8_ACT"])


def bn_conv2dk3(input_width: int = 32, input_channels: int = 64, output_channels: int = 64) -> Any:
    """3 x 3, every second pixel."""
    line = array(input_width * input_channels, np.int8)
    weights = array(9 * input_channels * output_channels, np.int8)
    out = array((input_width // 2) * output_channels, np.uint8)
    return _bottleneck("conv2dk3_stride2_i8", "k3", [line, line, line, weights, out, *_i32(8)], [])


def bn_conv2dk1_i8(input_width: int = 32, input_channels: int = 64, output_channels: int = 64) -> Any:
    """1 x 1 of uint8 to int8."""
    types = [
        array(input_width * input_channels, np.uint8),
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.int8),
    ]
    return _bottleneck("conv2dk1_ui8_i8", "k1_i8", types + _i32(4), ["-DREGULAR", "-DSCALAR"])


def bn_conv2dk1_skip(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64, skip_dtype: Any = np.uint8
) -> Any:
    """1 x 1 of uint8 to int8, and a skip connection."""
    one_of("bn_conv2dk1_skip", "skip_dtype", skip_dtype, (np.uint8, np.int8))
    unsigned = skip_dtype == np.uint8
    types = [
        array(input_width * input_channels, np.uint8),
        array(input_channels * output_channels, np.int8),
        array(input_width * output_channels, np.int8),
        array(input_width * output_channels, skip_dtype),
    ]
    name = f"conv2dk1_skip_ui8_{'ui8' if unsigned else 'i8'}_i8"
    flags = ["-DREGULAR", "-DSCALAR"] + ["-DUNSIGNED_SKIP"] * unsigned
    return _bottleneck(name, "k1_skip", types + _i32(5), flags)


def bn_conv2dk3_dw(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64, stride: int = 1
) -> Any:
    """3 x 3, channel by channel, and ReLU.

    Raises:
        ValueError: a stride that is neither 1 nor 2.
    """
    if stride not in (1, 2):
        raise ValueError(f"bn_conv2dk3_dw(): stride is 1 or 2, not {stride}")
    line = array(input_width * input_channels, np.uint8)
    out = array((input_width // stride) * output_channels, np.uint8)
    types = [line, line, line, array(9 * input_channels, np.int8), out]
    flags = ["-DREGULAR", "-DSCALAR", f"-DSTRIDE{stride}"]
    return _bottleneck(f"conv2dk3_dw_stride{stride}_relu_ui8_ui8", "k3_dw", types + _i32(8), flags)


def bn_conv2dk1_relu_xy_pool_padded(
    input_width: int = 7,
    input_channels: int = 80,
    output_channels: int = 1280,
    weight_chunk_count: int | None = None,
) -> Any:
    """1 x 1, ReLU and the mean over all pixels."""
    weights = input_channels * output_channels if weight_chunk_count is None else weight_chunk_count
    types = [
        array(input_width * input_channels, np.int8),
        array(weights, np.int8),
        array(output_channels, np.uint16),
    ]
    name = "conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8"
    flags = ["-DSCALAR", "-DCONV_XYPOOL_FUSED_LARGE_PADDED", "-DINT8_ACT"]
    return _bottleneck(name, "k1_relu", types + _i32(8), flags)


def _block(who: str, block_index: int) -> int:
    if block_index not in (13, 14):
        raise ValueError(f"{who}(): block_index is 13 or 14, as the C++ has it, not {block_index}")
    return block_index


def bn_conv2dk1_partial_put_i8(
    input_width: int = 7, input_channels: int = 80, weight_count: int = 4800, *, block_index: int = 13
) -> Any:
    """The first half of 1 x 1, into the cascade."""
    at = _block("bn_conv2dk1_partial_put_i8", block_index)
    types = [array(input_width * input_channels, np.int8), array(weight_count, np.int8)]
    name = f"bn{at}_1_conv2dk1_i8_ui8_partial_width_put_new"
    return _bottleneck(name, "k1_i8", types + _i32(7), [f"-DBN{at}_1_PARTIAL_PUT_I8_CAS_WIDTH_NEW"])


def bn_conv2dk1_partial_get_relu_i8(
    input_width: int = 7,
    input_channels: int = 80,
    output_channels: int = 480,
    weight_count: int = 4800,
    *,
    block_index: int = 13,
) -> Any:
    """The second half of 1 x 1, from the cascade, and ReLU."""
    at = _block("bn_conv2dk1_partial_get_relu_i8", block_index)
    types = [
        array(input_width * input_channels, np.int8),
        array(weight_count, np.int8),
        array(input_width * output_channels, np.uint8),
    ]
    name = f"bn{at}_1_conv2dk1_i8_ui8_partial_width_get_new"
    return _bottleneck(name, "k1_relu", types + _i32(9), [f"-DBN{at}_1_PARTIAL_GET_I8_CAS_WIDTH_NEW"])


def bn_conv2dk3_dw_out_split(
    input_width: int = 7,
    input_channels: int = 480,
    output_split_channels: int = 240,
    *,
    block_index: int = 13,
) -> Any:
    """3 x 3, channel by channel, into two halves."""
    at = _block("bn_conv2dk3_dw_out_split", block_index)
    line = array(input_width * input_channels, np.uint8)
    out = array(input_width * output_split_channels, np.uint8)
    types = [line, line, line, array(9 * input_channels, np.int8), out, out]
    flags = ["-DSCALAR", f"-DBN{at}", "-DSTRIDE1_OUT_SPLIT"]
    return _bottleneck(f"bn{at}_conv2dk3_ui8_out_split", "k3_dw", types + _i32(8), flags)


def bn_conv2dk1_input_split_partial_put_ui8(
    input_width: int = 7, input_channels: int = 240, weight_count: int = 9600, *, block_index: int = 13
) -> Any:
    """1 x 1 of half the channels, into the cascade."""
    at = _block("bn_conv2dk1_input_split_partial_put_ui8", block_index)
    types = [array(input_width * input_channels, np.uint8), array(weight_count, np.int8)]
    name = f"bn{at}_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new"
    flags = [f"-DBN{at}_1_INPUT_SPLIT_PARTIAL_PUT_UI8_UI8_CAS_WIDTH_NEW"]
    return _bottleneck(name, "k1_i8", types + _i32(7), flags)


def bn_conv2dk1_input_split_partial_skip_get(
    input_width: int = 7,
    input_channels: int = 240,
    output_channels: int = 80,
    weight_count: int = 9600,
    *,
    block_index: int = 13,
) -> Any:
    """1 x 1 of the other half, from the cascade, and a skip connection."""
    at = _block("bn_conv2dk1_input_split_partial_skip_get", block_index)
    out = array(input_width * output_channels, np.int8)
    types = [array(input_width * input_channels, np.uint8), array(weight_count, np.int8), out, out]
    name = f"bn_{at}_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new"
    flags = [f"-DBN{at}_1_INPUT_SPLIT_PARTIAL_GET_UI8_I8_I8_CAS_WIDTH_NEW"]
    return _bottleneck(name, "k1_skip", types + _i32(10), flags)


def bn_fc_relu_ui16_pad(
    input_channels: int = 1280, output_channels: int = 16, weight_chunk_count: int | None = None
) -> Any:
    """A fully connected layer and ReLU."""
    weights = input_channels * output_channels if weight_chunk_count is None else weight_chunk_count
    types = [array(input_channels, np.uint16), array(weights, np.int8), array(output_channels, np.uint16)]
    flags = ["-DSCALAR", "-DPOSTL2_PAD", "-DUINT16_ACT"]
    return _bottleneck("post_L2_conv2dk1_relu_i16_ui16_pad", "k1_relu", types + _i32(5), flags)
