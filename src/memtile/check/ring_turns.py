"""Rings of descriptors that take turns at buffers: does each use the buffer that its locks count?

Two rules, each certain from the descriptors alone. A ring whose lock lets several of its descriptors run
before a reader has released anything must write as many buffers; and of two rings that take turns by one lock
each descriptor of the reader must read what the descriptor of the writer wrote that released it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from math import lcm
from typing import NamedTuple

from memtile.access.boxes import last_address
from memtile.access.walk import Walk
from memtile.arch.tiles import S2MM, WORD_BYTES
from memtile.bd.windows import place_of_address
from memtile.check.checked_program import Subject
from memtile.check.lock_rules import from_cores
from memtile.check.task_list import GivenTask, StaticBd, bd_text, kind_of
from memtile.explain.findings import Finding, Severity, Side, WordRange
from memtile.explain.lock_waits import lock_text
from memtile.jit.tables import plain

_WINDOWS = ("west", "own", "east")  # columns of ``Tiles.neighbour``
_MOST_TURNS = 1 << 10


class Stretch(NamedTuple):
    """Words of the data memory of a tile that a descriptor lies in; ``end`` is behind the last."""

    tile: int
    first: int
    end: int

    def meets(self, other: Stretch) -> bool:
        """Whether they have a word in common."""
        return self.tile == other.tile and self.first < other.end and other.first < self.end


class Ring(NamedTuple):
    """A ring whose descriptors all wait for one lock and release another, each by 1.

    Attributes:
        task: of the channel.
        acquired: lock that each descriptor waits for, by index among all locks.
        released: lock that each releases.
        stretches: memory of each descriptor.
        writes: whether it writes memory.
    """

    task: GivenTask
    acquired: int
    released: int
    stretches: Sequence[Stretch]
    writes: bool


def ring_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each pair of rings, or for a ring of its own, with a descriptor at the wrong buffer."""
    rings = [ring for task in subject.log.tasks for ring in _rings(subject, task)]
    endless = (task for task in subject.log.tasks if task.endless)
    known = [ring for task in endless if (ring := _any_ring(subject, task)) is not None]
    told = set[int]()
    for writer, reader in _pairs(subject, rings):
        wrong = _mismatch(writer, reader)
        if wrong is not None:
            told |= {writer.task.ch, reader.task.ch}
            yield _unread(subject, writer, reader, wrong, writer.released, known)
    for ring in rings:
        if ring.writes and ring.task.ch not in told:
            told.add(ring.task.ch)
            yield from _overwritten(subject, ring, known)
    yield from _apart(subject, known, told)
    yield from _other_turns(subject)


def _other_turns(subject: Subject) -> Iterator[Finding]:
    """Two descriptors that take turns, and whose iterations begin again after different numbers of runs."""
    direction = subject.engine.channels.direction
    readers: dict[int, list[tuple[GivenTask, StaticBd]]] = {}
    writers = list[tuple[GivenTask, StaticBd]]()
    for task in subject.log.tasks:
        if len(task.bds) == 1 and task.bds[0].descriptor.iteration.wrap > 1:
            at = task.bds[0].descriptor.address
            own = writers if direction[task.ch] == S2MM else readers.setdefault(at, [])
            own.append((task, task.bds[0]))
    for writer, writes in writers:
        for reader, reads in readers.get(writes.descriptor.address, ()):
            if not _take_turns(writes, reads):
                continue
            one, other = writes.descriptor.iteration, reads.descriptor.iteration
            runs = min(_MOST_TURNS if task.endless else task.runs for task in (writer, reader))
            if one.step == other.step and one.wrap != other.wrap and runs > min(one.wrap, other.wrap) > 1:
                yield _wrapped(subject, (writer, writes), (reader, reads))


def _take_turns(writes: StaticBd, reads: StaticBd) -> bool:
    """Whether two descriptors at one address hand each other its words by two locks."""
    steps = (writes.acquire, writes.release, reads.acquire, reads.release)
    room, data, taken, back = (None if step is None else step.lock for step in steps)
    return None not in (room, data) and (room, data) == (back, taken)


