"""What the test bench of a design in Python offers and expects, held against the tasks of its channels."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.tiles import WORD_BYTES
from memtile.check.checked_program import Subject
from memtile.check.streams import words_of
from memtile.design.channels import Channel
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called

_LENGTH = "Make both as long as each other."


def bench_findings(subject: Subject) -> Iterator[Finding]:
    """Channels that get or are expected to give more or fewer words than their tasks move."""
    for tile in subject.tiles:
        for channel in (*tile.s2mm, *tile.mm2s):
            if subject.log.of(channel.index):
                yield from (
                    _loose(subject, channel) if _is_loose(subject, channel) else _differs(subject, channel)
                )


def _is_loose(subject: Subject, channel: Channel) -> bool:
    return not subject.array and channel.index not in subject.fed


def _loose(subject: Subject, channel: Channel) -> Iterator[Finding]:
    """A channel of a tile alone that the bench neither feeds nor takes from."""
    does, fix = "has a task, and nobody takes its words", "Collect them, or expect an array."
    if channel.receives:
        does, fix = "has a task, and nobody feeds it", "Feed it an array."
    who, task = called(subject.engine, channel.index), subject.log.of(channel.index)[0]
    severity = Severity.WARNING if task.endless else Severity.ERROR
    yield Finding("MT0109", severity, f"{who} {does}.", (Side(who, does, task.place),), fix=fix)


def _differs(subject: Subject, channel: Channel) -> Iterator[Finding]:
    moved, there = words_of(subject, channel.index), _offered(subject, channel)
    if moved is None or there is None or moved == there:
        return
    who, place = called(subject.engine, channel.index), subject.log.of(channel.index)[0].place
    verbs = ("is fed", "takes") if channel.receives else ("is expected to send", "sends")
    does, done = f"{verbs[0]} {there} words", f"{verbs[1]} {moved}"
    message = f"{who} {does}, and its tasks have it that it {done}."
    yield Finding("MT0108", Severity.ERROR, message, (Side(who, f"{does} and {done}", place),), fix=_LENGTH)


def _offered(subject: Subject, channel: Channel) -> int | None:
    """Words that the bench has for the channel, or expects of it; None if it has no opinion."""
    if channel.receives:
        return subject.engine.pending(channel.index) if channel.fed else None
    return None if channel.expected is None else channel.expected.nbytes // WORD_BYTES
