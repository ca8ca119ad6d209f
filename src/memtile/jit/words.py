"""Single 64-bit words by address, for what goes over many tables as if they were one.

An address is valid as long as the array that it was taken from.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int64
from typing import cast

from memtile.jit.decorators import ENABLED

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
    from memtile.jit.word_access import load_word, store_word

    return cast(Load, load_word), cast(Store, store_word)
