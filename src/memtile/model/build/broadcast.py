"""The switches that broadcast events between the event units of an array, and how they are linked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from memtile.arch.register_map import tile_register
from memtile.arch.tiles import WORD_BYTES, TileName
from memtile.jit.tables import table
from memtile.model.register_tables import index_map
from memtile.model.state.columns import NONE, Ints
from memtile.model.state.events import EAST, NORTH, SIDES, SOUTH, WEST, EventUnits, Nodes
from memtile.model.state.tiles import Placed, Tiles


def nodes(
    placed: Sequence[Placed], tiles: Tiles, units: EventUnits, blocks: Sequence[Sequence[Sequence[int]]]
) -> Nodes:
    """The broadcast switches, linked: within a tile from west to east, and to the tiles around.

    The interface row passes nothing from tile to tile (measured); vertically, like switches are linked.
    """
    owner = [unit for unit, rows in enumerate(blocks) for _ in rows]
    of_tile: list[list[int]] = [[] for _ in placed]
    for node, unit in enumerate(owner):
        of_tile[int(units.tile[unit])].append(node)
    places = {(p.column, p.row): tile for tile, p in enumerate(placed)}
    links = np.full((len(owner), SIDES), NONE, dtype=np.int64)
    for tile, p in enumerate(placed):
        _link_tile(links, of_tile, places, tile, p)
    tile_of = [int(units.tile[unit]) for unit in owner]
    return table(
        Nodes,
        len(owner),
        unit=owner,
        tile=tile_of,
        isolation=[int(tiles.register_base[tile]) + _isolation(placed[tile].name) for tile in tile_of],
        link=links,
        block=[row for rows in blocks for row in rows] or NONE,
    )


@cache
def _isolation(name: TileName) -> int:
    """Index of Tile_Control among the registers of a tile."""
    return int(index_map(name)[tile_register(name, "Tile_Control").offset // WORD_BYTES])


def _link_tile(
    links: Ints, of_tile: Sequence[list[int]], places: dict[tuple[int, int], int], tile: int, p: Placed
) -> None:
    own = of_tile[tile]
    for west, east in pairwise(own):
        links[west, EAST], links[east, WEST] = east, west
    above = places.get((p.column, p.row + 1))
    if above is not None:
        for lower, upper in zip(own, of_tile[above], strict=False):
            links[lower, NORTH], links[upper, SOUTH] = upper, lower
    beside = places.get((p.column + 1, p.row))
    if beside is not None and not p.name.startswith("interface") and own and of_tile[beside]:
        first = of_tile[beside][0]
        links[own[-1], EAST], links[first, WEST] = first, own[-1]
