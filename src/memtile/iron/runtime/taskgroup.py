"""``aie.iron.runtime.taskgroup``: transfers that are awaited and freed together."""

from __future__ import annotations

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
        self.waited: list[Any] = []
        self.freed: list[Any] = []
        if sequence is not None:
            sequence.open(self)

    @property
    def group_id(self) -> int:
        """Of the group."""
        return self._id

    def add(self, task: Any, waits: bool) -> None:
        """One more transfer."""
        if waits:
            self.waited.append(task)
        self.freed.append(task)

    def flush(self) -> None:
        """Build the waits, then the frees."""
        for task in self.waited:
            dma_await_task(task)
        for task in self.freed:
            dma_free_task(task)
        self.waited, self.freed = [], []

    def finish(self) -> None:
        """Wait for those with ``wait=True``, then free all."""
        active_sequence().close(self)

    def __str__(self) -> str:
        return f"TaskGroup({self._id})"
