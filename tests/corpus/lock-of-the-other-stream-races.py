"""Each reader waits for the lock of the other one, so the first to come is too early."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    data = np.arange(32, dtype=np.int32)
    fulls = [tile.lock(0, name) for name in ("full_a", "full_b")]
    for n in (0, 1):
        block = tile.buffer("ab"[n], 32, np.int32)
        tile.s2mm[n].start(tile.write(block).guarded(None, fulls[n].release()))
        tile.s2mm[n].feed(data, pattern=[1] if n == 0 else [1, 0, 0])
        tile.mm2s[n].start(tile.read(block).guarded(fulls[1 - n].acquire()))
        tile.mm2s[n].collect()
    return tile
