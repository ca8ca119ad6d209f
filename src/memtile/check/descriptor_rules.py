"""Descriptors that halt their channel at once, and legal ones that are seldom meant."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.bd.explain import oddities
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, bd_text, each_bd, kind_of
from memtile.explain.bd_findings import line_of
from memtile.explain.deadlock.planned_words import descriptor_of
from memtile.explain.findings import Finding, Severity, Side


def descriptor_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each task with a descriptor that halts the channel."""
    told: set[tuple[int, int]] = set()
    for task in subject.log.tasks:
        bd, does, fix = task.bds[0], "", ""
        if not _reaches(subject, task):
            does, fix = "is not among the BDs of the channel", "Start a BD that the channel has."
        elif not bd.descriptor.valid:
            does, fix = "is not valid when the task is pushed", "Write the BD with Valid_BD before the push."
        elif len(task.bds) > 1 and _stays_invalid(subject, task):
            bd, last = task.bds[-2], task.bds[-1].number
            does = f"points to BD {last} (Next_BD), which is not valid"
            fix = f"Give BD {last} Valid_BD, or let BD {bd.number} point elsewhere or end the chain."
        if not does or (task.ch, bd.number) in told:
            continue
        told.add((task.ch, bd.number))
        who = bd_text(subject.engine, task, bd)
        message = f"{who} {does}: the channel halts."
        twice = subject.log.bds.twice(int(subject.engine.channels.tile[task.ch]))
        if twice is not None and not bd.descriptor.valid:
            yield _written_twice(who, does, task, bd.number, twice)
            continue
        yield Finding("MT0115", Severity.ERROR, message, (Side(who, does, task.place),), fix=fix)


def _stays_invalid(subject: Subject, task: GivenTask) -> bool:
    """Whether the last descriptor of a chain has no Valid_BD, whatever the host writes later."""
    bd = task.bds[-1]
    return not bd.descriptor.valid and not descriptor_of(subject.engine, task.ch, bd.number).valid


def _written_twice(who: str, does: str, task: GivenTask, number: int, twice: tuple[int, str, str]) -> Finding:
    """The finding about a BD that is not valid, where another one is written twice before a task has it."""
    other, whose, place = twice
    says = f"writes BD {other} again, {whose}"
    message = f"The host {says}, at {line_of(place)}; {who} {does}: the channel halts."
    sides = (Side("the host", says, place), Side(who, does, task.place))
    fix = f"Let {line_of(place)} write BD {number}, or start BD {other}."
    return Finding("MT0115", Severity.ERROR, message, sides, fix=fix)


def _reaches(subject: Subject, task: GivenTask) -> bool:
    """Whether the channel has the first BD of a task: in a memory tile channels of one parity share half."""
    channels = subject.engine.channels
    kind = kind_of(subject.engine, int(channels.tile[task.ch]))
    return task.bds[0].number in kind.bd_bank(int(channels.number[task.ch]))


def row_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each descriptor of each channel, however many tasks have it."""
    told: set[tuple[int, object]] = set()
    for task, bd in each_bd(subject.log.tasks):
        odd = [] if bd.descriptor.length == 0 else list(oddities(bd.descriptor))
        if not odd or (task.ch, bd.descriptor) in told:
            continue
        told.add((task.ch, bd.descriptor))
        who = bd_text(subject.engine, task, bd)
        yield Finding(
            "MT0104",
            Severity.WARNING,
            f"{who}: {odd[0].text}.",
            (Side(who, odd[0].text, task.place),),
            fix="Make the length a multiple of the row, or leave out the dimension.",
        )
