"""Other people's words for an access order: einops patterns, and mlir-aie's offset, sizes and strides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

import numpy as np
import numpy.typing as npt

from memtile.access.element_types import element_bits
from memtile.access.layout import FLAT, LoopLayout, merged
from memtile.access.request import LoopAxis
from memtile.access.views import View, pad
from memtile.errors import Problem, TransferError, raise_if

Pairs = Sequence[tuple[int, int]]

_TAP = "mlir-aie, TensorAccessPattern"
_DMA_BD = "mlir-aie, aie.dma_bd"
_problem = partial(Problem, reason="pattern", where="access pattern", source=_TAP)
_PAIR = r"<\s*(?:\w+\s*=\s*)?(\d+)\s*,\s*(?:\w+\s*=\s*)?(\d+)\s*>"
_PAIRS = re.compile(rf"\s*\[\s*({_PAIR}\s*(,\s*{_PAIR}\s*)*)?\]\s*")


def rearrange(array: View, pattern: str, **axes_lengths: int) -> View:
    """``einops.rearrange`` of a view: ``rearrange(v, "(h hp) (w wp) -> h w hp wp", hp=4, wp=8)``.

    Raises:
        TransferError: einops rejects the pattern or is not installed, or the order is not a nest of loops.
    """
    return _by_einops("rearrange", array, pattern, axes_lengths)


def repeat(array: View, pattern: str, **axes_lengths: int) -> View:
    """``einops.repeat`` of a view: new axes read the same elements again.

    Raises:
        TransferError: as for ``rearrange``.
    """
    return _by_einops("repeat", array, pattern, axes_lengths)


def _by_einops(operation: str, array: View, pattern: str, axes_lengths: dict[str, int]) -> View:
    try:
        from einops import EinopsError, array_api
    except ImportError as error:
        raise TransferError(
            'Einops patterns need the einops package, which is not installed: pip install "einops".'
        ) from error
    try:
        result: View = getattr(array_api, operation)(array, pattern, **axes_lengths)
    except EinopsError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        says = f"the pattern {pattern!r} does not fit this shape"
        source = f"einops: {reason.removesuffix('.')}"
        raise array.refusal(
            operation, repr(pattern), "a pattern for this shape", source, says=says
        ) from error
    return result


def tensor_access_pattern(
    tensor_dims: Sequence[int],
    offset: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: npt.DTypeLike = np.int32,
) -> View:
    """mlir-aie's ``TensorAccessPattern``: the view with axes ``sizes``, outermost first, all in elements.

    Accesses beyond the tensor are errors here; mlir-aie wraps them around. Stride 0 repeats.

    Raises:
        TransferError: every reason why the pattern is illegal.
    """
    raise_if(list(_pattern_problems(tensor_dims, offset, sizes, strides)), TransferError)
    axes = [merged([LoopAxis(FLAT, *loop)]) for loop in zip(sizes, strides, strict=True)]
    return View(element_bits(dtype), prod(tensor_dims), LoopLayout(offset, tuple(axes)))


def dma_dimensions(
    tensor_dims: Sequence[int],
    dimensions: Pairs | str,
    pad_dimensions: Pairs | str = (),
    *,
    offset: int = 0,
    dtype: npt.DTypeLike = np.int32,
) -> View:
    """The dimension list of mlir-aie's ``aie.dma_bd``, outermost first, in elements.

    Args:
        tensor_dims: shape of the buffer.
        dimensions: (size, stride) pairs, or their text ``"[<size = 4, stride = 8>, <8, 1>]"``.
        pad_dimensions: (zeros before, zeros after) of each dimension, or text; empty = none.
        offset: element at which all dimensions start.
        dtype: element type, as for ``view``.

    Raises:
        TransferError: text that is not such a list, lists of different lengths, or accesses beyond the
            buffer.
    """
    loops, pads = _pairs("dimensions", dimensions), _pairs("pad_dimensions", pad_dimensions)
    array = tensor_access_pattern(
        tensor_dims, offset, [size for size, _ in loops], [stride for _, stride in loops], dtype
    )
    if pads and len(pads) != len(loops):
        says = f"pad_dimensions has {len(pads)} pairs, dimensions has {len(loops)}; it needs one for each"
        allowed = f"{len(loops)}, one per dimension"
        raise TransferError(_problem("pad_dimensions", f"{len(pads)} pairs", allowed, says, source=_DMA_BD))
    return pad(array, pads) if pads else array


def _pairs(name: str, given: Pairs | str) -> list[tuple[int, int]]:
    if not isinstance(given, str):
        return list(given)
    if not _PAIRS.fullmatch(given):
        raise TransferError(_problem(name, repr(given), "[<number, number>, ...]", source=_DMA_BD))
    return [(int(first), int(second)) for first, second in re.findall(_PAIR, given)]


def _pattern_problems(
    tensor_dims: Sequence[int], offset: int, sizes: Sequence[int], strides: Sequence[int]
) -> Iterator[Problem]:
    for name, values, low in (("tensor_dims", tensor_dims, 1), ("sizes", sizes, 1), ("strides", strides, 0)):
        if not values or min(values) < low:
            yield _problem(name, str([*values]), f"a list of one or more numbers, each at least {low}")
    if len(sizes) != len(strides):
        yield _problem(
            "strides",
            f"{len(strides)} strides",
            f"{len(sizes)}, one per size",
            says=f"strides has {len(strides)} numbers, sizes has {len(sizes)}; each size needs its stride",
        )
        return
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    elements = prod(tensor_dims)
    if offset < 0 or last >= elements:
        yield _problem(
            "offset, sizes, strides",
            f"elements {offset}..{last}",
            f"elements 0..{elements - 1}",
            f"the pattern covers elements {offset}..{last}, the tensor has 0..{elements - 1}",
            "Nothing wraps around: make the pattern smaller, or the tensor larger.",
        )
