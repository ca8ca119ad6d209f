"""Two blocks go through a memory tile; who has read one gives its room back."""

import numpy as np

from memtile import MemoryTile


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    blocks = [tile.buffer(name, 16) for name in ("left", "right")]
    free = [tile.lock(1, "left_free"), tile.lock(1, "right_free")]
    full = [tile.lock(0, "left_full"), tile.lock(0, "right_full")]
    for number, block in enumerate(blocks):
        back = free[number]
        tile.s2mm[number].start(
            tile.write(block).guarded(free[number].acquire(), full[number].release()), repeat=4
        )
        tile.mm2s[number].start(tile.read(block).guarded(full[number].acquire(), back.release()), repeat=4)
        tile.s2mm[number].feed(np.arange(64))
        tile.mm2s[number].expect(np.arange(64))
    return tile
