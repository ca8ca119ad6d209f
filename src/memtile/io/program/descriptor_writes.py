"""Follow the words of buffer descriptors through a program and tell when one is complete.

A descriptor arrives as one block, as single words in any order, or in parts that are changed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memtile.arch.register_map import register_at
from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.runs.operations import WORD_MAX, Word, locate

Finished = tuple[int, tuple[int, ...]]


@dataclass(slots=True)
class _Words:
    """The words of one descriptor as far as they are known, and those written since it was last reported."""

    known: dict[int, int] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)


class DescriptorWrites:
    """The descriptors of an array, as a program writes them."""

    def __init__(self) -> None:
        self._tiles: dict[tuple[int, int], dict[int, _Words]] = {}

    def write(self, kind: TileKind, words: Iterable[Word]) -> list[Finished]:
        """Take words written to one tile.

        Returns:
            ``(BD number, words)`` of each descriptor to report now: all of its words are new, or it was
            changed since it was last reported and is started.
        """
        return [finished for word in words for finished in self._word(kind, word)]

    def _word(self, kind: TileKind, word: Word) -> Iterator[Finished]:
        column, row, offset = locate(word.address)
        tile = self._tiles.setdefault((column, row), {})
        bd, rest = divmod(offset - kind.bd_base, kind.bd_stride)
        index = rest // WORD_BYTES
        if 0 <= bd < kind.bds and index < kind.bd_words:
            words = tile.setdefault(bd, _Words())
            self._store(words, index, word)
            if len(words.fresh) == kind.bd_words:
                yield self._finished(bd, words)
        elif (started := _started(kind, offset, word)) in tile:
            words = tile[started]
            if words.fresh and len(words.known) == kind.bd_words:
                yield self._finished(started, words)

    def _store(self, words: _Words, index: int, word: Word) -> None:
        if word.mask != WORD_MAX and index not in words.known:
            return  # the other bits are not known
        words.known[index] = (words.known.get(index, 0) & ~word.mask) | (word.value & word.mask)
        words.fresh.add(index)

    def _finished(self, bd: int, words: _Words) -> Finished:
        words.fresh.clear()
        return bd, tuple(words.known[index] for index in sorted(words.known))


def _started(kind: TileKind, offset: int, word: Word) -> int:
    """BD that a write to a start queue starts; -1 for any other write."""
    register = register_at(kind.name, offset)
    if register is None:
        return -1
    return next((f.get(word.value) for f in register.fields if f.name == "Start_BD_ID"), -1)
