"""The words go in as they are to come out."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block, full = tile.buffer("block", 64, np.int32), tile.lock(0, "full")
    data = np.arange(1, 65, dtype=np.int32)
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.s2mm[0].feed(data)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
    tile.mm2s[0].expect(data)
    return tile
