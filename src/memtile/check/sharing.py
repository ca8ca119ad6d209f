"""Two channels that touch the same memory at the same time, one of them writing, with nothing between them.

Only what no timing could excuse is told: both tasks are pushed before the host waits for anything, and
neither locks nor a stream lead from one to the other. Whether an order is the right one, a run says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from memtile.access.boxes import last_address
from memtile.access.walk import Walk, addresses
from memtile.arch.tiles import S2MM
from memtile.bd.windows import place_of_address
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, LockStep, StaticBd, bd_text, each_bd, kind_of
from memtile.explain.findings import Finding, Severity, Side, WordRange
from memtile.explain.lock_waits import lock_text
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain

_WINDOWS = ("west", "own", "east")  # columns of ``Tiles.neighbour``
NONE_APART: Mapping[int, frozenset[object]] = MappingProxyType({})
_MOST_WORDS = 1 << 20  # of a walk that is looked at word by word


class BdUse(NamedTuple):
    """What a BD touches: words of the data memory of a tile."""

    task: GivenTask
    bd: StaticBd
    tile: int
    first: int
    end: int
    writes: bool


def sharing_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each pair of channels and memory."""
    groups = connected(subject)
    told: set[tuple[int, ...]] = set()
    by_tile: dict[int, list[BdUse]] = {}
    for task, bd in each_bd(subject.log.tasks):
        for use in _uses(subject, task, bd):
            by_tile.setdefault(use.tile, []).append(use)
    for tile, uses in by_tile.items():
        ordered = tile in reached_by_cores(subject)  # what orders them may be a kernel
        for one, two in _overlaps(uses):
            key = (tile, *sorted((one.task.ch, two.task.ch)))
            if key in told or not _meet(one, two):
                continue
            if lock := _same_room(one, two):
                told.add(key)
                yield _either(subject, one, two, lock)
            elif not ordered and _clash(one, two, groups):
                told.add(key)
                yield _finding(subject, one, two)


def _overlaps(uses: Sequence[BdUse]) -> Iterator[tuple[BdUse, BdUse]]:
    """Pairs whose stretches of memory meet."""
    rest = sorted(uses, key=lambda use: use.first)
    for number, one in enumerate(rest):
        for two in rest[number + 1 :]:
            if two.first >= one.end:
                break
            yield one, two


def _meet(one: BdUse, two: BdUse) -> bool:
    """Whether they are of channels that may be at work at the same time, and one of them writes."""
    is_written = one.writes or two.writes
    return one.task.ch != two.task.ch and is_written and one.task.epoch == two.task.epoch


def _clash(one: BdUse, two: BdUse, groups: dict[int, int]) -> bool:
    return groups[one.task.ch] != groups[two.task.ch] and _have_words_in_common(one, two)


def _have_words_in_common(one: BdUse, two: BdUse) -> bool:
    return bool(len(np.intersect1d(_words(one), _words(two))))


def _same_room(one: BdUse, two: BdUse) -> LockStep | None:
    """The lock that two writers of the same words both acquire before; None if they have none in common.

    One that both give back keeps them apart and no more, as a mutex: either may come first.
    """
    takes, other = one.bd.acquire, two.bd.acquire
    if not (one.writes and two.writes and takes is not None and other is not None):
        return None
    if all(use.bd.release is not None and use.bd.release.lock == takes.lock for use in (one, two)):
        return None
    return takes if takes == other and _have_words_in_common(one, two) else None


def _either(subject: Subject, one: BdUse, two: BdUse, lock: LockStep) -> Finding:
    """The finding about two writers that one lock lets write, whichever comes first."""
    names = [bd_text(subject.engine, use.task, use.bd) for use in (one, two)]
    name = lock_text(subject.engine, lock.lock)
    first, end = max(one.first, two.first), min(one.end, two.end)
    does = f"writes words {first} to {end - 1} as soon as it has {name}"
    message = f"{names[0]} and {names[1]} both write words {first} to {end - 1} of the memory of tile "
    message += f"{_place(subject, one.tile)} under {name}: timing decides which comes first."
    fix = "Let each write words of its own, or give each a lock of its own for its turn."
    sides = tuple(Side(who, does, use.task.place) for who, use in zip(names, (one, two), strict=True))
    return Finding("MT0138", Severity.WARNING, message, sides, fix=fix)


def _words(use: BdUse) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    walk = Walk.of(use.bd.descriptor, 0).unpadded()
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.unique(addresses(walk)) - walk.base
    return found + use.first


def _uses(subject: Subject, task: GivenTask, bd: StaticBd) -> Iterator[BdUse]:
    """The words of a BD's first run, if they lie in data memory."""
    tile = int(subject.engine.channels.tile[task.ch])
    kind = kind_of(subject.engine, tile)
    if not kind.memory_words or not bd.descriptor.valid or bd.descriptor.length > _MOST_WORDS:
        return
    walk = Walk.of(bd.descriptor, 0).unpadded()
    last, at = last_address(walk), place_of_address(kind, walk.base)
    if last is None or at is None:
        return
    there = int(plain(subject.engine.spec.tiles).neighbour[tile, _WINDOWS.index(at.window)])
    writes = int(subject.engine.channels.direction[task.ch]) == S2MM
    if there >= 0:
        yield BdUse(task, bd, there, at.local, at.local + last - walk.base + 1, writes)


