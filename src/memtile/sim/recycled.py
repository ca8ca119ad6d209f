"""Memory that is used again: a machine takes longer to give new memory than to fill it with words.

What was lent comes back when the last array that looks at it is gone, and is lent again as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

KEPT = 1 << 26  # bytes that wait for being lent again, at most
LONGEST = 1 << 25  # bytes; longer ones are not kept

_free: dict[int, list[Bytes]] = {}  # by size


class _Lent:
    """The owner of an array that was lent, as NumPy sees it."""

    def __init__(self, memory: Bytes, count: int, dtype: np.dtype[Any]) -> None:
        self._memory = memory
        self.__array_interface__ = {
            "data": (memory.ctypes.data, False),
            "shape": (count,),
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self, free: dict[int, list[Bytes]] = _free, kept: int = KEPT) -> None:
        size = len(self._memory)
        if size + sum(each * len(waiting) for each, waiting in free.items()) <= kept:
            free.setdefault(size, []).append(self._memory)


def lend(count: int, dtype: Any) -> npt.NDArray[Any]:
    """An array of ``count`` elements, of any values."""
    wanted = count * np.dtype(dtype).itemsize
    if wanted > LONGEST:
        return np.empty(count, dtype)
    size = 1 << max(wanted - 1, 0).bit_length()
    waiting = _free.get(size)
    memory = waiting.pop() if waiting else np.empty(size, np.uint8)
    return np.asarray(_Lent(memory, count, np.dtype(dtype)))
