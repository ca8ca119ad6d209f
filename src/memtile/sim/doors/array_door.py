"""The door of an array: one address space over the doors of its tiles (AM020 chapter 2, address map).

It also has the array's registers in the NoC programming interface: reset of interface tiles, interrupt lines.

All keep what is written. Two act (DEV-NPI-1): the control register resets interface tiles, and the interrupt
register shows which lines the second-level interrupt controllers hold (DEV-IRQ-3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral

import numpy as np
import numpy.typing as npt

from memtile.arch import devices
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES
from memtile.errors import RegisterError
from memtile.jit.tables import plain
from memtile.model import column_clock
from memtile.model.events import broadcast
from memtile.sim.doors.tile_door import Door
from memtile.sim.loop.engine import Engine

Known = tuple[dict[int, Door], dict[int, Door]]
_OFFSET = TILE_BYTES - 1
_SOURCE = "AM020: tile address = column << 25 | row << 20 | offset"


class ArrayDoor:
    """Reads and writes at absolute byte addresses, with the same forms of access as a tile's ``Door``.

    Args:
        door: the door of a tile by column and row.
        columns: columns of the array.
        rows: rows of the array.
        known: doors that were asked for by their addresses' upper bits, with and without the time of a host;
            whoever changes what ``door`` gives empties both.

    Every method raises :class:`RegisterError` for an address at which there is no tile, and as ``Door`` does.
    """

    def __init__(self, door: Callable[[int, int], Door], columns: int, rows: int, known: Known) -> None:
        self._door, self._columns, self._rows = door, columns, rows
        (self._known, self._known_at_once) = known

    @staticmethod
    def address(column: int, row: int, offset: int = 0) -> int:
        """Absolute byte address of byte ``offset`` of a tile."""
        return column << COLUMN_SHIFT | row << ROW_SHIFT | offset

    def at_once(self) -> ArrayDoor:
        """This door without host time, for accesses from outside the simulated system."""
        known = self._known_at_once
        return ArrayDoor(
            lambda column, row: self._door(column, row).at_once(), self._columns, self._rows, (known, known)
        )

    def write32(self, address: int, value: int) -> None:
        """Write one 32-bit word."""
        if type(address) is int and (door := self._known.get(address >> ROW_SHIFT)) is not None:
            door.write32(address & _OFFSET, value)
            return
        door, offset = self._find(address)
        door.write32(offset, value)

    def read32(self, address: int) -> int:
        """Read one 32-bit word, with the side effects of the read."""
        if type(address) is int and (door := self._known.get(address >> ROW_SHIFT)) is not None:
            return door.read32(address & _OFFSET)
        door, offset = self._find(address)
        return door.read32(offset)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        """Read, replace the bits of ``mask`` by those of ``value``, write."""
        door, offset = self._find(address)
        door.mask_write32(offset, mask, value)

    def block_write32(self, address: int, words: Sequence[int] | npt.NDArray[np.uint32]) -> None:
        """Write consecutive words of one tile."""
        door, offset = self._find(address)
        door.block_write32(offset, words)

    def write_bytes(self, address: int, data: bytes) -> None:
        """Write bytes of one tile's data memory: byte enables (DEV-AXI-2)."""
        door, offset = self._find(address)
        door.write_bytes(offset, data)

    def block_read32(self, address: int, words: int) -> npt.NDArray[np.uint32]:
        """Read ``words`` consecutive words of one tile; uint32[words]."""
        door, offset = self._find(address)
        return door.block_read32(offset, words)

    def poll(self, address: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        """Read until ``(word & mask) == value``; ``advance`` between reads, give up when it returns False."""
        door, offset = self._find(address)
        return door.poll(offset, mask, value, advance)

    def requests_lock(self, address: int) -> bool:
        """Whether a read at ``address`` acquires or releases a lock."""
        door, offset = self._find(address)
        return door.requests_lock(offset)

    def refusal(self, address: int) -> RegisterError:
        """Why an access to ``address`` was refused, without another one."""
        try:
            door, offset = self._find(address)
        except RegisterError as error:
            return error
        return door.refusal(offset)

    def _find(self, address: int) -> tuple[Door, int]:
        if type(address) is not int and not isinstance(address, Integral):
            raise RegisterError.of(
                "address", repr(address), "a whole number", reason="address", where="array", source=_SOURCE
            )
        column, rest = divmod(address, 1 << COLUMN_SHIFT)
        row, offset = rest >> ROW_SHIFT, rest % TILE_BYTES
        if 0 <= column < self._columns and row < self._rows:
            door = self._known[int(address) >> ROW_SHIFT] = self._door(column, row)
            return door, offset
        raise RegisterError.of(
            "address",
            f"{address:#x} (column {column}, row {row})",
            f"columns 0..{self._columns - 1}, rows 0..{self._rows - 1}",
            f"address {address:#x} is in column {column}, row {row}; "
            f"the array has columns 0..{self._columns - 1}, rows 0..{self._rows - 1}",
            reason="address",
            where="array",
            source=_SOURCE,
        )


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
        before = self._values.get(devices.CONTROL, 0)
        self._values[offset] = value
        if offset == devices.CONTROL:
            mask = self._values.get(devices.CONTROL_MASK, 0)
            self._values[offset] = (before & ~mask) | (value & mask)
            if self._values[offset] & ~before & devices.SHIM_RESET.mask:
                self._reset_interfaces()

    def read(self, offset: int) -> int:
        """Read one 32-bit word; 0 where nothing was written."""
        if offset == devices.INTERRUPTS:
            return broadcast.lines(self._engine.state)
        return self._values.get(offset, 0)

    def _reset_interfaces(self) -> None:
        """Reset the interface tiles of the columns whose protected registers may be written."""
        protected = self._values.get(devices.PROTECTED, 0)
        if not protected & devices.PROTECTED_ENABLE.mask:
            return
        first, last = devices.FIRST_COLUMN.get(protected), devices.LAST_COLUMN.get(protected)
        column = plain(self._engine.spec.tiles).column
        for tile in column_clock.interfaces(self._engine.spec).tolist():
            if first <= column[tile] <= last:
                column_clock.reset_interface(self._engine.state, tile)
