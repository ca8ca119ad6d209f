"""Locks as a design names them, and the operations that a descriptor does on them (AM020 locks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtile.arch.tiles import TileKind
from memtile.bd.descriptor import Acquire, Release
from memtile.bd.windows import DmaLock
from memtile.design.buffers import Buffer, Owner
from memtile.design.undo import undoable
from memtile.errors import DesignError, Problem
from memtile.plain_text import printable

_SOURCE = "AM020: 64 locks per memory tile, 16 per compute and interface tile"
_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Lock:
    """A semaphore lock of a tile.

    Attributes:
        name: for messages and tables.
        kind: tile kind that owns it.
        id: number within the tile.
        place: column and row of the tile in an array; None = a single tile.
        window: the DMA's window to it; ``Tile.seen`` returns a neighbour's lock.
        design: the design that it belongs to, which tells its buffers from those of others; None = not known.
    """

    name: str
    kind: TileKind
    id: int
    place: tuple[int, int] | None = None
    window: str = "own"
    design: object = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Lock({printable(self.name)}: id {self.id})"

    @property
    def dma_id(self) -> DmaLock:
        """The id that the DMA uses."""
        return DmaLock(self.kind.lock_windows[self.window] + self.id)

    def acquire(self, count: int = 1) -> Acquire:
        """Wait until the lock is at least ``count``, then subtract ``count``.

        Raises:
            DesignError: a count that is not 1..63, what a lock holds.
        """
        self._check("acquire", count, 1)
        return LockAcquire.of(self, -count)

    def acquire_equal(self, value: int) -> Acquire:
        """Wait until the lock is exactly ``value``, and leave it unchanged.

        Raises:
            DesignError: a value that is not 0..63, what a lock holds.
        """
        self._check("acquire_equal", value, 0)
        return LockAcquire.of(self, value)

    def release(self, count: int = 1) -> Release:
        """Add ``count`` when the descriptor finishes.

        Raises:
            DesignError: a count that is not 1..63, what a lock holds.
        """
        self._check("release", count, 1)
        return LockRelease.of(self, count)

    def _check(self, operation: str, value: int, low: int) -> None:
        if not low <= value <= self.kind.lock_value_max:
            raise DesignError.of(
                operation,
                str(value),
                f"{low}..{self.kind.lock_value_max}",
                reason="lock_value",
                where=f"lock {self.name}",
                source="AM020: six-bit lock state",
            )


class LockAcquire(Acquire):
    """An acquire that knows its lock: the number alone would do for a lock of any tile."""

    lock: Lock

    @classmethod
    def of(cls, lock: Lock, value: int) -> LockAcquire:
        """The acquire of ``lock`` with this value in the descriptor."""
        made = cls(lock.dma_id, value, True)
        made.lock = lock
        return made


class LockRelease(Release):
    """A release that knows its lock."""

    lock: Lock

    @classmethod
    def of(cls, lock: Lock, value: int) -> LockRelease:
        """The release of ``lock`` with this value in the descriptor."""
        made = cls(lock.dma_id, value)
        made.lock = lock
        return made


def same_kind(one: TileKind, other: TileKind) -> bool:
    """Whether two kinds are equal; most are one object, whose some fifty attributes need not be compared."""
    return one is other or one == other


def owner_text(thing: Buffer | Lock, design: object) -> str:
    """The tile that a buffer or lock belongs to, for messages of a ``design``."""
    place = f"{thing.kind.title} ({thing.place[0]},{thing.place[1]})" if thing.place else "another tile"
    return place if thing.design in (None, design) else f"{place} of another design"


class LockTable:
    """The locks of one tile: hands out ids.

    Args:
        owner: the tile.
    """

    locks: Mapping[int, Lock] = undoable()

    def __init__(self, owner: Owner) -> None:
        self._kind, self._title, self._place, self._design = owner
        self.journal = owner.design.journal
        self.locks = {}

    def take(self, name: str | None, lock_id: int | None) -> Lock:
        """The lock ``lock_id``, or the lowest that is free.

        Raises:
            DesignError: no such lock, taken already, or none free; a name that is taken.
        """
        for other in self.locks.values():
            if other.name == name != f"lock{other.id}":  # what it is called without a name
                problem = Problem(
                    "name",
                    repr(name),
                    "a name of its own",
                    f"lock {other.id} has the name {name!r} already",
                    "Give this one a name of its own.",
                    reason="name_twice",
                    where=f"{self._title}, lock {name}",
                    source="results are found by name",
                )
                raise DesignError(problem)
        free = [n for n in range(self._kind.locks) if n not in self.locks]
        if lock_id is None and free:
            lock_id = free[0]
        if lock_id not in free or lock_id is None:
            problem = Problem(
                "lock",
                "one more" if lock_id is None else f"lock {lock_id}",
                f"{len(free)} free of {self._kind.locks}",
                self._why_not(lock_id),
                f"{len(free)} of {self._kind.locks} locks are free."
                if free
                else "Several channels can share a lock.",
                reason="lock_id",
                where=self._title,
                source=_SOURCE,
            )
            raise DesignError(problem)
        lock = Lock(name or f"lock{lock_id}", self._kind, lock_id, self._place, design=self._design)
        self.locks = {**self.locks, lock_id: lock}
        return lock

    def saved(self) -> list[list[Any]]:
        """The locks as plain data."""
        return [[lock.id, lock.name] for lock in self.locks.values()]

    def restore(self, saved: Sequence[Sequence[Any]]) -> None:
        """Have what :meth:`saved` found in another table of the same kind."""
        self.locks = {
            number: Lock(name, self._kind, number, self._place, design=self._design) for number, name in saved
        }

    def _why_not(self, lock_id: int | None) -> str:
        """The holder of the lock that was asked for, or of all of them."""
        if lock_id is not None and lock_id in self.locks:
            return f"lock {lock_id} is taken: it is {self.locks[lock_id].name}"
        if lock_id is not None:
            return f"the number of the lock is {lock_id}, allowed are 0..{self._kind.locks - 1}"
        names = [lock.name for lock in self.locks.values()]
        shown = ", ".join(names[:_NAMES_SHOWN])
        return f"all {len(names)} locks are taken: {shown} and {len(names) - _NAMES_SHOWN} more"