def _wrapped(
    subject: Subject, writer: tuple[GivenTask, StaticBd], reader: tuple[GivenTask, StaticBd]
) -> Finding:
    """The writer comes first, but where the lock that gives it room has as many units as it has runs."""
    assert writer[1].acquire is not None
    room = int(subject.log.locks[writer[1].acquire.lock])
    odd, other = (reader, writer) if room == writer[1].descriptor.iteration.wrap else (writer, reader)
    names = [bd_text(subject.engine, *each) for each in (odd, other)]
    begin = [f"begins again after {bd.descriptor.iteration.wrap} runs" for _, bd in (odd, other)]
    message = (
        f"The iteration of {names[0]} {begin[0]}; that of {names[1]}, which takes turns with it, {begin[1]}."
    )
    fix = f"Give the iteration of {names[0]} a wrap of {other[1].descriptor.iteration.wrap}."
    sides = [
        Side(name, says, each[0].place) for name, says, each in zip(names, begin, (odd, other), strict=True)
    ]
    return Finding("MT0209", Severity.ERROR, message, tuple(sides), fix=fix)


class _User(NamedTuple):
    """A descriptor that takes or gives a lock, by its place in the chain of its task."""

    ring: Ring
    at: int

    @property
    def stretch(self) -> Stretch:
        return self.ring.stretches[self.at]


def _apart(subject: Subject, known: Sequence[Ring], told: Container[int]) -> Iterator[Finding]:
    """Descriptors that read no word of what those write for which they wait, however many take part."""
    users = [_User(ring, at) for ring in known for at in range(len(ring.stretches))]
    takers, givers = _by_lock(users)
    others = {
        step.lock
        for task in subject.log.tasks
        if all(task is not ring.task for ring in known)
        for bd in task.bds
        for step in (bd.acquire, bd.release)
        if step is not None
    }
    for lock in sorted((takers.keys() & givers.keys()) - {*from_cores(subject)} - others):
        gives, takes = givers[lock], takers[lock]
        channels = {each.ring.task.ch for each in (*gives, *takes)}
        if int(subject.log.locks[lock]) or any(ch in told for ch in channels):
            continue
        wrong = _strangers(gives, takes)
        if wrong is not None:
            yield _unread(subject, wrong[0].ring, wrong[1].ring, (wrong[0].at, wrong[1].at), lock, known)


def _by_lock(users: Sequence[_User]) -> tuple[dict[int, list[_User]], dict[int, list[_User]]]:
    """Who takes and who gives each lock."""
    takers: dict[int, list[_User]] = {}
    givers: dict[int, list[_User]] = {}
    for user in users:
        bd = user.ring.task.bds[user.at]
        for step, found in ((bd.acquire, takers), (bd.release, givers)):
            if step is not None and step.value:
                found.setdefault(step.lock, []).append(user)
    return takers, givers


def _strangers(gives: Sequence[_User], takes: Sequence[_User]) -> tuple[_User, _User] | None:
    """A writer that no reader reads, and a reader that no writer writes for; None if there are not both."""
    if len({each.ring.task.ch for each in gives}) != 1 or not all(each.ring.writes for each in gives):
        return None
    if any(each.ring.writes for each in takes):
        return None
    unread = [one for one in gives if not any(one.stretch.meets(other.stretch) for other in takes)]
    unwritten = [one for one in takes if not any(one.stretch.meets(other.stretch) for other in gives)]
    return (unread[0], unwritten[0]) if unread and unwritten else None


def _any_ring(subject: Subject, task: GivenTask) -> Ring | None:
    """The ring of a task whatever its locks are, if all of its memory is known."""
    found = [_stretch(subject, task, bd) for bd in task.bds]
    stretches = [each for each in found if each is not None]
    writes = int(subject.engine.channels.direction[task.ch]) == S2MM
    return Ring(task, -1, -1, stretches, writes) if len(stretches) == len(found) else None


