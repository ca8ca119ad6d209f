"""The host takes 48 of 64 words."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    block, back, words = tile.buffer("block", 64, data=np.arange(64)), np.zeros(64, np.int32), view(64)[:48]
    array.connect(tile.mm2s[0], door.s2mm[0])
    tile.mm2s[0].start(tile.read(block, words))
    door.s2mm[0].start(door.write(array.external("back", back), words))
    array.expect_array("back", back, np.arange(64))
    return array
