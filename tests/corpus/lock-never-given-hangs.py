"""The writer waits for a lock that nobody releases: the reader gives its release to another one."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """Three rounds through one buffer; the reader releases 'spare' where 'free' is waited for."""
    tile = MemoryTile()
    buffer = tile.buffer("block", 16, np.int32)
    free, full, spare = tile.lock(1, "free"), tile.lock(0, "full"), tile.lock(0, "spare")
    data = np.arange(48, dtype=np.int32)
    tile.s2mm[0].start(tile.write(buffer).guarded(free.acquire(), full.release()), repeat=3)
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), spare.release()), repeat=3)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile
