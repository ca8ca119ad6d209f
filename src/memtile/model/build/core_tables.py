"""The cores of a model as they are after reset, and the tiles that each of them sees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from memtile.arch.core import CASCADE_STEPS, SIDE_STEPS, SIDES
from memtile.arch.ports import PORTS
from memtile.arch.tiles import TILE_KINDS
from memtile.model.build.rest import at_rest
from memtile.model.state.columns import NONE
from memtile.model.state.core_columns import Cascades, Cores
from memtile.model.state.tile_columns import Placed, Tiles

_STREAM = "CORE0"  # port of the stream switch, on both of its sides


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


def cores(placed: Sequence[Placed], tiles: Tiles) -> Cores:
    """All cores, without kernels."""
    found = [tile for tile, p in enumerate(placed) if _has_core(p)]
    ports = {tile: PORTS[placed[tile].name] for tile in found}
    return at_rest(
        Cores,
        len(found),
        tile=found,
        stream_in=[tiles.master_base[tile] + ports[tile].master(_STREAM) for tile in found],
        stream_out=[tiles.slave_base[tile] + ports[tile].slave(_STREAM) for tile in found],
    )


def cascades(placed: Sequence[Placed]) -> Cascades:
    """The cascades of all cores, empty; south of the first compute row there is no core."""
    found = [p for p in placed if _has_core(p)]
    numbers = {(p.column, p.row): core for core, p in enumerate(found)}
    beside = {
        side: [numbers.get((p.column + right, p.row + up), NONE) for p in found]
        for side, (right, up) in CASCADE_STEPS.items()
    }
    return at_rest(Cascades, len(found), **beside)
