"""Which of AMD's kernels a call of a library function is, and its shape as published counts have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt
from typing import Any, NamedTuple

from memtile.arch.core import BFP16_BYTES, BFP16_NUMBERS
from memtile.arch.tiles import Generation
from memtile.corelib.call_costs import DEVICES, NO_WORK, CallKind
from memtile.corelib.name_types import TYPES

Arguments = Mapping[str, Any]
_NAMES = {dtype: name for name, dtype in TYPES.items()}
_KEYS, _SIDE, _Q4NX_ROWS = 128, 8, 32  # keys of a block of prefill, its least queries; rows of a q4nx tile
_FIXED = ("bf16", "bf16_f32", "bfp16", "ui8")  # types of kernels that have no others


class Call(NamedTuple):
    """A call of a library function.

    Attributes:
        arguments: by parameter; those that a name or a library fixes among them.
        name: as the design writes it.
        many: elements that it is about; None for all.
    """

    arguments: Arguments
    name: str
    many: int | None


class _Kernel(NamedTuple):
    """The counterpart of a library function.

    Attributes:
        name: of the kernel, or what gives it.
        typed: parameters whose element types a count names; or these types.
        shape: of a call.
    """

    name: str | Callable[[Call], str]
    typed: str
    shape: Callable[[Call], str]


def kind_of(function: str, call: Call, generation: Generation) -> CallKind | None:
    """The kind of a call; None where no published count is of its kernel or device.

    Args:
        function: its name in the library's source.
        call: of it.
        generation: of the device.
    """
    kernel, device = _KERNELS.get(function), DEVICES.get(generation)
    if kernel is None or device is None:
        return None
    name = kernel.name if isinstance(kernel.name, str) else kernel.name(call)
    types = kernel.typed if kernel.typed in _FIXED else _types(call, kernel.typed.split())
    return CallKind(device, name, types, kernel.shape(call), is_scalar(call.name))


def is_scalar(name: str) -> bool:
    """Whether a function of this name works element by element; it may also multiply by a scalar."""
    return "scalar" in name.replace("vector_scalar_", "")


def _types(call: Call, names: list[str]) -> str:
    found = [_NAMES.get(call.arguments[name].dtype, "") for name in names]
    return found[0] if len(set(found)) == 1 else "_".join(found)


def _elements(call: Call) -> str:
    largest = max(value.size for value in call.arguments.values() if hasattr(value, "size"))
    return str(largest if call.many is None else call.many)


def _mode(call: Call) -> str:
    modes = {0: "identity", 1: "silu", 2: "gelu", 3: "relu"}
    return f"{_elements(call)}+{modes.get(int(call.arguments['mode']), 'other')}"


def _either(call: Call) -> str:
    return f"{_elements(call)}+{'mul' if call.arguments['is_mul'] else 'add'}"


def _product(call: Call) -> str:
    a, b, c = (call.arguments[name].size for name in "abc")
    columns = [name for name in ("b", "c") if call.arguments.get(f"{name}_columns")]
    return _matrices(a, b, c) + "".join(f"+{name}col" for name in columns)


def _blocks(call: Call) -> str:
    numbers, size = BFP16_NUMBERS, BFP16_BYTES
    return _matrices(*(call.arguments[name].size // size * numbers for name in "abc"))


def _mixed(call: Call) -> str:
    numbers, size, b = BFP16_NUMBERS, BFP16_BYTES, call.arguments["b"].size
    return _matrices(call.arguments["a"].size, b // size * numbers, call.arguments["c"].size) + "+mixed"


def _matrices(a: int, b: int, c: int) -> str:
    m = isqrt(a * c // b) if b else 0
    return f"{m}x{a // m}x{c // m}" if m else ""


def _of(case: str) -> Callable[[Call], str]:
    """The shape of a product of a, b and c, of a case."""
    return lambda call: _matrices(*(call.arguments[name].size for name in "abc")) + case


def _scores(call: Call) -> str:
    key_block, query_block = call.arguments["index"].reshape(-1)[:2].tolist()
    return NO_WORK if key_block > query_block else _of("+qk")(call)


def _weights(call: Call) -> str:
    own, (key_block, query_block) = call.arguments, call.arguments["index"].reshape(-1)[:2].tolist()
    queries, keys = own["queries"], own["keys"]
    rows, columns = own["all_queries"] - query_block * queries, own["all_keys"] - key_block * keys
    diagonal = query_block * queries - key_block * keys
    if diagonal + queries <= 0 or rows <= 0 or columns <= 0:
        return NO_WORK
    padded = "+padded" if rows < queries or columns < keys else ""
    return f"{queries}x{keys}{padded}{'+diagonal' if diagonal < keys - 1 else ''}"


def _values(call: Call) -> str:
    many = call.arguments["s"].size  # weights of one step, or of a block of keys
    side = isqrt(many) if many < _KEYS * _SIDE else many // _KEYS
    return f"{side}x{side}x{call.arguments['y'].size // side}" if side else ""


def _tile(call: Call) -> str:
    own = call.arguments
    m = own["rows"] or _Q4NX_ROWS
    return f"{m}x{own['c'].nbytes // BFP16_BYTES * BFP16_NUMBERS // m}"


def _transposed(call: Call) -> str:
    a, columns = call.arguments["a"], call.arguments["columns"]
    wide = columns or (a.shape[1] if a.ndim == 2 else 0)
    return f"{wide}x{a.size // wide}x{call.name[-1]}" if wide else ""


def _vector(call: Call) -> str:
    *numbers, _, b, _ = call.arguments["given"]
    return f"{int(numbers[0])}x{int(numbers[1]) if len(numbers) == 3 else b.size}" if numbers else ""


def _rows(call: Call) -> str:
    return f"{call.arguments['c'].size}x{call.arguments['b'].size}"


def _line(call: Call) -> str:
    width, inputs, outputs = (int(call.arguments[name]) for name in ("width", "inputs", "outputs"))
    stride = "+stride2" if "stride2" in call.name else ""
    skip = f"x{call.arguments['skip_inputs']}" if "skip_inputs" in call.arguments else ""
    return f"{width}x{inputs}x{outputs}{skip}{stride}"


def _patches(call: Call) -> str:
    return f"{call.arguments['width']}x{call.arguments['_inputs']}x{call.arguments['outputs']}"


def _groups(call: Call) -> str:
    a, c = call.arguments["a"], call.arguments["c"].size
    scales = (a.nbytes - c // 2) // 2
    return f"{c}+group{c // scales}" if scales > 0 else ""


def _norm(call: Call) -> str:
    return "layer_norm_f32" if _types(call, ["a", "c"]) == "f32" else "layer_norm"


def _pointwise(call: Call) -> str:
    return {"ui8": "bn_conv2dk1_relu", "i8": "bn_conv2dk1_i8"}.get(_types(call, ["c"]), "")


_KERNELS: Mapping[str, _Kernel] = {
    "eltwise_add": _Kernel("add", "a c", _elements),
    "eltwise_mul": _Kernel("mul", "a c", _elements),
    "eltwise_mul_add": _Kernel("mul_add", "a c", _either),
    "scale": _Kernel("scale", "a c", _elements),
    "zero": _Kernel("zero", "c", _elements),
    "convert": _Kernel("convert_copy", "a c", _elements),
    "reduce_add": _Kernel("reduce_add", "a c", _elements),
    "reduce_max": _Kernel("reduce_max", "a c", _elements),
    "reduce_min": _Kernel("reduce_min", "a c", _elements),
    "relu": _Kernel("relu", "a c", _elements),
    "relu_bf16": _Kernel("relu", "a c", _elements),
    "leaky_relu": _Kernel("leaky_relu", "a c", _elements),
    "axpy": _Kernel("axpy", "a c", _elements),
    "exp": _Kernel("bf16_exp", "a c", _elements),
    "exp_of": _Kernel("bf16_exp", "a c", _elements),
    "tanh": _Kernel("tanh", "a c", _elements),
    "sigmoid": _Kernel("sigmoid", "a c", _elements),
    "gelu": _Kernel("gelu", "a c", _elements),
    "silu": _Kernel("silu", "a c", _elements),
    "swiglu": _Kernel("swiglu", "a c", _elements),
    "softmax": _Kernel("softmax", "a c", _elements),
    "softmax_vector": _Kernel("softmax", "a c", _elements),
    "epilogue": _Kernel("mm_activation_epilogue", "a c", _mode),
    "rms_norm": _Kernel("rms_norm", "a c", _elements),
    "layer_norm": _Kernel(_norm, "a c", _elements),
    "layer_norm_affine": _Kernel("layer_norm_affine_cast", "a c", _elements),
    "exp2f_vec": _Kernel("exp2f_vec", "a c", _elements),
    "silu_sized": _Kernel("silu", "a c", _elements),
    "gelu_sized": _Kernel("gelu", "a c", _elements),
    "cast_row": _Kernel("convert_copy", "a c", _elements),
    "expand": _Kernel("expand", "a c", _groups),
    "rope_two_halves": _Kernel("rope", "a c", lambda call: f"{_elements(call)}+halves"),
    "dwconv1d": _Kernel("dwconv1d", "a c", lambda call: f"{_elements(call)}+k{call.arguments['w'].size - 1}"),
    "dwconv1d_channels_last": _Kernel("dwconv1d_channels_last", "a c", _elements),
    "rope": _Kernel("rope", "a c", _elements),
    "threshold": _Kernel("threshold", "a c", _elements),
    "bitwise_and": _Kernel("bitwise_and", "a c", _elements),
    "bitwise_or": _Kernel("bitwise_or", "a c", _elements),
    "add_weighted": _Kernel("add_weighted", "a c", _elements),
    "rgba2gray": _Kernel("rgba2gray", "a c", _elements),
    "gray2rgba": _Kernel("gray2rgba", "a c", _elements),
    "rgba2hue": _Kernel("rgba2hue", "a c", _elements),
    "filter2d": _Kernel("filter2d", "a c", _elements),
    "matmul": _Kernel("mm", "a c", _product),
    "matmul_blocks": _Kernel("mm_bfp", "bfp16", _blocks),
    "matmul_mixed": _Kernel("mm_bfp", "a c", _mixed),
    "matvec_of_words": _Kernel("mv", "a c", _rows),
    "matvec_bf16": _Kernel("mv", "bf16", _vector),
    "mha_scores": _Kernel("mha", "bf16", _scores),
    "mha_values": _Kernel("mha", "bf16", _of("+pv")),
    "mha_softmax": _Kernel("mha_softmax", "bf16", _weights),
    "prefill_values": _Kernel("prefill_fv", "bf16_f32", _values),
    "dequantise": _Kernel("q4nx_dequant", "ui8", _tile),
    "fused_product": _Kernel("fused_mm", "bf16", _of("")),
    "transpose": _Kernel("transpose", "a", _transposed),
    "conv2dk1": _Kernel(
        lambda call: "conv2dk1_i8" if _types(call, ["c"]) == "i8" else "conv2dk1", "a c", _line
    ),
    "conv2dk1_relu": _Kernel("conv2dk1", "a c", _line),
    "conv2dk1_even": _Kernel(_pointwise, "a c", _line),
    "conv2dk1_skip": _Kernel("conv2dk1_skip", "skip c", _line),
    "conv2dk1_skip_init": _Kernel("conv2dk1_skip_init", "skip c", _line),
    "conv2dk1_skip_even": _Kernel("bn_conv2dk1_skip", "a skip c", _line),
    "conv2dk3": _Kernel("conv2dk3", "a c", _line),
    "conv2dk3_stride2": _Kernel("bn_conv2dk3", "a c", _line),
    "conv2dk3_depthwise": _Kernel("bn_conv2dk3_dw", "a c", _line),
    "conv2dk3_depthwise_split": _Kernel("bn_conv2dk3_dw_out_split", "a c", _line),
    "conv2dk14": _Kernel("conv2dk14", "a c", _patches),
    "average_padded": _Kernel("bn_conv2dk1_relu_xy_pool_padded", "a c", _line),
    "conv2dk1_padded": _Kernel("bn_fc_relu_ui16_pad", "a c", _line),
}
"""Function of the library -> kernel of mlir-aie that it stands for."""
