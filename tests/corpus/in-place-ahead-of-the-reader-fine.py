"""Words leave a buffer and come back to the places from which they were read."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    block = tile.buffer("block", 128, np.int32, data=np.arange(128, dtype=np.int32))
    target = block
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(block))
    tile.s2mm[0].start(tile.write(target))
    return array
