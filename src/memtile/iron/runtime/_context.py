"""The runtime sequence that is built now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_now: ContextVar[Any] = ContextVar("iron_sequence", default=None)


def active_sequence() -> Any:
    """The one that is built.

    Raises:
        RuntimeError: none is.
    """
    found = _now.get()
    if found is None:
        raise RuntimeError(
            "no runtime sequence is built here: fill(), drain() and TaskGroup() belong into the function "
            "that Runtime "
            "is given"
        )
    return found


def maybe_active_sequence() -> Any:
    """The one that is built; None if none is."""
    return _now.get()


@contextmanager
def building(sequence: Any) -> Iterator[None]:
    """Build a sequence within ``with``."""
    token = _now.set(sequence)
    try:
        yield
    finally:
        _now.reset(token)
