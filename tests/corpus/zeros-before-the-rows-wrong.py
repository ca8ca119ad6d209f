"""Two zeros stand before each row."""

import numpy as np

from memtile import MemoryTile, pad, view


def design() -> MemoryTile:
    """The whole design."""
    tile, data = MemoryTile(), np.arange(1, 65, dtype=np.int32)
    tile.mm2s[0].start(
        tile.read(
            tile.buffer("block", (8, 8), data=data.reshape((8, 8))), pad(view((8, 8)), ((0, 0), (2, 0)))
        )
    )
    tile.mm2s[0].expect(np.pad(data.reshape(8, 8), ((0, 0), (0, 2))))
    return tile
