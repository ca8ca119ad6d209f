"""``aie.iron.runtime.taskgroup``: transfers that are awaited and freed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from memtile.iron.controlflow import Carried, else_, if_, range_, yield_
from memtile.iron.dialects.aiex import dma_await_task, dma_free_task
from memtile.iron.ops.operations import InsertionPoint, Operation
from memtile.iron.ops.scalars import build
from memtile.iron.ops.types import IndexType
from memtile.iron.runtime._context import active_sequence, maybe_active_sequence


class TaskGroup:
    """Transfers that are awaited and freed together.

    Args:
        id: default = the next of the sequence.
    """

    def __init__(self, id: int | None = None) -> None:
        sequence = active_sequence() if id is None else maybe_active_sequence()
        self._id = sequence.next_group() if id is None else id
        self._tasks: list[tuple[Any, bool]] = []
        self._blocks: list[Any] = []
        self._spent = False
        if sequence is not None:
            sequence.open(self)

    @classmethod
    def of(cls, tasks: Sequence[Any], waits: Sequence[bool]) -> TaskGroup:
        """A group of transfers that a loop carries."""
        made = cls()
        made._tasks = list(zip(tasks, waits, strict=True))
        made._blocks = [
            each.owner.block if isinstance(each.owner, Operation) else each.owner for each in tasks
        ]
        return made

    @classmethod
    def pipelined(cls, steps: Any, depth: int = 2) -> Iterator[tuple[Any, TaskGroup]]:
        """Steps of a software pipeline: a group is finished when ``depth - 1`` later ones are issued.

        Args:
            steps: how many; a number unrolls them, a value of the design makes a loop that carries groups.
            depth: groups in flight.

        Yields:
            The step's number, a number or a value, and its group, to which the program gives the transfers.

        Raises:
            ValueError: a depth below 1.
        """
        if depth < 1:
            raise ValueError(f"TaskGroup.pipelined: the depth is at least 1, not {depth}")
        if isinstance(steps, (int, np.integer)):
            return cls._unrolled(int(steps), depth)
        return cls._rolled(steps, depth)

    @classmethod
    def _unrolled(cls, steps: int, depth: int) -> Iterator[tuple[Any, TaskGroup]]:
        window: list[TaskGroup] = []
        for step in range(steps):
            window.append(cls())
            yield step, window[-1]
            if len(window) >= depth:
                window.pop(0).finish()
        for group in window:
            group.finish()

    @classmethod
    def _rolled(cls, steps: Any, depth: int) -> Iterator[tuple[Any, TaskGroup]]:
        if depth == 1:
            for step in range_(steps):
                group = cls()
                yield step, group
                group.finish()
            return
        index = steps if isinstance(steps.type, IndexType) else build("arith.index_cast", IndexType(), steps)
        yield from cls._peeled(index, depth, [])

    @classmethod
    def _peeled(cls, steps: Any, depth: int, begun: list[TaskGroup]) -> Iterator[tuple[Any, TaskGroup]]:
        """The first steps, each in a branch for more of them; the loop is in the innermost branch."""
        step = len(begun)
        with if_(steps > step, hasElse=bool(begun)) as branch:
            group = cls()
            yield step, group
            if step + 2 < depth:
                yield from cls._peeled(steps, depth, [*begun, group])
            else:
                yield from cls._looped(steps, [*begun, group])
        if begun:
            with else_(branch):
                for group in begun:
                    group._emit()

    @classmethod
    def _looped(cls, steps: Any, begun: list[TaskGroup]) -> Iterator[tuple[Any, TaskGroup]]:
        last: Any = ()
        for step, carried, results in range_(len(begun), steps, iter_args=begun):
            (oldest, *others), last = carried, results
            group = cls()
            yield step, group
            oldest.finish()
            yield_([*others, group])
        for group in last:
            group.finish()

    @property
    def group_id(self) -> int:
        """Of the group."""
        return self._id

    def waits(self) -> list[bool]:
        """For each transfer, whether the group waits for it."""
        return [waits for _, waits in self._tasks]

    def add(self, task: Any, waits: bool) -> None:
        """One more transfer."""
        self._check()
        self._tasks.append((task, waits))
        self._blocks.append(InsertionPoint.current.block)

    def __iter__(self) -> Iterator[TaskGroup]:
        """Itself: what a loop carries alone is unpacked as ``(group,)`` since November 2026."""
        yield self

    def carried(self) -> Carried:
        """What a loop carries for it; it is spent then."""
        waits = self.waits()
        return Carried(self.spend(), waits, lambda values: TaskGroup.of(values, waits))

    def spend(self) -> list[Any]:
        """The values of the transfers, for a loop that carries them; the group is spent then."""
        self._check()
        self._spent = True
        active_sequence().forget(self)
        return [getattr(task, "result", task) for task, _ in self._tasks]

    def _check(self) -> None:
        if self._spent:
            raise RuntimeError(
                f"{self} was carried into a loop or yielded: it is spent. Use the group that range_ "
                f"gives in its place."
            )

    def flush(self) -> None:
        """Build the waits, then the frees."""
        self._emit()
        self._tasks, self._blocks = [], []

    def _emit(self) -> None:
        for task, waits in self._tasks:
            if waits:
                dma_await_task(task)
        for task, _ in self._tasks:
            dma_free_task(task)

    def _check_places(self) -> None:
        """Refuse to finish, in a loop or behind a branch, transfers that begin elsewhere."""
        here = InsertionPoint.current.block
        around, loops = [here], list[Any]()
        while (above := around[-1].owner) is not None and above.block is not None:
            loops += [around[-1]] if above.name == "scf.for" else []
            around.append(above.block)
        for block in self._blocks:
            if block not in around:
                raise RuntimeError(
                    f"{self} has a transfer issued inside an if_/range_ body that this finish() is outside "
                    f"of: finish it there, or carry it with range_(..., iter_args=[group])"
                )
            if any(around.index(each) < around.index(block) for each in loops):
                raise RuntimeError(
                    f"{self} has a transfer issued before the range_ this finish() is in, which would finish "
                    f"it in each turn: finish it behind the loop, or carry it with iter_args=[group]"
                )

    def finish(self) -> None:
        """Wait for those with ``wait=True``, then free all.

        Raises:
            RuntimeError: a loop carries its transfers, or they begin in another loop or branch.
        """
        self._check()
        self._check_places()
        active_sequence().close(self)

    def __str__(self) -> str:
        return f"TaskGroup({self._id})"
