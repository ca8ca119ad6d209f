"""Words that a descriptor reads and nobody has written: the one that was to write them has another buffer.

Or it has this buffer, and writes only a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memtile.access.distinct import distinct, without
from memtile.arch.tiles import S2MM, TILE_KINDS
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords, Words, areas_on
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.lock_waits import lock_text
from memtile.explain.names import called
from memtile.explain.partly_written import NamedBd, Part, ends_at, partly_written
from memtile.explain.race_findings import NamedArea
from memtile.model.checking.notes import FIRST_CHANNEL
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_book import RaceKind
from memtile.sim.races.race_watch import Race

_CODE, _UNWRITTEN = "MT0209", "MT0203"
_RACES = ("MT0201", "MT0202", "MT0204")
_NO_WORDS: Words = np.zeros(0, np.int64)


class Misplaced(NamedTuple):
    """A descriptor that writes elsewhere than the one reads that waits for it.

    Attributes:
        writer: it.
        reader: the one that reads what nobody has written.
        lock: by which the reader waits, by its index among all locks.
        twice: another descriptor of the writer's ring writes there too.
        sure: another one uses what it writes, so that it is the one that is wrong, not the reader.
    """

    writer: PlannedBd
    reader: PlannedBd
    lock: int
    twice: bool
    sure: bool


class WrongBuffers:
    """The descriptors of an engine that has run, and which of them take turns by locks.

    Args:
        engine: the model.
        areas: the buffers of the design.
    """

    def __init__(self, engine: Engine, areas: Sequence[NamedArea]) -> None:
        self._engine, self._areas, self._chains = engine, areas, BdChains(engine)
        self.planned = PlannedWords.of(engine, self._chains)

    def finding(self, ch: int, number: int) -> Finding | None:
        """What is wrong where a BD of a channel reads words that nobody has written; None = another thing.

        Args:
            ch: model index of the channel.
            number: of the BD.
        """
        reader = next((bd for bd in self.planned.bds.get(ch, ()) if bd.number == number), None)
        if reader is None:
            return None
        found = self._misplaced(reader)
        return self._finding(found) if found is not None else self._in_part(reader)

    def lacks_writer(self, ch: int, number: int) -> bool:
        """Whether no descriptor writes any of the words that a BD of a channel reads."""
        readers = [bd for bd in self.planned.bds.get(ch, ()) if bd.number == number]
        here = {each for each in self.planned.bds if not self.planned.is_external(each)}
        own = [bd for each in here if self.planned.receives(each) for bd in self.planned.bds[each]]
        if not readers or not self._is_of_channels(readers[0].tile):
            return False
        return not any(_meet(readers[0], bd) for bd in own)

    def _is_of_channels(self, tile: int) -> bool:
        """Whether only channels write the memory of a tile: no core has a window to it."""
        return tile >= 0 and TILE_KINDS[KIND_NAMES[self._engine.tiles.kind[tile]]].role == "memory"

    def _in_part(self, reader: PlannedBd) -> Finding | None:
        """What is wrong where the one that the reader waits for writes only a part of its buffer."""
        tile = reader.tile
        if not self._is_of_channels(tile) or not self._knows_all:
            return None
        own = [bd for ch, bds in self.planned.bds.items() if self.planned.receives(ch) for bd in bds]
        written = np.concatenate([_NO_WORDS, *(bd.places for bd in own if bd.tile == tile)])
        lacking = without(reader.places, distinct(written))
        for name, first, end in areas_on(tile, self._areas):
            part = lacking[(first <= lacking) & (lacking < end)]
            here = [bd for bd in self._givers(reader) if bd.tile == tile and len(bd.places)]
            here = [bd for bd in here if first <= int(bd.places[0]) < end]
            if len(part) and here:
                words = Part(f"buffer {name!r}", first, end, part)
                writer = ends_at(words, here)
                return partly_written(_UNWRITTEN, words, self._use(writer), self._use(reader))
        return None

    @cached_property
    def _knows_all(self) -> bool:
        """Whether all that writes a memory is known: no channel had tasks before those that it has."""
        c, planned = self._engine.channels, self.planned
        wrote = np.flatnonzero((c.direction == S2MM) & (c.bds_done > 0)).tolist()
        return all(planned.bds.get(ch) and planned.is_complete(ch) for ch in wrote)

    def _use(self, bd: PlannedBd) -> NamedBd:
        return NamedBd(called(self._engine, bd.ch), bd)

    def _givers(self, reader: PlannedBd) -> list[PlannedBd]:
        """The descriptors of the channel that release the lock by which a reader waits."""
        lock = self._lock(reader, self._chains.acquired(reader.ch, reader.number))
        return [
            bd
            for bds in self.planned.bds.values()
            for bd in bds
            if self._lock(bd, self._chains.release(bd.ch, bd.number)) == lock is not None
        ]

    def _misplaced(self, reader: PlannedBd) -> Misplaced | None:
        lock = self._lock(reader, self._chains.acquired(reader.ch, reader.number))
        every, givers = [bd for bds in self.planned.bds.values() for bd in bds], self._givers(reader)
        takers = [
            bd for bd in every if self._lock(bd, self._chains.acquired(bd.ch, bd.number)) == lock is not None
        ]
        channels = {bd.ch for bd in givers}
        if any(_meet(bd, reader) for bd in givers) or len(channels) != 1:
            return self._strange(reader, givers, takers)
        if lock is None:
            return None
        if not self.planned.receives(givers[0].ch):
            return None
        twice = [bd for bd in givers if any(_meet(bd, other) for other in givers if other is not bd)]
        strange = [bd for bd in givers if not any(_meet(bd, other) for other in takers)]
        odd = strange or twice
        place = [bd.number for bd in takers if bd.ch == reader.ch].index(reader.number)
        same = [bd for bd in odd if bd is givers[place % len(givers)]]
        if not odd:
            return None
        writer, others = (same or odd)[0], [bd for bd in every if all(bd is not each for each in givers)]
        sure = not strange or any(other.tile >= 0 and _meet(writer, other) for other in others)
        return Misplaced(writer, reader, lock, not strange, sure)

    def _strange(
        self, reader: PlannedBd, givers: Sequence[PlannedBd], takers: Sequence[PlannedBd]
    ) -> Misplaced | None:
        """The one of several that write for the same readers which writes what none of them reads.

        It is meant to write what they read and nothing writes, if that is as much.
        """
        every = [bd for bds in self.planned.bds.values() for bd in bds]
        lock = self._lock(reader, self._chains.acquired(reader.ch, reader.number))
        strange = [bd for bd in givers if not any(_meet(bd, other) for other in takers)]
        if lock is None or len(strange) != 1 or any(bd.tile != reader.tile for bd in (*givers, *takers)):
            return None
        if not self._knows_all:
            return None
        own = [bd for bd in every if self.planned.receives(bd.ch) and bd.tile == reader.tile]
        read, written = (distinct(np.concatenate([bd.places for bd in some])) for some in (takers, own))
        left = without(read, written)
        if len(left) != len(strange[0].places) or len(without(left, reader.places)) == len(left):
            return None
        return Misplaced(strange[0], reader, lock, twice=False, sure=True)

    def _lock(self, bd: PlannedBd, step: tuple[int, int] | None) -> int | None:
        """The lock of a step of a BD, by its index among all locks."""
        return (
            None if step is None else lock_seen(self._engine, int(self._engine.channels.tile[bd.ch]), step[0])
        )

    def _finding(self, found: Misplaced) -> Finding:
        same = self._memory(found.writer) == self._memory(found.reader)
        writer = self._side(found.writer, "writes", words=same)
        reader = self._side(found.reader, "reads", words=same)
        lock = lock_text(self._engine, found.lock)
        again = ", as another BD of its chain does" if found.twice else ""
        message = (
            f"{writer.who}, BD {found.writer.number} {writer.does}{again}, but {reader.who}, BD "
            f"{found.reader.number}, which waits for it by {lock}, {reader.does}, which nothing has written."
        )
        if not found.sure:
            fix = "Let both use the same buffer; one of these two has the wrong one."
            return Finding(_UNWRITTEN, Severity.WARNING, message, (reader, writer), fix=fix)
        place = self._begin(found.reader) if same else f"use {self._memory(found.reader)}"
        fix = f"Let BD {found.writer.number} of {writer.who} {place}."
        return Finding(_CODE, Severity.WARNING, message, (writer, reader), fix=fix)

    def _begin(self, bd: PlannedBd) -> str:
        """``begin at word 64 of buffer 'kept'``: where a BD begins."""
        first, low = int(bd.places[0]), self._first_word(bd)
        return f"begin at word {first - low} of {self._memory(bd)}"

    def _first_word(self, bd: PlannedBd) -> int:
        """The word of the tile with which the buffer of a BD begins; 0 if it has no name."""
        first = int(bd.places[0])
        return next((low for _, low, end in areas_on(bd.tile, self._areas) if low <= first < end), 0)

    def _side(self, bd: PlannedBd, verb: str, *, words: bool = False) -> Side:
        low = self._first_word(bd)
        some = f"words {int(bd.places[0]) - low} to {int(bd.places[-1]) - low} of " if words else ""
        place = f"BD {bd.number}, {bd.said}" if bd.said else f"BD {bd.number}"
        return Side(called(self._engine, bd.ch), f"{verb} {some}{self._memory(bd)}", place)

    def _memory(self, bd: PlannedBd) -> str:
        """The buffer of a BD, as far as it has a name."""
        for name, first, end in areas_on(bd.tile, self._areas):
            if first <= int(bd.places[0]) < end:
                return f"buffer {name!r}"
        return f"words {bd.places[0]} to {bd.places[-1]}"


def _meet(one: PlannedBd, other: PlannedBd) -> bool:
    """Whether two have a word of memory in common."""
    if one.tile != other.tile or one.tile < 0:
        return one.tile < 0 or other.tile < 0  # nobody knows
    return len(without(one.places, other.places)) < len(one.places)


def with_causes(
    engine: Engine, areas: Sequence[NamedArea], found: Sequence[Race], findings: Sequence[Finding]
) -> list[Finding]:
    """The findings of a checked run, with the descriptor that is off where words were never written.

    Args:
        engine: the model, as the run has left it.
        areas: the buffers of the design.
        found: what they are about.
        findings: of the races.
    """
    first = {
        one.later.agent - FIRST_CHANNEL: one.later.site
        for one in reversed(found)
        if one.kind is RaceKind.NEVER_WRITTEN
    }
    if not first:
        return list(findings)
    buffers = WrongBuffers(engine, areas)
    known = {
        called(engine, ch): made
        for ch, site in first.items()
        if 0 <= ch < len(engine.channels.tile) and (made := buffers.finding(ch, site)) is not None
    }
    told = [_as(each, known) if each.code == _UNWRITTEN and each.sides else each for each in findings]
    alone = {called(engine, ch) for ch, site in first.items() if buffers.lacks_writer(ch, site)}
    causes = [cause for who, cause in known.items() if cause.code == _CODE and who in alone]
    wrong = {cause.sides[0] for cause in causes}
    return _instead(told, causes[0]) if len(wrong) == 1 else told


def _instead(findings: Sequence[Finding], cause: Finding) -> list[Finding]:
    """The findings with a descriptor at the wrong words instead of the races that it has there."""
    at = cause.sides[0]
    races = [
        each
        for each in findings
        if each.code in _RACES and any((side.who, side.place) == (at.who, at.place) for side in each.sides)
    ]
    if not races:
        return list(findings)
    first = replace(
        cause,
        severity=Severity.ERROR,
        words=races[0].words,
        cycles=races[0].cycles,
        count=sum(each.count for each in races),
    )
    others = (each for each in findings if (each.code, each.sides[:1]) != (cause.code, (at,)))
    return [first, *(each for each in others if each not in races)]


def _as(finding: Finding, known: Mapping[str, Finding]) -> Finding:
    """A finding about words that nobody has written, with its cause if that is known."""
    cause = known.get(finding.sides[0].who)
    if cause is None:
        return finding
    return replace(cause, words=finding.words, cycles=finding.cycles, count=finding.count)
