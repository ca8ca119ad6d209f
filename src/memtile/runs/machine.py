"""What a session needs of a design: protocols, as designs are rooms above, and the door that it uses itself.

What a design sets up stands before its first cycle, or between two runs (docs/timing.md); a door that stands
before the tile's own, such as one that records, sees the accesses all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import Device
from memtile.explain.deadlock.context import HostWaiting
from memtile.sim.doors.array_door import ArrayDoor
from memtile.sim.doors.tile_door import Door
from memtile.sim.loop.engine import Engine

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


HostProgram = Callable[[Any], Iterator[Any]]
"""A host sequence as its user writes it."""
Values = npt.NDArray[Any]


class HostSteps(Protocol):
    """A host sequence at work."""

    ended: bool
    due: int
    polled: int
    polls: bool
    line: int
    host: Any

    @property
    def reads(self) -> bool:
        """Whether it may read words."""

    @property
    def compresses(self) -> bool:
        """Whether it is known to start tasks of compressed streams."""

    def beginning(self) -> list[Any] | None:
        """What it will do, as plain data; None if that is not known, or it has begun."""

    def end(self) -> list[Any]:
        """What is known of it when it has ended, as plain data."""

    def put_at_end(self, known: Sequence[Any], /) -> None:
        """Have done what :meth:`end` says, of a model that is there already."""

    def advance(self, now: Callable[[], int], timed: bool, most: int = ..., /) -> int:
        """Do the steps that can be done now; returns how many."""

    def in_vain(self, engine: Engine, *, alone: bool) -> int:
        """Cycles in which it has nothing to do for sure, ``alone`` or beside other sequences."""

    def waits_for(self) -> str:
        """One line: what the present step waits for."""

    def waiting(self) -> HostWaiting:
        """What the present step waits for, with the channels that it is about."""


class Machine(Protocol):
    """A memory tile at its bench, or an array.

    Attributes:
        listening: channels that take what may come, and need not end.
        run_until: cycle in which the last run ended.
        parameters: of the design, with their values; for results.
    """

    listening: set[int]
    run_until: int
    parameters: Mapping[str, Any]

    @property
    def engine(self) -> Engine:
        """The model."""

    @property
    def members(self) -> Sequence[Any]:
        """The tiles of the design."""

    @property
    def hosts(self) -> Sequence[HostSteps]:
        """Its host sequences."""

    @property
    def compared(self) -> Sequence[tuple[str, Values, Values]]:
        """Arrays outside, each with its name and with what it must hold at the end."""

    @property
    def expected(self) -> Sequence[tuple[Any, Any, Values]]:
        """Tiles and buffers of theirs, with what these must hold at the end."""


class ArrayMachine(Machine, Protocol):
    """An array, which runs programs of register writes too."""

    device: Device
    columns: int

    @property
    def door(self) -> AnyDoor:
        """The port that a host writes registers through."""

    def tile(self, column: int, row: int) -> Any:
        """The tile at a place."""

    def interface_tile(self, column: int) -> Any:
        """The interface tile of a column."""

    def compute_tile(self, column: int, row: int) -> Any:
        """The compute tile at a place."""

    def host(self, sequence: HostProgram) -> None:
        """Have a host do a sequence of steps while the array runs."""

    def route(self) -> Any:
        """Find circuits for what has none yet."""
