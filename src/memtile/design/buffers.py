"""Buffers in a tile's data memory: a name, a place, a shape, a type, and exactly the values that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.access.element_types import amd_bits
from memtile.access.request import BYTE_BITS, WORD_BITS
from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.design.arguments import as_whole
from memtile.design.undo import Holder, undoable
from memtile.errors import DesignError, Problem, raise_if
from memtile.plain_text import printable

Array = npt.NDArray[Any]
_OTHERS = "ml_dtypes"  # a package with the types of machine learning that NumPy lacks
_PARTS_OF_BYTES = ("int4", "uint4")  # of which ml_dtypes has one in each byte, unlike a tile's memory
_NUMBERS = "biufcV"  # NumPy kinds; V = records, and types that NumPy has from others (bfloat16)


def dtype_of(given: npt.DTypeLike, where: str) -> np.dtype[Any]:
    """The element type of an array whose bytes mean something: not of objects, and not of no bytes.

    Args:
        given: anything that NumPy takes for a type; or the name of a type of the ``ml_dtypes`` package, such
            as ``"bfloat16"`` or ``"float8_e4m3fn"``.
        where: for messages.

    Raises:
        DesignError: no type, or one whose elements are no bytes of a fixed number; names a type of
            the same size.
    """
    dtype = None if isinstance(given, str) and given in _PARTS_OF_BYTES else _numpy_type(given)
    if dtype is not None and dtype.kind in _NUMBERS and not dtype.hasobject and dtype.itemsize:
        return dtype
    raise DesignError.of(
        "dtype",
        repr(given) if dtype is None else str(dtype),
        "a NumPy type of numbers",
        next_step=_instead_of(given),
        reason="dtype",
        where=where,
        source="NumPy",
    )


def _numpy_type(given: npt.DTypeLike) -> np.dtype[Any] | None:
    """The type that NumPy, or ``ml_dtypes`` of that name, has; None for neither."""
    try:
        return np.dtype(given)
    except (TypeError, ValueError):
        pass
    try:
        return np.dtype(getattr(import_module(_OTHERS), given)) if isinstance(given, str) else None
    except (AttributeError, TypeError):
        return None


def _instead_of(given: npt.DTypeLike) -> str:
    """What to do about a type that no array has."""
    bits = amd_bits(given) if isinstance(given, str) else None
    if bits is None or bits > WORD_BITS:
        return "Give one such as np.int32."
    if bits < BYTE_BITS:
        return f"NumPy has none of {bits} bits: give np.uint8 for {BYTE_BITS // bits} of them."
    same = f"np.uint{bits} and look at it with .view"
    if isinstance(given, str) and given.startswith("cint"):
        return f"Give np.int{bits // 2} with a last axis of 2."
    return (
        f"Give a type of {_OTHERS} such as float8_e4m3fn, or {same}."
        if bits == BYTE_BITS
        else f"Give {same}."
    )


def shape_of(given: object, where: str) -> tuple[int, ...]:
    """A shape of at least one dimension, each of at least one element; a number is a shape of one.

    Raises:
        DesignError: anything else.
    """
    single = not isinstance(given, Iterable) or isinstance(given, bytes | Mapping)
    sizes = [as_whole(size) for size in ((given,) if single or as_whole(given) is not None else given)]  # type: ignore[attr-defined]
    found = tuple(size for size in sizes if size is not None and size > 0)
    if found and len(found) == len(sizes):
        return found
    raise DesignError.of(
        "shape",
        repr(given),
        "whole numbers of 1 or more",
        next_step="Give one such as (8, 8).",
        reason="shape",
        where=where,
        source="NumPy shapes",
    )


def exactly(
    data: npt.ArrayLike, dtype: np.dtype[Any], where: str, shape: tuple[int, ...] | None = None
) -> Array:
    """The data as a contiguous array of ``dtype`` that holds every value exactly.

    Args:
        data: the values.
        dtype: what holds them.
        where: for messages.
        shape: what they must have; None = any.

    Raises:
        DesignError: another shape, or a value that the type does not hold.
    """
    given = np.asarray(data)
    if shape is not None and given.shape != shape:
        raise DesignError.of(
            "data",
            str(given.shape),
            str(shape),
            f"the data has shape {given.shape}; it must have {shape}",
            reason="shape",
            where=where,
            source="NumPy shapes",
        )
    with np.errstate(invalid="ignore"):  # a value that does not fit is reported below
        array = np.ascontiguousarray(given, dtype=dtype)
    if not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
        raise DesignError.of(
            "data",
            str(given.dtype),
            f"values that {dtype} holds exactly",
            f"the data is {given.dtype} with values that {dtype} does not hold exactly",
            "Convert them yourself.",
            reason="values",
            where=where,
            source="NumPy",
        )
    return array


_SOURCES = {
    "memory": "AM020 chapter 5: memory tile memory",
    "compute": "UG1603: data memory of the AI Engine",
    "interface": "AM020 chapter 6: an interface tile has no data memory",
}


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in data memory.

    Attributes:
        name: for messages and tables.
        kind: tile kind that holds it.
        offset: first byte in the tile's own memory.
        shape: NumPy shape, last dimension contiguous.
        dtype: element type.
        place: column and row of the tile in an array; None = a single tile.
        design: the design that it belongs to, which tells its buffers from those of others; None = not known.
    """

    name: str
    kind: TileKind
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    place: tuple[int, int] | None = None
    design: object = field(default=None, compare=False)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def words(self) -> int:
        """Size in 32-bit words; the last word may be partly used."""
        return -(-self.nbytes // WORD_BYTES)

    @property
    def dma_address(self) -> int:
        """First word, in the address scheme of the tile's own DMA."""
        return self.kind.own_window_words + self.offset // WORD_BYTES

    @property
    def banks(self) -> range:
        """Banks it lies in when the tile is in linear mode."""
        return range(
            self.offset // self.kind.bank_bytes, (self.offset + self.nbytes - 1) // self.kind.bank_bytes + 1
        )

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"Buffer({printable(self.name)}: {size} {self.dtype}, {self.nbytes} bytes at {self.offset:#x})"


class Reserved(NamedTuple):
    """Bytes of data memory that are not for buffers; None = at the lowest free place."""

    name: str
    nbytes: int
    at: int | None = None


class Owner(NamedTuple):
    """The tile whose buffers or locks a table has.

    Attributes:
        kind: the tile kind.
        title: the tile, for messages.
        place: column and row of the tile in an array.
        design: the design that it is part of.
    """

    kind: TileKind
    title: str
    place: tuple[int, int] | None
    design: Holder


class MemoryMap:
    """The data memory of one tile: places buffers, first fit, and refuses overlap.

    Args:
        owner: the tile.
    """

    _buffers: tuple[Buffer, ...] = undoable()

    def __init__(self, owner: Owner) -> None:
        self._kind, self._title, self._place, self._design = owner
        self.journal = owner.design.journal
        self._buffers = ()
        self.reserved: tuple[Buffer, ...] = ()

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers in the order of their places."""
        return self._buffers

    def place(
        self, name: str, shape: object, dtype: npt.DTypeLike, *, at: int | None, bank: int | None
    ) -> Buffer:
        """A new buffer at byte ``at``, or at the first free granule from ``bank`` on.

        Raises:
            DesignError: no name of its own, shape or type; it does not fit, overlaps another one, or is not
                whole words at a word address; both a byte and a bank.
        """
        where = f"{self._title}, buffer {name}"
        sizes, found = shape_of(shape, where), dtype_of(dtype, where)
        raise_if(list(self._contradictions(name, where, at, bank)), DesignError)
        buffer = self._placed(name, sizes, found, at, bank)
        self._buffers = tuple(sorted((*self._buffers, buffer), key=lambda b: b.offset))
        return buffer

    def reserve(self, pieces: Sequence[Reserved]) -> None:
        """Reserve bytes for what is no buffer, instead of those that were reserved before.

        Raises:
            DesignError: as for buffers; then all stays as it was.
        """
        before, self.reserved = self.reserved, ()
        try:
            for piece in sorted(pieces, key=lambda piece: piece.at is None):
                if piece.nbytes:
                    made = self._placed(piece.name, (piece.nbytes,), np.dtype(np.uint8), piece.at, None)
                    self.reserved = (*self.reserved, made)
        except DesignError:
            self.reserved = before
            raise

    def saved(self) -> dict[str, Any]:
        """Buffers and what is reserved, as plain data."""
        pieces = {"buffers": self._buffers, "reserved": self.reserved}
        return {
            key: [[b.name, b.offset, list(b.shape), b.dtype.str] for b in found]
            for key, found in pieces.items()
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Have what :meth:`saved` found in another memory of the same kind.

        Raises:
            DesignError: a buffer that is not whole words within the memory.
        """
        self._buffers, self.reserved = (
            tuple(
                Buffer(n, self._kind, at, tuple(shape), np.dtype(dtype), self._place, self._design)
                for n, at, shape, dtype in saved[key]
            )
            for key in ("buffers", "reserved")
        )
        raise_if([each for buffer in self._taken for each in self._misplaced(buffer)], DesignError)

    @property
    def _taken(self) -> list[Buffer]:
        """Buffers and what is reserved, in the order of their places."""
        return sorted([*self.reserved, *self._buffers], key=lambda b: b.offset)

    def _placed(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], at: int | None, bank: int | None
    ) -> Buffer:
        start = at if at is not None else self._free(prod(shape) * dtype.itemsize, bank)
        buffer = Buffer(name, self._kind, start, shape, dtype, self._place, self._design)
        raise_if(list(self._problems(buffer)), DesignError)
        return buffer

    def _contradictions(self, name: str, where: str, at: object, bank: object) -> Iterator[Problem]:
        source = _SOURCES[self._kind.role]
        for other in self._buffers:
            if other.name == name:
                yield Problem(
                    "name",
                    repr(name),
                    "a name of its own",
                    f"{other!r} has the name {name!r} already",
                    "Give this one a name of its own.",
                    reason="name_twice",
                    where=where,
                    source="results are found by name",
                )
        for argument, value in (("at", at), ("bank", bank)):
            if value is not None and as_whole(value) is None:
                yield Problem(
                    argument, repr(value), "a whole number", reason="place", where=where, source=source
                )
        if at is not None and bank is not None:
            yield Problem(
                "place",
                f"at={at} and bank={bank}",
                "one of them",
                f"both at={at} and bank={bank} say where the buffer is",
                "Leave out bank: at alone says where the buffer is.",
                reason="place",
                where=where,
                source=source,
            )

    def _free(self, nbytes: int, bank: int | None) -> int:
        """First fitting gap; the end of the last buffer when there is none."""
        start = (bank or 0) * self._kind.bank_bytes
        for buffer in self._taken:
            if buffer.offset >= start + nbytes:
                break
            start = max(start, _aligned(buffer.offset + buffer.nbytes, self._kind.granule_bytes))
        return start

    def _problems(self, buffer: Buffer) -> Iterator[Problem]:
        yield from self._misplaced(buffer)
        end = buffer.offset + buffer.nbytes
        for other in self._taken:
            if other.offset < end and buffer.offset < other.offset + other.nbytes:
                yield Problem(
                    "place",
                    f"{buffer.offset:#x}..{end - 1:#x}",
                    f"bytes that {other!r} does not take",
                    f"bytes {buffer.offset:#x}..{end - 1:#x} overlap {other!r}",
                    reason="buffer_overlap",
                    where=self._named(buffer),
                    source=_SOURCES[self._kind.role],
                )

    def _misplaced(self, buffer: Buffer) -> Iterator[Problem]:
        """Why the memory has no such buffer, whatever else is in it."""
        end, source = buffer.offset + buffer.nbytes, _SOURCES[self._kind.role]
        if buffer.nbytes % WORD_BYTES or buffer.offset % WORD_BYTES:
            yield Problem(
                "size and place",
                f"{buffer.nbytes} bytes at {buffer.offset:#x}",
                "whole 32-bit words",
                f"the buffer has {buffer.nbytes} bytes at {buffer.offset:#x}; "
                "size and place must be whole 32-bit words",
                reason="buffer_alignment",
                where=self._named(buffer),
                source=source,
            )
        if buffer.offset < 0 or end > self._kind.memory_bytes:
            yield Problem(
                "place",
                f"bytes {buffer.offset:#x}..{end - 1:#x}",
                f"0x0..{self._kind.memory_bytes - 1:#x}" if self._kind.memory_bytes else "none",
                _beyond(buffer, self._kind),
                self._left(),
                reason="buffer_fit",
                where=self._named(buffer),
                source=source,
            )

    def _named(self, buffer: Buffer) -> str:
        return f"{self._title}, buffer {buffer.name}"

    def gaps(self) -> list[tuple[int, int]]:
        """Free pieces as (first byte, bytes), in address order; each begins at a granule."""
        ends = [0, *(_aligned(b.offset + b.nbytes, self._kind.granule_bytes) for b in self._taken)]
        starts = [*(b.offset for b in self._taken), self._kind.memory_bytes]
        return [(end, start - end) for end, start in zip(ends, starts, strict=True) if start > end]

    def _left(self) -> str:
        left = self._kind.memory_bytes - sum(b.nbytes for b in self._taken)
        largest = max((size for _, size in self.gaps()), default=0)
        pieces = f", at most {largest} of them in one piece" if largest < left else ""
        return f"{left} bytes are free{pieces}."


def _beyond(buffer: Buffer, kind: TileKind) -> str:
    """The sentence about a buffer that the memory does not hold."""
    if not kind.memory_bytes:
        return f"the buffer has {buffer.nbytes} bytes, but the {kind.title} has no data memory"
    last = buffer.offset + buffer.nbytes - 1
    memory = f"0x0..{kind.memory_bytes - 1:#x}"
    return f"the buffer takes bytes {buffer.offset:#x}..{last:#x}, allowed are {memory}"


def _aligned(value: int, unit: int) -> int:
    return -(-value // unit) * unit