def reached_by_cores(subject: Subject) -> set[int]:
    """Tiles whose memory a core may use, by model index."""
    reach = plain(subject.engine.spec.tiles).core_reach
    return {seen for tile in subject.kernels for seen in reach[tile].tolist() if seen >= 0}


def connected(subject: Subject, apart: Mapping[int, frozenset[object]] = NONE_APART) -> dict[int, int]:
    """Channels by a number that those have in common between which locks or streams could keep an order.

    Args:
        subject: the design.
        apart: cores whose texts say all that they have in common with channels and other cores, as
            ``("lock", 3)``, by model index of their tiles; others may wait for each other and any channel.
    """
    groups = _UseGroups()
    for task, bd in each_bd(subject.log.tasks):
        for step in (bd.acquire, bd.release):
            if step is not None:
                groups.join(("lock", step.lock), task.ch)
    for ch in {task.ch for task in subject.log.tasks}:
        for receiver in _receivers(subject, ch):
            groups.join(receiver, ch)
    for tile in subject.kernels:
        if tile in apart:
            for thing in apart[tile]:
                groups.join(thing, ("core", tile))
            continue
        for ch in np.flatnonzero(subject.engine.channels.tile == tile).tolist():
            groups.join("cores", ch)
    numbers: dict[object, int] = {}
    return {task.ch: numbers.setdefault(groups.of(task.ch), len(numbers)) for task in subject.log.tasks}


class _UseGroups:
    """Things that belong together, directly or through others."""

    def __init__(self) -> None:
        self._parent: dict[object, object] = {}

    def of(self, item: object) -> object:
        """What stands for the group of a thing."""
        self._parent.setdefault(item, item)
        while self._parent[item] != item:
            item = self._parent[item]
        return item

    def join(self, one: object, two: object) -> None:
        """Have two things belong together."""
        self._parent[self.of(one)] = self.of(two)


def _receivers(subject: Subject, ch: int) -> Iterator[int]:
    """S2MM channels that words of a channel may come to."""
    engine, switch = subject.engine, plain(subject.engine.state.switch)
    port = int(engine.channels.switch_port[ch]) if subject.array else -1
    for at in reached([port], lambda at: configured_ways(engine, at)) if port >= 0 else ():
        if switch.is_master[at] and switch.channel[at] >= 0:
            yield int(switch.channel[at])


def _finding(subject: Subject, one: BdUse, two: BdUse) -> Finding:
    first, end = max(one.first, two.first), min(one.end, two.end)
    memory = f"the memory of tile {_place(subject, one.tile)}" if subject.array else "the memory of the tile"
    sides = tuple(
        Side(
            bd_text(subject.engine, use.task, use.bd),
            f"{'writes' if use.writes else 'reads'} words {use.first} to {use.end - 1}",
            use.task.place,
        )
        for use in (one, two)
    )
    message = (
        f"{sides[0].who} {sides[0].does} and {sides[1].who} {sides[1].does} of {memory}, "
        "and nothing orders the two."
    )
    fix = _free_lock(subject, one, two) or (
        "Let the first release a lock that the second acquires, or have the host wait between them."
    )
    return Finding(
        "MT0105", Severity.ERROR, message, sides, (WordRange(memory, first, end - first),), fix=fix
    )


def _free_lock(subject: Subject, one: BdUse, two: BdUse) -> str:
    """The locks of the writer that nobody else uses, for a reader whose own ones nobody else uses either."""
    writer, reader = (one, two) if one.writes else (two, one)
    gives, takes = writer.bd.release, writer.bd.acquire
    if reader.writes or gives is None or reader.bd.acquire is None:
        return ""
    users: dict[int, set[int]] = {}
    for task, bd in each_bd(subject.log.tasks):
        for step in (bd.acquire, bd.release):
            if step is not None:
                users.setdefault(step.lock, set()).add(task.ch)
    own = {step.lock for step in (reader.bd.acquire, reader.bd.release) if step is not None}
    if any(users[lock] != {reader.task.ch} for lock in own) or users[gives.lock] != {writer.task.ch}:
        return ""
    name, wanted = bd_text(subject.engine, reader.task, reader.bd), lock_text(subject.engine, gives.lock)
    back = "" if takes is None else f", and release {lock_text(subject.engine, takes.lock)}"
    instead = lock_text(subject.engine, reader.bd.acquire.lock)
    return f"Let {name} acquire {wanted}{back}, instead of {instead}, which nothing else uses."


def _place(subject: Subject, tile: int) -> str:
    tiles = subject.engine.spec.tiles
    return f"({tiles.column[tile]}, {tiles.row[tile]})"
