"""A memory tile writes to its neighbour, which reads that when the lock says so."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=2)
    west, east = array.memory_tile(0), array.memory_tile(1)
    block, full = east.buffer("block", 64, np.int32), east.lock(0, "full")
    source = west.buffer("source", 64, np.int32, data=np.arange(64, dtype=np.int32))
    target = east.buffer("target", 64, np.int32)
    array.connect(west.mm2s[0], west.s2mm[0])
    array.connect(east.mm2s[0], east.s2mm[0])
    west.mm2s[0].start(west.read(source))
    west.s2mm[0].start(west.write(block).guarded(None, west.seen(full).release()))
    east.mm2s[0].start(east.read(block).guarded(full.acquire()))
    east.s2mm[0].start(east.write(target))
    return array
