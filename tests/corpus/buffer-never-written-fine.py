"""A block is read when the lock says that it is there."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block, full = tile.buffer("block", 32, np.int32), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.s2mm[0].feed(np.arange(32, dtype=np.int32))
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
    tile.mm2s[0].collect()
    return tile
