"""Rings of descriptors and their locks: more room than there are buffers, one descriptor that does not wait.

A lock that counts free buffers starts at their number. Where it starts higher, a ring writes a buffer again
that nothing has read. And where each descriptor of a ring but one waits for a lock, that one may touch its
buffer while others still use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, StaticBd, bd_text, each_bd, kind_of
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import UNFIT
from memtile.explain.lock_waits import lock_text
from memtile.explain.names import called

_OVERWRITTEN, _WITHOUT_ORDER = "MT0204", "MT0105"


def ring_lock_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each lock with too much room, and for each descriptor that alone does not wait."""
    for lock in sorted(
        {step.lock for _, bd in each_bd(subject.log.tasks) if (step := bd.acquire) is not None}
    ):
        yield from _too_much_room(subject, lock)
    for task in subject.log.tasks if not subject.made else ():  # of a text its rules say so
        yield from _without_wait(subject, task)


def without_told(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without locks of which another rule says that they start too high."""
    told = [each.message for each in findings if each.code == UNFIT]

    def is_told(finding: Finding) -> bool:
        name = finding.message.partition(" starts at")[0]
        return finding.code == _OVERWRITTEN and any(each.startswith(name) for each in told)

    return [each for each in findings if not is_told(each)]


def _too_much_room(subject: Subject, lock: int) -> Iterator[Finding]:
    """The lock that starts higher than its writers have buffers, if something gives their room back."""
    users = [(task, bd) for task, bd in each_bd(subject.log.tasks) if bd.acquire and bd.acquire.lock == lock]
    if any(bd.acquire is None for task, _ in users for bd in task.bds):
        return  # one that does not wait is named by itself
    many, starts = len({(task.ch, bd.number) for task, bd in users}), int(subject.log.locks[lock])
    if (
        starts <= many
        or not all(_takes_one(subject, *user) for user in users)
        or not _is_given(subject, lock)
    ):
        return
    name, channels = lock_text(subject.engine, lock), list(dict.fromkeys(task.ch for task, _ in users))
    who = " and ".join(called(subject.engine, ch) for ch in channels)
    one = len(channels) == 1
    count = f"{many} buffer{'s' * (many > 1)}"
    message = (
        f"{name} starts at {starts}, and {who}, which acquire{'s' * one} it, write{'s' * one} {count} "
        "in turn: a buffer is written again before anything has read it."
    )
    fix = f"Initialise {name} to {many}, the number of buffers: {starts} is more room than there is."
    sides = [
        Side(called(subject.engine, task.ch), f"writes {count} in turn", task.place) for task, _ in users
    ]
    yield Finding(_OVERWRITTEN, Severity.ERROR, message, tuple(dict.fromkeys(sides)), fix=fix)


def _takes_one(subject: Subject, task: GivenTask, bd: StaticBd) -> bool:
    """Whether a descriptor of a writer that runs again takes one unit, at one place, for another lock."""
    assert bd.acquire is not None
    again = task.runs > 1 or (task.endless and not task.again)
    writes = int(subject.engine.channels.direction[task.ch]) == S2MM and again
    in_memory = bool(kind_of(subject.engine, int(subject.engine.channels.tile[task.ch])).memory_words)
    moves = bd.descriptor.iteration.wrap > 1
    gives_back = bd.release is None or bd.release.lock == bd.acquire.lock
    return writes and in_memory and not moves and not gives_back and abs(bd.acquire.value) == 1


def _is_given(subject: Subject, lock: int) -> bool:
    """Whether a descriptor or a core releases a lock."""
    by_bds = any(bd.release is not None and bd.release.lock == lock for _, bd in each_bd(subject.log.tasks))
    return by_bds or (subject.released is not None and lock in subject.released)


def _without_wait(subject: Subject, task: GivenTask) -> Iterator[Finding]:
    """The one descriptor of a ring that acquires nothing, of those that all release the same lock."""
    odd = [bd for bd in task.bds if bd.acquire is None]
    waits = {bd.acquire for bd in task.bds if bd.acquire is not None}
    gives = {bd.release for bd in task.bds}
    if not task.endless or len(odd) != 1 or len(waits) != 1 or len(gives) != 1 or None in gives:
        return
    taken = sum(abs(bd.acquire.value) for bd in task.bds if bd.acquire is not None)
    if taken >= sum(abs(bd.release.value) for bd in task.bds if bd.release is not None):
        return  # one descriptor takes the units of several
    wait = waits.pop()
    others = [bd.number for bd in task.bds if bd is not odd[0]]
    yield _unguarded(subject, task, odd[0], others, lock_text(subject.engine, wait.lock))


def _unguarded(subject: Subject, task: GivenTask, odd: StaticBd, others: Sequence[int], lock: str) -> Finding:
    who, does = bd_text(subject.engine, task, odd), "acquires no lock"
    verb = "writes" if int(subject.engine.channels.direction[task.ch]) == S2MM else "reads"
    ring = f"BD{'s' * (len(others) > 1)} {' and '.join(map(str, others))} of its ring"
    message = (
        f"{who} {does}, and {ring} acquire{'s' * (len(others) == 1)} {lock}: it {verb} its buffer "
        "while that may be in use."
    )
    fix = f"Let {who} acquire {lock} too."
    return Finding(_WITHOUT_ORDER, Severity.ERROR, message, (Side(who, does, task.place),), fix=fix)
