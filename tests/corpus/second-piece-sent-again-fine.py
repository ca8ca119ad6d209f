"""The host sends four pieces."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    block = tile.buffer("block", 64)
    array.connect(door.mm2s[0], tile.s2mm[0])
    tile.s2mm[0].start(tile.write(block))
    there, words = array.external("there", np.arange(64, dtype=np.int32)), view(64)
    door.mm2s[0].start(*(door.read(there, words[16 * n :][:16]) for n in (0, 1, 2, 3)))
    tile.expect(block, np.arange(64))
    return array
