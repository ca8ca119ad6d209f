"""The writer waits for both."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    readers = 2
    block, free, full = tile.buffer("block", 64), tile.lock(readers, "free"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(free.acquire(readers), full.release(2)), repeat=4)
    array.connect(door.mm2s[0], tile.s2mm[0])
    door.mm2s[0].start(door.read(array.external("there", np.arange(256, dtype=np.int32))))
    for number in range(2):
        tile.mm2s[number].start(tile.read(block).guarded(full.acquire(), free.release()), repeat=4)
        tile.mm2s[number].collect(np.int32, [1, 0, 0, 0] if number else None)
    return array
