"""Descriptors that halt their channel at once, and legal ones that are seldom meant."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.bd.explain import oddities
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask, bd_text, each_bd, kind_of
from memtile.explain.findings import Finding, Severity, Side


def descriptor_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each first descriptor of a task that halts the channel."""
    told: set[tuple[int, int]] = set()
    for task in subject.log.tasks:
        bd, does, fix = task.bds[0], "", ""
        if not _reaches(subject, task):
            does, fix = "is not among the BDs of the channel", "Start a BD that the channel has."
        elif not bd.descriptor.valid:
            does, fix = "is not valid when the task is pushed", "Write the BD with Valid_BD before the push."
        if not does or (task.ch, bd.number) in told:
            continue
        told.add((task.ch, bd.number))
        who = bd_text(subject.engine, task, bd)
        message = f"{who} {does}: the channel halts."
        yield Finding("MT0115", Severity.ERROR, message, (Side(who, does, task.place),), fix=fix)


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
