"""The switches that broadcast events between the event units of an array, and how they are linked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from memtile.arch.register_map import tile_register
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.jit.tables import table
from memtile.model.register_tables import index_map
from memtile.model.state.columns import NONE, Ints
from memtile.model.state.events import EAST, NORTH, SIDES, SOUTH, WEST, EventUnits, Nodes
from memtile.model.state.tiles import OUTSIDE, Placed, Tiles


def nodes(
    placed: Sequence[Placed], tiles: Tiles, units: EventUnits, blocks: Sequence[Sequence[Sequence[int]]]
) -> Nodes:
    """The broadcast switches, linked: within a tile from west to east, and to the tiles around.

    Vertically, like switches are linked. The row of interface tiles passes on like the others (DEV-OBS-7).
    """
    owner = [unit for unit, rows in enumerate(blocks) for _ in rows]
    of_tile: list[list[int]] = [[] for _ in placed]
    for node, unit in enumerate(owner):
        of_tile[int(units.tile[unit])].append(node)
    places = {(p.column, p.row): tile for tile, p in enumerate(placed) if p.column != OUTSIDE}
    links = np.full((len(owner), SIDES), NONE, dtype=np.int64)
    for tile, p in enumerate(placed):
        _link_tile(links, of_tile, places, tile, p)
    tile_of = [int(units.tile[unit]) for unit in owner]
    return table(
        Nodes,
        len(owner),
        unit=owner,
        tile=tile_of,
        isolation=[
            int(tiles.register_base[tile]) + _place(placed[tile].name, "Tile_Control") for tile in tile_of
        ],
        link=links,
        first_level=_controllers(placed, tiles, of_tile, _first_level),
        second_level=_controllers(placed, tiles, of_tile, _second_level),
        block=[row for rows in blocks for row in rows] or NONE,
    )


def _controllers(
    placed: Sequence[Placed],
    tiles: Tiles,
    of_tile: Sequence[list[int]],
    registers: Callable[[Placed], Sequence[int]],
) -> list[int]:
    """Mask register of an interrupt controller at each switch, -1 = none."""
    found = [NONE for nodes_ in of_tile for _ in nodes_]
    for tile, p in enumerate(placed):
        for node, register in zip(of_tile[tile], registers(p), strict=False):
            found[node] = NONE if register == NONE else int(tiles.register_base[tile]) + register
    return found


def _first_level(p: Placed) -> list[int]:
    """Of switches A and B: among the registers of an interface tile."""
    names = [f"Interrupt_controller_1st_level_mask_{switch}" for switch in "AB"]
    return [_place(p.name, name) for name in names] if _is_interface(p.name) else []


def _second_level(p: Placed) -> list[int]:
    """Of switches A and B: the controller listens at B, next to all that comes along the row (DEV-IRQ-2)."""
    has_one = _is_interface(p.name) and p.has_dma
    return [NONE, _place(p.name, "Interrupt_controller_2nd_level_mask")] if has_one else []


def _is_interface(name: TileName) -> bool:
    return TILE_KINDS[name].role == "interface"


@cache
def _place(name: TileName, register: str) -> int:
    """Index of a register among those of a tile."""
    return int(index_map(name)[tile_register(name, register).offset // WORD_BYTES])


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
    beside = None if p.column == OUTSIDE else places.get((p.column + 1, p.row))
    if beside is not None and own and of_tile[beside]:
        first = of_tile[beside][0]
        links[own[-1], EAST], links[first, WEST] = first, own[-1]
