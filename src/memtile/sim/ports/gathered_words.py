"""Short arrays that come one after the other, copied into few long ones as they come.

Nobody has to join them later, when they are far from the processor's caches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.sim.loop.memory_pool import lend

Array = npt.NDArray[Any]

BYTES = 1 << 19  # of a long array
_GROWTH = 4
_AT_A_TIME = 1 << 17  # bytes that are compared: what stays in a cache


class Gathered:
    """The array at the end of a row of them, and the room behind it.

    Args:
        first: bytes of the first array.
    """

    def __init__(self, first: int = 1 << 12) -> None:
        self._size = first
        self._block: Array | None = None
        self._filled = 0
        self.last: Array | None = None

    def add(self, given: Array) -> list[Array]:
        """Copy the elements of an array, in C order, behind those before.

        Args:
            given: of the type of those before.

        Returns:
            What stands in the place of ``last``, and then follows it: flat arrays; the last one is ``last``.
        """
        flat, found = given.reshape(-1), [] if self.last is None else [self.last]
        while len(flat):
            if self._block is None or self._filled == len(self._block):
                count = max(self._size // given.itemsize, min(len(flat), BYTES // given.itemsize))
                self._size = min(_GROWTH * self._size, BYTES)
                self._block, self._filled = lend(count, given.dtype), 0
                found.append(self._block[:0])
            some = flat[: len(self._block) - self._filled]
            end = self._filled + len(some)
            self._block[self._filled : end] = some
            self._filled, flat = end, flat[len(some) :]
            found[-1] = self._block[:end]
        self.last = found[-1] if found else None
        return found


def equal(one: Array, other: Array) -> bool:
    """Whether two contiguous arrays of one type and length have the same bits."""
    size = one.nbytes
    kind = np.uint32 if size % np.dtype(np.uint32).itemsize == 0 else np.uint8
    mine, others = one.view(kind), other.view(kind)
    at_a_time = _AT_A_TIME // mine.itemsize
    for at in range(0, len(mine), at_a_time):
        if not np.array_equal(mine[at : at + at_a_time], others[at : at + at_a_time]):
            return False
    return True
