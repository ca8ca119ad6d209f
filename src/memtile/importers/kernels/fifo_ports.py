"""The end of an object FIFO as a core uses it: how many objects it holds, and which comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memtile.design.locks import Lock
from memtile.sim.actions import LockOperation
from memtile.sim.kernels import Core


class FifoPort:
    """One end of an object FIFO for one core.

    To acquire n objects is to hold n: only those that are missing are taken, all at once. To release gives
    back the oldest ones (mlir-aie, aie.objectfifo.acquire and release).

    Args:
        core: that uses it.
        views: of the buffers, in turn.
        take: lock that counts the objects it may take; None without locks.
        give: lock that counts those it gave.
    """

    def __init__(self, core: Core, views: Sequence[Any], take: Lock | None, give: Lock | None) -> None:
        self._core, self._views, self._take, self._give = core, views, take, give
        self._held = self._first = 0

    def acquire(self, count: int) -> Iterator[LockOperation]:
        """Hold so many objects."""
        missing = count - self._held
        if missing > 0:
            if self._take is not None:
                yield self._core.acquire(self._take, -missing)
            self._held = count

    def release(self, count: int) -> Iterator[LockOperation]:
        """Give back so many, the oldest first."""
        if self._give is not None and count:
            yield self._core.release(self._give, count)
        self._held -= count
        self._first = (self._first + count) % len(self._views)

    def objects(self, count: int) -> list[Any]:
        """Views of the oldest objects that it holds."""
        return [self._views[(self._first + n) % len(self._views)] for n in range(count)]
