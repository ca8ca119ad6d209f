"""Random reads and writes of a host."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memtile import Array
from memtile.arch.devices import ARRAY_BASE
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of

Access = tuple[int, int | None]
"""Address and word; None = a read."""


def accesses(array: Array, rng: random.Random, count: int) -> Iterator[Access]:
    """Random ones, most of them to registers, of a few tiles more often than of others."""
    tiles = plain(array.engine.spec.tiles)
    kinds = [KIND_NAMES[kind] for kind in tiles.kind.tolist()]
    inside = [tile for tile in range(len(kinds)) if tiles.column[tile] >= 0]
    few, last = rng.sample(inside, min(5, len(inside))), ARRAY_BASE
    for _ in range(count):
        tile = rng.choice(few if rng.random() < 0.7 else inside)
        kind, way = TILE_KINDS[kinds[tile]], rng.random()
        offset = rng.choice(registers_of(kinds[tile])).offset
        if way < 0.15 and kind.memory_bytes:
            offset = rng.randrange(0, kind.memory_bytes, WORD_BYTES)
        elif way < 0.25:
            offset = kind.lock_request_base + rng.randrange(0, kind.lock_request_bytes, WORD_BYTES)
        elif way < 0.3:
            offset = rng.randrange(TILE_BYTES)
        address = ARRAY_BASE + (int(tiles.column[tile]) << COLUMN_SHIFT | int(tiles.row[tile]) << ROW_SHIFT)
        address = ARRAY_BASE + rng.getrandbits(31) if way > 0.98 else address + offset
        if rng.random() < 0.5:
            last = address if rng.random() < 0.7 else last
            yield last, None
        else:
            yield address, rng.choice((0, 1, rng.getrandbits(32), rng.getrandbits(5), 1 << rng.randrange(32)))
