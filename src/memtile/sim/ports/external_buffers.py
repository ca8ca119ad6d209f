"""External memory: named buffers behind the interface tiles, NumPy arrays or files, at 48-bit byte addresses.

The engine reads and writes the arrays and mapped files themselves, whatever their size: nothing is copied,
and what a run has written can be seen while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import eq
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import EXTERNAL_PAGE, INTERFACE, WORD_BYTES
from memtile.bd.windows import DmaAddress
from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.model.state.dma import RegionColumns
from memtile.model.state.state import State

Array = npt.NDArray[Any]
_END = INTERFACE.dma_address_words * WORD_BYTES
_SOURCE = "AM025 DMA_BDn_1 and DMA_BDn_2 of the interface tile"
_NUMBERS = "biufcV"  # NumPy kinds; V = bytes, and types that NumPy has from others (bfloat16)


@dataclass(frozen=True, slots=True)
class ExternalBuffer:
    """A buffer in external memory.

    Attributes:
        name: unique within the engine.
        address: byte address, a multiple of 4.
        array: its contents, C-contiguous; of any shape and dtype.
        writable: False: a write gets an AXI slave error.
    """

    name: str
    address: int
    array: Array = field(repr=False, compare=False)
    writable: bool

    @property
    def words(self) -> int:
        """Length in 32-bit words."""
        return self.array.nbytes // WORD_BYTES

    @property
    def end(self) -> int:
        """Byte address behind the last word."""
        return self.address + self.array.nbytes

    def at(self, word: int = 0) -> DmaAddress:
        """Word address of the buffer's word ``word``, as interface tile descriptors want it.

        Raises:
            DesignError: the buffer has no such word.
        """
        if not 0 <= word < self.words:
            raise DesignError(_problem("external_word", self.name, "word", str(word), f"0..{self.words - 1}"))
        return DmaAddress(self.address // WORD_BYTES + word)


def _home(buffer: ExternalBuffer) -> int:
    """Address of the buffer's first byte in this process; it stays, as the buffer holds its array."""
    return int(buffer.array.__array_interface__["data"][0])


def _problem(reason: str, name: str, what: str, given: str, allowed: str, says: str = "") -> Problem:
    return Problem(what, given, allowed, says, reason=reason, where=f"external buffer {name}", source=_SOURCE)


def has_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether elements are numbers, or records of them: no references, which a DMA would break, no texts."""
    if dtype.fields is not None:
        return all(has_numbers(field[0]) for field in dtype.fields.values())
    return dtype.kind in _NUMBERS if dtype.subdtype is None else has_numbers(dtype.base)


class ExternalMemory:
    """The external buffers of an engine."""

    def __init__(self) -> None:
        self._buffers: dict[str, ExternalBuffer] = {}
        self._shown: State | None = None  # that was brought in line last, while the buffers are the same

    @property
    def buffers(self) -> Mapping[str, ExternalBuffer]:
        """All buffers by name."""
        return MappingProxyType(self._buffers)

    def add(self, name: str, array: Array, address: int | None = None) -> ExternalBuffer:
        """Let the interface tiles reach an array; runs change it in place.

        Args:
            name: of the buffer.
            array: whole words, C-contiguous; read-only arrays become read-only memory.
            address: byte address; the next free page if omitted.

        Raises:
            DesignError: a name used twice, elements that are no numbers, no whole words, an address that is
                unaligned, beyond 48 bits or within another buffer; all problems at once.
        """
        at = self._free() if address is None else address
        buffer = ExternalBuffer(name, at, array, bool(array.flags.writeable))
        raise_if(list(self._faults(buffer)), DesignError)
        self._buffers[name], self._shown = buffer, None
        return buffer

    def drop(self, name: str) -> None:
        """Take a buffer away, if there is one of this name; nothing answers there then."""
        self._buffers.pop(name, None)
        self._shown = None

    def add_file(
        self,
        name: str,
        path: Path | str,
        dtype: npt.DTypeLike = np.uint32,
        *,
        writable: bool = True,
        address: int | None = None,
    ) -> ExternalBuffer:
        """Let the interface tiles reach a file by memory map; whoever else maps it sees what is written.

        Args:
            name: of the buffer.
            path: an existing file of whole words.
            dtype: of the elements of ``array``.
            writable: False opens the file read-only.
            address: byte address; the next free page if omitted.

        Raises:
            InputFileError: the file cannot be opened or mapped.
            DesignError: as for :meth:`add`.
        """
        try:
            mapped = np.memmap(path, dtype=dtype, mode="r+" if writable else "r")
        except (OSError, ValueError) as error:
            raise InputFileError(f"{path}: the file cannot be mapped: {error}.") from None
        return self.add(name, mapped, address)

    def shown_to(self, st: State) -> State:
        """The state in which the interface tiles reach all buffers; the same one if they do already."""
        if st is not self._shown:
            self._shown = self._in_line(st)
        return self._shown

    def _in_line(self, st: State) -> State:
        buffers = self._buffers.values()
        if len(buffers) == len(st.region_homes) and all(map(eq, map(_home, buffers), st.region_homes)):
            return st
        regions = np.zeros((len(buffers), len(RegionColumns)), dtype=np.int64)
        regions[:, RegionColumns.FIRST] = [buffer.at() for buffer in buffers]
        regions[:, RegionColumns.WORDS] = [buffer.words for buffer in buffers]
        regions[:, RegionColumns.WRITABLE] = [buffer.writable for buffer in buffers]
        return st._replace(regions=regions, region_homes=np.array([*map(_home, buffers)], dtype=np.int64))

    def _free(self) -> int:
        """The first page behind all buffers; page 0 stays empty, so that address 0 is never a buffer."""
        last = max((buffer.end for buffer in self._buffers.values()), default=1)
        return -(-last // EXTERNAL_PAGE) * EXTERNAL_PAGE

    def _faults(self, new: ExternalBuffer) -> Iterator[Problem]:
        size, flags = new.array.nbytes, new.array.flags
        if new.name in self._buffers:
            says = "another external buffer has this name already"
            yield _problem("external_name", new.name, "name", "used twice", "a name of its own", says)
        if not has_numbers(new.array.dtype):
            given, allowed = str(new.array.dtype), "numbers, or records of numbers"
            says = f"the elements of the array are {given}; they must be {allowed}"
            yield _problem("external_dtype", new.name, "array", given, allowed, says)
        if size == 0 or size % WORD_BYTES:
            says = f"the array has {size} bytes; it must have whole 32-bit words, at least one"
            yield _problem("external_size", new.name, "size", f"{size} bytes", "whole 32-bit words", says)
        if not flags.c_contiguous:
            says = "the array is not contiguous in C order"
            yield _problem(
                "external_layout", new.name, "array", "not contiguous", "a C-contiguous array", says
            )
        if new.address % WORD_BYTES or not 0 <= new.address <= _END - size:
            allowed = f"a multiple of {WORD_BYTES:#x} in 0x0..{_END - size:#x}"
            yield _problem("external_address", new.name, "address", hex(new.address), allowed)
        for other in self._buffers.values():
            if new.address < other.end and other.address < new.end:
                given = f"{new.address:#x}..{new.end - 1:#x}"
                taken = f"{other.address:#x}..{other.end - 1:#x}"
                says = f"bytes {given} overlap {other.name}, which has {taken}"
                allowed = f"outside {other.name}, {taken}"
                yield _problem("external_overlap", new.name, "address", given, allowed, says)
