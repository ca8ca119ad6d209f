"""64 runs of 8 words."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block = tile.buffer("block", 512, np.int32, data=np.arange(512, dtype=np.int32))
    tile.mm2s[0].start(Descriptor("memory", 8, block.dma_address, iteration=(8, 64)), repeat=64)
    tile.mm2s[0].expect(np.arange(512, dtype=np.int32))
    return tile
