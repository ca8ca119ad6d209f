"""Filling, copying and arithmetic element by element, as in mlir-aie's kernels and tests.

A ``count`` says how many elements, in memory order; without one it is all of them. AMD's vectorized functions
round a count up to whole vectors, and some have their length compiled in; here the arguments alone count
(DEV-KERNEL-3). Integers wrap. bf16 is computed in float32 and rounded once, by the mode of the core.
"""

from __future__ import annotations

from collections.abc import Generator
from math import prod
from typing import Any

import numpy as np

from memtile.corelib.name_types import TYPES, Values, floats, is_float, saturated
from memtile.corelib.registry import ANY_OBJECT, CallError, all_pairs, answers, first, same_size
from memtile.corelib.rounding import Modes, to_whole

Marks = Generator[Any, None, None]
_FLOATS = ("bf16", "f32")
_C = {"c": "TYPE"}
_WITH_ZERO = ("zero", "mm", "mv", "cascade_mm", "sum")  # sources that include ``zero.cc``, or have their own
_AC = {"a": "TYPE", "c": "TYPE"}
_ABC = {"a": "TYPE", "b": "TYPE", "c": "TYPE"}
_SAXPY_FACTOR, _SCALE_FACTOR, _FLUSHING_MARKS = 3, 3, 32  # compiled into the public functions


@answers(
    "zero", "zero_{TYPE}", "zero_scalar_{TYPE}", "zero_vectorized_{TYPE}", "fill_zeros_{TYPE}_{m}_{n}_vector",
    types=_C, objects=_WITH_ZERO,
)  # fmt: skip
def zero(c: Values) -> None:
    """All elements of c become 0. Source: mlir-aie ``zero.cc``."""
    c[...] = 0


@answers("linalg_fill_{TYPE}", types=_C, objects=ANY_OBJECT)
def fill(value: float, c: Values) -> None:
    """All elements of c become ``value``, rounded to c's type. Source: mlir-air's call of this name."""
    c[...] = np.asarray(value).astype(c.dtype)


@answers("passThroughLine", "passThroughTile", "passthrough", "passThrough")
def passthrough(a: Values, c: Values, *sizes: int) -> None:
    """``c = a`` for the first elements: as many as the product of ``sizes`` (width, or height and width).

    Source: mlir-aie ``passThrough.cc``.
    """
    source, target = same_size({"a": a, "c": c}, prod(sizes) if sizes else None)
    target[...] = _bits_of(source, target)


@answers("passthrough_{n}_{TYPE}", types=_AC, objects=("kernel",))
def passthrough_of(a: Values, c: Values, *, n: int) -> None:
    """``c = a`` for n elements. Source: mlir-aie ``test/npu-xrt/dynamic_object_fifo``."""
    source, target = same_size({"a": a, "c": c}, n)
    target[...] = source


@answers("copy", "copy_{TYPE}", types=_AC)
def copy(a: Values, c: Values) -> None:
    """``c = a``, all elements. Source: mlir-aie ``transpose.cc``."""
    source, target = same_size({"a": a, "c": c})
    target[...] = _bits_of(source, target)


@answers("concat", objects=("kernel",))
def concat(a: Values, b: Values, c: Values, a_count: int, b_count: int, c_count: int) -> None:
    """The first c_count elements of c become those of a, then those of b; if these are fewer, the rest stays.

    Source: mlir-aie ``test/npu-xrt/nd_memcpy_transforms``.
    """
    from_a = min(a_count, c_count)
    from_b = min(b_count, c_count - from_a)
    target = first(c, c_count, "c")
    target[:from_a] = first(a, from_a, "a")
    target[from_a : from_a + from_b] = first(b, from_b, "b")


