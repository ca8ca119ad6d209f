"""Descriptors that are legal and seldom meant: a length that ends in the middle of a row."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.bd.explain import oddities
from memtile.check.checked_program import Subject
from memtile.check.finding_names import bd_text
from memtile.check.task_list import each_bd
from memtile.explain.findings import Finding, Severity, Side


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
