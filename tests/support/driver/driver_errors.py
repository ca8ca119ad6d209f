"""What AMD's driver does with errors, access by access: it routes them to an interrupt and tracks them back.

Written from the open driver (XAie_ErrorHandlingInit, XAie_DisableErrorInterrupts, XAie_ClearErrorInterrupts,
XAie_BacktrackErrorInterrupts), with its own numbers, so that the tables of the package prove nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

ERRORS = 0  # broadcast channel
SHIM_ERRORS = 1 << 16  # first event of the tile itself, as bit of the first level
L1_A, L1_B, L2 = 0x35000, 0x35030, 0x15000
ENABLE, DISABLE, STATUS, NUMBER, EVENT, BLOCK_NORTH = 0x4, 0x8, 0xC, 0x10, 0x14, 0x18
ALL_L2 = 0x3F
SOUTH, WEST, NORTH, EAST = (n * 0x10 for n in range(4))


class Module(NamedTuple):
    """Where a module keeps what error handling touches: bytes, and event numbers."""

    name: str
    group: int  # enable register of its group of errors
    group_event: int
    first_error: int
    mask: int  # errors that the driver takes for fatal
    events: int  # block of the event unit
    broadcast: int  # event of channel 0


MEMORY_TILE = Module("memory_tile", 0x94518, 128, 129, 0x7FA, 0x94000, 142)
MEMORY = Module("memory", 0x14514, 86, 87, 0x7FFA, 0x14000, 107)
CORE = Module("core", 0x34510, 46, 48, 0x1CF5F80, 0x34000, 107)
SHIM = Module("pl", 0x3450C, 63, 64, 0x7FF, 0x34000, 110)


class Target(Protocol):
    """Something that answers at offsets ``column << 25 | row << 20 | register``."""

    def write32(self, address: int, value: int) -> None: ...
    def mask_write32(self, address: int, mask: int, value: int) -> None: ...
    def read32(self, address: int) -> int: ...


class Found(NamedTuple):
    """An error that was tracked back."""

    column: int
    row: int
    module: str
    event: int


class ErrorHandling:
    """The driver's error handling of a partition.

    Args:
        target: the array.
        rows: its height.
        memory_rows: rows of memory tiles.
        noc: columns whose interface tile has a second-level controller.
        numbers: channel that switch A of each column raises; switch B raises the next one.
    """

    def __init__(
        self,
        target: Target,
        rows: int,
        memory_rows: range,
        noc: Sequence[int],
        numbers: Sequence[int],
    ) -> None:
        self._target, self._columns, self._rows = target, len(numbers), rows
        self._memory_rows, self._noc, self._numbers = memory_rows, noc, numbers

    @staticmethod
    def at(column: int, row: int, offset: int) -> int:
        return column << 25 | row << 20 | offset

    def initialise(self) -> None:
        """XAie_ErrorHandlingInit."""
        for column in range(self._columns):
            for row in range(1, self._rows):
                self._block_tile(column, row)
            self._initialise_shim(column)
        for column in range(self._columns):
            for row in range(1, self._rows):
                for module in self._modules(row):
                    self._write(column, row, module.group, module.mask)
                    self._write(column, row, module.events + 0x10 + 4 * ERRORS, module.group_event)
            self._write(column, 0, SHIM.group, SHIM.mask)
            event = self.at(column, 0, L1_A + EVENT)
            self._target.mask_write32(event, 0x7F, SHIM.group_event)
        for column in range(self._columns):  # cores halt on errors
            for row in range(self._memory_rows.stop, self._rows):
                self._write(column, row, 0x32034, CORE.group_event)

    def _modules(self, row: int) -> tuple[Module, ...]:
        if row == 0:
            return (SHIM,)
        return (MEMORY_TILE,) if row in self._memory_rows else (MEMORY, CORE)

    def _write(self, column: int, row: int, offset: int, value: int) -> None:
        self._target.write32(self.at(column, row, offset), value)

    def _read(self, column: int, row: int, offset: int) -> int:
        return self._target.read32(self.at(column, row, offset))

    def _block_tile(self, column: int, row: int) -> None:
        """To the south alone."""
        switches = [0x94050, 0x94090] if row in self._memory_rows else [0x34050, 0x14050]
        for switch in switches:
            for side in (NORTH, EAST, WEST):
                self._write(column, row, switch + side, 1 << ERRORS)

    def _initialise_shim(self, column: int) -> None:
        number = self._numbers[column]
        for switch in (L1_A, L1_B):
            self._write(column, 0, switch + BLOCK_NORTH, 1 << ERRORS)
        for switch, bits in ((L1_A, 1 << ERRORS), (L1_B, 1 << ERRORS), (L1_A, SHIM_ERRORS)):
            self._write(column, 0, switch + ENABLE, bits)
        self._write(column, 0, L1_A + NUMBER, number)
        self._write(column, 0, L1_B + NUMBER, number + 1)
        a, b = 0x34050, 0x34090
        last = not any(noc > column for noc in self._noc)
        if column in self._noc:
            here = ALL_L2 if last else (1 << number + 2) - 1
            for side in (SOUTH, WEST, NORTH, EAST):
                self._write(column, 0, b + side, here)
            self._write(column, 0, L2 + ENABLE, ALL_L2)
        else:
            for side in (NORTH, SOUTH, EAST if last else WEST):
                self._write(column, 0, b + side, 1 << number + 1)
        closed = (NORTH, SOUTH, EAST if last and column not in self._noc else WEST)
        for side in closed:
            self._write(column, 0, a + side, 1 << number)

    def handle(self) -> tuple[dict[int, int], list[Found]]:
        """The interrupt handler: second-level status by column, and the errors behind it, tracked back."""
        pending = {}
        for column in self._noc:
            status = self._read(column, 0, L2 + STATUS)
            if status:
                self._write(column, 0, L2 + DISABLE, status)
                self._write(column, 0, L2 + STATUS, status)
                pending[column] = status
        found = list(self._track_back())
        return pending, found

    def _track_back(self) -> Iterator[Found]:
        for noc in self._noc:
            off = ~self._read(noc, 0, L2) & ALL_L2
            if off == 0:
                continue
            for index in (n for n in range(6) if off >> n & 1):
                column, switch = self._behind(noc, index)
                yield from self._first_level(column, switch)
            self._write(noc, 0, L2 + ENABLE, off)

    def _behind(self, noc: int, index: int) -> tuple[int, int]:
        """Column and switch of a channel of the second-level controller."""
        sharing = (column for column in range(self._columns) if self._goes_to(column) == noc)
        return next(column for column in sharing if self._numbers[column] == index & ~1), index & 1

    def _goes_to(self, column: int) -> int:
        later = [noc for noc in self._noc if noc >= column]
        return later[0] if later else self._noc[-1]

    def _first_level(self, column: int, switch: int) -> Iterator[Found]:
        controller = L1_B if switch else L1_A
        status = self._read(column, 0, controller + STATUS)
        if status & SHIM_ERRORS:
            self._write(column, 0, controller + STATUS, SHIM_ERRORS)
            yield from self._tile(column, 0, SHIM)
        if not status & 1 << ERRORS:
            return
        self._write(column, 0, controller + STATUS, 1 << ERRORS)
        for row in self._memory_rows:
            yield from self._tile(column, row, MEMORY_TILE)
            self._clear(column, row, MEMORY_TILE, MEMORY_TILE.broadcast)
        module = MEMORY if switch else CORE
        for row in range(self._memory_rows.stop, self._rows):
            yield from self._tile(column, row, module)
            if not self._happened(column, row, module, module.broadcast):
                return
            self._clear(column, row, module, module.broadcast)

    def _tile(self, column: int, row: int, module: Module) -> Iterator[Found]:
        if module is SHIM:
            group = self._read(column, 0, L1_A + EVENT) & 0xFF
        else:
            group = self._read(column, row, module.events + 0x10 + 4 * ERRORS)
        if not self._happened(column, row, module, group):
            return
        enabled = left = self._read(column, row, module.group)
        for n in (n for n in range(32) if enabled >> n & 1):
            if self._happened(column, row, module, module.first_error + n):
                left &= ~(1 << n)
                yield Found(column, row, module.name, module.first_error + n)
        self._write(column, row, module.group, left)
        self._clear(column, row, module, group)

    def _happened(self, column: int, row: int, module: Module, event: int) -> bool:
        return bool(self._read(column, row, module.events + 0x200 + event // 32 * 4) >> event % 32 & 1)

    def _clear(self, column: int, row: int, module: Module, event: int) -> None:
        self._write(column, row, module.events + 0x200 + event // 32 * 4, 1 << event % 32)
