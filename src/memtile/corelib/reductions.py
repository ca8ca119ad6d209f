"""Sums, smallest and largest elements, means, as in mlir-aie's ``reduce_*.cc``."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.corelib.name_types import BF16, Values, floats, is_float
from memtile.corelib.registry import CallError, answers, first, same_size
from memtile.corelib.rounding import Modes

_LOWEST = {BF16: -(2.0**128 - 2.0**120), np.dtype(np.float32): -(2.0**128 - 2.0**104)}


@answers("reduce_add_scalar", "reduce_add_vector", "reduce_add_{TYPE}", "reduce_add",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_add(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c[0]`` becomes the sum of the first ``count`` elements. Integers wrap; floats are summed exactly,
    then rounded to float32 and to c's type. Source: mlir-aie ``reduce_add.cc``.
    """
    values = first(a, count, "a")
    target = first(c, 1, "c")
    if is_float(target.dtype):
        target[:] = modes.into(np.sum(values, dtype=np.float64, keepdims=True), target.dtype)
    else:
        target[:] = np.sum(values, dtype=np.int64, keepdims=True).astype(target.dtype)


@answers("reduce_max_scalar", "reduce_max_vector", "reduce_max_{TYPE}", "reduce_max",
         "reduce_max_scalar_{TYPE}", "reduce_max_vector_{TYPE}",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_max(a: Values, c: Values, count: int | None = None) -> None:
    """``c[0]`` becomes the largest of the first ``count`` elements; the smallest finite number where none is
    larger, as NaN never is. Source: mlir-aie ``reduce_max.cc``.
    """
    first(c, 1, "c")[0] = _most(_some(first(a, count, "a")))


@answers("reduce_min_scalar", "reduce_min_vector", "reduce_min_{TYPE}", "reduce_min",
         "reduce_min_scalar_{TYPE}", "reduce_min_vector_{TYPE}",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_min(a: Values, c: Values, count: int | None = None) -> None:
    """``c[0]`` becomes the smallest of the first ``count`` elements; the largest finite number where none is
    smaller, as NaN never is. Source: mlir-aie ``reduce_min.cc``; of floats by analogy.
    """
    values = _some(first(a, count, "a"))
    first(c, 1, "c")[0] = -_most(-values) if is_float(values.dtype) else values.min()


@answers("compute_max", "compute_max_{TYPE}", types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def compute_max(a: Values, b: Values, c: Values) -> None:
    """``c[0]`` becomes ``a[0]`` if that is larger than ``b[0]``, else ``b[0]``. Source: mlir-aie
    ``reduce_max.cc``.
    """
    x, y, target = same_size({"a": a, "b": b, "c": c}, 1)
    target[...] = np.where(x > y, x, y)


@answers("compute_min", "compute_min_{TYPE}", types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def compute_min(a: Values, b: Values, c: Values) -> None:
    """``c[0]`` becomes ``a[0]`` if that is smaller than ``b[0]``, else ``b[0]``. Source: mlir-aie
    ``reduce_min.cc``, by analogy.
    """
    x, y, target = same_size({"a": a, "b": b, "c": c}, 1)
    target[...] = np.where(x < y, x, y)


@answers("sum", objects=("sum",))
def add_to(a: Values, c: Values, *, modes: Modes) -> None:
    """``c += a`` element by element: a running sum over calls. Source: mlir-aie
    ``test/npu-xrt/runtime_cumsum``.
    """
    x, target = same_size({"a": a, "c": c})
    if is_float(target.dtype):
        target[...] = modes.into(floats(target) + floats(x), target.dtype)
    else:
        target[...] = (target.astype(np.int64) + x.astype(np.int64)).astype(target.dtype)


@answers("mean")
def mean(a: Values, c: Values, count: int, *, modes: Modes) -> None:
    """``c[0]`` becomes the mean of the first ``count`` elements: the sum as in ``reduce_add``, divided in
    float32.

    Integers are divided toward 0. Source: designs that ship it by this name.
    """
    values = _some(first(a, count, "a"))
    target = first(c, 1, "c")
    if is_float(target.dtype):
        total = np.sum(values, dtype=np.float64, keepdims=True).astype(np.float32)
        target[:] = modes.into(total / np.float32(count), target.dtype)
    else:
        whole = int(np.sum(values, dtype=np.int64))
        quotient = abs(whole) // count * (1 if whole >= 0 else -1)
        target[:] = np.asarray([quotient]).astype(target.dtype)


def _most(values: Values) -> Any:
    """The largest element; of floats one that compares as larger than the smallest finite number."""
    if not is_float(values.dtype):
        return values.max()
    lowest = values.dtype.type(_LOWEST[values.dtype])
    return np.where(values > lowest, values, lowest).max()


def _some(values: Values) -> Values:
    if not values.size:
        raise CallError("the number of elements", "0", "1 or more")
    return values
