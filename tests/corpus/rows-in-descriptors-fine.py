"""A block of 384 words is sent 16 times by one descriptor."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array, data, back = Array("npu1", columns=1), np.arange(384, dtype=np.int32), np.zeros(6144, np.int32)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    array.connect(tile.mm2s[0], door.s2mm[0])
    tile.mm2s[0].start(tile.read(tile.buffer("block", 384, data=data)), repeat=16)
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, np.tile(data, 16))
    return array
