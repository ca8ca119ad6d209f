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

_STRIDED_FROM = 4  # words in the innermost run from which a strided copy beats an index


def gather(memory: Words, walk: Walk, origin: int = 0, pad: int = 0) -> Words:
    """The stream that MM2S makes of ``memory``: uint32[length], pad words 0 or ``pad`` (AM020 ch. 5, AM029).

    Raises:
        TransferError: when an access falls outside ``memory``.
    """
    _check_inside(memory, walk, origin)
    pieces = boxes(walk)
    if not _by_strides(pieces):
        return _gather_by_index(memory, walk, origin, pad)
    out = np.full(walk.length, pad, np.uint32) if walk.padded else np.empty(walk.length, np.uint32)
    for box in pieces:
        _stream_view(out, box)[...] = _memory_view(memory, box, origin)
    return out


def scatter(memory: Words, walk: Walk, data: Words, origin: int = 0) -> None:
    """Write the stream ``data`` (uint32[length]) to ``memory`` as S2MM does: in order, later words win.

    Words of ``data`` on pad slots are dropped.

    Raises:
        TransferError: when an access falls outside ``memory``.
    """
    _check_inside(memory, walk, origin)
    pieces = boxes(walk)
    if not _by_strides(pieces) or any(_may_overlap(box) for box in pieces):
        _scatter_by_index(memory, walk, data, origin)
        return
    stream = np.ascontiguousarray(data, np.uint32)
    for box in pieces:
        _memory_view(memory, box, origin)[...] = _stream_view(stream, box)


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


def _check_inside(memory: Words, walk: Walk, origin: int) -> None:
    problems = check_range(walk, origin, len(memory), "data movement", "size of the memory given")
    raise_if(problems, TransferError)
