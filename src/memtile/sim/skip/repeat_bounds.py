"""How often a value may change by as much again and stay on its side of a limit."""

from __future__ import annotations

from memtile.jit.decorators import jit


@jit
def before(limit: int, value: int, change: int, times: int) -> int:
    """How often ``value`` may grow by ``change``, above 0, and stay below ``limit``."""
    return min(times, max((limit - 1 - value) // change, 0))


@jit
def above(limit: int, value: int, change: int, times: int) -> int:
    """How often ``value`` may fall by ``change``, above 0, and stay above ``limit``."""
    return min(times, max((value - 1 - limit) // change, 0))
