"""External memory that a host has read before it knows that it is written.

A host that starts a task which reads what an earlier one writes, without a wait between them, has both at
work at once. The earlier one may be the result of what the later one brings, where a design computes in
place. Of channels that locks, streams or cores connect a task counts only if what was brought before it makes
what the earlier one and those before it write, at as many words for each as in the whole sequence. Cores
whose texts have no lock and no buffer in common connect nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.access.distinct import common, distinct
from memtile.access.walk import Walk, addresses
from memtile.arch.tiles import S2MM, WORD_BYTES
from memtile.check.checked_program import Subject
from memtile.check.open_tasks import OpenTasks
from memtile.check.sharing import connected
from memtile.check.task_list import GivenTask, HostStep
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.moves import Move
from memtile.explain.names import called
from memtile.importers.kernels.core_locks import shared_by_core

UNORDERED, _AT_THE_END = "MT0201", "MT0116"
_MOST_WORDS = 1 << 20
_NOTHING = np.zeros(0, np.int64)
Elements = npt.NDArray[np.int64]
Places = dict[tuple[str, int], Elements]
"""Elements, by the name and size of the memory."""


class _Write(NamedTuple):
    """A task into external memory of which the host does not know that it has ended.

    Attributes:
        task: it.
        number: among those of its channel, from 1 on.
        until: words that its channel writes until its end.
        where: its number among the tasks of all channels.
    """

    task: GivenTask
    number: int
    until: int
    where: int


@dataclass(slots=True)
class _Steps(OpenTasks[_Write]):
    """A host's tasks at external memory, as it goes through its steps; open are those that write it.

    Args:
        groups: by model index of a channel a number that connected ones have in common.
        in_all: by channel the words of all its tasks.
        brings: channels that read external memory.

    Attributes:
        takes: by channel and lock the number of the first task that acquires it, from 1 on.
        gives: by channel and lock the number of the last task that releases it.
        moved: by channel the words of its tasks so far.
    """

    in_all: Mapping[int, int] = field(default_factory=dict)
    brings: Set[int] = frozenset()
    takes: dict[int, dict[int, int]] = field(default_factory=dict)
    gives: dict[int, dict[int, int]] = field(default_factory=dict)
    moved: Counter[int] = field(default_factory=Counter)

    def start(self, task: GivenTask, where: int, *, writes: bool) -> None:
        """A task is started."""
        number = self.push(task)
        taken, given = _locks(task)
        takes = self.takes.setdefault(task.ch, {})
        takes.update((lock, number) for lock in taken - takes.keys())
        self.gives.setdefault(task.ch, {}).update((lock, number) for lock in given)
        self.moved[task.ch] += task.words or 0
        if writes:
            self.add(task.ch, _Write(task, number, self.moved[task.ch], where))

    def see_wait(self, step: HostStep) -> None:
        """The host has waited: tasks have ended whose channel it names, or whose locks such tasks took."""
        self.wait(step, lambda write: self._needs_all(write, step))
        rest, known = [step.ch], Counter({step.ch: self.ended(step)})
        while rest:
            ch = rest.pop()
            taken = [lock for lock, first in self.takes.get(ch, {}).items() if first <= known[ch]]
            for other, gives in self.gives.items():
                giving = max((gives.get(lock, 0) for lock in taken), default=0)
                if giving > known[other]:
                    known[other] = giving
                    self.end(other, giving)
                    rest.append(other)

    def _needs_all(self, write: _Write, step: HostStep) -> bool:
        """Whether a task writes results of the last words that a channel read before a wait for that channel.

        It does if both channels have had the same share of all their words by then: reading ends before the
        results are written.
        """
        if step.ch not in self.brings or step.room:
            return False
        brought, all_brought = self.moved[step.ch], self.in_all[step.ch]
        return write.until * all_brought >= brought * self.in_all[write.task.ch]

    def before(self, reader: GivenTask) -> Iterator[_Write]:
        """The writes that a task which reads does not feed."""
        brought, all_brought = self.moved[reader.ch], self.in_all[reader.ch]
        for ch, own in self.open.items():
            apart = self.groups.get(ch) != self.groups.get(reader.ch)
            yield from (
                each
                for each in own
                if (apart or brought * self.in_all[ch] >= each.until * all_brought)
                and not _is_locked(each.task, reader)
            )


def external_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each two channels of which one reads what the other may not have written yet."""
    if not subject.array:
        return
    told, groups, places = set[tuple[int, int]](), connected(subject, _apart(subject)), _places(subject)
    for host, steps in subject.log.steps.items():
        for reader, write, where, both in _unordered(subject, steps, groups, places) if host >= 0 else ():
            if (reader.ch, write.task.ch) not in told:
                told.add((reader.ch, write.task.ch))
                yield _finding(subject, reader, write, where, both)


