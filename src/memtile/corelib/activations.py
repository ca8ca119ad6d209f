"""Activations and norms: computed in float32 and rounded by the mode of the core.

AMD's functions look exp and tanh up in tables and round to bf16 between the steps; their own host programs
compare with a relative tolerance of 12.8 % (mlir-aie ``activation.py``). Here are the values that they
approximate (DEV-KERNEL-4), and their steps where these are sums and products alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from memtile.corelib.name_types import Values, floats
from memtile.corelib.registry import CallError, answers, same_size
from memtile.corelib.rounding import Modes

Floats = npt.NDArray[np.float32]
_FLOATS = ("bf16", "f32")
_AC = {"a": "TYPE", "c": "TYPE"}
_EPSILON = np.float32(1e-5)  # of both norms


@answers("bf16_relu", "relu_bf16_size", types={"a": "bf16", "c": "bf16"})
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
def exp_of(a: Values, c: Values, *, n: int, modes: Modes) -> None:
    """``c = exp(a)`` for n elements; too large becomes infinity. Source: mlir-aie ``bf16_exp.cc``."""
    _computed(np.exp, a, c, n, modes)


@answers("exp_{TYPE}", kinds=_FLOATS, types=_AC)
def exp(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = exp(a)``; too large becomes infinity. Source: mlir-aie ``bf16_exp.cc``."""
    _computed(np.exp, a, c, count, modes)


@answers("tanh_{TYPE}", kinds=_FLOATS, types=_AC)
def tanh(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = tanh(a)``. Source: mlir-aie, the step within ``gelu.cc``."""
    _computed(np.tanh, a, c, count, modes)


@answers("sigmoid_{TYPE}", kinds=_FLOATS, types=_AC)
def sigmoid(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = 1 / (1 + exp(-a))``. Source: mlir-aie, the step within ``silu.cc``."""
    _computed(lambda x: np.float32(1) / (np.float32(1) + np.exp(-x)), a, c, count, modes)


@answers("gelu_{TYPE}", kinds=_FLOATS, types=_AC)
def gelu(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a**3)))``. Source: mlir-aie ``gelu.cc``."""
    _computed(_gelu, a, c, count, modes)


@answers("silu_{TYPE}", kinds=_FLOATS, types=_AC)
def silu(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = a / (1 + exp(-a))``. Source: mlir-aie ``silu.cc``."""
    _computed(_silu, a, c, count, modes)


@answers("mm_activation_epilogue_row", types={"a": "f32", "c": "f32"})
def epilogue(a: Values, c: Values, count: int, mode: int, *, modes: Modes) -> None:
    """What follows a matrix product, for ``count`` elements: ``mode`` 1 is silu, 2 is gelu, 3 is relu, others
    copy.

    Source: mlir-aie ``mm_activation_epilogue.cc``.
    """
    _computed({1: _silu, 2: _gelu, 3: _relu}.get(mode, lambda x: x), a, c, count, modes)


@answers("swiglu_{TYPE}", kinds=_FLOATS, types={"a": "TYPE", "v": "TYPE", "w": "TYPE", "c": "TYPE"})
def swiglu(a: Values, v: Values, w: Values, c: Values, *, modes: Modes) -> None:
    """``c = (a * v) * silu(a * w)``. Source: mlir-aie ``swiglu.cc``."""
    x, gate, inner, target = same_size({"a": a, "v": v, "w": w, "c": c})
    outer = floats(x) * floats(gate)
    target[...] = modes.into(outer * _silu(floats(x) * floats(inner)), target.dtype)


@answers("softmax_{TYPE}", kinds=_FLOATS, types=_AC)
def softmax(a: Values, c: Values, count: int | None = None, *, modes: Modes) -> None:
    """``c = exp(a - max(a)) / sum(exp(a - max(a)))`` over all ``count`` elements. Source: mlir-aie
    ``softmax.cc``.

    AMD's function for npu1 does not subtract the largest, so that inputs above 88 overflow there.
    """
    x, target = same_size({"a": a, "c": c}, count)
    if x.size:
        powers = np.exp(floats(x) - floats(x).max())
        target[...] = modes.into(powers / np.sum(powers, dtype=np.float32), target.dtype)