def _rings(subject: Subject, task: GivenTask) -> Iterator[Ring]:
    """The ring of a task, if it is one of those that are looked at."""
    if not task.endless or task.again:
        return
    taken = {bd.acquire.lock for bd in task.bds if bd.acquire is not None and abs(bd.acquire.value) == 1}
    given = {bd.release.lock for bd in task.bds if bd.release is not None and bd.release.value == 1}
    whole = all(bd.acquire is not None and bd.release is not None for bd in task.bds)
    steps = [step for bd in task.bds for step in (bd.acquire, bd.release) if step is not None]
    if not whole or len(taken) != 1 or len(given) != 1 or any(abs(step.value) != 1 for step in steps):
        return
    found = [_stretch(subject, task, bd) for bd in task.bds]
    stretches = [each for each in found if each is not None]
    if len(stretches) == len(found):
        writes = int(subject.engine.channels.direction[task.ch]) == S2MM
        yield Ring(task, taken.pop(), given.pop(), stretches, writes)


def _stretch(subject: Subject, task: GivenTask, bd: StaticBd) -> Stretch | None:
    """The data memory of a descriptor; None of external memory, of what is not known, and of iterations."""
    tile = int(subject.engine.channels.tile[task.ch])
    kind = kind_of(subject.engine, tile)
    if not kind.memory_words or not bd.descriptor.valid or bd.descriptor.iteration.wrap > 1:
        return None
    walk = Walk.of(bd.descriptor, 0).unpadded()
    last, at = last_address(walk), place_of_address(kind, walk.base)
    if last is None or at is None:
        return None
    there = int(plain(subject.engine.spec.tiles).neighbour[tile, _WINDOWS.index(at.window)])
    return Stretch(there, at.local, at.local + last - walk.base + 1) if there >= 0 else None


def _pairs(subject: Subject, rings: Sequence[Ring]) -> Iterator[tuple[Ring, Ring]]:
    """Writers and readers that alone use the lock by which the reader waits for the writer, from 0 on."""
    by_cores = {*from_cores(subject)}
    users: dict[int, set[int]] = {}
    for task in subject.log.tasks:
        for bd in task.bds:
            for step in (bd.acquire, bd.release):
                if step is not None:
                    users.setdefault(step.lock, set()).add(task.ch)
    for writer in rings:
        lock = writer.released
        readers = [ring for ring in rings if not ring.writes and ring.acquired == lock]
        alone = users[lock] == {writer.task.ch, *(ring.task.ch for ring in readers)}
        empty = not int(subject.log.locks[lock]) and lock not in by_cores
        if writer.writes and alone and empty and len(readers) == 1:
            yield writer, readers[0]


def _mismatch(writer: Ring, reader: Ring) -> tuple[int, int] | None:
    """The first descriptors of both, by their places, of which one reads nothing that the other wrote."""
    one, other = len(writer.stretches), len(reader.stretches)
    for turn in range(min(lcm(one, other), _MOST_TURNS)):
        wrote, read = writer.stretches[turn % one], reader.stretches[turn % other]
        if not wrote.meets(read):
            return turn % one, turn % other
    return None


def _repeats(ring: Ring) -> bool:
    """Whether two descriptors of a ring have memory in common."""
    return any(one.meets(other) for one, other in combinations(ring.stretches, 2))


