"""What AMD's driver sends over its socket for whole calls, written from its documented behaviour.

``oracle/driver_session.json`` has what the driver itself sent for some calls, so that each method here can be
held to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.driver.simulator_client import BASE, NPI, Client

UNLOCK = 0xF9E8D7C6
NPI_RESET, NPI_MASK, NPI_LOCK, NPI_PROTECTED = 0x4, 0x0, 0xC, 0x200
SHIM_RESET = 1 << 27
CLOCK, COLUMN_RESET = 0xFFF20, 0xFFF28
BLOCK_ERRORS, SECOND_LEVEL_IRQ = 0x1E020, 0x15010
COMPUTE_ROWS = range(2, 6)
WAIT_MASK = 0x0078003C  # queue size, running, four stall bits
POLLS = 5001  # of one second
S2MM, MM2S = 0, 1
BD_BYTES, CHANNEL_BYTES = 0x20, 8
BD_BASE = {0: 0x1D000, 1: 0xA0000}  # by row
CONTROL = {0: (0x1D200, 0x1D210), 1: (0xA0600, 0xA0630)}  # by row and direction; the queue is 4 behind
STATUS = {0: (0x1D220, 0x1D228), 1: (0xA0660, 0xA0680)}
VALID = 1 << 31


class Driver:
    """The driver at one partition of an array of AIE-ML with one row of memory tiles.

    Args:
        port_file: of the server.
        columns: of the partition, which begins at column 0.
    """

    def __init__(self, port_file: Path, columns: int) -> None:
        self._client = Client(port_file, 0)
        self._columns = range(columns)
        self.sent: list[str] = []

    def close(self) -> None:
        self._client.close()

    def write32(self, address: int, value: int) -> None:
        self.sent.append(f"W {address:x} {value:x}")
        self._client.write32(address, value)

    def read32(self, address: int) -> int:
        self.sent.append(f"R {address:x}")
        return self._client.read32(address)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        """Clears the mask, but does not mask the value."""
        self.write32(address, self.read32(address) & ~mask & 0xFFFF_FFFF | value)

    def poll(self, address: int, mask: int, value: int) -> bool:
        """Read until the bits are there; one entry in ``sent``."""
        self.sent.append(f"R {address:x}")
        return self._client.mask_poll(address, mask, value, POLLS)

    @staticmethod
    def tile(column: int, row: int, offset: int = 0) -> int:
        return BASE + (column << 25 | row << 20 | offset)

    def _npi(self, *writes: tuple[int, int], poll: int) -> None:
        """Unlock, write, look, lock."""
        self._npi_lock(UNLOCK)
        for offset, value in writes:
            self.write32(NPI + offset, value)
        self.poll(NPI + poll, 0, 0)
        self._npi_lock(0)

    def _npi_lock(self, code: int) -> None:
        self.write32(NPI + NPI_LOCK, code)
        self.poll(NPI + NPI_LOCK, 0, 0)

    def _protected(self, enabled: bool) -> None:
        """Let protected registers be written, or not."""
        last = self._columns[-1]
        self._npi((NPI_PROTECTED, last << 8 | enabled), poll=NPI_PROTECTED)

    def _clocks(self, on: bool) -> None:
        for column in self._columns:
            self.mask_write32(self.tile(column, 0, CLOCK), 1, int(on))

    def _column_resets(self, on: bool) -> None:
        for column in self._columns:
            self.write32(self.tile(column, 0, COLUMN_RESET), int(on))

    def _reset_all(self) -> None:
        """Columns and interface tiles; the clocks are on afterwards."""
        self._clocks(False)
        self._column_resets(True)
        self._clocks(True)
        self._column_resets(False)
        for reset in (SHIM_RESET, 0):
            self._npi((NPI_MASK, SHIM_RESET), (NPI_RESET, reset), (NPI_MASK, 0), poll=NPI_RESET)

    def partition_initialize(self) -> None:
        """Reset all, no AXI errors into the array, clocks, isolation at the two sides, error interrupts."""
        self._protected(True)
        self._reset_all()
        for column in self._columns:
            self.write32(self.tile(column, 0, BLOCK_ERRORS), 0xC)
        self._clocks(True)
        for column in self._columns:
            west, east = column == self._columns[0], column == self._columns[-1]
            for row, offset in ((0, 0x36030), (1, 0x96030), *((row, 0x36030) for row in COMPUTE_ROWS)):
                self.write32(self.tile(column, row, offset), west << 1 | east << 3)
        for column in self._columns:
            self.write32(self.tile(column, 0, SECOND_LEVEL_IRQ), 1)
        self._protected(False)

    def partition_teardown(self) -> None:
        """Reset all, zero all memories, clocks off."""
        self._protected(True)
        self._reset_all()
        self._clocks(True)
        for column in self._columns:
            self.mask_write32(self.tile(column, 1, 0x96048), 1, 1)
            for row in COMPUTE_ROWS:
                self.mask_write32(self.tile(column, row, 0x16010), 1, 1)
                self.mask_write32(self.tile(column, row, 0x36070), 1, 1)
        self.poll(self.tile(self._columns[-1], COMPUTE_ROWS[-1], 0x36070), 1, 0)
        for column in self._columns:
            self.mask_write32(self.tile(column, 1, 0x96048), 2, 2)  # interleaving
        self._clocks(False)
        self._protected(False)

    def connect(self, column: int, row: int, master: int, slave: int, slave_number: int) -> None:
        """A circuit: the master first, with the slave's number, then the slave."""
        self.write32(self.tile(column, row, master), VALID | slave_number)
        self.write32(self.tile(column, row, slave), VALID)

    def write_bd(self, column: int, row: int, bd: int, words: Sequence[int]) -> None:
        """The words of a descriptor in ascending order, an interface tile's too."""
        for n, word in enumerate(words):
            self.write32(self.tile(column, row, BD_BASE[row] + bd * BD_BYTES + 4 * n), word)

    def push(self, column: int, row: int, direction: int, channel: int, bd: int) -> None:
        """Start a descriptor, then enable the channel: a masked write without a mask."""
        control = self.tile(column, row, CONTROL[row][direction] + channel * CHANNEL_BYTES)
        self.write32(control + 4, bd)
        self.mask_write32(control, 0, 1)

    def wait_for_done(self, column: int, row: int, direction: int, channel: int) -> bool:
        """Whether the channel came to rest within a second."""
        return self.poll(self.tile(column, row, STATUS[row][direction] + 4 * channel), WAIT_MASK, 0)
