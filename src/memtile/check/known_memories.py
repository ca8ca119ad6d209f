"""Memories that no core reaches: all that reads and writes them is known before a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memtile.access.distinct import distinct, without
from memtile.check.checked_program import Subject
from memtile.check.sharing import reached_by_cores
from memtile.check.streams import areas_of, planned_of
from memtile.check.task_list import StaticBd, each_bd
from memtile.explain.deadlock.planned_words import PlannedBd, Words, areas_on
from memtile.explain.findings import CONNECTIONS, Finding
from memtile.explain.names import called
from memtile.explain.partly_written import Part, numbered
from memtile.jit.tables import plain


class Use(NamedTuple):
    """A descriptor that reads or writes a memory.

    Attributes:
        bd: what it moves.
        acquired: the lock that it waits for, by its index among all locks; -1 = none.
        released: the lock that it releases; -1 = none.
    """

    bd: PlannedBd
    acquired: int
    released: int

    @property
    def text(self) -> str:
        """``BD 3 (line 12)``."""
        return numbered(self.bd)

    def meets(self, words: Words) -> bool:
        """Whether it moves one of some words."""
        return len(without(words, self.bd.places)) < len(words)


class KnownMemory:
    """The data memory of a tile, and the descriptors that use it.

    Args:
        subject: the design.
        tile: model index.

    Attributes:
        writers: descriptors that write it, of all tasks.
        readers: those that read it.
    """

    def __init__(self, subject: Subject, tile: int) -> None:
        self._engine, self._tile = subject.engine, tile
        self._areas = [*areas_on(tile, areas_of(subject))]
        self.writers: list[Use] = []
        self.readers: list[Use] = []

    @cached_property
    def written(self) -> Words:
        """The words that somebody writes, or that have contents at the start."""
        tiles = plain(self._engine.spec.tiles)
        base = int(tiles.memory_base[self._tile])
        own = slice(base, base + int(tiles.memory_words[self._tile]))
        given = np.flatnonzero(self._engine.checks.filled[own] | (self._engine.state.memory[own] != 0))
        return distinct(np.concatenate([given, words_of(self.writers)]))

    @cached_property
    def read(self) -> Words:
        """The words that somebody reads."""
        return words_of(self.readers)

    def part(self, words: Words) -> Part | None:
        """Those of some words that are in the first buffer with any of them; None if none is in one."""
        for name, first, end in self._areas if len(words) else ():
            inside = words[(first <= words) & (words < end)]
            if len(inside):
                return Part(f"buffer {name!r}", first, end, inside)
        return None

    def writers_in(self, part: Part) -> list[Use]:
        """The descriptors that begin to write in the buffer of some words."""
        return [use for use in self.writers if part.first <= int(use.bd.places[0]) < part.end]

    def who(self, use: Use) -> str:
        """The channel of a descriptor."""
        return called(self._engine, use.bd.ch)


def words_of(uses: Iterable[Use]) -> Words:
    """The words that descriptors move, sorted, each once."""
    return distinct(np.concatenate([np.zeros(0, np.int64), *(use.bd.places for use in uses)]))


def channels_of(findings: Iterable[Finding]) -> set[str]:
    """Channels that findings are about, but for those whose streams are not connected."""
    about = (side.who for each in findings if each.code not in CONNECTIONS for side in each.sides)
    return {re.split(r" \(BD|, BD", who)[0] for who in about}


def known_memories(subject: Subject) -> Sequence[KnownMemory]:
    """The memories of which all users are known; none of a design whose host is not part of it."""
    if not subject.hosted or subject.open_host:
        return ()
    planned, tiles = planned_of(subject), plain(subject.engine.spec.tiles)
    found: dict[int, KnownMemory] = {}
    unknown = {-1, *reached_by_cores(subject)}
    locks = _locks(subject)
    for ch in {task.ch for task in subject.log.tasks}:
        bds = planned.bds.get(ch, [])
        odd = not bds or any(bd.tile < 0 or bd.descriptor.iteration.wrap > 1 for bd in bds)
        if odd and not planned.is_external(ch):
            unknown.update(tiles.neighbour[int(subject.engine.channels.tile[ch])].tolist())
        for bd in bds:
            memory = found.setdefault(bd.tile, KnownMemory(subject, bd.tile))
            uses = memory.writers if planned.receives(ch) else memory.readers
            uses.append(Use(bd, *locks[ch, bd.number]))
    return [memory for tile, memory in found.items() if tile not in unknown]


def _locks(subject: Subject) -> Mapping[tuple[int, int], tuple[int, int]]:
    """By channel and BD the lock that it acquires and the one that it releases; -1 = none."""

    def steps(bd: StaticBd) -> Iterator[int]:
        for step in (bd.acquire, bd.release):
            yield -1 if step is None else step.lock

    found: dict[tuple[int, int], tuple[int, int]] = {}
    for task, bd in each_bd(subject.log.tasks):
        acquired, released = steps(bd)
        found[task.ch, bd.number] = acquired, released
    return found
