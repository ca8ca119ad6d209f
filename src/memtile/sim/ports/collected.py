"""Words that left the stream port of an MM2S channel, kept as they came until somebody reads them.

The clock loop writes them into a block, which stays where it is and is looked at piece by piece. Words that
came again as they were are there once, with how often; TLAST is kept as places. Together that is little more
than the words themselves, and nothing is copied for a port that nobody reads.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem, SimulationError, raise_if
from memtile.sim.loop.memory_pool import lend, note_new
from memtile.sim.ports.feed import Flags, Offer, Words

Places = npt.NDArray[np.int64]

MAPPED = 1 << 31  # bytes of words from which on they are in a file, in the directory for temporary ones


class WordPiece(NamedTuple):
    """Words that came one after the other.

    Attributes:
        words: they.
        ends: places among them of those with TLAST, in order.
        times: how often they came.
    """

    words: Words
    ends: Places
    times: int = 1


def room_for(words: int, before: int = 0) -> Words:
    """Memory for so many words, of which the host gives those that are touched.

    It is a file where these, and those ``before``, are very many.

    Raises:
        SimulationError: the disk has no room for it.
    """
    if (words + before) * WORD_BYTES < MAPPED:
        return lend(words, np.uint32)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < words * WORD_BYTES:
        raise_if([_no_room(words, free)], SimulationError)
    note_new(words * WORD_BYTES)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, np.uint32, "w+", shape=(words,))


def _no_room(words: int, free: int) -> Problem:
    return Problem(
        "words",
        str(words),
        f"{free // WORD_BYTES} or fewer: {free} bytes are free in {tempfile.gettempdir()}",
        next_step="Run fewer cycles, or set TMPDIR to a directory with more room.",
        reason="no_room",
        where="output",
        source="very many words are kept in a temporary file",
    )


@lru_cache(maxsize=64)  # BDs of the same length come again and again
def at_end(words: int, tlast: bool) -> Places:
    """The places of TLAST in a BD."""
    return np.arange(words - 1, words) if tlast and words else np.zeros(0, np.int64)


def _goes_on(before: Words, words: Words) -> bool:
    """Whether words are in the same block as those before, and follow them."""
    block = words.base
    if type(block) is not np.ndarray or before.base is not block:
        return False
    return before.ctypes.data + before.nbytes == words.ctypes.data


def _together(before: WordPiece, words: Words, ends: Places) -> WordPiece:
    block: Any = words.base
    first = (before.words.ctypes.data - block.ctypes.data) // WORD_BYTES
    count = len(before.words) + len(words)
    return WordPiece(block[first : first + count], np.concatenate([before.ends, len(before.words) + ends]))


class Taken:
    """The words that left a port up to some cycle; they are put together when somebody reads them.

    Args:
        pieces: of them; their list is this object's from now on.
    """

    def __init__(self, pieces: list[WordPiece]) -> None:
        self._pieces = pieces
        self._count = sum(len(piece.words) * piece.times for piece in pieces)

    def __len__(self) -> int:
        return self._count

    def pieces(self) -> list[WordPiece]:
        """The words in pieces."""
        return list(self._pieces)

    def words(self) -> Words:
        """All words in one array, uint32, read-only.

        Raises:
            SimulationError: neither the memory nor the disk has room for them.
        """
        if not self._pieces:
            return np.zeros(0, np.uint32)
        if len(self._pieces) > 1 or self._pieces[0].times > 1:
            self._put_together()
        return _read_only(self._pieces[0].words)

    def first(self, count: int) -> Words:
        """The first ``count`` words at most, read-only; no others are put together."""
        if self._count <= count or len(self._pieces) == 1 == self._pieces[0].times:
            return self.words()[:count]
        found: list[Words] = []
        for words, _, times in self._pieces:
            found += [words] * min(times, -(-count // len(words)))
            count -= len(words) * times
            if count <= 0:
                break
        return _read_only(np.concatenate(found)[: count if count < 0 else None])

    def tlasts(self) -> Flags:
        """TLAST of each word; uint8."""
        flags = np.zeros(self._count, np.uint8)
        flags[self._ends()] = 1
        return flags

    def _ends(self) -> Places:
        found, at = [np.zeros(0, np.int64)], 0
        for words, ends, times in self._pieces:
            if len(ends):
                first = at + len(words) * np.arange(times)
                found.append((first[:, None] + ends).ravel())
            at += len(words) * times
        return np.concatenate(found)

    def _put_together(self) -> None:
        """Make one piece of all; each is given up as soon as it is copied."""
        made, at = room_for(self._count), 0  # before places, which are many too
        ends = self._ends()
        self._pieces.reverse()
        while self._pieces:
            words, _, times = self._pieces.pop()
            made[at : at + len(words) * times].reshape(times, -1)[:] = words
            at += len(words) * times
        self._pieces.append(WordPiece(made, ends))


def _read_only(words: Words) -> Words:
    seen = words.view()
    seen.flags.writeable = False
    return seen


class Filled(NamedTuple):
    """Part of a block that the clock loop has filled.

    Attributes:
        words: from the first one on; those behind ``came`` are others.
        came: how many of them.
        ends: places among them of those with TLAST, in order.
        again: place, number and times: how many words before a place came so many times more behind it.
    """

    words: Words
    came: int
    ends: Places
    again: Sequence[tuple[int, int, int]]


class Caught:
    """What leaves one port; it becomes pieces when somebody looks."""

    def __init__(self) -> None:
        self._pieces: list[WordPiece] = []
        self._taken: Taken | None = None  # which has the same list of pieces
        self._filled: list[Filled] = []  # that are not among the pieces yet
        self._count = 0
        self._unseen = 0

    def __len__(self) -> int:
        return self._count + self._unseen

    def count(self, words: int) -> None:
        """So many words came, in a run without words."""
        self._unseen += words

    def append(self, words: Words, ends: Places, times: int = 1) -> None:
        """Words came, and nobody else will change their array; ``times`` in a row."""
        if self._filled:
            self._divide()
        self._count += len(words) * times
        self._append(words, ends, times)

    def fill(self, filled: Filled) -> None:
        """Part of a block was filled, and nobody else will change it."""
        self._filled.append(filled)
        self._count += filled.came
        for _, words, times in filled.again:
            self._count += words * times

    def _divide(self) -> None:
        """Make pieces of what was filled."""
        for words, came, ends, again in self._filled:
            at = 0
            for place, some, times in again:
                self._append_part(words, ends, at, place)
                self._append_part(words, ends, place - some, place, times)
                at = place
            self._append_part(words, ends, at, came)
        self._filled.clear()

    def _append_part(self, words: Words, ends: Places, first: int, end: int, times: int = 1) -> None:
        low, high = np.searchsorted(ends, (first, end)) if len(ends) else (0, 0)
        self._append(words[first:end], ends[low:high] - first, times)

    def _append(self, words: Words, ends: Places, times: int) -> None:
        if not len(words) or not times:
            return
        if self._taken is not None:
            self._pieces, self._taken = self._taken.pieces(), None
        before = self._pieces[-1] if self._pieces else None
        if before is not None and before.times == times == 1 and _goes_on(before.words, words):
            self._pieces[-1] = _together(before, words, ends)
        else:
            self._pieces.append(WordPiece(words, ends, times))

    def put(self, offer: Offer) -> None:
        """Words came, with a TLAST for each."""
        self.append(offer[0], np.flatnonzero(offer[1]))

    def so_far(self) -> Taken:
        """What came so far."""
        if self._filled:
            self._divide()
        if self._taken is None:
            self._taken = Taken(self._pieces)
        return self._taken
