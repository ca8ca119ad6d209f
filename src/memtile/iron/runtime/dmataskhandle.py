"""``aie.iron.runtime.dmataskhandle``: a transfer under way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtile.iron.controlflow import Carried
from memtile.iron.dialects.aiex import dma_await_task, dma_free_task


class Task:
    """A transfer under way; ``range_`` takes it as an ``iter_arg``.

    Args:
        handle: its value.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def handle(self) -> Any:
        """Its value."""
        return self._handle

    def __iter__(self) -> Iterator[Task]:
        """Itself: what a loop carries alone is unpacked as ``(task,)`` since November 2026."""
        yield self

    def carried(self) -> Carried:
        """What a loop carries for it."""
        return Carried([self._handle], made=lambda values: Task(values[0]))

    def free(self) -> None:
        """Give its descriptor back."""
        dma_free_task(self._handle)

    def await_(self) -> None:
        """Wait for its token: it needs ``wait=True``."""
        dma_await_task(self._handle)
