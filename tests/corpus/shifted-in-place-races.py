"""Words come back behind those that are still to be read, and are read in their place."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    line = tile.buffer("line", 128, data=np.arange(128))
    other = tile.buffer("other", 128)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(line, view(128)[:64]))
    tile.s2mm[0].start(tile.write(line, view(128)[32:96]))
    tile.store(other, np.zeros(128))
    return array
