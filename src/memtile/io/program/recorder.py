"""Remember what is written through doors, so that it can be exported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from memtile.arch.register_map import register_named
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.errors import RegisterError
from memtile.jit.tables import plain
from memtile.runs.operations import (
    WORD_MAX,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Write,
    address_of,
)
from memtile.sim.doors.tile_door import Door

_GRANTED = register_named("memory_tile", "Lock_Request").field("Request_Result").mask

Words = npt.NDArray[np.uint32]


class AnyDoor(Protocol):
    """The door of a tile or of an array."""

    def at_once(self) -> AnyDoor:
        """This door without host time."""

    def write32(self, offset: int, value: int, /) -> None:
        """Write one word."""

    def mask_write32(self, offset: int, mask: int, value: int, /) -> None:
        """Replace the bits of ``mask``."""

    def block_write32(self, offset: int, words: Sequence[int] | Words, /) -> None:
        """Write consecutive words."""

    def write_bytes(self, offset: int, data: bytes, /) -> None:
        """Write bytes of data memory."""

    def read32(self, offset: int, /) -> int:
        """Read one word."""

    def block_read32(self, offset: int, words: int, /) -> Words:
        """Read consecutive words."""

    def poll(self, offset: int, mask: int, value: int, advance: Callable[[], bool], /) -> bool:
        """Read until the word has the value."""

    def requests_lock(self, offset: int, /) -> bool:
        """Whether a read acquires or releases a lock."""

    def refusal(self, offset: int, /) -> RegisterError:
        """Why an access was refused."""


D = TypeVar("D", bound=AnyDoor)


class Recording:
    """Register writes, lock requests and polls in the order in which they were made, through any doors.

    ``tile.door = recording.before(tile.door, base)`` records what a design writes from then on.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Everything written or polled so far, at absolute addresses."""
        return tuple(self._operations)

    def before(self, door: D, base: int = 0) -> D:
        """A door that passes every access on to ``door`` and records it; for use in its place.

        Args:
            door: the door of a tile or of an array.
            base: absolute address of the tile, see ``operations.address_of``; 0 for an array's door.
        """
        return cast(D, RecordingDoor(door, base, self._operations.append))


def record(array: Array) -> Recording:
    """Record the writes of a design to an array, from now on; call it before the design requests tiles.

    What firmware leaves behind (``Array`` opens the inner edges) is not in the recording.
    """
    recording, tiles = Recording(), plain(array.engine.spec.tiles)

    def before(door: Door, tile: int) -> Door:
        return recording.before(door, address_of(int(tiles.column[tile]), int(tiles.row[tile])))

    array.engine.observe(before)
    return recording


class RecordingDoor:
    """Stands before a door; made by :meth:`Recording.before`. What the door refuses is not recorded."""

    def __init__(self, door: AnyDoor, base: int, keep: Callable[[Operation], None]) -> None:
        self._door, self._base, self._keep = door, base, keep

    def at_once(self) -> RecordingDoor:
        """The recording door before the door without host time."""
        return RecordingDoor(self._door.at_once(), self._base, self._keep)

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

    def write_bytes(self, offset: int, data: bytes) -> None:
        """Write bytes of data memory; files say it as writes of whole words and masked ones."""
        self._door.write_bytes(offset, data)
        for operation in _byte_writes(self._base + offset, data):
            self._keep(operation)

    def read32(self, offset: int) -> int:
        """Read one 32-bit word, with its side effects; a lock that it gets is recorded as a poll."""
        value = self._door.read32(offset)
        self._keep_request(offset, value)
        return value

    def block_read32(self, offset: int, words: int) -> Words:
        """Read consecutive words; uint32[words]."""
        values = self._door.block_read32(offset, words)
        if self._door.requests_lock(offset):
            for index, value in enumerate(values.tolist()):
                self._keep_request(offset + index * WORD_BYTES, value)
        return values

    def poll(self, offset: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        """Read until ``(word & mask) == value``; ``advance`` between reads, give up when it returns False."""
        seen = self._door.poll(offset, mask, value, advance)
        self._keep(MaskPoll(self._base + offset, int(mask), int(value)))
        return seen

    def requests_lock(self, offset: int) -> bool:
        """Whether a read at ``offset`` acquires or releases a lock."""
        return self._door.requests_lock(offset)

    def refusal(self, offset: int) -> RegisterError:
        """Why an access to ``offset`` was refused."""
        return self._door.refusal(offset)

    def _keep_request(self, offset: int, value: int) -> None:
        """Record a read of the request window that was granted; one that was not has changed nothing."""
        if value & _GRANTED and self._door.requests_lock(offset):
            self._keep(MaskPoll(self._base + offset, _GRANTED, _GRANTED))


def _byte_writes(address: int, data: bytes) -> Iterator[Operation]:
    """Writes of all words that ``data`` fills, and masked writes of those that it does not."""
    before, after = bytes(address % WORD_BYTES), bytes(-(address + len(data)) % WORD_BYTES)
    values = np.frombuffer(before + data + after, "<u4").tolist()
    masks = np.frombuffer(before + b"\xff" * len(data) + after, "<u4").tolist()
    first = address - len(before)
    whole = [index for index, mask in enumerate(masks) if mask == WORD_MAX]
    for index, (value, mask) in enumerate(zip(values, masks, strict=True)):
        if 0 < mask < WORD_MAX:
            yield MaskWrite(first + index * WORD_BYTES, mask, value)
    if whole:
        yield BlockWrite(first + whole[0] * WORD_BYTES, tuple(values[whole[0] : whole[-1] + 1]))
