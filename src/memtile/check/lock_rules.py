"""Locks that can never reach the value that a descriptor waits for, and circles of such waits.

Nothing is run. What a lock can be at most is what software gave it and all that could ever be released, as
if nothing took anything; a descriptor can begin when what it waits for can be, and those before it in its
chain can. What cannot begin even so never will: the rule blames no design that works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memtile.arch.tiles import MEMORY
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, StaticBd, bd_text, each_bd
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.lock_waits import lock_text, owner, values_text
from memtile.explain.lock_windows import OtherWindow, WaitingBd, other_window
from memtile.explain.names import core_name
from memtile.jit.tables import plain

_NO_END = 1 << 40
Start = tuple[GivenTask, StaticBd]
"""A BD of a task, which begins when its wait is over."""


def wait_findings(subject: Subject) -> Iterator[Finding]:
    """Descriptors that can never begin: the roots, and one finding for each circle."""
    most = [int(value) for value in subject.log.locks]
    for lock in from_cores(subject):
        most[lock] = _NO_END
    blocked = {
        number: (task, bd)
        for number, (task, bd) in _blocked(subject.log.tasks, most).items()
        if not (task.endless and bd is not task.bds[0])  # a ring that has begun may rest
    }
    givers = _givers(subject.log.tasks, blocked)
    told: set[int] = set()
    for task, bd in blocked.values():
        assert bd.acquire is not None
        lock = bd.acquire.lock
        if lock in told:
            continue
        if _wanted(bd) > MEMORY.lock_value_max or not givers.get(lock):
            told.add(lock)
            yield _unreachable(subject, task, bd, most[lock])
    for circle in _circles(blocked, givers, told):
        yield _circle(subject, circle)


def from_cores(subject: Subject) -> Iterator[int]:
    """Locks that a core may release, by index among all: where nobody knows more, all that it reaches."""
    if subject.released is not None:
        yield from subject.released
        return
    tiles = plain(subject.engine.spec.tiles)
    bases = np.append(tiles.lock_base, len(subject.log.locks))
    for tile in subject.kernels:
        for seen in tiles.core_reach[tile].tolist():
            if seen >= 0:
                yield from range(int(bases[seen]), int(bases[seen + 1]))


def _blocked(tasks: Sequence[GivenTask], most: list[int]) -> dict[int, Start]:
    """The first BD of each task that cannot begin, by the task's number; ``most`` grows by what can."""
    blocked: dict[int, Start] = {}
    passed = [0] * len(tasks)
    grows = True
    while grows:
        grows = False
        blocked = {}
        for number, task in enumerate(tasks):
            reached = _reach(task, most)
            if reached < len(task.bds):
                blocked[number] = task, task.bds[reached]
            for bd in task.bds[passed[number] : reached]:
                grows |= _release(task, bd, most)
            passed[number] = max(passed[number], reached)
    return blocked


def _reach(task: GivenTask, most: Sequence[int]) -> int:
    """How many BDs of the chain can begin."""
    for number, bd in enumerate(task.bds):
        if bd.acquire is not None and (
            _wanted(bd) > most[bd.acquire.lock] or _wanted(bd) > MEMORY.lock_value_max
        ):
            return number
    return len(task.bds)


def _release(task: GivenTask, bd: StaticBd, most: list[int]) -> bool:
    if bd.release is None or bd.release.value <= 0:
        return False
    most[bd.release.lock] += _NO_END if task.endless else task.runs * bd.release.value
    return True


def _wanted(bd: StaticBd) -> int:
    assert bd.acquire is not None
    return abs(bd.acquire.value)


def _givers(tasks: Sequence[GivenTask], blocked: Mapping[int, Start]) -> dict[int, list[int]]:
    """By lock the blocked tasks, by number, that would release it later in their chains."""
    found: dict[int, list[int]] = {}
    for number, (_, stop) in blocked.items():
        bds = tasks[number].bds
        for bd in bds[bds.index(stop) :]:
            if bd.release is not None and bd.release.value > 0:
                found.setdefault(bd.release.lock, []).append(number)
    return found


