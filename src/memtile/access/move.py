"""Data movement along a walk, without time: what MM2S reads from and S2MM writes to a memory.

The memory is a contiguous array of 32-bit words whose first word has the address ``origin`` in the walk's
scheme, so a tile's own memory is moved with ``origin=kind.own_window_words`` when the walk uses DMA windows.

It also has copies between strided arrays, by blocks where a plain one fetches the same cache lines again.

NumPy copies along the axis on which the target is narrowest. In a transpose each of these words is in another
cache line of the source, and when the next row of the target asks for the words beside them the lines are
gone: at distances of a power of two only few lines have room at a time. So that axis is cut into strips of as
many words as there is room for lines; each line is fetched once. What is no longer
than a strip and a half is copied at once: that many lines are still near, and shorter rows cost more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtile.access.boxes import Box, boxes, check_range, last_address
from memtile.access.walk import PAD, Walk, chunks
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import TransferError, raise_if

Numbers = tuple[int, ...]

LINE_BYTES = 64
_WAY_BYTES = 4096  # of the first cache of common processors: lines so far apart share a place
_WAYS = 8  # lines that have room at one place; newer processors have 12
_USES = 4  # of a line, from which on it pays that it is fetched once
_NARROWEST = 16  # elements of a strip: beginning the rows of narrower ones costs more than their lines save


class Strips(NamedTuple):
    """How a copy is cut.

    Attributes:
        axis: that is cut.
        width: elements of a strip; 0 = the copy is made at once.
    """

    axis: int
    width: int


WHOLE = Strips(0, 0)


def copy(to: NDArray[Any], source: NDArray[Any], cut: Strips) -> None:
    """Copy ``source`` to ``to``, of the same shape and type, cut as :func:`strips` says for their strides."""
    if cut.width == 0 or np.may_share_memory(to, source):  # of what is in both NumPy makes a copy first
        to[...] = source
        return
    before = (slice(None),) * cut.axis
    for first in range(0, source.shape[cut.axis], cut.width):
        part = (*before, slice(first, first + cut.width))
        to[part] = source[part]


def strips(counts: Numbers, to: Numbers, source: Numbers) -> Strips:
    """How a copy should be cut.

    Args:
        counts: elements per axis.
        to, source: bytes between neighbours, per axis; no two elements of the target share a byte.
    """
    axes = [axis for axis, count in enumerate(counts) if count > 1]
    if len(axes) < 2:
        return WHOLE
    along = min(axes, key=lambda axis: abs(to[axis]))
    step = abs(source[along])
    beside = min(abs(source[axis]) for axis in axes if axis != along)
    if beside * _USES > LINE_BYTES or step < LINE_BYTES:  # a line is used once or twice, or at once
        return WHOLE
    width = max(lines_side_by_side(step), _NARROWEST)
    return Strips(along, width) if 3 * width < 2 * counts[along] else WHOLE


def lines_side_by_side(step: int) -> int:
    """Cache lines, ``step`` bytes apart, that the first cache holds at a time."""
    places = _WAY_BYTES // max(gcd(step, _WAY_BYTES), LINE_BYTES)
    return places * _WAYS


Words = NDArray[np.uint32]

_SIZE = "size of the memory given"
_STRIDED_FROM = 4  # words in the innermost run from which a strided copy beats an index
_PART_WORDS = 1024  # from which on it pays to copy a part of a walk that overlaps itself


class Mover:
    """A walk over a memory, laid out once, to move words along it again and again.

    Args:
        memory: contiguous uint32 words.
        walk: the walk.
        origin: address of the first word of ``memory``.

    Raises:
        TransferError: when an access falls outside ``memory``.
    """

    def __init__(self, memory: Words, walk: Walk, origin: int = 0) -> None:
        self._memory, self.walk, self.origin = memory, walk, origin
        layout = _layout(walk.length, walk.steps, walk.wraps, walk.before, walk.after)
        first = walk.base - origin
        if layout.reach is not None and not 0 <= first < len(memory) - layout.reach:
            raise_if(check_range(walk, origin, len(memory), "data movement", _SIZE), TransferError)
        self._strided = layout.strided
        self._pieces = [(piece, piece.of(memory, first)) for piece in layout.pieces]
        self._parts = self._pieces
        if layout.parts is not layout.pieces:
            self._parts = [(piece, piece.of(memory, first)) for piece in layout.parts]
        self._whole = self._pieces[0][1] if layout.whole and not layout.pieces[0].gathers.width else None
        self._run = self._whole if layout.pieces and layout.pieces[0].counts == (walk.length,) else None

    def gather(self, pad: int = 0) -> Words:
        """The stream that MM2S makes of it: uint32[length], pad words ``pad`` (AM020 ch. 5, AM029)."""
        if self._run is not None:
            return self._run.flatten()
        if self._whole is not None:
            return self._whole.flatten().view(np.uint32)
        walk = self.walk
        if not self._strided:
            return _gather_by_index(self._memory, walk, self.origin, pad)
        out = np.full(walk.length, pad, np.uint32) if walk.padded else np.empty(walk.length, np.uint32)
        for piece, view in self._pieces:
            copy(piece.of_stream(out), view, piece.gathers)
        return out

    def scatter(self, data: Words) -> None:
        """Write the stream ``data`` (contiguous uint32[length]) as S2MM does: in order, later words win.

        Words of ``data`` on pad slots are dropped.
        """
        if not self._parts:
            _scatter_by_index(self._memory, self.walk, data, self.origin)
            return
        if self._run is not None:
            self._run[...] = data
            return
        for piece, view in self._parts:
            copy(view, piece.of_stream(data), piece.scatters)


class _Piece(NamedTuple):
    """A box as elements of an array, each as wide as the words that memory and stream hold together.

    Attributes:
        element: type of an element, a word or a run of words.
        counts: elements per dimension.
        address, position: bytes from the walk's base and from the first word of the stream.
        steps, pitches: bytes between neighbours, in memory and in the stream.
        gathers, scatters: how copies out of memory and into it are cut.
    """

    element: np.dtype[Any]
    counts: Numbers
    address: int
    position: int
    steps: Numbers
    pitches: Numbers
    gathers: Strips
    scatters: Strips

    def of(self, memory: Words, first: int) -> NDArray[Any]:
        """The elements in ``memory`` for a walk that begins at word ``first``; refuses what leaves it."""
        at = first * WORD_BYTES + self.address
        return np.ndarray(self.counts, self.element, memory, at, self.steps)

    def of_stream(self, stream: Words) -> NDArray[Any]:
        """The elements in ``stream``."""
        return np.ndarray(self.counts, self.element, stream, self.position, self.pitches)


class _WordLayout(NamedTuple):
    """How the words of a walk move, wherever it begins.

    Attributes:
        reach: highest address less the base; None when no data word is touched.
        strided: whether they move by strides, not by an index.
        pieces: what moves by strides.
        parts: these, cut so that no two words of one share an address: what is written, in order; none = by
            an index.
        whole: whether the only piece is the stream.
    """

    reach: int | None
    strided: bool
    pieces: tuple[_Piece, ...]
    parts: tuple[_Piece, ...]
    whole: bool


@lru_cache(maxsize=1024)
def _layout(length: int, steps: Numbers, wraps: Numbers, before: Numbers, after: Numbers) -> _WordLayout:
    walk = Walk(0, length, steps, wraps, before, after)
    found = boxes(walk)
    strided = _by_strides(found)
    pieces = tuple(_piece(box) for box in found) if strided else ()
    apart = [_apart(box) for box in found] if strided else []
    parts = pieces if apart == [(box,) for box in found] else _pieces_of(apart)
    return _WordLayout(
        reach=last_address(walk),
        strided=strided,
        pieces=pieces,
        parts=parts,
        whole=strided and [prod(box.counts) for box in found] == [length],
    )


def _pieces_of(apart: Sequence[Sequence[Box]]) -> tuple[_Piece, ...]:
    """The pieces of the parts of boxes; none if one of the boxes has none."""
    return tuple(_piece(part) for parts in apart for part in parts) if all(apart) else ()


def _piece(box: Box) -> _Piece:
    element: np.dtype[Any]
    element, counts, steps, pitches = np.dtype(np.uint32), box.counts, box.steps, box.pitches
    if len(counts) > 1 and steps[-1] == pitches[-1] == 1:
        element = np.dtype((np.void, counts[-1] * WORD_BYTES))  # copied as one, which is much faster
        counts, steps, pitches = counts[:-1], steps[:-1], pitches[:-1]
    steps = tuple(step * WORD_BYTES for step in steps)
    pitches = tuple(pitch * WORD_BYTES for pitch in pitches)
    return _Piece(
        element,
        counts,
        box.address * WORD_BYTES,
        box.position * WORD_BYTES,
        steps,
        pitches,
        gathers=strips(counts, pitches, steps),
        scatters=strips(counts, steps, pitches),
    )


def gather(memory: Words, walk: Walk, origin: int = 0, pad: int = 0) -> Words:
    """One stream out of ``memory``, see :meth:`Mover.gather`; raises :class:`TransferError` as it does."""
    return Mover(memory, walk, origin).gather(pad)


def scatter(memory: Words, walk: Walk, data: Words, origin: int = 0) -> None:
    """One stream into ``memory``, see :meth:`Mover.scatter`; raises :class:`TransferError` as Mover does."""
    Mover(memory, walk, origin).scatter(np.ascontiguousarray(data, np.uint32))


def _gather_by_index(memory: Words, walk: Walk, origin: int, pad: int) -> Words:
    out = np.empty(walk.length, np.uint32)
    done = 0
    for piece in chunks(walk):
        part = out[done : done + len(piece)]
        np.take(
            memory, piece - origin if origin else piece, out=part, mode="wrap"
        )  # the fastest mode; all in range
        if walk.padded:
            part[piece == PAD] = pad
        done += len(piece)
    return out


def _scatter_by_index(memory: Words, walk: Walk, data: Words, origin: int) -> None:
    done = 0
    for piece in chunks(walk):
        part = data[done : done + len(piece)]
        done += len(piece)
        if walk.padded:
            real = piece != PAD
            piece, part = piece[real], part[real]
        memory[piece - origin if origin else piece] = part  # NumPy keeps the last of equal indices


def _by_strides(pieces: Sequence[Box]) -> bool:
    run = next((n for box in pieces[:1] for n in reversed(box.counts) if n > 1), _STRIDED_FROM)
    return run >= _STRIDED_FROM


def _apart(box: Box) -> tuple[Box, ...]:
    """A box cut along its outermost dimension into parts of words at different addresses; none if small.

    Later words win: the parts are written one after the other.
    """
    (outer, *inner), step, pitch = box.counts, box.steps[0], box.pitches[0]
    count = outer
    while count > 1 and _may_overlap(box._replace(counts=(count, *inner))):
        count //= 2
    is_small = count < outer and count * prod(inner) < _PART_WORDS
    if is_small or _may_overlap(box._replace(counts=(count, *inner))):
        return ()
    return tuple(
        box._replace(
            position=box.position + first * pitch,
            address=box.address + first * step,
            counts=(min(count, outer - first), *inner),
        )
        for first in range(0, outer, count)
    )


def _may_overlap(box: Box) -> bool:
    """Whether two words of ``box`` could share an address: some step lies inside the span of smaller ones."""
    span = 0
    for step, count in sorted(zip(box.steps, box.counts, strict=True)):
        if step <= span and count > 1:
            return True
        span += (count - 1) * step
    return False
