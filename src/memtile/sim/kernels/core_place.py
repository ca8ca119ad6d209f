"""Where and when a core is, for code that it calls outside of Python, and the lines of that code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile.model.state.state import State
from memtile.sim.doors.processor_bus import ProcessorBus

_FIRST = 1 << 15  # sites of accesses from here on are no lines of the kernel's own text


class OutsidePlaces:
    """Numbers of lines outside of a kernel's own text, for notes of accesses."""

    def __init__(self) -> None:
        self._places: list[str] = []

    def site_of(self, place: str) -> int:
        """Number of a place such as ``kernel.cc:12``; 0 for none."""
        if place and place not in self._places:
            self._places.append(place)
        return _FIRST + self._places.index(place) if place else 0

    def place_of(self, site: int) -> str:
        """The place that has a number; empty for a line of the kernel's own text."""
        number = site - _FIRST
        return self._places[number] if 0 <= number < len(self._places) else ""


class CorePlace:
    """Identity and time of a core; part of ``sim.kernels.kernel_core.Core``.

    Attributes:
        tile: model index of the core's tile.
        bus: its accesses to the registers of its tile.
    """

    tile: int
    bus: ProcessorBus
    _state: State
    _tiles: Any
    _reach: list[int]

    @property
    def at(self) -> tuple[int, int]:
        """Column and row of its tile."""
        return int(self._tiles.column[self.tile]), int(self._tiles.row[self.tile])

    @property
    def now(self) -> int:
        """The cycle that it is."""
        return int(self._state_now.clock.now[0])

    @property
    def _state_now(self) -> State:
        """The state as it is in this cycle, where a jump over time that repeats has left it behind."""
        if self.bus.before is not None:
            self.bus.before()
        return self._state

    @property
    def reach(self) -> Sequence[int]:
        """Model indices of the tiles that it reaches, as ``arch.core.SIDES`` has the sides; -1 = none."""
        return self._reach

    @property
    def memory_address(self) -> int:
        """Address of all data memory in this process: what views of buffers are part of."""
        return int(self._state.memory.__array_interface__["data"][0])
