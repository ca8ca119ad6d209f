"""``aie.iron.runtime.taskgroup``: transfers that are awaited and freed together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile.iron.dialects.aiex import dma_await_task, dma_free_task
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
        self._spent = False
        if sequence is not None:
            sequence.open(self)

    @classmethod
    def of(cls, tasks: Sequence[Any], waits: Sequence[bool]) -> TaskGroup:
        """A group of transfers that a loop carries."""
        made = cls()
        made._tasks = list(zip(tasks, waits, strict=True))
        return made

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

    def spend(self) -> list[Any]:
        """The values of the transfers, for a loop that carries them; the group is spent then.

        Raises:
            ValueError: it has no transfer.
        """
        self._check()
        if not self._tasks:
            raise ValueError(f"{self} has no transfer that a loop could carry")
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
        for task, waits in self._tasks:
            if waits:
                dma_await_task(task)
        for task, _ in self._tasks:
            dma_free_task(task)
        self._tasks = []

    def finish(self) -> None:
        """Wait for those with ``wait=True``, then free all.

        Raises:
            RuntimeError: a loop carries its transfers.
        """
        self._check()
        active_sequence().close(self)

    def __str__(self) -> str:
        return f"TaskGroup({self._id})"
