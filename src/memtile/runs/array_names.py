"""What users call the arrays of a program: arguments, addresses, tile memories, streams, their own names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import DIRECTIONS, TILE_KINDS
from memtile.errors import InputFileError
from memtile.runs.operations import ArrayShape

Array = npt.NDArray[Any]
_NUMBER = re.compile(r"[0-9]+")
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+")
_TILE = r"(memory|compute|interface)\(([0-9]+),\s*([0-9]+)\)"
_MEMORY = re.compile(rf"{_TILE}\+(0[xX][0-9a-fA-F]+|[0-9]+)")
_STREAM = re.compile(rf"{_TILE}\s+(S2MM|MM2S)\s+([0-9]+)")
_SOURCE = "names of arrays"
_ALLOWED = (
    "an argument (0), an external address (0x100000000), a tile memory (memory(0,1)+0x0), "
    "a stream (memory(0,1) MM2S 0), or a name of your own without brackets"
)


@dataclass(frozen=True, slots=True)
class Given:
    """An input array of a program, by name."""

    name: str
    array: Array


@dataclass(frozen=True, slots=True)
class Wanted:
    """An output array of a program, by name; None = as the program defines it.

    Attributes:
        name: of the array.
        dtype: of its elements.
        shape: of the array.
        is_declared: shape and type are those of the design's text; the program may write more.
    """

    name: str
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] | None = None
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument, or an external buffer counted by address."""

    number: int


@dataclass(frozen=True, slots=True)
class Address:
    """A byte address in external memory."""

    byte: int


@dataclass(frozen=True, slots=True)
class TileMemory:
    """Data memory of a tile from byte ``offset`` on."""

    column: int
    row: int
    offset: int

    @property
    def place(self) -> tuple[int, int, int]:
        """Column, row and offset."""
        return self.column, self.row, self.offset


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream port of a channel."""

    column: int
    row: int
    direction: int
    number: int


@dataclass(frozen=True, slots=True)
class Own:
    """A name of the user's."""

    text: str


Name = Argument | Address | TileMemory | Stream | Own


def parse_name(text: str, shape: ArrayShape) -> Name:
    """What ``text`` names in an array of ``shape``.

    Raises:
        InputFileError: it is no name, or that tile is of another kind or does not have that.
    """
    if _ADDRESS.fullmatch(text):
        return Address(int(text, 16))
    if _NUMBER.fullmatch(text):
        return Argument(int(text))
    if found := _MEMORY.fullmatch(text):
        kind, column, row, offset = found.groups()
        _check_tile(text, kind, int(column), int(row), shape)
        return TileMemory(int(column), int(row), int(offset, 0))
    if found := _STREAM.fullmatch(text):
        kind, column, row, direction, number = found.groups()
        _check_tile(text, kind, int(column), int(row), shape)
        channels = TILE_KINDS[kind].channels  # type: ignore[index]
        if int(number) >= channels:
            raise _error(text, "channel", number, f"0..{channels - 1}")
        return Stream(int(column), int(row), DIRECTIONS.index(direction), int(number))
    if not text or set("()+=:") & set(text):
        raise _error(text, "name", repr(text), _ALLOWED)
    return Own(text)


def _check_tile(text: str, kind: str, column: int, row: int, shape: ArrayShape) -> None:
    there = shape.tile(column, row)
    if there != kind:
        place, size = (
            f"column {column}, row {row}",
            f"columns 0..{shape.columns - 1}, rows 0..{shape.rows - 1}",
        )
        says = f"there is no tile at {place}; the array has {size}"
        if there:
            says = f"the tile at {place} is not of kind {kind}, but of kind {there}"
        raise _error(text, "tile", f"{kind} at {place}", there or size, says)


def _error(text: str, what: str, given: str, allowed: str, says: str = "") -> InputFileError:
    return InputFileError.of(
        what, given, allowed, says, reason="array_name", where=f"array {text}", source=_SOURCE
    )
