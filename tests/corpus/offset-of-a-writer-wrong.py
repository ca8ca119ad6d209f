"""Only the writer begins four words into the buffer."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block, full = tile.buffer("block", 68, np.int32), tile.lock(0, "full")
    data = np.arange(1, 65, dtype=np.int32)
    tile.s2mm[0].start(Descriptor("memory", 64, block.dma_address + 4, release=full.release()))
    tile.s2mm[0].feed(data)
    tile.mm2s[0].start(Descriptor("memory", 64, block.dma_address, acquire=full.acquire()))
    tile.mm2s[0].expect(data)
    return tile
