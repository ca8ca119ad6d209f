"""Weights are replaced when a lock says that they were sent twice."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    weights = tile.buffer("weights", 32, np.int32, data=np.arange(32, dtype=np.int32))
    new = tile.buffer("new", 32, np.int32, data=np.ones(32, np.int32))
    target, used = tile.buffer("target", 32, np.int32), tile.lock(0, "used")
    array.connect(tile.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[1], tile.s2mm[1])
    tile.mm2s[0].start(tile.read(weights), tile.read(weights).guarded(None, used.release()))
    tile.s2mm[0].start(tile.write(target), tile.write(target))
    tile.mm2s[1].start(tile.read(new))
    tile.s2mm[1].start(tile.write(weights).guarded(used.acquire()))
    return array
