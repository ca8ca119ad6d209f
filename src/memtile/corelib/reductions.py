"""Sums, smallest and largest elements, means, as in mlir-aie's ``reduce_*.cc``."""

from __future__ import annotations

import numpy as np

from memtile.corelib.name_types import Values, floats, is_float
from memtile.corelib.registry import CallError, answers, first, same_size

_BF16 = {"a": "bf16", "c": "bf16"}


@answers("reduce_add_scalar", "reduce_add_vector", "reduce_add_{TYPE}", "reduce_add",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_add(a: Values, c: Values, count: int | None = None) -> None:
    """``c[0]`` becomes the sum of the first ``count`` elements. Integers wrap; floats are summed exactly,
    then rounded to float32 and to c's type. Source: mlir-aie ``reduce_add.cc``.
    """
    values = first(a, count, "a")
    target = first(c, 1, "c")
    if is_float(target.dtype):
        target[0] = np.float32(np.sum(values, dtype=np.float64))
    else:
        target[:] = np.sum(values, dtype=np.int64, keepdims=True).astype(target.dtype)


@answers("reduce_max_scalar", "reduce_max_vector", "reduce_max_{TYPE}", "reduce_max",
         "reduce_max_scalar_{TYPE}", "reduce_max_vector_{TYPE}",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_max(a: Values, c: Values, count: int | None = None) -> None:
    """``c[0]`` becomes the largest of the first ``count`` elements. Source: mlir-aie ``reduce_max.cc``."""
    first(c, 1, "c")[0] = _some(first(a, count, "a")).max()


@answers("reduce_min_scalar", "reduce_min_vector", "reduce_min_{TYPE}", "reduce_min",
         "reduce_min_scalar_{TYPE}", "reduce_min_vector_{TYPE}",
         types={"a": "TYPE", "c": "TYPE"})  # fmt: skip
def reduce_min(a: Values, c: Values, count: int | None = None) -> None:
    """``c[0]`` becomes the smallest of the first ``count`` elements. Source: mlir-aie ``reduce_min.cc``."""
    first(c, 1, "c")[0] = _some(first(a, count, "a")).min()


@answers("compute_max", "compute_max_{TYPE}", types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def compute_max(a: Values, b: Values, c: Values) -> None:
    """``c[0]`` becomes the larger of ``a[0]`` and ``b[0]``. Source: mlir-aie ``reduce_max.cc``."""
    x, y, target = same_size({"a": a, "b": b, "c": c}, 1)
    target[...] = np.maximum(x, y)


@answers("compute_min", "compute_min_{TYPE}", types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def compute_min(a: Values, b: Values, c: Values) -> None:
    """``c[0]`` becomes the smaller of ``a[0]`` and ``b[0]``. Source: mlir-aie ``reduce_min.cc``, by
    analogy.
    """
    x, y, target = same_size({"a": a, "b": b, "c": c}, 1)
    target[...] = np.minimum(x, y)


@answers("sum", objects=("sum",))
def add_to(a: Values, c: Values) -> None:
    """``c += a`` element by element: a running sum over calls. Source: mlir-aie
    ``test/npu-xrt/runtime_cumsum``.
    """
    x, target = same_size({"a": a, "c": c})
    if is_float(target.dtype):
        target[...] = (floats(target) + floats(x)).astype(target.dtype)
    else:
        target[...] = (target.astype(np.int64) + x.astype(np.int64)).astype(target.dtype)


@answers("mean")
def mean(a: Values, c: Values, count: int) -> None:
    """``c[0]`` becomes the mean of the first ``count`` elements: the sum as in ``reduce_add``, divided in
    float32.

    Integers are divided toward 0. Source: designs that ship it by this name.
    """
    values = _some(first(a, count, "a"))
    target = first(c, 1, "c")
    if is_float(target.dtype):
        target[0] = np.float32(np.sum(values, dtype=np.float64)) / np.float32(count)
    else:
        total = int(np.sum(values, dtype=np.int64))
        quotient = abs(total) // count * (1 if total >= 0 else -1)
        target[:] = np.asarray([quotient]).astype(target.dtype)


def _some(values: Values) -> Values:
    if not values.size:
        raise CallError("the number of elements", "0", "1 or more")
    return values
