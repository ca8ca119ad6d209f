"""Buffers of a plan, and who fills and empties them: kernels, and channels at the ends of nets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from types import MappingProxyType

import numpy as np

from memtile.adf.lookup import Lookup
from memtile.adf.plan import Blocks, End, Net, Plan, Tile
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.errors import DesignError

ELEMENTS: Mapping[int, type[np.unsignedinteger]] = MappingProxyType(
    {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
)
"""Types of elements by their bytes: what is moved, whatever it means."""
_SIDES = ("ping", "pong")


@dataclass(frozen=True, slots=True)
class Mover:
    """A DMA channel that fills or empties buffers: one end of a net.

    Attributes:
        net: the net.
        end: its end.
        receives: it is a target, whose channel writes buffers.
    """

    net: Net
    end: End
    receives: bool


User = int | Mover
"""Who uses buffers: a kernel's port by its id, or a channel."""


@dataclass(slots=True)
class Pool:
    """Buffers, and who uses them.

    Attributes:
        name: of the port or memory object that they belong to.
        blocks: where they are.
        shape: of the elements in each, without the margin.
        element_bytes: of each.
        margin: bytes before the elements.
        initial: what is in them before the graph runs.
        writers: who fills parts of each.
        readers: who reads each.
        buffers: first pieces, in bytes; all of a buffer that is in one tile.
        rest: of a buffer that goes on in the eastern tile, that piece.
    """

    name: str
    blocks: Blocks
    shape: tuple[int, ...]
    element_bytes: int
    margin: int = 0
    initial: bytes = b""
    writers: list[User] = field(default_factory=list)
    readers: list[User] = field(default_factory=list)
    buffers: tuple[Buffer, ...] = ()
    rest: tuple[Buffer | None, ...] = ()

    @property
    def data(self) -> tuple[Buffer, ...]:
        """The buffers without margins, in the shape and with the elements of the port."""
        dtype = np.dtype(ELEMENTS[self.element_bytes])
        return tuple(
            replace(each, offset=each.offset + self.margin, shape=self.shape, dtype=dtype)
            for each in self.buffers
        )

    def declare(self, array: Array) -> None:
        """Take the bytes of the buffers in their tiles.

        Raises:
            DesignError: elements of another size than a word has parts, a margin of no whole words, or bytes
                that are taken.
        """
        if self.element_bytes not in ELEMENTS:
            raise DesignError.of(
                "element",
                f"{self.element_bytes} bytes",
                f"{', '.join(map(str, ELEMENTS))} bytes",
                reason="adf_element",
                where=self.name,
                source="AM020: 32-bit words",
            )
        if self.margin % WORD_BYTES:
            raise DesignError.of(
                "margin",
                f"{self.margin} bytes",
                "whole 32-bit words, as a DMA fills the buffer behind it",
                next_step=f"Make it a multiple of {WORD_BYTES // self.element_bytes} elements.",
                reason="adf_margin",
                where=self.name,
                source="AM020: 32-bit words",
            )
        tiles = self.blocks.tiles or (self.blocks.tile,) * len(self.blocks.offsets)
        names = [self.name] if len(tiles) == 1 else [f"{self.name} {side}" for side in _SIDES]
        pieces = [
            _pieces(array, name, tile, offset, self.blocks.nbytes)
            for name, tile, offset in zip(names, tiles, self.blocks.offsets, strict=True)
        ]
        self.buffers, self.rest = tuple(p[0] for p in pieces), tuple(p[1] for p in pieces)
        if self.initial:
            self.store(array, self.initial)

    def store(self, array: Array, data: bytes) -> None:
        """Put the same bytes into all buffers, as a host does."""
        words = np.zeros(-(-self.blocks.nbytes // WORD_BYTES), np.uint32)
        words.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
        for buffer, rest in zip(self.buffers, self.rest, strict=True):
            for piece, part in ((buffer, words[: buffer.words]), (rest, words[buffer.words :])):
                if piece is not None:
                    assert piece.place is not None
                    array.tile(*piece.place).store(piece, part)


def _pieces(array: Array, name: str, at: Tile, offset: int, nbytes: int) -> tuple[Buffer, Buffer | None]:
    """A buffer; one that ends beyond its memory tile goes on in the eastern one (UG1603, up to 1 MB)."""
    tile, words = array.tile(*at), -(-nbytes // WORD_BYTES)
    room = (tile.kind.memory_bytes - offset) // WORD_BYTES
    if words <= room or tile.kind.role != "memory":
        return tile.buffer(name, words, np.uint32, at=offset), None
    east = array.tile(at[0] + 1, at[1])
    rest = east.buffer(f"{name} (second part)", words - room, np.uint32, at=0)
    return tile.buffer(name, room, np.uint32, at=offset), rest


class Pools:
    """The buffers of all nets of a plan.

    Args:
        plan: where everything goes.
        lookup: of its description.

    Attributes:
        memories: those of shared buffers, by id.
    """

    def __init__(self, plan: Plan, lookup: Lookup) -> None:
        self._lookup = lookup
        self._planned = {each.memory: each for each in plan.memories}
        self._pools: dict[tuple[Tile, tuple[int, ...]], Pool] = {}
        self.memories: dict[int, Pool] = {}
        for net in plan.nets:
            self._claim(net)

    def __iter__(self) -> Iterator[Pool]:
        return iter(self._pools.values())

    def place_of(self, mover: Mover) -> Tile:
        """The tile whose DMA a mover is: of a kernel's buffer, the one that has the buffer."""
        blocks = self._blocks(mover.end)
        is_memory = self._lookup.memory_at(mover.end.port) is not None
        return mover.end.tile if is_memory or blocks is None else blocks.tile

    def _claim(self, net: Net) -> None:
        """Find the buffers at both ends of a net, and who uses them."""
        if net.transport == "memory":
            self._claim_shared(net)
            return
        for ends, is_target in ((net.sources, False), (net.targets, True)):
            for end in ends:
                blocks = self._blocks(end)
                if blocks is not None:
                    pool = self._pool(end, blocks)
                    (pool.writers if is_target else pool.readers).append(Mover(net, end, is_target))
                    self._add_kernel(pool, end.port, writes=not is_target)

    def _claim_shared(self, net: Net) -> None:
        """Buffers that kernels at both ends reach: those of the target, or else of the source."""
        (source,) = net.sources
        for target in net.targets:
            blocks = target.blocks or source.blocks
            assert blocks is not None
            pool = self._pool(target if target.blocks else source, blocks)
            self._add_kernel(pool, source.port, writes=True)
            self._add_kernel(pool, target.port, writes=False)

    def _add_kernel(self, pool: Pool, port: int, *, writes: bool) -> None:
        users = pool.writers if writes else pool.readers
        if self._lookup.kernel_at(port) is not None and port not in users:
            users.append(port)

    def _blocks(self, end: End) -> Blocks | None:
        """Buffers at an end; of a memory object its own."""
        memory = self._lookup.memory_at(end.port)
        return end.blocks if memory is None else self._planned[memory.id].blocks

    def _pool(self, end: End, blocks: Blocks) -> Pool:
        key = blocks.tile, (*blocks.offsets, *(n for tile in blocks.tiles for n in tile))
        if key not in self._pools:
            self._pools[key] = self._new_pool(end, blocks)
        return self._pools[key]

    def _new_pool(self, end: End, blocks: Blocks) -> Pool:
        memory, port = self._lookup.memory_at(end.port), self._lookup.ports[end.port]
        if memory is not None:
            shape, initial = tuple(reversed(memory.dimensions)), bytes.fromhex(memory.initial)
            made = Pool(memory.name, blocks, shape, memory.element_bytes, initial=initial)
            self.memories[memory.id] = made
            return made
        element = port.element_bytes or 1
        elements = blocks.nbytes // element - port.margin
        is_whole = bool(port.dimensions) and prod(port.dimensions) == elements
        shape = tuple(reversed(port.dimensions)) if is_whole else (elements,)
        return Pool(port.name, blocks, shape, element, margin=port.margin * element)
