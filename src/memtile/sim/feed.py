"""Words that wait at a stream port for its channel, as they were given: pieces, handed on by reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Offer = tuple[Words, npt.NDArray[np.uint8]]  # words and the TLAST of each


def no_tlast(words: int) -> npt.NDArray[np.uint8]:
    """TLAST of words that no packet ends with; one byte for all of them, read-only."""
    return np.broadcast_to(np.zeros(1, np.uint8), (words,))


class Feed:
    """A queue of words, each with its TLAST."""

    def __init__(self) -> None:
        self._pieces: list[Offer] = []
        self._at = 0  # words of the first piece that are gone

    def __len__(self) -> int:
        return sum(len(words) for words, _ in self._pieces) - self._at

    def put(self, words: Words, last: npt.NDArray[np.uint8]) -> None:
        """Append a piece."""
        self._pieces.append((words, last))

    def take(self, count: int) -> Words:
        """The next ``count`` words, which are gone then; never asked for more than there are."""
        if self._pieces:  # most often, the words are all of one piece
            words, start = self._pieces[0][0], self._at
            if start + count < len(words):
                self._at += count
                return words[start : start + count]
        parts = []
        while count:
            words = self._pieces[0][0][self._at :][:count]
            parts.append(words)
            count -= len(words)
            self._at += len(words)
            if self._at == len(self._pieces[0][0]):
                del self._pieces[0]
                self._at = 0
        return join(parts)

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
                del self._pieces[0]
                self._at = 0
        return parts

    def peek(self, count: int) -> Words:
        """The next words, ``count`` at most, which stay there."""
        parts: list[Words] = []
        for words, _ in self.offers():
            parts.append(words[:count])
            count -= len(parts[-1])
        return join(parts)

    def offers(self) -> list[Offer]:
        """All that is left, in pieces."""
        if self._at:
            words, last = self._pieces[0]
            self._pieces[0], self._at = (words[self._at :], last[self._at :]), 0
        return self._pieces


def join(parts: list[Words]) -> Words:
    """``parts`` one after the other; one part stays as it is."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint32)


@lru_cache(maxsize=16)  # BDs of the same length come again and again
def tlasts(words: int, tlast: bool) -> npt.NDArray[np.uint8]:
    """TLAST of each word of a BD; read-only."""
    last = np.zeros(words, dtype=np.uint8)
    last[-1:] = tlast
    last.flags.writeable = False
    return last


class AtPorts(NamedTuple):
    """Streams at the ports of an engine: the words of each, and their TLAST.

    Attributes:
        feeds: words that wait for S2MM channels, by channel; those laid out already are in the state.
        caught: words taken from MM2S channels, by channel.
        left: words taken from switch ports, by port.
        patterns: readiness of the ports, by channel.
    """

    feeds: dict[int, Offer]
    caught: dict[int, Offer]
    left: dict[int, Offer]
    patterns: dict[int, npt.NDArray[np.int64]]


def whole(pieces: Sequence[Offer]) -> Offer:
    """Pieces as one."""
    words = [piece for piece, _ in pieces] or [np.zeros(0, np.uint32)]
    last = [flags for _, flags in pieces] or [np.zeros(0, np.uint8)]
    return np.concatenate(words), np.concatenate(last)
