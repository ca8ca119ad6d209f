"""Channels that send or receive a part of their array alone, which is not what the other end moves.

An abstract run leaves words before such a receiver. Without one the descriptors of the other end tell: of a
part that is no whole number of them the last one never ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.check.streams import planned_of, words_of
from memtile.explain.deadlock.balance_findings import WAITS
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.explain.stream_waits import stream_waits, traced_channels
from memtile.model.state.causes import Phase

_OF_WORDS = WAITS | {"MT0323", "MT0324"}
"""Of channels that move too few words or too many, and of who waits because of it."""


def left_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each channel at external memory that has ended, before words that nobody takes.

    Args:
        subject: a design whose abstract run has come to its end.
    """
    engine, c = subject.engine, subject.engine.channels
    idle = (c.direction == S2MM) & (c.external >= 0) & (c.phase == Phase.IDLE) & (c.tasks_done > 0)
    ended = set(np.flatnonzero(idle).tolist()) - set(traced_channels(engine))
    words = stream_waits(engine) if ended else None
    for ch in sorted(ended):
        part = part_moved(subject, ch)
        if words is None or part is None or not words.count(engine, ch):
            continue
        taken, whole, memory = part
        does = f"takes {taken} of the {whole} elements of {memory}"
        place = subject.log.of(ch)[-1].place
        message = (
            f"When all waits of the host are met, words are left over: {called(engine, ch)} {does}, and more "
            f"are sent to it: {words.text(engine, ch)}."
        )
        side = Side(called(engine, ch), does, place)
        yield Finding("MT0323", Severity.WARNING, message, (side,), fix=f"Receive all {whole} elements.")


def part_findings(subject: Subject, others: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each channel of a host whose part of its array ends within a BD of the other end.

    Args:
        subject: the design.
        others: what is found already.
    """
    c = subject.engine.channels
    named = {side.who for each in others if each.code in _OF_WORDS for side in each.sides}
    hosts = [ch for ch in dict.fromkeys(task.ch for task in subject.log.tasks) if c.external[ch] >= 0]
    parts = {ch: part for ch in hosts if (part := part_moved(subject, ch)) is not None}
    if not parts or not subject.hosted or subject.open_host:
        return
    planned = planned_of(subject)
    for ch, part in parts.items():
        ends, words = _other_ends(planned, ch), words_of(subject, ch)
        lengths = {bd.length for bd in ends}
        known = len({bd.ch for bd in ends}) == len(lengths) == 1
        if not known or words is None or called(subject.engine, ch) in named:
            continue
        length = min(lengths)
        if not words % length:
            continue
        (taken, all_of_it, memory), receives = part, planned.receives(ch)
        verbs = ("takes", "sends") if receives else ("sends", "takes")
        does = f"{verbs[0]} {taken} of the {all_of_it} elements of {memory}"
        other = called(subject.engine, ends[0].ch)
        message = f"{called(subject.engine, ch)} {does}, and {other} {verbs[1]} {length} words with each BD."
        side = Side(called(subject.engine, ch), does, subject.log.of(ch)[-1].place)
        fix = f"{'Receive' if receives else 'Send'} all {all_of_it} elements."
        yield Finding("MT0323", Severity.WARNING, message, (side,), fix=fix)


def _other_ends(planned: PlannedWords, ch: int) -> list[PlannedBd]:
    """The BDs at the other end of a channel, if words go to one channel, or come from one."""
    if planned.receives(ch):
        return list(planned.senders.get(ch, ()))
    receivers = {each for bd in planned.bds.get(ch, ()) for each in planned.receivers(bd)}
    return [bd for each in receivers for bd in planned.bds.get(each, ())]


def part_moved(subject: Subject, ch: int) -> tuple[int, int, str] | None:
    """Elements that a channel moves of its array, those of the array, and its name; None if it moves all.

    Args:
        subject: the design.
        ch: model index of the channel.
    """
    who = called(subject.engine, ch)
    own = [move for move in subject.moves if move.who == who]
    if len({(move.key, move.writes) for move in own}) != 1:
        return None
    taken, first = sum(move.count for move in own), own[0]
    return (taken, first.elements, first.memory) if taken < first.elements else None
