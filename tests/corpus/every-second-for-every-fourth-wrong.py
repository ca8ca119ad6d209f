"""Every second word is sent."""

import numpy as np

from memtile import MemoryTile, view


def design() -> MemoryTile:
    """The whole design."""
    tile, data = MemoryTile(), np.arange(1, 65, dtype=np.int32)
    tile.mm2s[0].start(tile.read(tile.buffer("block", (64,), data=data.reshape((64,))), view(64)[:32:2]))
    tile.mm2s[0].expect(data[::4].copy())
    return tile
