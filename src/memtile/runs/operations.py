"""Register accesses as data: what transactions, CDO files and register dumps all say, in one form.

Addresses are absolute byte addresses of the array, ``column << 25 | row << 20 | offset`` (AM020).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, Self

from memtile.arch.devices import DEVICES, INTERFACE_ROWS, Device
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import (
    COLUMN_SHIFT,
    ROW_SHIFT,
    TILE_BYTES,
    WORD_BYTES,
    Generation,
    Role,
    TileKind,
    TileName,
    kind_of,
)

WORD_MAX = (1 << WORD_BITS) - 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a program.

    Attributes:
        place: position in the file; ignored by equality.
        firmware: the firmware beside the array carries it out, as it does transactions; likewise.
    """

    place: str = field(default="", compare=False, kw_only=True)
    firmware: bool = field(default=False, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Write(Operation):
    """Write one 32-bit word."""

    address: int
    value: int


@dataclass(frozen=True, slots=True)
class BlockWrite(Operation):
    """Write consecutive 32-bit words."""

    address: int
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MaskWrite(Operation):
    """Replace the bits of ``mask`` by those of ``value``."""

    address: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class MaskPoll(Operation):
    """Wait until ``word & mask == value``; ``busy`` only distinguishes two encodings."""

    address: int
    mask: int
    value: int
    busy: bool = False


@dataclass(frozen=True, slots=True)
class Other(Operation):
    """A step that is no register access.

    Attributes:
        name: as AMD's tools call it.
        payload: all bytes of the operation as the file has them.
        details: named numbers found in it.
        acts: whether leaving it out would change what the program does.
    """

    name: str
    payload: bytes
    details: tuple[tuple[str, int], ...] = ()
    acts: bool = True


class Location(NamedTuple):
    """Where an absolute address leads: tile coordinates and the byte offset in the tile."""

    column: int
    row: int
    offset: int


class Word(NamedTuple):
    """One register word that an operation writes: the bits of ``mask`` become those of ``value``."""

    address: int
    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """How many columns and rows there are; row 0 holds interface tiles, then come the memory tiles.

    Attributes:
        columns: of the array.
        rows: all rows.
        memory_tile_rows: rows of memory tiles.
        without_dma: columns whose interface tile is known to have no DMA.
        generation: whose registers its tiles have.
    """

    columns: int
    rows: int
    memory_tile_rows: int
    without_dma: tuple[int, ...] = ()
    generation: Generation = "AIE-ML"

    @classmethod
    def of(cls, device: Device, columns: int | None = None) -> Self:
        """The shape of a device as a design sees it, or of its first columns."""
        seen = range(device.columns if columns is None else columns)
        without_dma = tuple(column for column in seen if not device.has_interface_dma(column))
        return cls(len(seen), device.rows, device.memory_tile_rows, without_dma, device.generation)

    @classmethod
    def sized(cls, columns: int, rows: int, memory_tile_rows: int, generation: Generation = "AIE-ML") -> Self:
        """Return the shape of that size; as part of a larger device it might begin at any column.

        Args:
            columns: of the array.
            rows: of the array, all kinds of tiles.
            memory_tile_rows: how many of them are memory tiles.
            generation: whose registers its tiles have.
        """
        whole = (cls.of(device) for device in DEVICES.values() if device.generation == generation)
        size = cls(columns, rows, memory_tile_rows, generation=generation)
        return next((shape for shape in whole if replace(shape, without_dma=()) == size), size)

    def tile(self, column: int, row: int) -> TileName | None:
        """Kind of the tile at ``(column, row)``; None where there is none."""
        kind = self.kind(column, row)
        return kind.name if kind else None

    def kind(self, column: int, row: int) -> TileKind | None:
        """The tile at ``(column, row)``; None where there is none."""
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            return None
        role: Role = "compute"
        if row < INTERFACE_ROWS + self.memory_tile_rows:
            role = "interface" if row < INTERFACE_ROWS else "memory"
        return kind_of(self.generation, role)

    @property
    def compute_rows(self) -> range:
        """Rows of compute tiles."""
        return range(INTERFACE_ROWS + self.memory_tile_rows, self.rows)

    def has_dma(self, column: int, row: int) -> bool:
        """Whether the tile at ``(column, row)`` has a DMA, as far as the shape knows."""
        return row >= INTERFACE_ROWS or column not in self.without_dma


@lru_cache(maxsize=1 << 14)
def locate(address: int) -> Location:
    """Tile and offset of an absolute byte address."""
    column, rest = divmod(address, 1 << COLUMN_SHIFT)
    return Location(column, rest >> ROW_SHIFT, rest % TILE_BYTES)


def address_of(column: int, row: int, offset: int = 0) -> int:
    """Absolute byte address of byte ``offset`` of the tile at ``(column, row)``."""
    return column << COLUMN_SHIFT | row << ROW_SHIFT | offset


def addresses_written(operation: Operation) -> Sequence[int]:
    """The addresses of the words that an operation writes, in order."""
    match operation:
        case Write(address) | MaskWrite(address):
            return (address,)
        case BlockWrite(address, words):
            return range(address, address + len(words) * WORD_BYTES, WORD_BYTES)
        case _:
            return ()


def words_written(operation: Operation) -> Iterator[Word]:
    """The words that an operation writes, in order; none for polls and operations that write nothing."""
    match operation:
        case Write(address, value):
            yield Word(address, value, WORD_MAX)
        case MaskWrite(address, mask, value):
            yield Word(address, value, mask)
        case BlockWrite(address, words):
            for index, value in enumerate(words):
                yield Word(address + index * WORD_BYTES, value, WORD_MAX)
