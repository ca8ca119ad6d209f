"""The reader of both halves takes one unit, so one of the halves may not be there."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    halves, full = [tile.buffer(name, 16, np.int32) for name in "ab"], tile.lock(0, "full")
    source = tile.buffer("source", 16, np.int32, data=np.arange(16, dtype=np.int32))
    target = tile.buffer("target", 32, np.int32)
    for n, half in enumerate(halves):
        array.connect(tile.mm2s[2 + n], tile.s2mm[n])
        tile.mm2s[2 + n].start(tile.read(source))
        tile.s2mm[n].start(tile.write(half).guarded(None, full.release()))
    array.connect(tile.mm2s[0], tile.s2mm[4])
    tile.mm2s[0].start(tile.read(halves[0]).guarded(full.acquire(1)), tile.read(halves[1]))
    tile.s2mm[4].start(tile.write(target))
    return array
