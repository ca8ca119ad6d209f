"""A descriptor that writes a part of a buffer, and one that reads words of it that nothing ever writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memtile.explain.bd_findings import line_of
from memtile.explain.deadlock.planned_words import PlannedBd, Words
from memtile.explain.findings import CODES, Finding, Side


class Part(NamedTuple):
    """Words of one buffer.

    Attributes:
        buffer: as messages name it.
        first: word of the tile with which the buffer begins.
        end: the word behind its last one.
        words: of the tile, sorted.
    """

    buffer: str
    first: int
    end: int
    words: Words

    @property
    def text(self) -> str:
        """The words, counted from the begin of the buffer."""
        low, high = int(self.words[0]) - self.first, int(self.words[-1]) - self.first
        if low == high:
            return f"word {low} of {self.buffer}"
        every = high - low + 1 == len(self.words)
        some = f"words {low} to {high}" if every else f"{len(self.words)} of the words {low} to {high}"
        return f"{some} of {self.buffer}"


class NamedBd(NamedTuple):
    """A descriptor, and the channel that runs it.

    Attributes:
        who: its channel, as messages name it.
        bd: what it moves.
    """

    who: str
    bd: PlannedBd


def numbered(bd: PlannedBd) -> str:
    """``BD 3 (line 12)``."""
    return f"BD {bd.number}" + (f" ({line_of(bd.said)})" if bd.said else "")


def ends_at(lacking: Part, writers: Sequence[PlannedBd]) -> PlannedBd:
    """Return which of several descriptors leaves words out: that which ends before them, else the last.

    Where that one is as long as any other, and no other one writes the same, it is the one that begins behind
    them.

    Args:
        lacking: the words that nothing writes.
        writers: descriptors that write words of the same buffer.
    """
    before = next((bd for bd in writers if int(bd.places[-1]) + 1 == int(lacking.words[0])), None)
    if before is None:
        return max(writers, key=lambda bd: int(bd.places[-1]))
    others = [bd for bd in writers if bd is not before]
    short = any(len(bd.places) > len(before.places) for bd in others)
    twice = any(np.array_equal(bd.places, before.places) for bd in others)
    return before if short or twice else next((bd for bd in others if _begins_behind(lacking, bd)), before)


def _begins_behind(lacking: Part, writer: PlannedBd) -> bool:
    """Whether a descriptor begins with the word behind those that nothing writes."""
    return int(writer.places[0]) == int(lacking.words[-1]) + 1


def partly_written(code: str, lacking: Part, writer: NamedBd, reader: NamedBd) -> Finding:
    """The finding about words that one of two descriptors reads and the other does not write.

    Args:
        code: of the finding.
        lacking: the words that nothing writes.
        writer: writes the buffer up to there.
        reader: waits for it.
    """
    does = f"writes {len(writer.bd.places)} of the {lacking.end - lacking.first} words of {lacking.buffer}"
    writes = Side(writer.who, does, writer.bd.said)
    reads = Side(reader.who, f"reads {lacking.buffer}", reader.bd.said)
    message = (
        f"{writes.who}, {numbered(writer.bd)}, {does}, and {reads.who}, {numbered(reader.bd)}, reads "
        f"{lacking.text}, which nothing ever writes."
    )
    does = "write them too"
    if _begins_behind(lacking, writer.bd):
        does = f"begin at word {int(lacking.words[0]) - lacking.first} of {lacking.buffer}"
    fix = f"Let BD {writer.bd.number} of {writes.who} {does}, or do not read them."
    return Finding(code, CODES[code].severity, message, (writes, reads), fix=fix)
