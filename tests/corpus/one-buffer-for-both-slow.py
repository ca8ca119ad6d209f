"""A ring of one buffer."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    data = np.arange(1024, dtype=np.int32)
    free, full = tile.lock(1, "free"), tile.lock(0, "full")
    buffers = [tile.buffer(f"part{number}", 64, np.int32) for number in range(1)]
    tile.s2mm[0].start(*(tile.write(b).guarded(free.acquire(), full.release()) for b in buffers), repeat=16)
    tile.mm2s[0].start(*(tile.read(b).guarded(full.acquire(), free.release()) for b in buffers), repeat=16)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile
