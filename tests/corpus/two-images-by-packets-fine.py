"""Two images for two compute tiles share one link: packets with an id for each tile."""

import numpy as np

from memtile import Array

SIZE = 16


def design() -> Array:
    """A memory tile and two compute tiles."""
    array = Array("npu1", columns=1)
    store = array.memory_tile(0)
    near, far = array.compute_tile(0, 2), array.compute_tile(0, 3)
    bus = array.packet_bus("images", (store.mm2s[0], [near.s2mm[0]]), (store.mm2s[0], [far.s2mm[0]]))
    images = [np.arange(SIZE, dtype=np.int32) + 100 * n for n in range(2)]
    first = store.buffer("first", SIZE, data=images[0])
    second = store.buffer("second", SIZE, data=images[1])
    store.mm2s[0].start(
        bus.streams[0].packets(store.read(first)),
        bus.streams[1].packets(store.read(second)),
    )
    for tile, image in zip((near, far), images, strict=True):
        got, full = tile.buffer("got", SIZE), tile.lock(0, "full")
        tile.s2mm[0].start(tile.write(got).guarded(None, full.release()))
        tile.expect(got, image)
    return array
