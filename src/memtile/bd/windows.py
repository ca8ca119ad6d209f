"""The DMA's view of memories and locks: the west, own and east windows of a memory tile (AM020 chapter 5).

Addresses and lock ids inside a descriptor are relative to these windows. ``DmaAddress`` and ``DmaLock`` keep
them apart from tile-local word addresses and lock ids for the type checker; at run time they are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NewType

from memtile.arch.tiles import MEMORY, WORD_BYTES, TileKind
from memtile.errors import DescriptorError

DmaAddress = NewType("DmaAddress", int)
"""A word address as the DMA of a tile sees it."""

DmaLock = NewType("DmaLock", int)
"""A lock id as the DMA of a tile sees it."""


class Place(NamedTuple):
    """The target of a DMA address or lock id: the window, and the address (words) or id in its tile."""

    window: str
    local: int


@dataclass(frozen=True, slots=True)
class Window:
    """One neighbour's (or the own) memory and locks as seen by the DMA of a ``kind`` tile.

    Attributes:
        kind: tile kind that owns the DMA.
        name: ``"own"``; on the memory tile also ``"west"`` or ``"east"``.
    """

    kind: TileKind
    name: str

    def address(self, word: int) -> DmaAddress:
        """The DMA address of tile-local word ``word``.

        Raises:
            DescriptorError: ``word`` is outside the tile's memory.
        """
        self._check("address", f"word {word}", word, self.words)
        return DmaAddress(self.kind.memory_windows[self.name] // WORD_BYTES + word)

    def lock(self, lock_id: int) -> DmaLock:
        """The DMA lock id of tile-local lock ``lock_id``.

        Raises:
            DescriptorError: the tile has no such lock.
        """
        self._check("lock id", f"lock {lock_id}", lock_id, self.kind.locks)
        return DmaLock(self.kind.lock_windows[self.name] + lock_id)

    @property
    def words(self) -> int:
        """Words of the window; the interface tile has no memory of its own, but the whole AXI space."""
        return self.kind.memory_words or self.kind.dma_address_words

    def _check(self, field: str, given: str, value: int, count: int) -> None:
        if not 0 <= value < count:
            raise DescriptorError.of(
                field,
                given,
                f"0..{count - 1}",
                f"the {field} is {value}, allowed are 0..{count - 1}",
                reason=field.replace(" ", "_"),
                where=f"{self.kind.title}, {self.name} window",
                source="AM020: DMA address and lock windows",
            )


OWN = Window(MEMORY, "own")
"""A memory tile's own memory and locks."""

WEST = Window(MEMORY, "west")
"""Memory and locks of the neighbour to the west."""

EAST = Window(MEMORY, "east")
"""Memory and locks of the neighbour to the east."""


def place_of_address(kind: TileKind, address: int) -> Place | None:
    """Window and tile-local word of DMA word address ``address``; ``None`` outside every window."""
    for name, first in kind.memory_windows.items():
        local = address - first // WORD_BYTES
        if 0 <= local < Window(kind, name).words:
            return Place(name, local)
    return None


def place_of_lock(kind: TileKind, lock_id: int) -> Place | None:
    """Window and tile-local id of DMA lock id ``lock_id``; ``None`` outside every window."""
    for name, first in kind.lock_windows.items():
        if 0 <= lock_id - first < kind.locks:
            return Place(name, lock_id - first)
    return None