def without_ends(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without transfers at the end of a host whose token an earlier one has sent.

    A host that does not wait for an earlier transfer takes its token for that of a later one.

    Args:
        findings: of a check.
    """
    writers = {each.sides[1].who for each in findings if each.code == UNORDERED}
    return [each for each in findings if each.code != _AT_THE_END or each.sides[0].who not in writers]


def _unordered(
    subject: Subject, steps: Sequence[HostStep], groups: Mapping[int, int], places: _TaskPlaces
) -> Iterator[tuple[GivenTask, _Write, str, Elements]]:
    """Tasks that read, writes that may be at work then, the memory, and its elements that both touch."""
    in_all = Counter[int]()
    for step in steps:
        if step.pushes:
            in_all[subject.log.tasks[step.task].ch] += subject.log.tasks[step.task].words or 0
    direction = subject.engine.channels.direction
    known = _Steps(groups, in_all=in_all, brings={ch for ch in in_all if direction[ch] != S2MM})
    for step in steps:
        if step.waits:
            known.see_wait(step)
        elif step.pushes:
            task = subject.log.tasks[step.task]
            writes = bool(direction[task.ch] == S2MM)
            for write in known.before(task) if not writes else ():
                touched, written = places[step.task], places[write.where]
                for key in touched.keys() & written.keys():
                    both = common(touched[key], written[key])
                    if len(both):
                        yield task, write, key[0], both
            known.start(task, step.task, writes=writes)


def _apart(subject: Subject) -> dict[int, frozenset[object]]:
    """What the cores have in common with others whose texts say all of it, by model index of their tiles.

    Those are also the channels of the tile and of its buffers, which may move words that a core waits to see.
    """
    found: dict[int, frozenset[object]] = {}
    if len(subject.made) != 1:
        return found  # the cores of a device that is loaded may be told apart from those before
    (made,) = subject.made
    for core in made.device.cores:
        shared, tile = shared_by_core(made, core), made.tiles[core.tile].index
        if shared is not None:
            locks, buffers = shared
            tiles = [tile, *(made.tiles[made.device.buffers[name].tile].index for name in buffers)]
            near = np.flatnonzero(np.isin(subject.engine.channels.tile, tiles)).tolist()
            things = (*(("lock", lock) for lock in locks), *(("buffer", name) for name in buffers))
            found[tile] = frozenset((*things, *near))
    return found


def _is_locked(writer: GivenTask, reader: GivenTask) -> bool:
    """Whether a task waits for a lock that another one releases."""
    return not _locks(reader)[0].isdisjoint(_locks(writer)[1])


def _locks(task: GivenTask) -> tuple[set[int], set[int]]:
    """The locks that a task acquires, and those that it releases."""
    taken = {bd.acquire.lock for bd in task.bds if bd.acquire is not None}
    return taken, {bd.release.lock for bd in task.bds if bd.release is not None}


class _TaskPlaces(dict[int, Places]):
    """What each task touches of external memory, by its number: nothing if it is not known.

    It is worked out when it is asked for: of most tasks it never is, as all before them has ended.

    Args:
        makers: of those of which it is known.
    """

    def __init__(self, makers: Mapping[int, Callable[[], Places]]) -> None:
        super().__init__()
        self._makers = makers

    def __missing__(self, number: int) -> Places:
        self[number] = self._makers[number]() if number in self._makers else {}
        return self[number]


def _places(subject: Subject) -> _TaskPlaces:
    """What each task touches of external memory."""
    found: dict[int, Callable[[], Places]] = {}
    by_channel: dict[int, list[int]] = {}
    for number, task in enumerate(subject.log.tasks):
        if subject.engine.channels.external[task.ch] >= 0 and not task.endless:
            by_channel.setdefault(task.ch, []).append(number)
    of_channel: dict[str, list[Move]] = {}
    for move in subject.moves:
        of_channel.setdefault(move.who, []).append(move)
    for ch, numbers in by_channel.items():
        moves = of_channel.get(called(subject.engine, ch), [])
        tasks = [subject.log.tasks[number] for number in numbers]
        if len(moves) == sum(len(task.bds) for task in tasks):
            rest = iter(moves)
            found |= {
                n: partial(_moved, [*islice(rest, len(task.bds))])
                for n, task in zip(numbers, tasks, strict=True)
            }
        elif subject.engine.external.buffers:
            found |= {n: partial(_addressed, subject, task) for n, task in zip(numbers, tasks, strict=True)}
    return _TaskPlaces(found)


def _moved(moves: Sequence[Move]) -> Places:
    """Elements by memory, of what a text says of transfers."""
    found: Places = {}
    for move in moves:
        if move.count <= _MOST_WORDS:
            key = (move.memory, move.elements)
            found[key] = distinct(np.concatenate([found.get(key, _NOTHING), move.touched]))
    return found


def _addressed(subject: Subject, task: GivenTask) -> Places:
    """Words by external buffer, of what the descriptors of a task say."""
    found: Places = {}
    for bd in task.bds:
        if not bd.descriptor.valid or bd.descriptor.length > _MOST_WORDS:
            continue
        words = distinct(addresses(Walk.of(bd.descriptor, 0).unpadded()))
        for buffer in subject.engine.external.buffers.values():
            first = buffer.address // WORD_BYTES
            own = words[(words >= first) & (words < buffer.end // WORD_BYTES)] - first
            if len(own):
                key = (f"external buffer {buffer.name!r}", buffer.words)
                found[key] = distinct(np.concatenate([found.get(key, _NOTHING), own]))
    return found


def _finding(subject: Subject, reader: GivenTask, write: _Write, where: str, both: Elements) -> Finding:
    names = [called(subject.engine, task.ch) for task in (reader, write.task)]
    tasks = [
        f"the task of {line_of(each.place)}" if each.place else "its task" for each in (reader, write.task)
    ]
    first, last = int(both[0]), int(both[-1])
    message = (
        f"{names[0]} reads elements {first} to {last} of {where} with {tasks[0]}, and the host does not wait "
        f"before that for {tasks[1]} on {names[1]}, which writes them."
    )
    fix = f"Wait for {tasks[1]} on {names[1]} before the start of {tasks[0]}."
    sides = (
        Side(names[0], f"reads elements {first} to {last} of {where}", reader.place),
        Side(names[1], f"writes elements {first} to {last} of {where}", write.task.place),
    )
    return Finding(UNORDERED, Severity.ERROR, message, sides, fix=fix)
