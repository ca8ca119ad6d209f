"""Kernels of ``aie.iron.kernels`` for models: norms, rotations, activations, scaled types, depthwise lines.

Each result is computed in float32 and rounded once: by the core's mode, which mlir-aie's contracts set to
nearest even beforehand (``set_rounding_conv_even``), or to nearest even where the kernel sets that itself.
"""

from __future__ import annotations

import numpy as np

from memtile.corelib.activations import gelu, silu
from memtile.corelib.name_types import BF16, Values, floats
from memtile.corelib.registry import CallError, answers, first, same_size
from memtile.corelib.rounding import Modes

_BF16 = dict.fromkeys("abc", "bf16")
_AC = {"a": "bf16", "c": "bf16"}
_EPSILON = np.float32(1e-5)
_LEAST = np.float32(-111)  # of exp2f_vec's input, which it clamps; the factory's default
_LIMITS = {"low": "f32", "high": "f32"}
_NIBBLES = 2  # of a byte


@answers("leaky_relu_bf16", types=_AC)
def leaky_relu(a: Values, c: Values, count: int, slope: float, *, modes: Modes) -> None:
    """The larger of a and ``slope * a``, for slopes below 1: a where it is above 0. The slope is rounded to
    bf16, the product by the mode of the core. Source: mlir-aie ``leaky_relu.cc``.
    """
    x, target = same_size({"a": a, "c": c}, count)
    steep = np.asarray(slope, BF16).astype(np.float32)
    target[...] = np.maximum(floats(x), modes.step(steep * floats(x), target.dtype)).astype(target.dtype)


@answers("silu_bf16_size", types=_AC)
def silu_sized(a: Values, c: Values, count: int, *, modes: Modes) -> None:
    """``c = a / (1 + exp(-a))`` for ``count`` elements. Source: mlir-aie ``silu.cc``."""
    silu(a, c, count, modes=modes)


@answers("gelu_bf16_size", types=_AC)
def gelu_sized(a: Values, c: Values, count: int, *, modes: Modes) -> None:
    """As ``gelu_bf16`` for ``count`` elements. Source: mlir-aie ``gelu.cc``."""
    gelu(a, c, count, modes=modes)


@answers("exp2f_vec_f32", types={"a": "f32", "c": "f32"})
def exp2f_vec(a: Values, c: Values, count: int) -> None:
    """``c = 2 ** a``, a no less than -111, which is what the factory compiles in. AMD's function is a
    polynomial with a relative error of 0.00009. Source: mlir-aie ``exp2f_vec.cc``.
    """
    x, target = same_size({"a": a, "c": c}, count)
    with np.errstate(all="ignore"):
        target[...] = np.exp2(np.maximum(x, _LEAST).astype(np.float64)).astype(np.float32)


@answers("saxpy", "saxpy_scalar", types=_BF16)
def axpy(a: Values, b: Values, factor: float, c: Values, count: int, *, modes: Modes) -> None:
    """``c = factor * a + b`` for ``count`` elements, the factor rounded to bf16. Source: mlir-aie
    ``axpy.cc``.
    """
    x, y, target = same_size({"a": a, "b": b, "c": c}, count)
    steep = np.asarray(factor, BF16).astype(np.float32)
    target[...] = modes.into(steep * floats(x) + floats(y), target.dtype)


@answers("cast_f32_bf16_row", types={"a": "f32", "c": "bf16"})
def cast_row(a: Values, c: Values, count: int) -> None:
    """``c = a`` in bf16, rounded to nearest even. Source: mlir-aie ``cast_f32_bf16.cc``."""
    x, target = same_size({"a": a, "c": c}, count)
    with np.errstate(all="ignore"):
        target[...] = x.astype(target.dtype)