@answers(
    "eltwise_add_{TYPE}_scalar", "eltwise_add_{TYPE}_vector", "eltwise_add_{TYPE}_vector_size",
    "eltwise_add_{TYPE}", "eltwise_vadd_{TYPE}", "add_{TYPE}_vector", types=_ABC,
)  # fmt: skip
def eltwise_add(a: Values, b: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a + b``. Source: mlir-aie ``add.cc``."""
    _binary(np.add, {"a": a, "b": b, "c": c}, count, modes)


@answers("vector_add_aie_scalar", "vector_vector_add", "vector_add")
def vector_add(a: Values, b: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a + b``. Source: designs that ship it by this name."""
    _binary(np.add, {"a": a, "b": b, "c": c}, count, modes)


@answers("add_{n}_{TYPE}", types=_ABC, objects=("kernel",))
def add_of(a: Values, b: Values, c: Values, *, n: int, modes: Modes) -> None:
    """``c = a + b`` for n elements. Source: mlir-aie ``test/npu-xrt/dynamic_object_fifo``."""
    _binary(np.add, {"a": a, "b": b, "c": c}, n, modes)


@answers(
    "eltwise_mul_{TYPE}_scalar", "eltwise_mul_{TYPE}_vector", "eltwise_mul_{TYPE}_vector_size",
    "eltwise_mul_{TYPE}", "eltwise_vmul_{TYPE}", "mul_{TYPE}_vector", types=_ABC,
)  # fmt: skip
def eltwise_mul(a: Values, b: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a * b``. Source: mlir-aie ``mul.cc``."""
    _binary(np.multiply, {"a": a, "b": b, "c": c}, count, modes)


@answers("vector_mult_aie_scalar", "vector_mult", "vector_mul")
def vector_mul(a: Values, b: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a * b``. Source: designs that ship it by this name."""
    _binary(np.multiply, {"a": a, "b": b, "c": c}, count, modes)


@answers("eltwise_mul_add_bf16_scalar", "eltwise_mul_add_bf16_vector",
         types={"a": "bf16", "b": "bf16", "c": "bf16"})  # fmt: skip
def eltwise_mul_add(a: Values, b: Values, c: Values, is_mul: int, *, modes: Modes) -> None:
    """``c = a * b`` if ``is_mul``, else ``c = a + b``. Source: mlir-aie ``scale_shift.cc``."""
    _binary(np.multiply if is_mul else np.add, {"a": a, "b": b, "c": c}, None, modes)


@answers("vector_scalar_mul_scalar", "vector_scalar_mul_vector", "vector_scalar_mul_aie_scalar",
         "vector_scalar_mul_aie", "vector_scalar_mul_{TYPE}_scalar", "vector_scalar_mul_{TYPE}_vector",
         types=_AC, objects=("scale", "vector_scalar_mul"))  # fmt: skip
def scale(a: Values, c: Values, factor: Values, count: int, *, spelling: str, modes: Modes) -> None:
    """``c = a * factor[0]``; vectorized functions saturate where the core does.

    Source: mlir-aie ``scale.cc``.
    """
    value = first(np.asarray(factor), 1, "factor")
    source, target = same_size({"a": a, "c": c}, count)
    if is_float(target.dtype) or "scalar" in spelling.removeprefix("vector_scalar"):
        target[...] = _computed(np.multiply, source, np.asarray(value[0]), target.dtype, modes)
    else:
        target[...] = modes.stored(source.astype(np.int64) * int(value[0]), target.dtype)


@answers("scale_int32", types={"a": "i32", "c": "i32"}, objects=("scale",))
def scale_by_three(a: Values, c: Values, *, modes: Modes) -> None:
    """``c = 3 * a``. Source: mlir-aie ``test/npu-xrt/vector_scalar_using_dma``."""
    source, target = same_size({"a": a, "c": c})
    target[...] = _computed(np.multiply, source, np.asarray(_SCALE_FACTOR), target.dtype, modes)


@answers("add_one", "add_one_{TYPE}", types=_AC, objects=("add_one_kernel",))
def add_one(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a + 1``. Source: mlir-aie ``test/npu-xrt/add_one_func_link_with_peano``."""
    source, target = same_size({"a": a, "c": c}, count)
    target[...] = _computed(np.add, source, np.asarray(1), target.dtype, modes)


@answers("scale_by_two", objects=("scale_kernel",))
def scale_by_two(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a + a``. Source: mlir-aie ``test/npu-xrt/add_one_scale_func_link_with_peano``."""
    source, target = same_size({"a": a, "c": c}, count)
    target[...] = _computed(np.add, source, source, target.dtype, modes)


@answers("saxpy", "saxpy_scalar", types={"a": "bf16", "b": "bf16", "c": "bf16"}, objects=("saxpy",))
def saxpy(a: Values, b: Values, c: Values, *, modes: Modes) -> None:
    """``c = 3 * a + b``. Source: mlir-aie ``getting_started/01_SAXPY``."""
    x, y, target = same_size({"a": a, "b": b, "c": c})
    target[...] = modes.into(floats(x) * np.float32(_SAXPY_FACTOR) + floats(y), target.dtype)


@answers("row_wise_bias_add_{IN}_{OUT}", pairs=(("f32", "f32"), ("bf16", "bf16")),
         types={"a": "IN", "b": "IN", "c": "OUT"}, objects=("kernel",))  # fmt: skip
def row_wise_bias_add(a: Values, b: Values, c: Values, *, modes: Modes) -> None:
    """``c[i, j] = a[i, j] + b[j]``, row-major; rows are as long as b. Source: mlir-aie
    ``row_wise_bias_add``.
    """
    source, target = same_size({"a": a, "c": c})
    if not b.size or source.size % b.size:
        raise CallError("the number of elements of a", str(source.size), f"a multiple of {b.size}")
    rows = _computed(np.add, source.reshape(-1, b.size), b.reshape(1, -1), target.dtype, modes)
    target[...] = rows.reshape(-1)


@answers("convert_copy_{IN}_to_{OUT}", "convert_{IN}_to_{OUT}", "cast_{IN}_{OUT}",
         pairs=tuple(pair for pair in all_pairs(tuple(TYPES), tuple(TYPES)) if pair[0] != pair[1]),
         types={"a": "IN", "c": "OUT"}, objects=ANY_OBJECT)  # fmt: skip
def convert(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a`` in another type: to bf16 by the mode of the core; to integers with halves to even, from bf16
    to signed ones of 16 and 32 bits down, and saturated, NaN to 0; between integers wrapped.

    Source: mlir-aie designs that call ``convert_copy_f32_to_bf16``; the other types by analogy, to integers
    as ``to_fixed`` of the AIE API 2025.2 (DEV-KERNEL-8).
    """
    source, target = same_size({"a": a, "c": c}, count)
    if is_float(target.dtype):
        target[...] = modes.into(source, target.dtype)
    elif is_float(source.dtype):
        native = source.dtype == TYPES["bf16"] and target.dtype in (np.int16, np.int32)
        target[...] = saturated(to_whole(source, "floor" if native else "conv_even"), target.dtype)
    else:
        target[...] = source.astype(target.dtype)


@answers("event_0", writes=(), objects=ANY_OBJECT)
def mark_begin(*, core: Any) -> Marks:
    """The core's event INSTR_EVENT_0, for one cycle. Source: mlir-aie ``test/npu-xrt``."""
    yield core.event(0)


@answers("event_1", writes=(), objects=ANY_OBJECT)
def mark_end(*, core: Any) -> Marks:
    """The core's event INSTR_EVENT_1, for one cycle. Source: mlir-aie ``test/npu-xrt``."""
    yield core.event(1)


@answers("flush_trace", writes=(), objects=ANY_OBJECT)
def flush_trace(*, core: Any) -> Marks:
    """INSTR_EVENT_0 and 1, 32 times in turns, so that a trace sends what it has.

    Source: mlir-aie ``test/npu-xrt``.
    """
    for _ in range(_FLUSHING_MARKS):
        yield core.event(0)
        yield core.event(1)


def _binary(operation: np.ufunc, given: dict[str, Values], count: int | None, modes: Modes) -> None:
    a, b, c = same_size(given, count)
    c[...] = _computed(operation, a, b, c.dtype, modes)


def _computed(operation: np.ufunc, a: Values, b: Values, dtype: np.dtype[Any], modes: Modes) -> Values:
    """In float32 and rounded once, or in int64 and wrapped."""
    if is_float(dtype):
        return modes.into(operation(floats(a), floats(b)), dtype)
    wrapped: Values = operation(a.astype(np.int64), b.astype(np.int64)).astype(dtype)
    return wrapped


def _bits_of(source: Values, target: Values) -> Values:
    """The elements as another type of the same size sees their bits."""
    if source.itemsize != target.itemsize:
        raise CallError("the element type of c", str(target.dtype), f"of {source.itemsize} bytes, as in a")
    return source.view(target.dtype)
