"""Each descriptor of a writer waits for a free buffer."""

import numpy as np

from memtile import MemoryTile

N = 24


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile("npu1")
    slots = [tile.buffer(f"slot{n}", N, np.int32) for n in range(3)]
    empty, full = tile.lock(3, "empty"), tile.lock(0, "full")
    writes = [tile.write(slot).guarded(empty.acquire(1), full.release()) for slot in slots]
    tile.s2mm[0].start(*writes, loop=True)
    tile.mm2s[0].start(*(tile.read(s).guarded(full.acquire(1), empty.release()) for s in slots), loop=True)
    rng = np.random.default_rng(8)
    for _ in range(7):
        x = rng.integers(0, 1000, N, dtype=np.int32)
        tile.s2mm[0].feed(x)
        tile.mm2s[0].expect(x)
    return tile
