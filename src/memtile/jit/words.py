"""Single 64-bit words by address, for what goes over many tables as if they were one.

An address is valid as long as the array that it was taken from.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int64
from functools import partial
from typing import Any, cast

from memtile.jit.deferred import Deferred
from memtile.jit.settings import ENABLED

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
    return cast(Load, Deferred(partial(_made, "load_word"), _load)), cast(
        Store, Deferred(partial(_made, "store_word"), _store)
    )


def _made(name: str) -> Any:
    from memtile.jit import word_access

    return getattr(word_access, name)