def _unread(
    subject: Subject, writer: Ring, reader: Ring, at: tuple[int, int], lock_number: int, rings: Sequence[Ring]
) -> Finding:
    """The writer comes first if it writes a buffer twice or both go through all; else the reader.

    The reader does too where another ring writes what it reads, or where it has fewer buffers.
    """
    elsewhere = any(
        each.meets(reader.stretches[at[1]])
        for ring in rings
        if ring.writes and ring.task.ch != writer.task.ch
        for each in ring.stretches
    )
    fewer = len(reader.stretches) < len(writer.stretches)
    astray = (_repeats(reader) or elsewhere or fewer) and not _repeats(writer)
    odd = (reader, writer) if astray else (writer, reader)
    places = at if odd[0] is writer else at[::-1]
    sides = [_side(subject, ring, n) for ring, n in zip(odd, places, strict=True)]
    lock = lock_text(subject.engine, lock_number)
    message = (
        f"{sides[0].who} {sides[0].does}, but {sides[1].who}, which takes turns with it by {lock}, "
        f"{sides[1].does}: they have no word in common."
    )
    sure = _repeats(odd[0])
    fix = (
        f"Let {sides[0].who} use the buffer of {sides[1].who}."
        if sure
        else "Let both go through their buffers in the same order; one of these two has the wrong one."
    )
    if astray and fewer and not elsewhere and not sure:
        own, others = len(reader.stretches), len(writer.stretches)
        fix = f"Let {sides[0].who} go through {others} buffers in turn, as the other does, and not {own}."
    severity = Severity.ERROR if sure else Severity.WARNING
    return Finding("MT0209", severity, message, tuple(sides), (_words(subject, odd[0], places[0]),), fix=fix)


def _overwritten(subject: Subject, ring: Ring, known: Sequence[Ring]) -> Iterator[Finding]:
    """A ring that writes a buffer again before anything was read, as its lock has room for both.

    The second comes first, or the first one if the buffer that nobody uses lies before theirs.
    """
    room = int(subject.log.locks[ring.acquired])
    pairs = combinations(range(min(room, len(ring.stretches))), 2)
    again = next(((n, m) for n, m in pairs if ring.stretches[n].meets(ring.stretches[m])), None)
    if again is None:
        return
    other, odd = again[::-1] if _is_free_before(subject, ring.stretches[again[0]], known) else again
    first, second = _side(subject, ring, other), _side(subject, ring, odd)
    lock = lock_text(subject.engine, ring.acquired)
    message = (
        f"{second.who} {second.does}, as BD {ring.task.bds[other].number} of its ring does, and {lock} "
        f"starts at {room}: what one wrote is overwritten before anything reads it."
    )
    fix = "Give each of these two BDs a buffer of its own; one of them has the wrong one."
    yield Finding("MT0209", Severity.ERROR, message, (second, first), (_words(subject, ring, odd),), fix=fix)


def _is_free_before(subject: Subject, used: Stretch, known: Sequence[Ring]) -> bool:
    """Whether the nearest buffer of the same size that no ring uses lies before one that is used."""
    free = list[int]()
    for tile in subject.tiles:
        for buffer in tile.buffers if tile.index == used.tile else ():
            begins = buffer.offset // WORD_BYTES
            there = Stretch(used.tile, begins, begins + -(-buffer.nbytes // WORD_BYTES))
            if there.end - begins == used.end - used.first and not any(
                there.meets(each) for ring in known for each in ring.stretches
            ):
                free.append(begins)
    return bool(free) and min(free, key=lambda begins: abs(begins - used.first)) < used.first


def _side(subject: Subject, ring: Ring, number: int) -> Side:
    verb = "writes" if ring.writes else "reads"
    words = _words(subject, ring, number)
    last = words.first + words.count - 1
    bd, tile = ring.task.bds[number], int(subject.engine.channels.tile[ring.task.ch])
    place = subject.engine.bd_places.get((tile, bd.number), ring.task.place)
    who = bd_text(subject.engine, ring.task, bd)
    return Side(who, f"{verb} words {words.first} to {last} of {words.memory}", place)


def _words(subject: Subject, ring: Ring, number: int) -> WordRange:
    """The memory of a descriptor, by the name of its buffer where it has one."""
    at = ring.stretches[number]
    for tile in subject.tiles:
        for buffer in tile.buffers if tile.index == at.tile else ():
            begins = buffer.offset // WORD_BYTES
            if begins <= at.first and at.end <= begins + -(-buffer.nbytes // WORD_BYTES):
                return WordRange(f"buffer {buffer.name!r}", at.first - begins, at.end - at.first)
    return WordRange("the memory of its tile", at.first, at.end - at.first)
