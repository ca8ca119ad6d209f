"""Many elements of one array of a struct to another one at once, and many elements set to zero.

Places are counted in elements of the whole array, whatever its dimensions. The two arrays have elements of
the same type. Nothing is checked, as everywhere in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from memtile.jit.deferred import Deferred
from memtile.jit.settings import ENABLED

Copy = Callable[[Any, int, Any, int, int], None]
Clear = Callable[[Any, int, int], None]


def _copy(to: Any, at: int, source: Any, first: int, count: int) -> None:
    to.reshape(-1)[at : at + count] = source.reshape(-1)[first : first + count]


def _clear(to: Any, at: int, count: int) -> None:
    to.reshape(-1)[at : at + count] = 0


def moves() -> tuple[Copy, Clear]:
    """Two functions for compiled code or the interpreter.

    The first one, ``copy(to, at, source, first, count)``, copies elements; the second one, ``clear(to, at,
    count)``, makes them zero.
    """
    if not ENABLED:
        return _copy, _clear
    return cast(Copy, Deferred(partial(_made, "copy_block"), _copy)), cast(
        Clear, Deferred(partial(_made, "clear_block"), _clear)
    )


def _made(name: str) -> Any:
    from memtile.jit import block_moves

    return getattr(block_moves, name)
