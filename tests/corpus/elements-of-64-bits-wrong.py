"""Integers of 64 bits go in as two words each."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile, data = MemoryTile(), np.arange(1, 33, dtype=np.int32)
    block, full = tile.buffer("block", 32, np.int32), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
    tile.s2mm[0].feed(data.astype(np.int64).view(np.int32)[:32])
    tile.mm2s[0].expect(data)
    return tile
