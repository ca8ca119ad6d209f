"""Two runs of 256 words."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block = tile.buffer("block", 512, np.int32, data=np.arange(512, dtype=np.int32))
    tile.mm2s[0].start(Descriptor("memory", 256, block.dma_address, iteration=(256, 2)), repeat=2)
    tile.mm2s[0].expect(np.arange(512, dtype=np.int32))
    return tile
