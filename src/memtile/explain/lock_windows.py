"""Lock ids of descriptors that mean a lock of a neighbour, where the tile's own one of that number was meant.

The DMA of a memory tile sees the locks of three tiles: those of its western neighbour first, then its own,
then those of the eastern one. An id that is the number of an own lock is so one of the western neighbour.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.windows import place_of_lock
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.loop.engine import Engine


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


def other_window(engine: Engine, tile: int, used: int, given: Collection[int]) -> OtherWindow | None:
    """What an id means that is in the window of a neighbour; None where the own lock was not meant.

    Args:
        engine: the model.
        tile: model index of the one whose DMA has the id.
        used: the id.
        given: locks, by their index among all of the model, that somebody releases, or that begin above 0:
            it was meant if it is one of these and the neighbour's is none.
    """
    tiles = plain(engine.spec.tiles)
    kind = TILE_KINDS[KIND_NAMES[int(tiles.kind[tile])]]
    seen = place_of_lock(kind, used)
    if seen is None or seen.window == "own":
        return None
    if int(tiles.lock_base[tile]) + seen.local not in given:
        return None
    return OtherWindow(used, kind.lock_windows["own"] + seen.local, seen.local, seen.window)
