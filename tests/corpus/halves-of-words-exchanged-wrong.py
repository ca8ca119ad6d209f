"""The halves of each word are exchanged."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile, data = MemoryTile(), np.arange(1, 33, dtype=np.int16)
    block, full = tile.buffer("block", 32, np.int16), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
    tile.s2mm[0].feed(data.reshape(-1, 2)[:, ::-1].ravel())
    tile.mm2s[0].expect(data)
    return tile
