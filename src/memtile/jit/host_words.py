"""Words of the host's memory by address: what NumPy arrays hold that the state does not.

A compiled function gets the arrays of a struct alone. Arrays of any number and size that belong to somebody
else, as memory-mapped files do, are handed over by their addresses instead of being copied. Nothing is
checked here: who asks has to know that the word is there and that the array is alive. For compiled code see
``address_types``.
"""

from __future__ import annotations

from ctypes import c_uint8, c_uint32, memmove
from typing import Any


def word_at(address: int) -> int:
    """The 32-bit word at a byte address of this process, aligned or not."""
    return c_uint32.from_address(int(address)).value


def put_word_at(address: int, word: int) -> None:
    """Store a 32-bit word at a byte address of this process, aligned or not."""
    c_uint32.from_address(int(address)).value = int(word) & 0xFFFFFFFF


def byte_at(address: int) -> int:
    """The byte at an address of this process."""
    return c_uint8.from_address(int(address)).value


def copy_in(array: Any, at: int, address: int, words: int) -> None:
    """Copy 32-bit words from an address on to an array of a struct, from element ``at`` on."""
    memmove(array[at:].ctypes.data, int(address), int(words) * array.itemsize)


def copy_out(address: int, array: Any, at: int, words: int) -> None:
    """Copy 32-bit words of an array of a struct, from element ``at`` on, to an address."""
    memmove(int(address), array[at:].ctypes.data, int(words) * array.itemsize)
