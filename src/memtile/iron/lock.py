"""``aie.iron.lock``: a lock of a tile, for designs that say how DMAs and cores wait for each other."""

from __future__ import annotations

import itertools
from typing import Any

from memtile.iron.device import Tile
from memtile.iron.dialects.aie import lock as _lock
from memtile.iron.dialects.aie import use_lock
from memtile.iron.dialects.aiex import set_lock_value
from memtile.iron.helpers.taplib.symbolic import known_value
from memtile.iron.ops.enums import LockAction
from memtile.iron.resolvable import NotResolvedError, Resolvable


class Lock(Resolvable):
    """A lock.

    Args:
        tile: that has it.
        lock_id: its number; default = any.
        init: its value at first.
        name: default = one of its own.
    """

    _numbers = itertools.count()

    def __init__(
        self, tile: Tile, lock_id: int | None = None, init: int = 0, name: str | None = None
    ) -> None:
        self._tile, self._lock_id, self._init = tile, lock_id, init
        self._name = name or f"lock_{next(Lock._numbers)}"
        self._op: Any = None

    @property
    def tile(self) -> Tile:
        """That has it."""
        return self._tile

    @property
    def name(self) -> str:
        """Of the lock."""
        return self._name

    @property
    def op(self) -> Any:
        """Its operation.

        Raises:
            NotResolvedError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError(f"lock {self._name} is not resolved yet: give it to Runtime.add_lock")
        return self._op

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it."""
        if self._op is None:
            self._op = _lock(self._tile.op, lock_id=self._lock_id, init=self._init, sym_name=self._name)

    def acquire(self, value: int = 1) -> None:
        """Wait in a core until it is at least ``value``, and take that."""
        use_lock(self.op, LockAction.AcquireGreaterEqual, value)

    def acquire_exact(self, value: int = 1) -> None:
        """Wait in a core until it is ``value``, and take that."""
        use_lock(self.op, LockAction.Acquire, value)

    def set(self, value: Any) -> None:
        """Set it from the host, within the runtime sequence.

        Raises:
            ValueError: the value depends on a loop.
        """
        from memtile.iron.runtime._context import active_sequence

        active_sequence().build_before(self)
        known = known_value(value)
        if known is None:
            raise ValueError(
                f"lock {self._name}: set() takes a number that is known when the design is built"
            )
        set_lock_value(self.op, known)

    def release(self, value: int = 1) -> None:
        """Give ``value`` to it in a core."""
        use_lock(self.op, LockAction.Release, value)
