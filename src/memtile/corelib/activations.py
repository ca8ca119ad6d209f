"""Activations and norms: computed in float32 and rounded once, to nearest even.

AMD's functions look exp and tanh up in tables and round to bf16 between the steps; their own host programs
compare with a relative tolerance of 12.8 % (mlir-aie ``activation.py``). Here are the values that they
approximate (DEV-KERNEL-4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from memtile.corelib.name_types import Values, floats
from memtile.corelib.registry import CallError, answers, same_size

Floats = npt.NDArray[np.float32]
_FLOATS = ("bf16", "f32")
_AC = {"a": "TYPE", "c": "TYPE"}
_EPSILON = np.float32(1e-5)  # of both norms


@answers("bf16_relu", types={"a": "bf16", "c": "bf16"})
def relu_bf16(a: Values, c: Values, count: int | None = None) -> None:
    """``c = max(a, 0)``. Source: mlir-aie ``relu.cc``."""
    relu(a, c, count)


@answers("relu", "relu_{TYPE}", "relu_vectorized_{TYPE}", "relu_scalar_{TYPE}", "{TYPE}_relu_vector",
         types=_AC)  # fmt: skip
def relu(a: Values, c: Values, count: int | None = None) -> None:
    """``c = max(a, 0)``. Source: mlir-aie ``relu.cc``."""
    x, target = same_size({"a": a, "c": c}, count)
    target[...] = np.maximum(x, np.zeros((), x.dtype))


@answers("exp_bf16_{n}", types={"a": "bf16", "c": "bf16"})
def exp_of(a: Values, c: Values, *, n: int) -> None:
    """``c = exp(a)`` for n elements; too large becomes infinity. Source: mlir-aie ``bf16_exp.cc``."""
    _computed(_exp, a, c, n)


@answers("exp_{TYPE}", kinds=_FLOATS, types=_AC)
def exp(a: Values, c: Values, count: int | None = None) -> None:
    """``c = exp(a)``; too large becomes infinity. Source: mlir-aie ``bf16_exp.cc``."""
    _computed(_exp, a, c, count)


@answers("tanh_{TYPE}", kinds=_FLOATS, types=_AC)
def tanh(a: Values, c: Values, count: int | None = None) -> None:
    """``c = tanh(a)``. Source: mlir-aie, the step within ``gelu.cc``."""
    _computed(np.tanh, a, c, count)


@answers("sigmoid_{TYPE}", kinds=_FLOATS, types=_AC)
def sigmoid(a: Values, c: Values, count: int | None = None) -> None:
    """``c = 1 / (1 + exp(-a))``. Source: mlir-aie, the step within ``silu.cc``."""
    _computed(lambda x: np.float32(1) / (np.float32(1) + _exp(-x)), a, c, count)


@answers("gelu_{TYPE}", kinds=_FLOATS, types=_AC)
def gelu(a: Values, c: Values, count: int | None = None) -> None:
    """``c = a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a**3)))``. Source: mlir-aie ``gelu.cc``."""
    _computed(_gelu, a, c, count)


@answers("silu_{TYPE}", kinds=_FLOATS, types=_AC)
def silu(a: Values, c: Values, count: int | None = None) -> None:
    """``c = a / (1 + exp(-a))``. Source: mlir-aie ``silu.cc``."""
    _computed(_silu, a, c, count)


@answers("mm_activation_epilogue_row", types={"a": "f32", "c": "f32"})
def epilogue(a: Values, c: Values, count: int, mode: int) -> None:
    """What follows a matrix product, for ``count`` elements: ``mode`` 1 is silu, 2 is gelu, 3 is relu, others
    copy.

    Source: mlir-aie ``mm_activation_epilogue.cc``.
    """
    _computed({1: _silu, 2: _gelu, 3: _relu}.get(mode, lambda x: x), a, c, count)


@answers("swiglu_{TYPE}", kinds=_FLOATS, types={"a": "TYPE", "v": "TYPE", "w": "TYPE", "c": "TYPE"})
def swiglu(a: Values, v: Values, w: Values, c: Values) -> None:
    """``c = (a * v) * silu(a * w)``. Source: mlir-aie ``swiglu.cc``."""
    x, gate, inner, target = same_size({"a": a, "v": v, "w": w, "c": c})
    with np.errstate(all="ignore"):
        outer = floats(x) * floats(gate)
        target[...] = (outer * _silu(floats(x) * floats(inner))).astype(target.dtype)


@answers("softmax_{TYPE}", kinds=_FLOATS, types=_AC)
def softmax(a: Values, c: Values, count: int | None = None) -> None:
    """``c = exp(a - max(a)) / sum(exp(a - max(a)))`` over all ``count`` elements. Source: mlir-aie
    ``softmax.cc``.

    AMD's function for npu1 does not subtract the largest, so that inputs above 88 overflow there.
    """
    x, target = same_size({"a": a, "c": c}, count)
    if x.size:
        powers = _exp(floats(x) - floats(x).max())
        target[...] = (powers / np.sum(powers, dtype=np.float32)).astype(target.dtype)


@answers("softmax_bf16_vector", types={"a": "bf16", "c": "bf16"}, objects=("bf16_softmax", "softmax"))
def softmax_vector(a: Values, c: Values) -> None:
    """As ``softmax``, all elements. Source: mlir-aie ``ml/softmax``."""
    softmax(a, c)


@answers("rms_norm", "rms_norm_{TYPE}", kinds=_FLOATS, types=_AC)
def rms_norm(a: Values, c: Values, count: int) -> None:
    """``c = a / sqrt(mean(a**2) + 1e-5)`` over ``count`` elements. Source: mlir-aie ``rms_norm.cc``."""
    x, target = same_size({"a": a, "c": c}, _positive(count))
    values = floats(x)
    root = np.sqrt(np.mean(values * values, dtype=np.float32) + _EPSILON)
    target[...] = (values / root).astype(target.dtype)


@answers("layer_norm", "layer_norm_{TYPE}", kinds=_FLOATS, types=_AC)
def layer_norm(a: Values, c: Values, count: int) -> None:
    """``c = (a - mean(a)) / sqrt(var(a) + 1e-5)`` over ``count`` elements. Source: mlir-aie
    ``layer_norm.cc``.
    """
    x, target = same_size({"a": a, "c": c}, _positive(count))
    centred = floats(x) - np.mean(floats(x), dtype=np.float32)
    root = np.sqrt(np.mean(centred * centred, dtype=np.float32) + _EPSILON)
    target[...] = (centred / root).astype(target.dtype)


@answers("rope", "rope_{TYPE}", kinds=_FLOATS, types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def rope(a: Values, b: Values, c: Values, count: int) -> None:
    """Pairs of a turned by b's pairs (cosine, sine): rotary embedding of ``count`` elements, an even number.

    Source: mlir-aie ``rope.cc``.
    """
    if count % 2:
        raise CallError("count", str(count), "even")
    x, turn, target = same_size({"a": a, "b": b, "c": c}, count)
    (even, odd), (cosine, sine) = floats(x).reshape(-1, 2).T, floats(turn).reshape(-1, 2).T
    turned = np.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=1)
    target[...] = turned.reshape(-1).astype(target.dtype)


def _computed(function: Callable[[Floats], Floats], a: Values, c: Values, count: int | None) -> None:
    x, target = same_size({"a": a, "c": c}, count)
    with np.errstate(all="ignore"):
        target[...] = function(floats(x)).astype(target.dtype)


def _exp(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.exp(x)


def _relu(x: Floats) -> Floats:
    return np.maximum(x, np.float32(0))


def _silu(x: Floats) -> Floats:
    weighted: Floats = x / (np.float32(1) + _exp(-x))
    return weighted


def _gelu(x: Floats) -> Floats:
    inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * (x * x * x))
    return np.asarray(np.float32(0.5) * x * (np.float32(1) + np.tanh(inner)), np.float32)


def _positive(count: int) -> int:
    if count < 1:
        raise CallError("count", str(count), "1 or more")
    return count
