"""The processor bus of a core: 32-bit accesses of a core to the registers of its own tile (AM020 chapter 4).

Addresses are those that a host uses within the tile. What an access does happens at once, its time is what
the kernel says. A core whose bus is off hangs at its first access, so the run ends there (DEV-BUS-1).
"""

from __future__ import annotations

from collections.abc import Callable

from memtile.arch.register_map import register_named
from memtile.errors import SimulationError
from memtile.model.state.state import State
from memtile.sim.doors.tile_door import Door

_CONTROL = register_named("core", "Core_Processor_Bus")
_ENABLE = _CONTROL.field("Enable").mask
_SOURCE = "AM025 Core_Processor_Bus"


class ProcessorBus:
    """The bus of one core.

    Args:
        state: of the model.
        tile: model index of the core's tile.
        name: of the core, for messages.

    Attributes:
        before: is called before each access.

    Both methods raise :class:`RegisterError` for an address that is unaligned, outside the tile or answered
    by nothing, and :class:`SimulationError` while ``Enable`` of ``Core_Processor_Bus`` is 0.
    """

    def __init__(self, state: State, tile: int, name: str) -> None:
        self._door, self._name = Door(state, tile), name
        self.before: Callable[[], None] | None = None

    @property
    def on(self) -> bool:
        """Whether the core may use it."""
        return bool(self._door.read32(_CONTROL.offset) & _ENABLE)

    def read(self, offset: int) -> int:
        """The word at a byte offset in the tile, with the side effects of the read."""
        self._check(f"a read at {offset:#07x}")
        return self._door.read32(offset)

    def write(self, offset: int, value: int) -> None:
        """Write a word at a byte offset in the tile."""
        self._check(f"a write at {offset:#07x}")
        self._door.write32(offset, value)

    def _check(self, what: str) -> None:
        if self.before is not None:
            self.before()
        if self.on:
            return
        raise SimulationError.of(
            "Enable",
            "0",
            "1",
            f"the processor bus is off, so {what} never ends",
            f"Write 1 to Core_Processor_Bus, {_CONTROL.offset:#07x}, before it comes here.",
            reason="processor_bus",
            where=self._name,
            source=_SOURCE,
        )
