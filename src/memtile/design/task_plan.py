"""Which tasks a channel is given for its work: chains of transfers, and how often each is pushed and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtile.access.lowering.certificate import QueueEntry
from memtile.bd.descriptor import Descriptor
from memtile.design.transfers import Transfer


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """Tasks of one ``start``.

    Attributes:
        tasks: in the order in which they are pushed.
        times: how often the whole row of them is pushed, with the same BDs.
        loop: the one task is a ring.
        chained: each descriptor names the next; False where packets name theirs.
    """

    tasks: tuple[QueueEntry, ...]
    times: int = 1
    loop: bool = False
    chained: bool = True

    @property
    def descriptors(self) -> list[Descriptor]:
        """The descriptors of all tasks."""
        return [descriptor for task in self.tasks for descriptor in task.descriptors]

    @property
    def pushes(self) -> int:
        """Entries of the task queue."""
        return self.times * len(self.tasks)

    def linked(self, numbers: Sequence[int]) -> list[list[Descriptor]]:
        """The descriptors of each task under these BD numbers, in order."""
        out, rest = [], list(numbers)
        for task in self.tasks:
            mine, rest = rest[: len(task.descriptors)], rest[len(task.descriptors) :]
            following = [*mine[1:], mine[0] if self.loop else None]
            chain = zip(task.descriptors, following, strict=True)
            out.append([d.but(next=after) for d, after in chain] if self.chained else list(task.descriptors))
        return out


def plan_of(transfers: Sequence[Transfer], repeat: int, room: int, *, loop: bool = False) -> TaskPlan:
    """The tasks for ``transfers`` in order, ``repeat`` times.

    One chain where all of them are one run; else what runs several times is a task of its own, as long as the
    queue has ``room`` for all tasks. A ring is always one chain.

    Raises:
        TransferError: one chain is needed, and a transfer takes too many descriptors in one run.
    """
    if repeat > 1:  # the BDs are not written again, so that each pass must leave them as it found them
        transfers = [t if begins_again(t) else t.in_one_run() for t in transfers]
    simple = all(transfer.is_one_run for transfer in transfers)
    if len(transfers) == 1 and not loop and len(transfers[0].tasks) == 1:
        (task,) = transfers[0].tasks
        return TaskPlan((QueueEntry(task.descriptors, task.runs * repeat),))
    if not simple and not loop:
        plan = TaskPlan(tuple(_tasks(transfers)), repeat)
        if plan.pushes <= room or not _once(transfers):
            return plan
    whole = transfers if simple else [transfer.in_one_run() for transfer in transfers]
    runs = repeat * max((transfer.runs for transfer in whole), default=1)  # above 1 in a ring is refused
    return TaskPlan((QueueEntry(tuple(d for t in whole for d in t.descriptors), runs),), loop=loop)


def begins_again(transfer: Transfer) -> bool:
    """Whether the iterations of all descriptors are back where they began after one pass of several runs."""
    return transfer.is_one_run or all(
        task.runs % descriptor.iteration.wrap == 0
        for task in transfer.tasks
        for descriptor in task.descriptors
    )


def _once(transfers: Sequence[Transfer]) -> bool:
    return all(transfer.is_one_run or transfer.once is not None for transfer in transfers)


def _tasks(transfers: Sequence[Transfer]) -> list[QueueEntry]:
    """Neighbours that are one run in one chain, the others in tasks of their own."""
    tasks: list[QueueEntry] = []
    joins = False
    for transfer in transfers:
        if joins and transfer.is_one_run:
            tasks[-1] = QueueEntry((*tasks[-1].descriptors, *transfer.descriptors))
        else:
            tasks += transfer.tasks
        joins = transfer.is_one_run
    return tasks
