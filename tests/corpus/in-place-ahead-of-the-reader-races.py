"""The halves come back swapped, so the first words go where the reader has not been."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    block = tile.buffer("block", 128, np.int32, data=np.arange(128, dtype=np.int32))
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(block))
    tile.s2mm[0].start(*(tile.write(block, part) for part in (view((128,))[64:], view((128,))[:64])))
    return array
