"""What a session needs of a design: protocols, as designs are rooms above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from memtile.arch.devices import Device
from memtile.explain.deadlock.hosts import HostWaiting
from memtile.runs.own_door import AnyDoor
from memtile.sim.loop.engine import Engine

HostProgram = Callable[[Any], Iterator[Any]]
"""A host sequence as its user writes it."""
Values = npt.NDArray[Any]


class HostSteps(Protocol):
    """A host sequence at work."""

    ended: bool
    due: int
    host: Any

    def advance(self, now: Callable[[], int], timed: bool) -> int:
        """Do the steps that can be done now; returns how many."""

    def in_vain(self, engine: Engine) -> int:
        """Cycles in which it has nothing to do for sure."""

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
