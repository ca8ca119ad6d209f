"""``aie.iron.kernels``: kernels of mlir-aie's library, with the types of their arguments.

Names, types and options are facts of mlir-aie's ``aie_kernels`` (2026-08-14). The C++ is taken from a
checkout of it (``aie.utils.config``); without one, functions of ``memtile.kernels.aie`` of the same names stand
for it.
"""

from memtile.iron.kernels.activation import (
    bf16_exp,
    bf16_exp_ref,
    gelu,
    gelu_ref,
    relu_ref,
    silu,
    silu_ref,
    softmax,
    softmax_ref,
    swiglu,
)
from memtile.iron.kernels.conv import (
    bn_conv2dk1_i8,
    bn_conv2dk1_input_split_partial_put_ui8,
    bn_conv2dk1_input_split_partial_skip_get,
    bn_conv2dk1_partial_get_relu_i8,
    bn_conv2dk1_partial_put_i8,
    bn_conv2dk1_relu,
    bn_conv2dk1_relu_xy_pool_padded,
    bn_conv2dk1_skip,
    bn_conv2dk3,
    bn_conv2dk3_dw,
    bn_conv2dk3_dw_out_split,
    bn_fc_relu_ui16_pad,
    conv2dk1,
    conv2dk1_i8,
    conv2dk1_skip,
    conv2dk1_skip_init,
    conv2dk3,
    conv2dk14,
)
from memtile.iron.kernels.eltwise import add, mul, passthrough, relu, scale
from memtile.iron.kernels.linalg import cascade_mm, mm, mv
from memtile.iron.kernels.reduce import compute_max, reduce_add, reduce_max, reduce_min
from memtile.iron.kernels.vision import (
    add_weighted,
    bitwise_and,
    bitwise_or,
    filter2d,
    gray2rgba,
    rgba2gray,
    rgba2hue,
    threshold,
)

__all__ = [name for name in dir() if not name.startswith("_")]