@answers("softmax_bf16_vector", types={"a": "bf16", "c": "bf16"}, objects=("bf16_softmax", "softmax"))
def softmax_vector(a: Values, c: Values, *, modes: Modes) -> None:
    """As ``softmax``, all elements. Source: mlir-aie ``ml/softmax``."""
    softmax(a, c, modes=modes)


@answers("rms_norm", "rms_norm_{TYPE}", kinds=_FLOATS, types=_AC)
def rms_norm(a: Values, c: Values, count: int, *, modes: Modes) -> None:
    """``c = a / sqrt(mean(a**2) + 1e-5)`` over ``count`` elements; the root's reciprocal is in c's type.

    Source: mlir-aie ``rms_norm.cc``.
    """
    x, target = same_size({"a": a, "c": c}, _positive(count))
    values = floats(x)
    root = np.sqrt(np.mean(values * values, dtype=np.float32) + _EPSILON)
    target[...] = modes.into(values * modes.step(np.float32(1) / root, target.dtype), target.dtype)


@answers("layer_norm", "layer_norm_{TYPE}", kinds=_FLOATS, types=_AC)
def layer_norm(a: Values, c: Values, count: int, *, modes: Modes) -> None:
    """``c = (a - mean(a)) / sqrt(var(a) + 1e-5)`` over ``count`` elements; the mean, what is left of a, and
    the root's reciprocal are in c's type. Source: mlir-aie ``layer_norm.cc``.
    """
    x, target = same_size({"a": a, "c": c}, _positive(count))
    kind, values = target.dtype, floats(x)
    mean = np.float32(np.mean(values, dtype=np.float32))
    root = np.sqrt(np.mean(np.square(values - mean), dtype=np.float32) + _EPSILON)
    centred = modes.step(values - modes.step(mean, kind), kind)
    target[...] = modes.into(centred * modes.step(np.float32(1) / root, kind), kind)


@answers("rope", "rope_{TYPE}", kinds=_FLOATS, types={"a": "TYPE", "b": "TYPE", "c": "TYPE"})
def rope(a: Values, b: Values, c: Values, count: int, *, modes: Modes) -> None:
    """Pairs of a turned by b's pairs (cosine, sine): rotary embedding of ``count`` elements, an even number.
    Products are in c's type.

    Source: mlir-aie ``rope.cc``.
    """
    if count % 2:
        raise CallError("count", str(count), "even")
    x, turn, target = same_size({"a": a, "b": b, "c": c}, count)
    (even, odd), (cosine, sine) = floats(x).reshape(-1, 2).T, floats(turn).reshape(-1, 2).T
    products = ((even, cosine), (odd, sine), (even, sine), (odd, cosine))
    first, second, third, fourth = (modes.step(x * y, target.dtype) for x, y in products)
    both = np.stack([first - second, third + fourth], axis=1)
    target[...] = modes.into(both.reshape(-1), target.dtype)


def _computed(
    function: Callable[[Floats], Floats], a: Values, c: Values, count: int | None, modes: Modes
) -> None:
    x, target = same_size({"a": a, "c": c}, count)
    target[...] = modes.into(function(floats(x)), target.dtype)


def _relu(x: Floats) -> Floats:
    return np.maximum(x, np.float32(0))


def _silu(x: Floats) -> Floats:
    return np.asarray(x / (np.float32(1) + np.exp(-x)), np.float32)


def _gelu(x: Floats) -> Floats:
    inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * (x * x * x))
    return np.asarray(np.float32(0.5) * x * (np.float32(1) + np.tanh(inner)), np.float32)


def _positive(count: int) -> int:
    if count < 1:
        raise CallError("count", str(count), "1 or more")
    return count
