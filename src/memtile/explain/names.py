"""Names of channels, as results, messages and designs have them."""

from __future__ import annotations

from memtile.arch.tiles import DIRECTIONS, TILE_KINDS
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.engine import Engine


def channel_name(engine: Engine, ch: int) -> str:
    """``S2MM 0`` to ``MM2S 5``; in a model of several tiles after the tile, ``memory(0,1) MM2S 5``."""
    c, tiles = engine.state.channels, engine.spec.tiles
    port = f"{DIRECTIONS[c.direction[ch]]} {c.number[ch]}"
    if len(tiles.kind) == 1:
        return port
    tile = int(c.tile[ch])
    kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
    return f"{kind.name}({tiles.column[tile]},{tiles.row[tile]}) {port}"
