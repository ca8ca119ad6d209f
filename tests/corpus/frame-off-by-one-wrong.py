"""A 6 x 12 image gets a frame that is a column too far to the left."""

import numpy as np

from memtile import Array, pad, view


def design() -> Array:
    """The whole design."""
    array, back = Array("npu1", columns=1), np.zeros((8, 16), np.int32)
    image = np.arange(1, 73, dtype=np.int32).reshape(6, 12)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    kept, empty, full = tile.buffer("kept", (6, 12)), tile.lock(1, "empty"), tile.lock(0, "full")
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])
    door.mm2s[0].start(door.read(array.external("image", image)))
    tile.s2mm[0].start(tile.write(kept).guarded(empty.acquire(), full.release()))
    framed = pad(view((6, 12)), ((1, 1), (1, 3)))
    tile.mm2s[0].start(tile.read(kept, framed).guarded(full.acquire(), empty.release()))
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, np.pad(image, ((1, 1), (2, 2))))
    return array
