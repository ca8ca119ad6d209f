"""Two channels read a buffer and give a unit each; its writer waits for one."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile, readers = MemoryTile(), 1
    block, free, full = tile.buffer("block", 64), tile.lock(readers, "free"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(free.acquire(readers), full.release(2)), repeat=4)
    tile.s2mm[0].feed(np.arange(256))
    for number in range(2):
        tile.mm2s[number].start(tile.read(block).guarded(full.acquire(), free.release()), repeat=4)
        tile.mm2s[number].collect(np.int32, [1, 0, 0, 0] if number else None)
    return tile
