"""Lock ids of descriptors that mean a lock of a neighbour, where the tile's own one of that number was meant.

The DMA of a memory tile sees the locks of three tiles: those of its western neighbour first, then its own,
then those of the eastern one. An id that is the number of an own lock is so one of the western neighbour.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.windows import place_of_address, place_of_lock
from memtile.explain.bd_chains import lock_seen
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.loop.engine import Engine


class WaitingBd(NamedTuple):
    """A descriptor that waits, as the DMA of its tile sees it.

    Attributes:
        tile: model index.
        acquired: lock id.
        released: the lock id that it releases; None = none.
        address: of its buffer, in words.
    """

    tile: int
    acquired: int
    released: int | None
    address: int


@dataclass(frozen=True, slots=True)
class OtherWindow:
    """An id that a descriptor has for a lock of a neighbour.

    Attributes:
        used: the id.
        own: the one of the tile's own lock with that number.
        local: the number.
        window: ``west`` or ``east``.
    """

    used: int
    own: int
    local: int
    window: str

    def text(self, bd: int) -> str:
        """Why a descriptor waits, as the end of a sentence."""
        side = {"west": "western", "east": "eastern"}[self.window]
        return f"id {self.used} of its BD {bd} is lock {self.local} of the {side} neighbour"

    def fix(self, bd: int) -> str:
        """What would repair it."""
        return f"Give BD {bd} lock id {self.own}: lock {self.local} of its own tile."


def other_window(
    engine: Engine, bd: WaitingBd, given: Collection[int], users: Collection[tuple[int, int]]
) -> OtherWindow | None:
    """What an id means that is in the window of a neighbour; None where the own lock was not meant.

    The neighbour's lock was meant where the descriptor has its memory or its other lock there too, or where
    others than its own tile use that lock, or the one of the neighbour with the number of its other lock.

    Args:
        engine: the model.
        bd: that has the id.
        given: locks, by their index among all of the model, that are released, or that begin above 0:
            it was meant if it is one of these and the neighbour's is none.
        users: tiles whose channels take or give a lock, each with the lock, by their indices in the model.
    """
    tiles = plain(engine.spec.tiles)
    kind = TILE_KINDS[KIND_NAMES[int(tiles.kind[bd.tile])]]
    seen, lock = place_of_lock(kind, bd.acquired), lock_seen(engine, bd.tile, bd.acquired)
    if seen is None or lock is None or seen.window == "own":
        return None
    if int(tiles.lock_base[bd.tile]) + seen.local not in given:
        return None
    other = None if bd.released is None else place_of_lock(kind, bd.released)
    for each in (other, place_of_address(kind, bd.address)):
        if each is not None and each.window == seen.window:
            return None
    pair = {lock, lock if other is None else lock - seen.local + other.local}
    if any(used in pair and tile != bd.tile for tile, used in users):
        return None
    return OtherWindow(bd.acquired, kind.lock_windows["own"] + seen.local, seen.local, seen.window)
