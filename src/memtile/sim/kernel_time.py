"""How long kernels take of the cycles that they state: all of them, or for a question, none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ALL = 100
_PERCENT: ContextVar[int] = ContextVar("per cent of the cycles that kernels state", default=_ALL)


@contextmanager
def kernel_time(percent: int) -> Iterator[None]:
    """Have all waits of kernels inside take so many per cent of their cycles, at least one cycle."""
    token = _PERCENT.set(percent)
    try:
        yield
    finally:
        _PERCENT.reset(token)


def taken(cycles: int) -> int:
    """What a wait of a kernel takes, in cycles."""
    percent = _PERCENT.get()
    return cycles if percent == _ALL else max(cycles * percent // _ALL, 1)
