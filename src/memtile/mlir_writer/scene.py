"""The module that is being written: tiles, buffers and locks as values, each with a name of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.tile import Tile
from memtile.iron.ops.attributes import DenseElementsAttr
from memtile.iron.ops.numpy_types import TYPES
from memtile.iron.ops.operation_classes import OperationOf, operation_class
from memtile.iron.ops.operations import Block, InsertionPoint, Module, Value
from memtile.iron.ops.types import MemRefType, Type
from memtile.mlir_writer.machine import ChannelWork, switch_settings
from memtile.mlir_writer.refusals import refused

Place = tuple[int, int]
WORDS = np.dtype(np.int32)
"""Of buffers whose own type MLIR does not have, or whose descriptors need words."""


class Names:
    """Gives each thing a name that MLIR and C take, and no two things the same."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, wanted: str) -> str:
        """A name like the one that is wanted."""
        plain = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_") or "unnamed"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        found, number = plain, 0
        while found in self._taken:
            number += 1
            found = f"{plain}_{number}"
        self._taken.add(found)
        return found


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A buffer of the text, and where it is.

    Attributes:
        value: the buffer.
        first: its first byte.
        nbytes: its size.
        itemsize: bytes of an element of the text.
        name: the user's.
    """

    value: Value
    first: int
    nbytes: int
    itemsize: int
    name: str


@dataclass(slots=True)
class Scene:
    """A module and what is in it so far.

    Attributes:
        array: that is written.
        module: the module.
        body: block of the device.
        names: of everything with a symbol.
        tiles: by place.
        memories: buffers by place of their tile.
        external: buffers in external memory.
        locks: by place of their tile and number.
        functions: that are declared, by name.
        queued: work that a host sequence starts.
    """

    array: Array
    module: Module
    body: Block
    names: Names = field(default_factory=Names)
    tiles: dict[Place, Value] = field(default_factory=dict)
    memories: dict[Place, list[MemoryPlace]] = field(default_factory=dict)
    external: list[MemoryPlace] = field(default_factory=list)
    locks: dict[tuple[Place, int], Value] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    queued: list[ChannelWork] = field(default_factory=list)

    @property
    def has_core_streams(self) -> bool:
        """Whether a stream leads to the core of a tile, which sees where packets and messages end."""
        found = (switch_settings(tile) for tile in self.array.tiles if tile.kind.role == "compute")
        ports = (
            port
            for each in found
            for port in (*(to for _, to in each.circuits), *(m.port for m in each.masters))
        )
        return any(port.startswith("CORE") for port in ports)

    def add(self, name: str, *given: Any, **named: Any) -> OperationOf:
        """An operation at the end of the device."""
        return operation_class(name)(*given, ip=InsertionPoint(self.body), **named)

    def buffer(self, buffer: Buffer) -> Value:
        """The value of a buffer of the design."""
        found = self.external if buffer.place is None else self.memories[buffer.place]
        return next(each.value for each in found if each.first <= buffer.offset < each.first + each.nbytes)

    def memory_at(self, tile: Tile, address: int) -> tuple[MemoryPlace, int]:
        """The buffer that a DMA of a tile sees at a byte address, and the first byte within it.

        Raises:
            DesignError: no buffer of the design is there.
        """
        if tile.kind.role == "interface":
            found, local = self.external, address
        else:
            place, local = _place_behind(tile, address)
            found = self.memories.get(place, [])
        for each in found:
            if each.first <= local < each.first + each.nbytes:
                return each, local - each.first
        raise refused(
            tile.title,
            f"a descriptor of the {tile.title} begins at byte {address:#x}, where the design has no buffer",
            "descriptors that begin in buffers",
            "Declare a buffer there.",
        )

    def lock_at(self, tile: Tile, number: int) -> Value:
        """The lock that a DMA of a tile knows by a number.

        Raises:
            DesignError: the design has none there.
        """
        kind = tile.kind
        for window, first in kind.lock_windows.items():
            place = _neighbour(tile, window)
            if first <= number < first + kind.locks and (place, number - first) in self.locks:
                return self.locks[place, number - first]
        raise refused(
            tile.title,
            f"a descriptor of the {tile.title} uses lock {number}, which the design has not declared",
            "locks that the design declares",
            "Declare it: tile.lock(initial, name, id=number).",
        )


def _neighbour(tile: Tile, window: str) -> Place:
    assert tile.place is not None
    column, row = tile.place
    return column + {"west": -1, "own": 0, "east": 1}[window], row


def _place_behind(tile: Tile, address: int) -> tuple[Place, int]:
    """The tile in whose window a byte address of a DMA is, and the byte there."""
    for window, first in tile.kind.memory_windows.items():
        if first <= address < first + tile.kind.memory_bytes:
            return _neighbour(tile, window), address - first
    raise refused(
        tile.title, f"a descriptor begins at byte {address:#x}", "bytes of memories that it reaches"
    )


def element_type(dtype: np.dtype[Any]) -> Type | None:
    """The type of MLIR that elements have; None if there is none."""
    return TYPES.get(dtype.type) if dtype.kind in "iuf" or dtype.name == "bfloat16" else None


def is_said_in(descriptor: Descriptor, itemsize: int) -> bool:
    """Whether a descriptor can be said in elements of a size.

    The innermost dimension counts elements, and smaller ones than words are moved side by side only.
    """
    if itemsize < WORD_BYTES:
        first = descriptor.dims[:1]
        return not first or first[0].step == 1 or first[0].wrap == 1
    return itemsize == WORD_BYTES


def text_dtype(buffer: Buffer, descriptors: Sequence[Descriptor]) -> np.dtype[Any]:
    """The element type that a buffer gets in the text: its own, or words where descriptors need them."""
    own = element_type(buffer.dtype) is not None
    if own and all(is_said_in(each, buffer.dtype.itemsize) for each in descriptors):
        return buffer.dtype
    return WORDS


def memref(buffer: Buffer, dtype: np.dtype[Any]) -> MemRefType:
    """The type of a buffer in the text."""
    element = element_type(dtype)
    assert element is not None
    shape = buffer.shape if dtype == buffer.dtype else (buffer.words,)
    return MemRefType(list(shape), element)


def contents(tile: Tile, buffer: Buffer, type: MemRefType, dtype: np.dtype[Any]) -> DenseElementsAttr | None:
    """What a buffer holds at the beginning; None if that is zeros."""
    data = tile.load(buffer)
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    if not raw.any():
        return None
    padded = np.zeros(prod(type.shape) * dtype.itemsize, np.uint8)
    padded[: raw.size] = raw
    return DenseElementsAttr(padded.view(dtype).reshape(type.shape), type)
