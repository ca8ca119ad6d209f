"""Each part has its own row."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile, door = array.memory_tile(0), array.interface_tile(0)
    rows, full = tile.buffer("rows", (2, 32)), tile.lock(0, "full")
    for number in range(2):
        core = array.compute_tile(0, 2 + number)
        array.connect(core.mm2s[0], tile.s2mm[number])
        core.mm2s[0].start(core.read(core.buffer("part", 32, data=np.full(32, number + 1))))
        tile.s2mm[number].start(tile.write(rows, view((2, 32))[number]).guarded(None, full.release()))
    back = np.zeros(64, np.int32)
    tile.mm2s[0].start(tile.read(rows).guarded(full.acquire(2)))
    array.connect(tile.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, np.repeat([1, 2], 32))
    return array
