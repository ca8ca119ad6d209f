"""Words and blocks of columns by place, compiled or not, for what goes over many tables as if they were one.

An address is valid as long as the array that it was taken from. A block's place is counted in elements of the
whole array, whatever its dimensions. Nothing is checked, as everywhere in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int64
from typing import Any, cast

from memtile.jit.settings import ENABLED
from memtile.jit.structs import Deferred

WORD = 8  # bytes

Load = Callable[[int], int]
Store = Callable[[int, int], None]


def _load(address: int) -> int:
    return c_int64.from_address(int(address)).value


def _store(address: int, word: int) -> None:
    c_int64.from_address(int(address)).value = int(word)


def access() -> tuple[Load, Store]:
    """Two functions for compiled code or the interpreter: the word at an address, and another one there."""
    if not ENABLED:
        return _load, _store
    return cast(Load, _deferred("load_word", _load)), cast(Store, _deferred("store_word", _store))


def _deferred(name: str, plain: Callable[..., Any]) -> Deferred:
    def make() -> Any:
        from memtile.jit import address_types

        return getattr(address_types, name)

    return Deferred(make, plain, name)


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
    return cast(Copy, _deferred("copy_block", _copy)), cast(Clear, _deferred("clear_block", _clear))
