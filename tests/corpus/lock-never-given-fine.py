"""The reader gives the buffer back to the lock that the writer waits for."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """Three rounds through one buffer, each released for the next one."""
    tile = MemoryTile()
    buffer = tile.buffer("block", 16, np.int32)
    free, full = tile.lock(1, "free"), tile.lock(0, "full")
    data = np.arange(48, dtype=np.int32)
    tile.s2mm[0].start(tile.write(buffer).guarded(free.acquire(), full.release()), repeat=3)
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), free.release()), repeat=3)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile
