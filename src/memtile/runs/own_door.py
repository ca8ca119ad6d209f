"""The door of a tile or an array as the design itself uses it: at once, in no time of a host.

What a design sets up stands before its first cycle, or between two runs (docs/timing.md); a door that stands
before the tile's own, such as one that records, sees the accesses all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memtile.sim.doors.array_door import ArrayDoor
from memtile.sim.doors.tile_door import Door

Words = npt.NDArray[np.uint32]
AnyDoor = Door | ArrayDoor


class HasDoor(Protocol):
    """A tile or an array."""

    @property
    def door(self) -> AnyDoor:
        """Its door, as a host uses it."""


class OwnDoor:
    """Accesses through whatever door a tile or an array has at the time, without the time of a host.

    Args:
        holder: the tile or the array.
    """

    def __init__(self, holder: HasDoor) -> None:
        self._holder = holder
        self._seen: AnyDoor = holder.door
        self._quick: AnyDoor = self._seen.at_once()

    @property
    def _door(self) -> AnyDoor:
        if self._holder.door is not self._seen:
            self._seen = self._holder.door
            self._quick = self._seen.at_once()
        return self._quick

    def at_once(self) -> OwnDoor:
        """It is so already."""
        return self

    def write32(self, offset: int, value: int) -> None:
        """Write one 32-bit word."""
        self._door.write32(offset, value)

    def read32(self, offset: int) -> int:
        """Read one 32-bit word, with the side effects of the read."""
        return self._door.read32(offset)

    def mask_write32(self, offset: int, mask: int, value: int) -> None:
        """Replace the bits of ``mask`` by those of ``value``."""
        self._door.mask_write32(offset, mask, value)

    def block_write32(self, offset: int, words: Sequence[int] | Words) -> None:
        """Write consecutive words."""
        self._door.block_write32(offset, words)

    def block_read32(self, offset: int, words: int) -> Words:
        """Read consecutive words; uint32[words]."""
        return self._door.block_read32(offset, words)
