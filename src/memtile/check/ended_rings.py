"""Chains that make one pass where those that share their locks go round: the last BD lacks its link.

Buffers in turn are filled by one chain and emptied by another. Where one of the two is a ring and the other
one ends, and the stream of the one that ends has several times as many words as it moves, it should be a
ring too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.check.task_list import GivenTask
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called


def ended_ring(
    subject: Subject, ch: int, at_the_end: int, partner: int, beyond: Callable[[int], Collection[int | None]]
) -> Finding | None:
    """The finding about a channel that ends where it should go round; None if it is no such one.

    Args:
        subject: the design.
        ch: model index of the channel.
        at_the_end: stream words that the other end moves.
        partner: model index of the channel at that end.
        beyond: stream words that those move to which a channel sends, or that send to it; one pass that is
            all that they move on the other side of the ring is meant.
    """
    tasks = subject.log.of(ch)
    moved = tasks[0].words if len(tasks) == 1 and tasks[0].runs == 1 else None
    if not moved or at_the_end <= moved or at_the_end % moved:
        return None
    ring = next(_rings_with(subject, tasks[0]), None)
    if ring is None or moved in beyond(ring.ch):
        return None
    return _finding(subject, tasks[0], ring, at_the_end, partner)


def _rings_with(subject: Subject, task: GivenTask) -> Iterator[GivenTask]:
    """The endless tasks that give what a task takes, and take what it gives."""
    takes, gives = _locks(task)
    if not takes or not gives:
        return
    for other in subject.log.tasks:
        if other.endless and other.ch != task.ch and _locks(other) == (gives, takes):
            yield other


def _locks(task: GivenTask) -> tuple[set[int], set[int]]:
    """The locks that a task takes and gives; none where one of its BDs lacks one of the two."""
    if any(bd.acquire is None or bd.release is None for bd in task.bds):
        return set(), set()
    takes = {bd.acquire.lock for bd in task.bds if bd.acquire is not None}
    return takes, {bd.release.lock for bd in task.bds if bd.release is not None}


def _finding(subject: Subject, task: GivenTask, ring: GivenTask, words: int, partner: int) -> Finding:
    engine, moved = subject.engine, task.words or 0
    who, other, far = (called(engine, ch) for ch in (task.ch, ring.ch, partner))
    receives = int(engine.channels.direction[task.ch]) == S2MM
    first, last = task.bds[0].number, task.bds[-1].number
    verb, their = ("takes", "sends") if receives else ("sends", "takes")
    does = f"ends after BD {last}, and {other}, which shares its locks, goes round"
    message = f"{who} {does}: it {verb} {moved} of the {words} words that {far} {their}."
    on = "itself" if first == last else f"BD {first}"
    tile = int(engine.channels.tile[task.ch])
    place = engine.bd_places.get((tile, last)) or task.place
    sides = (
        Side(who, does, place),
        Side(far, f"{their} {words} words", subject.log.of(partner)[0].place),
        Side(other, "goes round", ring.place),
    )
    return Finding(
        "MT0108", Severity.WARNING, message, sides, fix=f"Chain BD {last} to {on} (next_bd, loop=True)."
    )
