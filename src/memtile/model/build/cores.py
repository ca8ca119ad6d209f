"""The cores of a model as they are after reset, and the tiles that each of them sees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from memtile.arch.core import SIDE_STEPS, SIDES
from memtile.arch.tiles import TILE_KINDS
from memtile.model.build.rest import at_rest
from memtile.model.state.columns import NONE
from memtile.model.state.cores import Cores
from memtile.model.state.tiles import Placed


def _has_core(p: Placed) -> bool:
    return TILE_KINDS[p.name].role == "compute"


def core_reach(placed: Sequence[Placed]) -> list[list[int]]:
    """Tiles whose data memory and locks each tile's core sees, by side; -1 where there is none.

    Only compute tiles have memory that a core sees: south of the first compute row there is none (UG1603).
    """
    places = {(p.column, p.row): tile for tile, p in enumerate(placed) if _has_core(p)}
    return [_seen(tile, p, places) for tile, p in enumerate(placed)]


def _seen(tile: int, p: Placed, places: dict[tuple[int, int], int]) -> list[int]:
    if not _has_core(p):
        return [NONE] * len(SIDES)
    steps = [SIDE_STEPS[side] for side in SIDES[:-1]]
    return [*(places.get((p.column + right, p.row + up), NONE) for right, up in steps), tile]


def core_numbers(placed: Sequence[Placed]) -> list[int]:
    """Number of each tile's core, -1 where there is none."""
    counts = accumulate((_has_core(p) for p in placed), initial=0)
    return [count if _has_core(p) else NONE for p, count in zip(placed, counts, strict=False)]


def cores(placed: Sequence[Placed]) -> Cores:
    """All cores, without kernels."""
    tiles = [tile for tile, p in enumerate(placed) if _has_core(p)]
    return at_rest(Cores, len(tiles), tile=tiles)
