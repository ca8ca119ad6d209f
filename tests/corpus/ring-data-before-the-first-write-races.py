"""The lock of full buffers begins with 1, so the reader begins with words that nobody has written."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    buffers = [tile.buffer(name, 16, np.int32) for name in ("ping", "pong")]
    free, full = tile.lock(2, "free"), tile.lock(1, "full")
    data = np.arange(96, dtype=np.int32)
    writes = [tile.write(buffer).guarded(free.acquire(), full.release()) for buffer in buffers]
    reads = [tile.read(buffer).guarded(full.acquire(), free.release()) for buffer in buffers]
    tile.s2mm[0].start(*writes, repeat=3)
    tile.mm2s[0].start(*reads, repeat=3)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].collect()
    return tile