def _circles(
    blocked: Mapping[int, Start], givers: Mapping[int, Sequence[int]], told: set[int]
) -> Iterator[list[Start]]:
    """Tasks that wait for each other, each circle once."""
    done: set[int] = set()
    for first in blocked:
        way: list[int] = []
        number = first
        while number not in way and number not in done:
            way.append(number)
            acquire = blocked[number][1].acquire
            assert acquire is not None
            after = [] if acquire.lock in told else givers.get(acquire.lock, [])
            if not after:
                break
            number = after[0]
        else:
            if number in way:
                yield [blocked[each] for each in way[way.index(number) :]]
        done.update(way)


def _side(subject: Subject, task: GivenTask, bd: StaticBd) -> Side:
    assert bd.acquire is not None
    lock = lock_text(subject.engine, bd.acquire.lock)
    does = f"waits for {lock} ({values_text(bd.acquire.value)})"
    return Side(bd_text(subject.engine, task, bd), does, task.place)


def _window(subject: Subject, task: GivenTask, bd: StaticBd) -> OtherWindow | None:
    """The window of the lock that a BD waits for, if its tile's own lock of that number was meant."""
    releases = (each.release for _, each in each_bd(subject.log.tasks) if each.release is not None)
    given = {each.lock for each in releases if each.value > 0}
    given |= {lock for lock, value in enumerate(subject.log.locks) if value > 0}
    tiles, descriptor = subject.engine.channels.tile, bd.descriptor
    users = {
        (int(tiles[other.ch]), step.lock)
        for other, each in each_bd(subject.log.tasks)
        for step in (each.acquire, each.release)
        if step is not None
    }
    released = int(descriptor.release.id) if descriptor.release.value else None
    waiting = WaitingBd(int(tiles[task.ch]), int(descriptor.acquire.id), released, int(descriptor.address))
    return other_window(subject.engine, waiting, given, users)


def _unreachable(subject: Subject, task: GivenTask, bd: StaticBd, most: int) -> Finding:
    assert bd.acquire is not None
    side = _side(subject, task, bd)
    lock = lock_text(subject.engine, bd.acquire.lock)
    window = _window(subject, task, bd) if not most else None
    if window is not None:
        tile = int(subject.engine.channels.tile[task.ch])
        side = replace(side, place=subject.engine.bd_places.get((tile, bd.number)) or side.place)
        why = f"{window.text(bd.number)}, and nothing releases it"
        fix = window.fix(bd.number)
    elif _wanted(bd) > MEMORY.lock_value_max:
        why = f"a lock counts to {MEMORY.lock_value_max} at most"
        fix = "Acquire less at once."
    elif most:
        why = f"its initial value and all releases add up to {most}"
        fix = "Release more, acquire less, or initialise it to a higher value."
    else:
        why = "it starts at 0, and nothing releases it"
        fix = f"Give {lock} an initial value, or release it in {_producer(subject, bd.acquire.lock)}."
        core = _without_program(subject, bd.acquire.lock)
        if core:
            why = f"it starts at 0, nothing releases it, and {core} has no program"
            fix = f"Give {core} a program that releases it, or {lock} an initial value."
    severity = Severity.WARNING if task.endless or not subject.hosted else Severity.ERROR
    message = f"{side.who} {side.does}: {why}."
    return Finding("MT0103", severity, message, (side,), fix=fix)


def _producer(subject: Subject, lock: int) -> str:
    """What may release a lock: in a tile without a kernel only its DMA."""
    tile, _ = owner(subject.engine, lock)
    return "a DMA task" if tile not in subject.kernels else "a core or a DMA task"


def _without_program(subject: Subject, lock: int) -> str:
    """The core in the tile of a lock if it has no program; else empty."""
    tile, _ = owner(subject.engine, lock)
    cores = np.flatnonzero(subject.engine.state.cores.tile == tile)
    return core_name(subject.engine, int(cores[0])) if len(cores) and tile not in subject.kernels else ""


def _circle(subject: Subject, circle: Sequence[Start]) -> Finding:
    sides = tuple(_side(subject, *start) for start in circle)
    steps = "; ".join(f"{side.who} {side.does}" for side in sides)
    message = f"Deadlock, each waits for a lock that only the next one releases: {steps}."
    if len(sides) == 1:
        message = f"{sides[0].who} {sides[0].does}, which only it releases, after this wait."
    endless = all(task.endless for task, _ in circle)
    severity = Severity.WARNING if endless or not subject.hosted else Severity.ERROR
    fix = "Give one of the locks an initial value."
    return Finding("MT0106", severity, message, sides, fix=fix)
