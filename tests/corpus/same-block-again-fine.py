"""Four runs of a descriptor that goes on by 16 words."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block = tile.buffer("block", 64, np.int32, data=np.arange(1, 65, dtype=np.int32))
    tile.mm2s[0].start(Descriptor("memory", 16, block.dma_address, iteration=(16, 4)), repeat=4)
    tile.mm2s[0].expect(np.arange(1, 65, dtype=np.int32))
    return tile
