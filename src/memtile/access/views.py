"""NumPy views as transfers: a ``View`` takes NumPy's indexing and shape functions and remembers the loops.

It holds no data; NumPy's meaning of each operation is the specification. NumPy itself dispatches its
functions to the methods of a view (NEP 18): the same names and arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import index
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_tuple

from memtile.access.drawing import Drawing, order_drawing, plane_last
from memtile.access.element_types import element_bits
from memtile.access.layout import (
    FLAT,
    LoopLayout,
    Loops,
    Move,
    broken_step,
    cut_inner,
    element,
    merged,
    size_of,
    take,
)
from memtile.access.request import WORD_BITS, LoopAxis, Request, elements
from memtile.errors import TransferError

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


AFFINE = "AM020 ch. 5: descriptors walk loops of fixed steps"
BASIC = "NumPy basic indexing"


def view(shape: int | Sequence[int], dtype: npt.DTypeLike = np.int32) -> View:
    """A view of a whole buffer.

    Args:
        shape: NumPy shape, last axis contiguous.
        dtype: element type; NumPy's, or a name of AMD's such as ``"int4"``, ``"bfloat16"``, ``"cint16"``.

    Raises:
        TransferError: an axis without elements, or an unknown element type.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(map(index, shape))
    if min(sizes, default=1) < 1:
        raise TransferError.of(
            "shape",
            str(sizes),
            "1 or more per axis",
            f"the shape is {sizes}; every axis must have at least 1 element",
            reason="view",
            where="view",
            source="NumPy shape",
        )
    pitches = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    axes = tuple(merged([LoopAxis(FLAT, size, pitch)]) for size, pitch in zip(sizes, pitches, strict=True))
    return View(element_bits(dtype), prod(sizes), LoopLayout(0, axes))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """An array without data: elements of a buffer, and zeros, in an order.

    NumPy's functions work on it: basic slicing, ``transpose``, ``reshape``, ``flip``, ``broadcast_to``,
    ``sliding_window_view``, ``pad`` with zeros, and those made of these.

    Attributes:
        element_bits: size of an element.
        capacity: elements of the buffer.
        layout: where the elements lie.
    """

    element_bits: int
    capacity: int
    layout: LoopLayout

    __array_ufunc__ = None  # a view has no values to compute with

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements per axis."""
        return tuple(map(size_of, self.layout.axes))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.layout.axes)

    @property
    def size(self) -> int:
        """Elements of the stream, zeros included."""
        return prod(self.shape)

    @property
    def T(self) -> View:  # noqa: N802 - NumPy's name
        """The axes in reverse order."""
        return self.transpose()

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[View]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"View(shape={self.shape}, {self.element_bits}-bit elements of a buffer of {self.capacity})"

    def _repr_html_(self) -> str:
        return f"<pre style='font-family:monospace'>{self!r}</pre>{self.picture().svg}"

    def picture(self, path: Path | str | None = None, *, plane: tuple[int, int] = (-2, -1)) -> Drawing:
        """The view with the element of the buffer that each of its elements is; zeros have no number.

        Args:
            path: also write it to a file, ``.svg`` or ``.html``.
            plane: axes of the view that are the rows and the columns.

        Returns:
            The drawing, which notebooks show.

        Raises:
            TransferError: no such axes, or a padded axis that is walked both ways.
            InputFileError: the file cannot be written.
        """
        request = self.layout.request(self.element_bits, self.capacity)
        numbers = elements(self.request() if request is None else request).reshape(self.shape or (1,))
        title = f"{self!r}: element of the buffer that each is"
        made = order_drawing(plane_last(numbers, plane, "view"), title)
        if path is not None:
            made.save(path)
        return made

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        raise self.refusal(
            "array",
            "conversion to an array",
            "shape functions",
            "a view has no data",
            says="a view cannot become an array; NumPy functions of the shape alone work on it",
        )

    def __array_namespace__(self, **_: Any) -> ModuleType:
        """NumPy, whose functions dispatch to this class; einops looks here (array API standard)."""
        return np

    def __array_function__(
        self, func: Callable[..., Any], _: Iterable[type], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        if func not in FUNCTIONS:
            allowed = ", ".join(sorted({f.__name__ for f in FUNCTIONS}))
            name = f"numpy.{func.__name__}"
            says = f"{name} does not work on a view; these functions do: {allowed}"
            raise self.refusal("function", name, allowed, "a view has no data", says=says)
        return FUNCTIONS[func](*args, **kwargs)

    def __getitem__(self, key: Any) -> View:
        axes: list[Loops] = []
        moves: list[Move] = []
        source = iter(enumerate(self.layout.axes))
        for item in self._spelled_out(key):
            if item is None:
                axes.append(())
                continue
            k, loops = next(source)
            if isinstance(item, slice):
                way, taken = self._sliced(k, loops, item)
                axes.append(taken)
            else:
                way = element(loops, self._position(k, item))
            moves += way
        return View(self.element_bits, self.capacity, self.layout.moved(axes, moves))

    def transpose(self, *order: Any) -> View:
        """``numpy.ndarray.transpose``."""
        return self._ordered_as(self._numbered().transpose(*order))

    def swapaxes(self, axis1: int, axis2: int) -> View:
        """``numpy.ndarray.swapaxes``."""
        return self._ordered_as(self._numbered().swapaxes(axis1, axis2))

    def ravel(self) -> View:
        """``numpy.ndarray.ravel`` in C order."""
        return self.reshape(-1)

    def reshape(self, *shape: Any) -> View:
        """``numpy.ndarray.reshape`` in C order; exact wherever the new axes keep whole loops.

        Raises:
            TransferError: another number of elements, or axes that cut a loop.
        """
        given = shape[0] if len(shape) == 1 else shape
        sizes = self._completed([index(given)] if isinstance(given, int) else [index(n) for n in given])
        rest = merged(loop for loops in self.layout.axes for loop in loops)
        axes: list[Loops] = []
        for k in reversed(range(len(sizes))):
            parts = cut_inner(rest, sizes[k])
            if parts is None:
                turns = " x ".join(str(loop.wrap) for loop in rest)
                raise self.refusal(
                    "reshape",
                    f"axis {k} of {tuple(sizes)}",
                    f"whole turns of loops of {turns} elements",
                    AFFINE,
                    "Reshape before slicing, or split the transfer.",
                    says=f"axis {k} of the new shape {tuple(sizes)} cuts through loops of {turns} elements",
                )
            rest, inner = parts
            axes.insert(0, inner)
        return self._with_axes(axes)

    def broadcast_to(self, shape: Sequence[int]) -> View:
        """``numpy.broadcast_to``: what is repeated has step 0.

        Raises:
            TransferError: a shape that the view does not broadcast to.
        """
        old, new = self.shape, tuple(shape)
        padded = [*[1] * (len(new) - len(old)), *old]
        if len(padded) != len(new) or any(m not in (1, n) or n < 1 for m, n in zip(padded, new, strict=True)):
            says = f"the view cannot be broadcast to {new}"
            allowed = f"a shape that {old} broadcasts to"
            raise self.refusal("broadcast_to", str(new), allowed, "NumPy", says=says)
        axes = [*[()] * (len(new) - len(old)), *self.layout.axes]
        return self._with_axes(
            [loops or merged([LoopAxis(FLAT, n, 0)]) for loops, n in zip(axes, new, strict=True)]
        )

    def windows(self, k: int, size: int) -> View:
        """``sliding_window_view`` along axis ``k``: places stay there, the window becomes the last axis.

        Raises:
            TransferError: a window below 1 or above the axis, or an axis that is more than one loop.
        """
        loop = self._single_loop(k, "sliding_window_view")
        if not 1 <= size <= loop.wrap:
            allowed = f"1..{loop.wrap}, the size of axis {k}"
            says = f"the window has a size of {size}, allowed are {allowed}"
            raise self.refusal("sliding_window_view", f"a window of {size}", allowed, "NumPy", says=says)
        axes = [*self.layout.axes, merged([loop._replace(wrap=size)])]
        axes[k] = merged([loop._replace(wrap=loop.wrap - size + 1)])
        return self._with_axes(axes)

    def flip(self, k: int) -> View:
        """Axis ``k`` in reverse order."""
        return self[(slice(None),) * k + (slice(None, None, -1),)]

    def pad(self, k: int, before: int, after: int) -> View:
        """Zeros before and after axis ``k``.

        Args:
            k: the axis.
            before: zeros before it, in elements, 0 or more.
            after: zeros after it.

        Raises:
            TransferError: an axis that is more than one loop, or a part of one that has zeros already.
        """
        if not before and not after:
            return self
        loop = self._single_loop(k, "pad")
        if loop.stride < 0:
            return self.flip(k).pad(k, after, before).flip(k)
        axes = [*self.layout.axes]
        axes[k] = merged([loop])
        layout = replace(self.layout, axes=tuple(axes)).padded(k, before, after)
        if layout is None:
            raise self.refusal(
                "pad",
                f"axis {k}, a part of an axis that has zeros already",
                "an axis whose zeros are its own",
                AFFINE,
                "Pad once, before windows and reshapes.",
                says=f"axis {k} cannot be padded: it is a part of an axis that has zeros already",
            )
        return View(self.element_bits, self.capacity, layout)

    def request(self) -> Request:
        """The transfer: the elements in C order.

        Raises:
            TransferError: an order that takes words apart, or an axis with zeros walked both ways.
        """
        request = self.layout.request(self.element_bits, self.capacity)
        if request is None:
            allowed = "loops in one direction along a padded axis"
            raise self.refusal(
                "flip",
                "loops in both directions",
                allowed,
                AFFINE,
                "Flip before padding.",
                says="a padded axis is walked in both directions; all its loops must go the same way",
            )
        step = broken_step(request)
        if step is not None:
            group = WORD_BITS // self.element_bits
            raise self.refusal(
                "order",
                f"{self.element_bits}-bit elements in steps of {step}",
                f"runs of {group} neighbours (one {WORD_BITS}-bit word)",
                "AM020 ch. 5: all DMA addresses are 32-bit",
                f"Keep {group} neighbours together as the innermost axis.",
                reason="word_alignment",
                says=f"{self.element_bits}-bit elements are read in steps of {step}; "
                f"they must come in runs of {group} neighbours, which make one {WORD_BITS}-bit word",
            )
        return request

    def refusal(
        self,
        field: str,
        given: str,
        allowed: str,
        source: str,
        next_step: str = "",
        *,
        reason: str = "view",
        says: str = "",
    ) -> TransferError:
        """The error for an operation that makes no transfer.

        Args:
            field: the operation.
            given: what was asked of it.
            allowed: what it can do.
            source: why.
            next_step: what to do instead; empty = nothing to add.
            reason: code that scripts may compare.
            says: a sentence of its own, where the others make none.
        """
        return TransferError.of(
            field,
            given,
            allowed,
            says,
            next_step,
            reason=reason,
            where=f"view of {self.shape}",
            source=source,
        )

    def _numbered(self) -> npt.NDArray[Any]:
        """An array whose sizes number the axes, for NumPy to put in order."""
        return np.broadcast_to(np.zeros(()), range(1, self.ndim + 1))

    def _ordered_as(self, numbered: npt.NDArray[Any]) -> View:
        return self._with_axes([self.layout.axes[size - 1] for size in numbered.shape])

    def _with_axes(self, axes: Sequence[Loops]) -> View:
        layout = LoopLayout(self.layout.base, tuple(axes), self.layout.extents)
        return View(self.element_bits, self.capacity, layout)

    def _single_loop(self, k: int, what: str) -> LoopAxis:
        loops = merged(self.layout.axes[k])
        if len(loops) > 1:
            sizes = " x ".join(str(loop.wrap) for loop in loops)
            raise self.refusal(
                what,
                f"axis {k}, loops of {sizes}",
                "an axis of one step",
                AFFINE,
                f"Call {what} before the reshape.",
                says=f"{what} needs an axis of one step; axis {k} is made of loops of {sizes}",
            )
        return loops[0] if loops else LoopAxis(FLAT, 1, 0)

    def _check_items(self, items: Iterable[Any]) -> None:
        for item in items:
            basic = isinstance(item, int | np.integer | slice | None | type(...))
            if isinstance(item, bool | np.bool_) or not basic:
                raise self.refusal(
                    "index",
                    f"an index of type {type(item).__name__}",
                    "integers, slices, ... and None",
                    BASIC,
                    "Use one view for each piece.",
                    says=f"the index has an item of type {type(item).__name__}; "
                    "a view takes integers, slices, ... and None",
                )

    def _spelled_out(self, key: Any) -> list[Any]:
        """The items of an index, one per axis but for ``None``."""
        items = list(key) if isinstance(key, tuple) else [key]
        self._check_items(items)
        named = sum(item is not None and item is not ... for item in items)
        dots = [place for place, item in enumerate(items) if item is ...]
        if named > self.ndim or len(dots) > 1:
            allowed = f"at most {self.ndim} indices and one ellipsis"
            says = f"the index is {key}; it can have {allowed}"
            raise self.refusal("index", str(key), allowed, BASIC, says=says)
        place = dots[0] if dots else len(items)
        return [*items[:place], *[slice(None)] * (self.ndim - named), *items[place + 1 :]]

    def _position(self, k: int, item: Any) -> int:
        size, place = self.shape[k], index(item)
        if not -size <= place < size:
            says = f"the index of axis {k} is {place}, allowed are {-size}..{size - 1}"
            raise self.refusal("index", f"{place} on axis {k}", f"{-size}..{size - 1}", BASIC, says=says)
        return place % size

    def _sliced(self, k: int, loops: Loops, item: slice) -> tuple[list[Move], Loops]:
        places = range(size_of(loops))[item]
        if not places:
            says = f"the slice of axis {k} is empty; it must have at least one element"
            raise self.refusal(
                "index", f"an empty slice of axis {k}", "at least one element", BASIC, says=says
            )
        taken = take(merged(loops), places.start, places.step, len(places))
        if taken is None:
            sizes = " x ".join(str(loop.wrap) for loop in merged(loops))
            cut = f"{places.start}:{places.stop}:{places.step}"
            raise self.refusal(
                "index",
                f"{cut} of axis {k}, loops of {sizes}",
                "whole turns of its loops",
                AFFINE,
                "Slice before the reshape.",
                says=f"the slice {cut} of axis {k} must take whole turns of its loops of {sizes}",
            )
        return taken

    def _completed(self, sizes: list[int]) -> list[int]:
        """``sizes`` with -1 replaced by what is left."""
        known = prod(n for n in sizes if n != -1)
        if sizes.count(-1) == 1 and known > 0 and self.size % known == 0:
            return [self.size // known if n == -1 else n for n in sizes]
        if min(sizes, default=1) < 1 or known != self.size:
            says = f"the new shape is {tuple(sizes)}; it must have {self.size} elements"
            allowed = f"a shape of {self.size} elements"
            raise self.refusal("reshape", str(tuple(sizes)), allowed, "NumPy", says=says)
        return sizes