@answers("expand_uint4_to_bfloat16", types={"a": "ui8", "c": "bf16"})
def expand(a: Values, c: Values, *, modes: Modes) -> None:
    """Numbers of four bits, the low half of a byte first, times the scale of their group: behind the numbers
    a has a bf16 for each group, and groups are as large as the sizes of a and c say. Source: mlir-aie
    ``expand.cc``.
    """
    packed, scales = groups_of(a, c)
    target = c.reshape(-1)
    numbers = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1).astype(np.float32)
    target[...] = modes.into(numbers * np.repeat(floats(scales), target.size // scales.size), c.dtype)


def groups_of(a: Values, c: Values) -> tuple[Values, Values]:
    """The bytes of ``expand``'s numbers, and the scales of their groups.

    Raises:
        CallError: a does not have whole groups.
    """
    given, size = np.ascontiguousarray(a).reshape(-1), c.size // _NIBBLES
    many, rest = divmod(given.size - size, BF16.itemsize)
    if c.size % _NIBBLES or many < 1 or rest or c.size % many:
        allowed = f"{size} and 2 for each of the groups into which {c.size} elements divide"
        raise CallError("the number of bytes of a", str(given.size), allowed)
    return given[:size], given[size:].view(BF16)


@answers("rope_two_halves", types=_BF16)
def rope_two_halves(a: Values, b: Values, c: Values, count: int, *, modes: Modes) -> None:
    """As ``rope``, but element n of the first half and element n of the second one are the pair that b's pair
    n turns. Source: mlir-aie ``rope.cc``.
    """
    if count % 2:
        raise CallError("count", str(count), "even")
    x, turn, target = same_size({"a": a, "b": b, "c": c}, count)
    low, high = floats(x).reshape(2, -1)
    cosine, sine = floats(turn).reshape(-1, 2).T
    turned = np.concatenate([low * cosine - high * sine, high * cosine + low * sine])
    target[...] = modes.into(turned, target.dtype)


@answers("rms_norm_eps", types=_AC)
def rms_norm_eps(a: Values, c: Values, count: int, epsilon: float, *, modes: Modes) -> None:
    """``c = a / sqrt(mean(a**2) + epsilon)`` over ``count`` elements. Source: mlir-aie ``rms_norm.cc``."""
    x, target = _row({"a": a, "c": c}, count)
    root = np.sqrt(np.mean(floats(x) ** 2, dtype=np.float32) + np.float32(epsilon))
    target[...] = modes.into(floats(x) / root, target.dtype)


@answers("layer_norm_affine_cast", types={"a": "f32", "w": "f32", "c": "bf16"})
def layer_norm_affine(a: Values, w: Values, c: Values, count: int) -> None:
    """``c = (a - mean(a)) / sqrt(var(a) + 1e-5) * gamma + beta`` over ``count`` elements; w has their gammas,
    then their betas. Source: mlir-aie ``layer_norm.cc``.
    """
    x, target = _row({"a": a, "c": c}, count)
    gamma, beta = first(w, 2 * count, "w").reshape(2, -1)
    centred = x - np.mean(x, dtype=np.float32)
    root = np.sqrt(np.mean(centred * centred, dtype=np.float32) + _EPSILON)
    target[...] = (centred / root * gamma + beta).astype(target.dtype)


@answers("dwconv1d_bf16", "dwconv1d_channels_first_bf16", types={"a": "bf16", "w": "bf16", "c": "bf16"})
def dwconv1d(a: Values, w: Values, c: Values, count: int) -> None:
    """``c[n] = sum(w[k] * a[n + k]) + bias`` for ``count`` elements of one channel; w has the filter, then
    the bias, which the factory's default adds. Source: mlir-aie ``dwconv1d.cc``.
    """
    taps = w.size - 1
    if taps < 1:
        raise CallError("the number of elements of w", str(w.size), "2 or more: a filter and the bias")
    x, target = floats(first(a, count + taps - 1, "a")), first(c, count, "c")
    *weights, bias = floats(w.reshape(-1))
    total = np.zeros(count, np.float32)
    for at, weight in enumerate(weights):
        total += weight * x[at : at + count]
    target[...] = (total + bias).astype(target.dtype)


@answers("dwconv1d_channels_last_k5_bf16", types={**dict.fromkeys("vwxyzabdefc", "bf16"), **_LIMITS})
def dwconv1d_channels_last(
    v: Values, w: Values, x: Values, y: Values, z: Values,
    a: Values, b: Values, d: Values, e: Values, f: Values, c: Values, low: Values, high: Values,
) -> None:  # fmt: skip
    """``c = v * a + w * b + x * d + y * e + z * f`` for each channel, rounded, then clamped to ``low[0]`` and
    ``high[0]``, which the factory's default compiles in. Source: mlir-aie ``dwconv1d_channels_last.cc``.
    """
    total = np.zeros(c.size, np.float32)
    with np.errstate(all="ignore"):
        for weights, line in zip((v, w, x, y, z), (a, b, d, e, f), strict=True):
            total += floats(first(weights, c.size, "a filter")) * floats(first(line, c.size, "a line"))
    least, most = (first(each, 1, "a limit")[0].astype(c.dtype) for each in (low, high))
    c.reshape(-1)[...] = np.clip(total.astype(c.dtype), least, most)


def _row(given: dict[str, Values], count: int) -> list[Values]:
    """The elements of a row that is not empty."""
    if count < 1:
        raise CallError("count", str(count), "1 or more")
    return same_size(given, count)
