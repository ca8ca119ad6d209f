"""Two channels write one buffer, and nothing says who is last."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block = tile.buffer("block", 32, np.int32)
    for channel in (0, 1):
        tile.s2mm[channel].start(tile.write(block))
        tile.s2mm[channel].feed(np.full(32, channel, np.int32))
    return tile
