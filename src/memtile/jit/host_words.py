"""Words of the host's memory by address: what NumPy arrays hold that the state does not.

A compiled function gets the arrays of a struct alone. Arrays of any number and size that belong to somebody
else, as memory-mapped files do, are handed over by their addresses instead of being copied. Nothing is
checked here: who asks has to know that the word is there and that the array is alive. For compiled code see
``host_word_types``.
"""

from __future__ import annotations

from ctypes import c_uint32


def word_at(address: int) -> int:
    """The 32-bit word at a byte address of this process, aligned or not."""
    return c_uint32.from_address(int(address)).value


def put_word_at(address: int, word: int) -> None:
    """Store a 32-bit word at a byte address of this process, aligned or not."""
    c_uint32.from_address(int(address)).value = int(word) & 0xFFFFFFFF
