"""NumPy's shape functions on views (NEP 18): the same names and arguments, dispatched by NumPy itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_tuple

if TYPE_CHECKING:
    from memtile.access.views import View

Axes = int | Sequence[int] | None


def pad(array: View, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> View:
    """``numpy.pad`` with zeros: ``pad_width`` is n, (before, after), a pair per axis, or {axis: width}.

    Raises:
        TransferError: another mode or constant, a width below 0, or zeros around a part of a padded axis.
    """
    if mode != "constant" or np.any(np.asarray(constant_values) != 0):
        given = f"mode {mode!r}, constant_values {constant_values}"
        says = f"pad has {given}; the hardware pads with zeros only, which is mode 'constant' with 0"
        raise array.refusal("pad", given, "mode 'constant' with 0", "AM020 ch. 5: zero padding", says=says)
    for k, (before, after) in enumerate(_widths(array, pad_width)):
        array = array.pad(k, before, after)
    return array


def sliding_window_view(
    x: View,
    window_shape: int | Sequence[int],
    axis: Axes = None,
    *,
    subok: bool = False,  # noqa: ARG001
    writeable: bool = False,  # noqa: ARG001
) -> View:
    """``numpy.lib.stride_tricks.sliding_window_view``: the windows' axes come last, overlap costs nothing.

    Args:
        x: the view.
        window_shape: elements of a window, one size per axis of ``axis``.
        axis: which axes a window slides along; None = all of them, in order.
        subok: NumPy's, without meaning here.
        writeable: NumPy's, without meaning here; a view is written where a transfer writes it.

    Raises:
        TransferError: not one window per axis, a window below 1 or above its axis, or an axis that is more
            than one loop.
        AxisError: NumPy's: no such axis.
    """
    sizes = tuple(window_shape) if isinstance(window_shape, Sequence) else (index(window_shape),)
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim, allow_duplicate=True)
    if len(axes) != len(sizes):
        given = f"{len(sizes)} windows for {len(axes)} axes"
        says = f"sliding_window_view has {given}; it needs one for each"
        raise x.refusal("sliding_window_view", given, "one window per axis", "NumPy", says=says)
    for k, size in zip(axes, sizes, strict=True):
        x = x.windows(k, size)
    return x


def _widths(array: View, pad_width: Any) -> list[list[int]]:
    if isinstance(pad_width, dict):
        by_axis = {k % array.ndim: width for k, width in pad_width.items()}
        pad_width = [np.broadcast_to(by_axis.get(k, 0), 2) for k in range(array.ndim)]
    widths = np.asarray(pad_width)
    try:
        pairs = np.broadcast_to(widths, (array.ndim, 2))
    except ValueError:
        pairs = np.full((1, 2), -1)
    if widths.dtype.kind not in "iu" or (pairs < 0).any():
        allowed = f"widths of 0 or more for {array.ndim} axes"
        says = f"pad_width is {pad_width}; it must be {allowed}"
        raise array.refusal("pad", str(pad_width), allowed, "numpy.pad", says=says)
    return [[int(n) for n in pair] for pair in pairs]


def _permuted(function: Callable[..., Any]) -> Callable[..., View]:
    """``function`` on a view, in the order that NumPy gives an array whose sizes number its axes."""

    def permute(array: View, *args: Any, **kwargs: Any) -> View:
        numbered = np.broadcast_to(np.zeros(()), range(1, array.ndim + 1))
        return array.transpose([k - 1 for k in function(numbered, *args, **kwargs).shape])

    return permute


def _reshape(a: View, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> View:
    if order != "C" or copy:
        given, allowed = f"order {order!r}, copy={copy}", "order 'C' without copy"
        says = f"reshape has {given}; a view can only be reshaped in order 'C' and without a copy"
        raise a.refusal("reshape", given, allowed, "a view has no data", says=says)
    return a.reshape(shape)


def _ravel(a: View, order: str = "C") -> View:
    return _reshape(a, -1, order)


def _reshaped_like(function: Callable[..., Any]) -> Callable[..., View]:
    """``function``, which only adds or drops axes of one element, by the shape that NumPy gives."""

    def reshape(a: View, *args: Any, **kwargs: Any) -> View:
        return a.reshape(function(np.broadcast_to(np.zeros(()), a.shape), *args, **kwargs).shape)

    return reshape


def _flip(m: View, axis: Axes = None) -> View:
    axes = normalize_axis_tuple(range(m.ndim) if axis is None else axis, m.ndim)
    for k in axes:
        m = m.flip(k)
    return m


def _broadcast_to(array: View, shape: int | Sequence[int], subok: bool = False) -> View:  # noqa: ARG001
    return array.broadcast_to((shape,) if isinstance(shape, int) else shape)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.broadcast_to: _broadcast_to,
    np.expand_dims: _reshaped_like(np.expand_dims),
    np.flip: _flip,
    np.fliplr: lambda m: _flip(m, 1),
    np.flipud: lambda m: _flip(m, 0),
    np.moveaxis: _permuted(np.moveaxis),
    np.ndim: lambda a: a.ndim,
    np.pad: pad,
    np.ravel: _ravel,
    np.reshape: _reshape,
    np.rollaxis: _permuted(np.rollaxis),
    np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: prod(a.shape if axis is None else [a.shape[axis]]),
    np.squeeze: _reshaped_like(np.squeeze),
    np.swapaxes: _permuted(np.swapaxes),
    np.transpose: _permuted(np.transpose),
    stride_tricks.sliding_window_view: sliding_window_view,
}
