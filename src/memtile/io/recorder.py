"""Remember what is written through doors, so that it can be exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from memtile.design.array import Array
from memtile.io.operations import BlockWrite, MaskPoll, MaskWrite, Operation, Write, address_of
from memtile.model.state import plain
from memtile.sim.door import Door

Words = npt.NDArray[np.uint32]


class AnyDoor(Protocol):
    """The door of a tile or of an array."""

    def write32(self, offset: int, value: int, /) -> None:
        """Write one word."""

    def mask_write32(self, offset: int, mask: int, value: int, /) -> None:
        """Replace the bits of ``mask``."""

    def block_write32(self, offset: int, words: Sequence[int] | Words, /) -> None:
        """Write consecutive words."""

    def read32(self, offset: int, /) -> int:
        """Read one word."""

    def block_read32(self, offset: int, words: int, /) -> Words:
        """Read consecutive words."""

    def poll(self, offset: int, mask: int, value: int, advance: Callable[[], bool], /) -> bool:
        """Read until the word has the value."""


class Recording:
    """Register writes and polls in the order in which they were made, through one door or several.

    ``tile.door = recording.before(tile.door, base)`` records what a design writes from then on.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Everything written or polled so far, at absolute addresses."""
        return tuple(self._operations)

    def before(self, door: AnyDoor, base: int = 0) -> RecordingDoor:
        """A door that passes every access on to ``door`` and records it.

        Args:
            door: the door of a tile or of an array.
            base: absolute address of the tile, see ``operations.address_of``; 0 for an array's door.
        """
        return RecordingDoor(door, base, self._operations.append)


def record(array: Array) -> Recording:
    """Record what a design writes to an array, from now on; call it before the design asks for tiles.

    What firmware leaves behind (``Array`` opens the inner edges) is not in the recording.
    """
    recording, tiles = Recording(), plain(array.engine.spec.tiles)

    def before(door: Door, tile: int) -> Door:
        base = address_of(int(tiles.column[tile]), int(tiles.row[tile]))
        return cast(Door, recording.before(door, base))  # lacks byte enables, which no file can say

    array.engine.observe(before)
    return recording


class RecordingDoor:
    """Stands before a door; made by :meth:`Recording.before`. What the door refuses is not recorded."""

    def __init__(self, door: AnyDoor, base: int, keep: Callable[[Operation], None]) -> None:
        self._door, self._base, self._keep = door, base, keep

    def write32(self, offset: int, value: int) -> None:
        """Write one 32-bit word."""
        self._door.write32(offset, value)
        self._keep(Write(self._base + offset, int(value)))

    def mask_write32(self, offset: int, mask: int, value: int) -> None:
        """Replace the bits of ``mask`` by those of ``value``."""
        self._door.mask_write32(offset, mask, value)
        self._keep(MaskWrite(self._base + offset, int(mask), int(value)))

    def block_write32(self, offset: int, words: Sequence[int] | Words) -> None:
        """Write consecutive words."""
        self._door.block_write32(offset, words)
        if len(words):
            self._keep(BlockWrite(self._base + offset, tuple(int(word) for word in words)))

    def read32(self, offset: int) -> int:
        """Read one 32-bit word, with the side effects of the read."""
        return self._door.read32(offset)

    def block_read32(self, offset: int, words: int) -> Words:
        """Read consecutive words; uint32[words]."""
        return self._door.block_read32(offset, words)

    def poll(self, offset: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        """Read until ``(word & mask) == value``; ``advance`` between reads, give up when it returns False."""
        seen = self._door.poll(offset, mask, value, advance)
        self._keep(MaskPoll(self._base + offset, int(mask), int(value)))
        return seen
