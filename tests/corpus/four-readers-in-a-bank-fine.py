"""Four strided readers of four banks."""

import numpy as np

from memtile import MemoryTile
from memtile.bd.descriptor import Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile(interleaved=False)
    for channel in range(4):
        data = np.arange(channel, channel + 512, dtype=np.int32)
        buffer = tile.buffer(f"b{channel}", 512, np.int32, bank=channel, data=data)
        walk = Descriptor("memory", 512, buffer.dma_address, dims=((4, 128), (1, 0)))
        tile.mm2s[channel].start(walk)
        tile.mm2s[channel].expect(data.reshape(128, 4).T.copy())
    return tile
