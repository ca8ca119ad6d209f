"""Data movement along a walk, without time: what MM2S reads from and S2MM writes to a memory.

The memory is a contiguous array of 32-bit words whose first word has the address ``origin`` in the walk's
scheme, so a tile's own memory is moved with ``origin=kind.own_window_words`` when the walk uses DMA windows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtile.access.boxes import Box, boxes, check_range
from memtile.access.walk import PAD, Walk, chunks
from memtile.errors import TransferError, raise_if

Words = NDArray[np.uint32]

_SIZE = "size of the memory given"
_STRIDED_FROM = 4  # words in the innermost run from which a strided copy beats an index


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
        raise_if(check_range(walk, origin, len(memory), "data movement", _SIZE), TransferError)
        self._memory, self.walk, self.origin = memory, walk, origin
        self._boxes = boxes(walk)
        self._strided = _by_strides(self._boxes)
        self._overlaps = any(_may_overlap(box) for box in self._boxes)
        self._views = [_memory_view(memory, box, origin) for box in self._boxes] if self._strided else []
        self._dense = self._strided and [view.size for view in self._views] == [walk.length]

    def gather(self, pad: int = 0) -> Words:
        """The stream that MM2S makes of it: uint32[length], pad words ``pad`` (AM020 ch. 5, AM029)."""
        walk = self.walk
        if self._dense:
            return self._views[0].flatten()
        if not self._strided:
            return _gather_by_index(self._memory, walk, self.origin, pad)
        out = np.full(walk.length, pad, np.uint32) if walk.padded else np.empty(walk.length, np.uint32)
        for box, view in zip(self._boxes, self._views, strict=True):
            _stream_view(out, box)[...] = view
        return out

    def scatter(self, data: Words) -> None:
        """Write the stream ``data`` (uint32[length]) as S2MM does: in order, later words win.

        Words of ``data`` on pad slots are dropped.
        """
        if not self._strided or self._overlaps:
            _scatter_by_index(self._memory, self.walk, data, self.origin)
            return
        if self._dense:
            self._views[0][...] = data.reshape(self._views[0].shape)
            return
        stream = np.ascontiguousarray(data, np.uint32)
        for box, view in zip(self._boxes, self._views, strict=True):
            view[...] = _stream_view(stream, box)


def gather(memory: Words, walk: Walk, origin: int = 0, pad: int = 0) -> Words:
    """One stream out of ``memory``, see :meth:`Mover.gather`; raises :class:`TransferError` as it does."""
    return Mover(memory, walk, origin).gather(pad)


def scatter(memory: Words, walk: Walk, data: Words, origin: int = 0) -> None:
    """One stream into ``memory``, see :meth:`Mover.scatter`; raises :class:`TransferError` as Mover does."""
    Mover(memory, walk, origin).scatter(data)


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


def _may_overlap(box: Box) -> bool:
    """Whether two words of ``box`` could share an address: some step lies inside the span of smaller ones."""
    span = 0
    for step, count in sorted(zip(box.steps, box.counts, strict=True)):
        if step <= span and count > 1:
            return True
        span += (count - 1) * step
    return False


def _memory_view(memory: Words, box: Box, origin: int) -> Words:
    return _view(memory, box.address - origin, box.counts, box.steps)


def _stream_view(stream: Words, box: Box) -> Words:
    return _view(stream, box.position, box.counts, box.pitches)


def _view(words: Words, first: int, counts: tuple[int, ...], steps: tuple[int, ...]) -> Words:
    size = words.itemsize
    strides = tuple(step * size for step in steps)
    return np.ndarray(counts, words.dtype, words, first * size, strides)  # refuses what leaves the buffer
