"""Each run of a descriptor begins two blocks further on."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile, data = MemoryTile(), np.arange(1, 129, dtype=np.int32)
    block = tile.buffer("block", 128, np.int32, data=data)
    tile.mm2s[0].start(Descriptor("memory", 16, block.dma_address, iteration=(32, 4)), repeat=4)
    tile.mm2s[0].expect(data[:64])
    return tile
