"""``DeviceConfiguration``: one of several configurations of the array that a program goes through.

A sequence configures the array within ``with configuration.configure():`` and runs its sequences by
``runtime.call(...)``. Source: mlir-aie's test/python/iron_multi_configuration.py (November 2026).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memtile.iron.dialects.aiex import _OPS
from memtile.iron.ops.operations import InsertionPoint

_scope: ContextVar[DeviceConfiguration | None] = ContextVar("iron_configuration", default=None)


class DeviceConfiguration:
    """A configuration of the array, with its workers and sequences.

    Args:
        name: of its device in the module.
        device: that it is for.
        runtimes: its sequences.
        workers: what its cores do.

    Raises:
        ValueError: a sequence belongs to another configuration.
    """

    def __init__(
        self, name: str, device: Any, runtimes: Sequence[Any] = (), workers: Sequence[Any] = ()
    ) -> None:
        for each in runtimes:
            if each.configuration is not None:
                raise ValueError(
                    f"Runtime {each.name!r} already belongs to configuration {each.configuration.name!r}."
                )
        self.name, self.device = name, device
        self.runtimes, self.workers = list(runtimes), list(workers)
        self._trace: dict[str, Any] = {}
        for each in self.runtimes:
            each.configuration = self

    def _all(self, name: str) -> list[Any]:
        return list(itertools.chain.from_iterable(getattr(each, name) for each in self.runtimes))

    @property
    def flows(self) -> list[Any]:
        """Routes of its sequences."""
        return self._all("flows")

    @property
    def locks(self) -> list[Any]:
        """Locks of its sequences."""
        return self._all("locks")

    @property
    def tile_dmas(self) -> list[Any]:
        """DMAs of tiles of its sequences."""
        return self._all("tile_dmas")

    @property
    def fifos(self) -> list[Any]:
        """Ends of object FIFOs that its sequences fill and drain."""
        return self._all("fifos")

    @property
    def buffers(self) -> list[Any]:
        """Buffers of tiles that only its sequences use."""
        return self._all("buffers")

    @property
    def external_buffers(self) -> list[Any]:
        """Buffers outside of the array."""
        return self._all("external_buffers")

    @property
    def _scratchpad_parameters(self) -> list[Any]:
        return self._all("_scratchpad_parameters")

    def resolve(
        self, loc: object = None, ip: Any = None, *, begins: Callable[[], None] | None = None
    ) -> None:
        """Build its sequences."""
        for each in self.runtimes:
            each.resolve(begins=begins)

    @contextmanager
    def configure(self) -> Iterator[None]:
        """Configure the array, within a runtime sequence; calls of its sequences stand within ``with``.

        Raises:
            RuntimeError: another configuration is begun.
        """
        if _scope.get() is not None:
            raise RuntimeError("Nested configuration scopes are not supported.")
        token = _scope.set(self)
        try:
            block = _OPS["ConfigureOp"](self.name).regions[0].blocks.append()
            with InsertionPoint(block):
                yield
        finally:
            _scope.reset(token)


def call(runtime: Any, arguments: Sequence[Any]) -> None:
    """Run a sequence of the configuration that is begun.

    Raises:
        ValueError: none is begun, or the sequence belongs to another.
    """
    now, own = _scope.get(), runtime.configuration
    if now is None or own is not now:
        belongs = "no configuration" if own is None else f"configuration {own.name!r}"
        begun = "none is begun here" if now is None else f"not {now.name!r}"
        raise ValueError(f"Runtime {runtime.name!r} belongs to {belongs}, {begun}.")
    _OPS["RunOp"](runtime.name, [getattr(each, "op", each) for each in arguments])


__all__ = ["DeviceConfiguration"]
