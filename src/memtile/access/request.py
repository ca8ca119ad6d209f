"""What a user wants to move, before any descriptor: a loop nest over the coordinates of a buffer.

Tilings, NumPy views and sizes-and-strides all become a :class:`Request`. Its enumeration is the meaning of
the request; descriptors are right when their walk equals it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtile.access.walk import PAD, Addresses
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem, TransferError

BYTE_BITS = 8
WORD_BITS = WORD_BYTES * BYTE_BITS

_OUTSIDE = np.int64(-(1 << 58))  # any sum of a few of these stays negative


class DimensionExtent(NamedTuple):
    """One dimension of the data; in elements.

    Attributes:
        pitch: distance in memory of neighbouring coordinates.
        start: coordinate of the first access, may be negative.
        size: coordinates outside [0, size) are zero padding.
    """

    pitch: int
    start: int
    size: int


class LoopAxis(NamedTuple):
    """One loop: ``wrap`` turns, each moving ``stride`` coordinates on along dimension ``dimension``."""

    dimension: int
    wrap: int
    stride: int


@dataclass(frozen=True, slots=True)
class Request:
    """A stream of elements.

    Attributes:
        element_bits: size of an element.
        extents: the dimensions of the data.
        axes: the loops, outermost first.
        capacity: elements of the whole buffer.
        base: element index of coordinate 0 in all dimensions.
    """

    element_bits: int
    extents: tuple[DimensionExtent, ...]
    axes: tuple[LoopAxis, ...]
    capacity: int
    base: int = 0

    @property
    def size(self) -> int:
        """Elements of the stream, padding included."""
        return prod(axis.wrap for axis in self.axes)

    @property
    def padded(self) -> bool:
        """Whether any access falls outside the data."""
        return any(not 0 <= low <= high < self.extents[d].size for d, (low, high) in enumerate(self.reach()))

    def reach(self) -> list[tuple[int, int]]:
        """Lowest and highest coordinate per dimension."""
        spans = [0] * len(self.extents)
        for d, wrap, stride in self.axes:
            spans[d] += (wrap - 1) * stride
        return [(extent.start, extent.start + span) for extent, span in zip(self.extents, spans, strict=True)]


def elements(request: Request) -> Addresses:
    """Element index of every element of the stream in order: int64[size], -1 for padding."""
    shape = [axis.wrap for axis in request.axes]
    total = np.zeros([1] * len(shape), np.int64)
    for d, extent in sorted(enumerate(request.extents), key=lambda item: _outermost(request, item[0])):
        total = _offsets(request, d, extent) + total
    total += request.base
    whole = np.broadcast_to(total, shape)
    return np.maximum(whole, PAD).reshape(-1) if request.padded else whole.reshape(-1)


def _outermost(request: Request, d: int) -> int:
    """Sort key that adds inner dimensions first, so that the partial sums stay small."""
    places = [place for place, axis in enumerate(request.axes) if axis.dimension == d]
    return -min(places, default=len(request.axes))


def _offsets(request: Request, d: int, extent: DimensionExtent) -> Addresses:
    """Memory offset due to dimension ``d``, one array axis per loop; far negative outside the data."""
    rank = len(request.axes)
    coordinate = np.full([1] * rank, extent.start, np.int64)
    for place, axis in enumerate(request.axes):
        if axis.dimension == d:
            index = np.arange(axis.wrap, dtype=np.int64) * axis.stride
            coordinate = coordinate + index.reshape([-1 if p == place else 1 for p in range(rank)])
    inside = (coordinate >= 0) & (coordinate < extent.size)
    return np.where(inside, coordinate * extent.pitch, _OUTSIDE)


def padding_alone(request: Request) -> bool:
    """Whether no element of the stream is in memory: the loops miss the data of some dimension."""
    offsets = (_offsets(request, d, extent) for d, extent in enumerate(request.extents))
    return any(bool((offset == _OUTSIDE).all()) for offset in offsets)


def words(request: Request) -> Addresses:
    """Word address of every stream word of ``request``: int64, -1 for pad words.

    The DMA moves whole 32-bit words only (AM020 ch. 5): a word is a group of consecutive elements in order,
    or padding alone.

    Raises:
        TransferError: when some word is neither, reason ``word_alignment``.
    """
    index = elements(request)
    bits = request.element_bits
    if bits >= WORD_BITS:
        return _wide(index, bits // WORD_BITS)
    group = WORD_BITS // bits
    if len(index) % group == 0:
        parts = index.reshape(-1, group)
        first = parts[:, 0]
        follow = np.where(first[:, None] < 0, PAD, first[:, None] + np.arange(group))
        if not (first % group)[first >= 0].any() and np.array_equal(follow, parts):
            return np.where(first < 0, PAD, first // group)
    raise TransferError(misaligned(request))


def _wide(index: NDArray[np.int64], count: int) -> Addresses:
    if count == 1:
        return index
    spread = index[:, None] * count + np.arange(count)
    return np.where(index[:, None] < 0, PAD, spread).reshape(-1)


def misaligned(request: Request) -> list[Problem]:
    """Why the stream of sub-word elements is not made of whole words: each quantity that breaks it."""
    group = WORD_BITS // request.element_bits
    broken = [(name, value) for name, value in _quantities(request) if value % group]
    return [_fraction(request, name, value, group) for name, value in broken or [("stream", request.size)]]


def _quantities(request: Request) -> Iterator[tuple[str, int]]:
    """What should be whole words: numbers along the contiguous dimension, pitches of the others."""
    d = min(range(len(request.extents)), key=lambda e: request.extents[e].pitch)
    extent, (low, high) = request.extents[d], request.reach()[d]
    run, outer = _run(request, d)
    yield f"dimension {d}, tile size", run
    yield f"dimension {d}, offset", extent.start
    for axis in outer:
        yield f"dimension {d}, stride", axis.stride
    if low < 0 or high >= extent.size:
        yield f"dimension {d}, data size", extent.size
    yield from ((f"dimension {e}, pitch", other.pitch) for e, other in enumerate(request.extents) if e != d)


def _run(request: Request, d: int) -> tuple[int, list[LoopAxis]]:
    """Elements of the innermost contiguous run along dimension ``d``, and the loops of ``d`` outside it."""
    run, loops = 1, [axis for axis in request.axes if axis.wrap > 1]
    while loops and loops[-1].dimension == d and loops[-1].stride == run:
        run *= loops.pop().wrap
    return run, [axis for axis in loops if axis.dimension == d]


def _fraction(request: Request, name: str, value: int, group: int) -> Problem:
    below, above = value // group * group, -(-value // group) * group
    return Problem(
        name,
        f"{value} elements",
        f"multiples of {group} elements (one {WORD_BITS}-bit word)",
        f"{name} is {value} element{'s' * (value != 1)}; it must be a multiple of {group}, "
        f"one {WORD_BITS}-bit word",
        f"The nearest legal values are {below} and {above}."
        if below
        else f"The nearest legal value is {above}.",
        reason="word_alignment",
        where=f"{request.element_bits}-bit elements",
        source="AM020 ch. 5: all DMA addresses are 32-bit",
    )
