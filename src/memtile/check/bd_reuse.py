"""Descriptors that a host changes while a task that was given them may still use them.

A channel reads a descriptor when it comes to it, not when the task is pushed. So its BDs belong to a task
from the push until the host knows its end: by a wait for its channel, or by one for a channel that words,
locks or cores connect with it. Such a wait, and one for something that is not followed, is enough here; a run
that is checked knows better.

A task of one BD and one run that an idle channel is given reads it at once. To write that BD for another
channel works then, but mlir-aie's guide (DMATasks.md, dma_free_task) allows it only after the end: a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memtile.check.bd_writes import Bd, BdWrite
from memtile.check.checked_program import Subject
from memtile.check.open_tasks import OpenTasks
from memtile.check.sharing import connected
from memtile.check.task_list import GivenTask, TaskLog
from memtile.explain.bd_findings import BdUser, reused
from memtile.explain.findings import Finding, Severity


class _User(NamedTuple):
    """A task that was pushed.

    Attributes:
        task: it.
        number: among those of its channel, from 1 on.
        reads_on: the channel comes to its descriptors later, or again.
    """

    task: GivenTask
    number: int
    reads_on: bool

    def has(self, number: int) -> bool:
        """Whether a BD is one of the task's."""
        return any(bd.number == number for bd in self.task.bds)


class _InUse(OpenTasks[_User]):
    """The tasks whose descriptors may be in use."""

    def give(self, task: GivenTask) -> None:
        """A task is given to its channel."""
        reads_on = bool(self.open.get(task.ch)) or task.endless or len(task.bds) > 1 or task.runs > 1
        self.add(task.ch, _User(task, self.push(task), reads_on))

    def users(self, tile_of: Mapping[int, int], bd: Bd) -> Iterator[_User]:
        """The tasks that may still use a descriptor, those first that read it later."""
        found = [
            user for ch, own in self.open.items() if tile_of[ch] == bd[0] for user in own if user.has(bd[1])
        ]
        return iter(sorted(found, key=lambda user: not user.reads_on))


class _Reuse(NamedTuple):
    """A write to a descriptor that a task may still use.

    Attributes:
        user: the task.
        write: of the host.
        severity: an error if the task reads the descriptor later.
    """

    user: _User
    write: BdWrite
    severity: Severity


def reuse_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each place and descriptor, about the first task that may use it."""
    if not subject.log.bds.found:
        return
    told: dict[tuple[Severity, Bd, str], _Reuse] = {}
    groups = connected(subject)
    for host in subject.log.steps:
        for one in _reuses(subject, host, groups):
            told.setdefault((one.severity, one.write.bd, one.write.place), one)
    for one in told.values():
        user = BdUser(one.user.task.ch, one.user.task.place, one.user.task.token)
        yield reused(subject.engine, user, *one.write.bd, one.write.place, severity=one.severity)


def _reuses(subject: Subject, host: int, groups: Mapping[int, int]) -> Iterator[_Reuse]:
    """The writes of a host to descriptors that may be in use."""
    log, in_use = subject.log, _InUse(groups)
    tile_of = dict(enumerate(subject.engine.channels.tile.tolist()))
    for task in _pushed(log, -1) if host >= 0 else ():
        in_use.give(task)
    writes: dict[int, list[BdWrite]] = {}
    for write in log.bds.found:
        if write.host == host:
            writes.setdefault(write.step, []).append(write)
    for number, step in enumerate(log.steps[host]):
        for write in writes.get(number, ()):
            users = in_use.users(tile_of, write.bd)
            user = next((user for user in users if user.task.ch not in log.reset), None)
            if user is not None:
                yield _Reuse(user, write, _severity(subject, host, user, write))
        if step.pushes:
            in_use.give(log.tasks[step.task])
        elif step.waits:
            in_use.wait(step)


def _pushed(log: TaskLog, host: int, first: int = 0) -> Iterator[GivenTask]:
    """The tasks that a host pushes, from a step on."""
    return (log.tasks[step.task] for step in log.steps.get(host, ())[first:] if step.pushes)


def _severity(subject: Subject, host: int, user: _User, write: BdWrite) -> Severity:
    """How bad it is: a descriptor that was read, and goes to another channel, does no harm."""
    if user.reads_on:
        return Severity.ERROR
    after = _pushed(subject.log, host, write.step)
    following = next((task for task in after if any(bd.number == write.bd[1] for bd in task.bds)), None)
    same = following is not None and following.ch == user.task.ch
    return Severity.ERROR if same else Severity.WARNING
