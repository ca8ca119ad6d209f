"""Buffers of a sanitized call, each with unmapped memory behind it, and the words that it read and wrote.

The kernel works on copies, brought in where it begins or continues, and back where it waits or ends.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.cpp.image import Image, RegionData
from memtile.cpp.symbols import place_in

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Core

Values = npt.NDArray[Any]
_ALIGNED = 64  # bytes of the widest access
_READ, _WRITTEN = 1, 2
_NOWHERE = -1


class _Piece:
    """Memory of one or more arrays that overlap.

    Attributes:
        first: address of the memory itself.
        end: behind it.
        place: address of the copy.
    """

    def __init__(self, first: int, end: int, offset: int) -> None:
        self.first, self.end = first, end
        size, page = end - first, mmap.PAGESIZE
        lead = page + offset % _ALIGNED
        pages = -(-(lead + size) // page) + 1
        self._memory = mmap.mmap(-1, pages * page)
        self._kept = ctypes.c_char.from_buffer(self._memory)
        start = ctypes.addressof(self._kept)
        for guard in (start, start + (pages - 1) * page):
            ctypes.CDLL(None).mprotect(ctypes.c_void_p(guard), page, 0)
        self.place = start + lead
        words = -(-size // WORD_BYTES) + 1
        self.touched, self.code = np.zeros(words, np.uint8), np.zeros((words, 2), np.uint32)

    @property
    def bytes(self) -> int:
        """How many it has."""
        return self.end - self.first


class Guarded:
    """The arrays of one call.

    Args:
        image: of the core.
        core: that calls.
        arrays: that it is given, each in memory without gaps.
        stack: bytes of stack that the core has; 0 = not known.

    Attributes:
        addresses: of the copies of the arrays, in their order.
    """

    def __init__(self, image: Image, core: Core, arrays: Sequence[Values], stack: int) -> None:
        self._core, self._library = core, image.library
        memory = core.memory_address
        self._pieces = [_Piece(first, end, first - memory) for first, end in _joined(arrays)]
        self.addresses = [self._moved(array.ctypes.data) for array in arrays]
        self._regions = (RegionData * len(self._pieces))(
            *(
                RegionData(each.place, each.bytes, each.touched.ctypes.data, each.code.ctypes.data)
                for each in self._pieces
            )
        )
        image.check(self._regions, stack)
        self.enter()

    def enter(self) -> None:
        """Bring memory as it is now to the kernel."""
        for piece in self._pieces:
            ctypes.memmove(piece.place, piece.first, piece.bytes)
            piece.touched[:] = 0

    def leave(self) -> None:
        """Bring what the kernel has written to memory, and note what it read and wrote."""
        for piece in self._pieces:
            for first, end in _runs(piece.touched & _WRITTEN != 0):
                at, stop = first * WORD_BYTES, min(end * WORD_BYTES, piece.bytes)
                ctypes.memmove(piece.first + at, piece.place + at, stop - at)
            self._note(piece)

    def _note(self, piece: _Piece) -> None:
        notes = self._core.notes
        base = piece.first - self._core.memory_address
        if notes is None or base % WORD_BYTES:
            return
        for what, writes in ((_READ, False), (_WRITTEN, True)):
            code = np.where(piece.touched & what != 0, piece.code[:, int(writes)].astype(np.int64), _NOWHERE)
            for first, end in _same(code):
                site = self._core.outside.site_of(place_in(self._library, int(code[first])))
                notes.words(base // WORD_BYTES + first, end - first, writes, site)

    def _moved(self, address: int) -> int:
        piece = next(
            piece for piece in self._pieces if piece.first <= address < max(piece.end, piece.first + 1)
        )
        return piece.place + address - piece.first


def _joined(arrays: Sequence[Values]) -> Iterator[tuple[int, int]]:
    """First byte and end of the memory of arrays; those that overlap are one."""
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays)
    open_: tuple[int, int] | None = None
    for first, end in spans:
        if open_ is not None and (first < open_[1] or first == open_[0]):
            open_ = open_[0], max(end, open_[1])
            continue
        if open_ is not None:
            yield open_
        open_ = first, end
    if open_ is not None:
        yield open_


def _same(code: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """First and end of each run of words that the same code touched first."""
    edges = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist(), len(code)]
    yield from ((first, end) for first, end in pairwise(edges) if code[first] != _NOWHERE)


def _runs(flags: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First and end of each run of words that are flagged."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
