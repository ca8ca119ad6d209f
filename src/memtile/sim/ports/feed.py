"""Words that wait at a stream port for its channel, as they were given: pieces, handed on by reference.

Short ones that follow each other are copied together when they are given: later they would be far from the
processor's caches.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.sim.loop.memory_pool import lend

Array = npt.NDArray[Any]

BYTES = 1 << 19  # of a long array
_GROWTH = 4
_AT_A_TIME = 1 << 17  # bytes that are compared: what stays in a cache


class Gathered:
    """The array at the end of a row of them, and the room behind it.

    Args:
        first: bytes of the first array.
    """

    def __init__(self, first: int = 1 << 12) -> None:
        self._size = first
        self._block: Array | None = None
        self._filled = 0
        self.last: Array | None = None

    def add(self, given: Array) -> list[Array]:
        """Copy the elements of an array, in C order, behind those before.

        Args:
            given: of the type of those before.

        Returns:
            What stands in the place of ``last``, and then follows it: flat arrays; the last one is ``last``.
        """
        flat, found = given.reshape(-1), [] if self.last is None else [self.last]
        while len(flat):
            if self._block is None or self._filled == len(self._block):
                count = max(self._size // given.itemsize, min(len(flat), BYTES // given.itemsize))
                self._size = min(_GROWTH * self._size, BYTES)
                self._block, self._filled = lend(count, given.dtype), 0
                found.append(self._block[:0])
            some = flat[: len(self._block) - self._filled]
            end = self._filled + len(some)
            self._block[self._filled : end] = some
            self._filled, flat = end, flat[len(some) :]
            found[-1] = self._block[:end]
        self.last = found[-1] if found else None
        return found


def equal(one: Array, other: Array) -> bool:
    """Whether two contiguous arrays of one type and length have the same bits."""
    size = one.nbytes
    kind = np.uint32 if size % np.dtype(np.uint32).itemsize == 0 else np.uint8
    mine, others = one.view(kind), other.view(kind)
    at_a_time = _AT_A_TIME // mine.itemsize
    for at in range(0, len(mine), at_a_time):
        if not np.array_equal(mine[at : at + at_a_time], others[at : at + at_a_time]):
            return False
    return True


Words = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]
Offer = tuple[Words, Flags]  # words and the TLAST of each

_NO_FLAG = np.zeros(1, np.uint8)


def no_tlast(words: int) -> Flags:
    """TLAST of words that no packet ends with; one byte for all of them, read-only."""
    return np.broadcast_to(_NO_FLAG, (words,))


def has_tlast(last: Flags) -> bool:
    """Whether a packet ends with some of the words."""
    return bool(len(last) and last[0] if last.strides == (0,) else last.any())


def _is_short(offer: Offer) -> bool:
    words, last = offer
    several = len(words) * WORD_BYTES < BYTES and words.strides == (WORD_BYTES,)
    return several and last.strides == (0,) and not last[0]


class Feed:
    """A queue of words, each with its TLAST."""

    def __init__(self) -> None:
        self._pieces: deque[Offer] = deque()
        self._at = 0  # words of the first piece that are gone
        self._words = 0  # of all pieces
        self._gathered: Gathered | None = None  # of short pieces at the end

    def __len__(self) -> int:
        return self._words - self._at

    def put(self, words: Words, last: Flags) -> None:
        """Append a piece; short ones that follow each other, without TLAST, are copied together."""
        self._words += len(words)
        before, mine = self._pieces[-1] if self._pieces else None, self._gathered
        goes_on = before is not None and mine is not None and mine.last is before[0]
        if before is None or not (_is_short((words, last)) and (goes_on or _is_short(before))):
            self._pieces.append((words, last))
            return
        if mine is None or not goes_on:
            self._gathered = mine = Gathered()
            mine.add(before[0])
        self._pieces.pop()
        self._pieces.extend((piece, no_tlast(len(piece))) for piece in mine.add(words))

    def put_back(self, words: Words, last: Flags) -> None:
        """Put a piece before all others."""
        if self._at:
            first, flags = self._pieces[0]
            self._pieces[0] = first[self._at :], flags[self._at :]
            self._words, self._at = self._words - self._at, 0
        self._pieces.appendleft((words, last))
        self._words += len(words)

    def take(self, count: int) -> Words:
        """The next ``count`` words, which are gone then; never asked for more than there are."""
        if self._pieces:  # most often, the words are all of one piece
            words, start = self._pieces[0][0], self._at
            if start + count < len(words):
                self._at += count
                return words[start : start + count]
        return join([words for words, _ in self.take_offers(count)])

    def take_offers(self, count: int) -> list[Offer]:
        """The next words with their TLAST, ``count`` at most, which are gone then."""
        parts: list[Offer] = []
        while count and self._pieces:
            words, last = self._pieces[0]
            part = words[self._at :][:count], last[self._at :][:count]
            parts.append(part)
            count -= len(part[0])
            self._at += len(part[0])
            if self._at == len(words):
                self._words -= len(words)
                self._pieces.popleft()
                self._at = 0
        return parts

    def take_piece(self, most: int) -> Offer:
        """The next words in one piece, with their TLAST: some of ``most`` words in all, or a longer one."""
        if len(self._pieces) == 1:
            words, last = self._pieces.popleft()
            at, self._words, self._at = self._at, 0, 0
            return (words[at:], last[at:]) if at else (words, last)
        count = -self._at
        for words, _ in self._pieces:
            if count > 0 and count + len(words) > most:
                break
            count += len(words)
        return whole(self.take_offers(count))

    def peek(self, count: int) -> Words:
        """The next words, ``count`` at most, which stay there."""
        parts: list[Words] = []
        for words, _ in self.offers():
            parts.append(words[:count])
            count -= len(parts[-1])
            if not count:
                break
        return join(parts)

    def offers(self) -> list[Offer]:
        """All that is left, in pieces."""
        if self._at:
            words, last = self._pieces[0]
            self._pieces[0] = words[self._at :], last[self._at :]
            self._words, self._at = self._words - self._at, 0
        return list(self._pieces)


def join(parts: list[Words]) -> Words:
    """``parts`` one after the other; one part stays as it is."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint32)


class AtLogic(NamedTuple):
    """Streams of the programmable logic, by switch port.

    Attributes:
        sources: words that it has to send, with their TLAST.
        stalls: periods of its clock before each of them.
        times: cycle in which each word left for it.
    """

    sources: dict[int, Offer]
    stalls: dict[int, Words]
    times: dict[int, npt.NDArray[np.int64]]


class AtPorts(NamedTuple):
    """Streams at the ports of an engine: the words of each, and their TLAST.

    Attributes:
        feeds: words that wait for S2MM channels, by channel.
        caught: words taken from MM2S channels, by channel.
        left: words taken from switch ports, by port.
        patterns: readiness of the ports, by channel.
        logic: streams of the programmable logic.
    """

    feeds: dict[int, Offer]
    caught: dict[int, Offer]
    left: dict[int, Offer]
    patterns: dict[int, npt.NDArray[np.int64]]
    logic: AtLogic


def whole(pieces: list[Offer]) -> Offer:
    """Pieces as one; one piece stays as it is."""
    if len(pieces) == 1:
        return pieces[0]
    words = join([words for words, _ in pieces])
    if not any(has_tlast(last) for _, last in pieces):
        return words, no_tlast(len(words))
    return words, np.concatenate([last for _, last in pieces])
