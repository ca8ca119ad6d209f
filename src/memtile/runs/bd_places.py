"""Where a program says the descriptors that it writes: findings about them point there."""

from __future__ import annotations

from collections.abc import Iterable

from memtile.arch.tiles import TILE_KINDS
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.runs.operations import BlockWrite, locate
from memtile.sim.loop.engine import Engine


def note_bd_places(engine: Engine, writes: Iterable[BlockWrite]) -> None:
    """Note the places of descriptors that are written as a block, each in one place of the program.

    A descriptor that the design itself says keeps that place; one that the program writes in several places
    belongs to several tasks, and has none.

    Args:
        engine: the model.
        writes: blocks of the program, in any order.
    """
    tiles = plain(engine.spec.tiles)
    columns, rows = tiles.column.tolist(), tiles.row.tolist()
    at = {where: tile for tile, where in enumerate(zip(columns, rows, strict=True))}
    found: dict[tuple[int, int], set[str]] = {}
    for write in writes:
        column, row, offset = locate(write.address)
        tile = at.get((column, row), -1)
        if tile < 0 or not write.place:
            continue
        kind = TILE_KINDS[KIND_NAMES[int(tiles.kind[tile])]]
        number, inside = divmod(offset - kind.bd_base, kind.bd_stride)
        if 0 <= number < kind.bds and not inside and len(write.words) >= kind.bd_words:
            found.setdefault((tile, number), set()).add(write.place)
    for bd, places in found.items():
        if len(places) == 1:
            engine.bd_places.setdefault(bd, *places)
