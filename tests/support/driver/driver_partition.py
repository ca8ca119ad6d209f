"""XAie_PartitionInitialize of AMD's driver over its simulator socket, access by access, by default options.

Written from the open driver (xaie_io_privilege.c, xaie_npi.c, xaie_device_aieml.c), with its own numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from support.driver.simulator_client import Client

CLOCK, RESET, AXI_ERRORS, INTERRUPT_LINE = 0xFFF20, 0xFFF28, 0x1E020, 0x15010
TILE_CONTROL = {"interface": 0x36030, "memory": 0x96030, "compute": 0x36030}
MEMORY_CONTROL = {"memory": (0x96048,), "compute": (0x16010, 0x36070)}  # and program memory
NPI_MASK, NPI_CONTROL, NPI_LOCK, NPI_PROTECTED = 0x0, 0x4, 0xC, 0x200
UNLOCK, SHIM_RESET = 0xF9E8D7C6, 1 << 27


class Partition:
    """The columns of a device, all of them one partition.

    Args:
        array: connection to the array.
        npi: connection to the NPI registers.
        columns, rows: size of the device.
        memory_rows: rows of memory tiles.
        noc: columns whose interface tile has a DMA.
    """

    def __init__(
        self, array: Client, npi: Client, columns: int, rows: int, memory_rows: range, noc: Sequence[int]
    ) -> None:
        self._array, self._npi, self._noc = array, npi, noc
        self._columns, self._rows, self._memory_rows = columns, rows, memory_rows

    def initialise(self, *, zeroise: bool = False) -> bool:
        """The default options, and the option that zeroises all memories; whether its poll came true."""
        self._protect(True)
        self.reset_columns()
        self._reset_shims()
        for column in self._noc:
            self._write(column, 0, AXI_ERRORS, 0b1100)
        self._clocks(1)
        self._isolate()
        zeroised = self._zeroise() if zeroise else True
        for column in self._noc:
            self._write(column, 0, INTERRUPT_LINE, 1)
        self._protect(False)
        return zeroised

    def reset_columns(self) -> None:
        """All clocks off, all resets on, all clocks on, all resets off."""
        self._clocks(0)
        for column in range(self._columns):
            self._write(column, 0, RESET, 1)
        self._clocks(1)
        for column in range(self._columns):
            self._write(column, 0, RESET, 0)

    @staticmethod
    def at(column: int, row: int, offset: int) -> int:
        return column << 25 | row << 20 | offset

    def _write(self, column: int, row: int, offset: int, value: int) -> None:
        self._array.write32(self.at(column, row, offset), value)

    def _clocks(self, on: int) -> None:
        for column in range(self._columns):
            self._array.mask_write32(self.at(column, 0, CLOCK), 1, on)

    def _kind(self, row: int) -> str:
        return "interface" if row == 0 else "memory" if row in self._memory_rows else "compute"

    def _isolate(self) -> None:
        """From the neighbours of the partition."""
        for column in range(self._columns):
            sides = 0b0010 if column == 0 else 0b1000 if column == self._columns - 1 else 0
            for row in range(self._rows):
                self._write(column, row, TILE_CONTROL[self._kind(row)], sides)

    def _zeroise(self) -> bool:
        for column in range(self._columns):
            for row in range(1, self._rows):
                for register in MEMORY_CONTROL[self._kind(row)]:
                    self._array.mask_write32(self.at(column, row, register), 1, 1)
        last = self.at(self._columns - 1, self._rows - 1, MEMORY_CONTROL["compute"][-1])
        return self._array.mask_poll(last, 1, 0, 6)

    def _lock(self, locked: bool) -> None:
        self._npi.write32(NPI_LOCK, 0 if locked else UNLOCK)
        self._npi.mask_poll(NPI_LOCK, 0, 0, 6)

    def _protect(self, on: bool) -> None:
        self._lock(False)
        self._npi.write32(NPI_PROTECTED, int(on) | self._columns - 1 << 8)
        self._npi.mask_poll(NPI_PROTECTED, 0, 0, 6)
        self._lock(True)

    def _reset_shims(self) -> None:
        for value in (SHIM_RESET, 0):
            self._lock(False)
            for register, word in ((NPI_MASK, SHIM_RESET), (NPI_CONTROL, value), (NPI_MASK, 0)):
                self._npi.write32(register, word)
            self._npi.mask_poll(NPI_CONTROL, 0, 0, 6)
            self._lock(True)
