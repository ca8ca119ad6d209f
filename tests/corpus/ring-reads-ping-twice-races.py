"""The BDs of the reader both name ping, so it reads words of the round before and never pong."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    buffers = [tile.buffer(name, 16, np.int32) for name in ("ping", "pong")]
    free, full = tile.lock(2, "free"), tile.lock(0, "full")
    data = np.arange(96, dtype=np.int32)
    writes = [tile.write(buffer).guarded(free.acquire(), full.release()) for buffer in buffers]
    reads = [tile.read(buffer).guarded(full.acquire(), free.release()) for buffer in (buffers[0], buffers[0])]
    tile.s2mm[0].start(*writes, repeat=3)
    tile.mm2s[0].start(*reads, repeat=3)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].collect()
    return tile
