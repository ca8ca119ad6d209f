"""The array's registers in the NoC programming interface: reset of interface tiles, interrupt lines.

All keep what is written. Two act (DEV-NPI-1): the control register resets interface tiles, and the interrupt
register shows which lines the second-level interrupt controllers hold (DEV-IRQ-3).
"""

from __future__ import annotations

from memtile.arch import npi
from memtile.jit.tables import plain
from memtile.model import column_clock
from memtile.model.events import interrupts
from memtile.sim.engine import Engine


class Npi:
    """The block of registers, by byte offset.

    Args:
        engine: of the array.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._values: dict[int, int] = {}

    def write(self, offset: int, value: int) -> None:
        """Write one 32-bit word."""
        before = self._values.get(npi.CONTROL, 0)
        self._values[offset] = value
        if offset == npi.CONTROL:
            mask = self._values.get(npi.CONTROL_MASK, 0)
            self._values[offset] = (before & ~mask) | (value & mask)
            if self._values[offset] & ~before & npi.SHIM_RESET.mask:
                self._reset_interfaces()

    def read(self, offset: int) -> int:
        """Read one 32-bit word; 0 where nothing was written."""
        if offset == npi.INTERRUPTS:
            return interrupts.lines(self._engine.state)
        return self._values.get(offset, 0)

    def _reset_interfaces(self) -> None:
        """Reset the interface tiles of the columns whose protected registers may be written."""
        protected = self._values.get(npi.PROTECTED, 0)
        if not protected & npi.PROTECTED_ENABLE.mask:
            return
        first, last = npi.FIRST_COLUMN.get(protected), npi.LAST_COLUMN.get(protected)
        column = plain(self._engine.spec.tiles).column
        for tile in column_clock.interfaces(self._engine.spec).tolist():
            if first <= column[tile] <= last:
                column_clock.reset_interface(self._engine.state, tile)
