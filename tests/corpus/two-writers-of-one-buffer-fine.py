"""Two channels write one buffer, one after the other, each while it has the lock."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block, mine = tile.buffer("block", 32, np.int32), tile.lock(1, "mine")
    for channel in (0, 1):
        tile.s2mm[channel].start(tile.write(block).guarded(mine.acquire(), mine.release()))
        tile.s2mm[channel].feed(np.full(32, channel, np.int32))
    return tile
