"""Words that an abstract run leaves before a channel which receives a part of its array alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.explain.stream_waits import stream_waits, traced_channels
from memtile.model.state.causes import Phase


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
            f"When the host has met all its waits, words stay behind: {called(engine, ch)} {does}, and more "
            f"are sent to it: {words.text(engine, ch)}."
        )
        side = Side(called(engine, ch), does, place)
        yield Finding("MT0323", Severity.WARNING, message, (side,), fix=f"Receive all {whole} elements.")


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
