"""Names of one model for another one that stands for the same array: tiles are matched by their places."""

from __future__ import annotations

from memtile.explain.lock_waits import owner
from memtile.jit.tables import plain
from memtile.sim.loop.engine import Engine


def named_tiles(engine: Engine, design: Engine) -> dict[int, int]:
    """By tile of a design the tile of another model at the same place; model indices."""
    here = {place: tile for tile, place in enumerate(_places(engine))}
    return {tile: here[place] for tile, place in enumerate(_places(design)) if place in here}


def named_channels(engine: Engine, design: Engine) -> dict[int, int]:
    """By channel of a design the channel of another model at the same place; model indices."""
    tiles = named_tiles(engine, design)
    own, its = plain(engine.spec.tiles).channel_base, plain(design.spec.tiles).channel_base
    of = enumerate(design.channels.tile.tolist())
    return {ch: ch - int(its[tile]) + int(own[tiles[tile]]) for ch, tile in of if tile in tiles}


def take_names(engine: Engine, design: Engine) -> None:
    """Call locks, channels, descriptors and the programs of cores as a design does.

    Args:
        engine: that gets the names.
        design: that has them; it may have fewer columns.
    """
    tiles = named_tiles(engine, design)
    own = plain(engine.spec.tiles)
    for lock, name in design.lock_names.items():
        tile, number = owner(design, lock)
        if tile in tiles:
            mine = int(own.lock_base[tiles[tile]]) + number
            engine.lock_names[mine] = name
            if lock in design.fifo_locks:
                engine.fifo_locks[mine] = design.fifo_locks[lock]
    channels = named_channels(engine, design)
    engine.channel_names.update(
        {channels[ch]: name for ch, name in design.channel_names.items() if ch in channels}
    )
    for (tile, bd), said in design.bd_places.items():
        if tile in tiles:
            engine.bd_places[tiles[tile], bd] = said
    for core, running in design.cores.running.items():
        tile = tiles.get(int(plain(design.state.cores).tile[core]), -1)
        kernel = engine.cores.running.get(int(own.core[tile])) if tile >= 0 else None
        if kernel is not None:
            kernel.kernel = running.kernel


def _places(engine: Engine) -> list[tuple[str, int, int]]:
    tiles = plain(engine.spec.tiles)
    names = map(str, tiles.kind.tolist())
    return list(zip(names, tiles.column.tolist(), tiles.row.tolist(), strict=True))
