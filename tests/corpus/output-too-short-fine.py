"""As many words come as are received, and all that are sent are taken."""

import numpy as np

from memtile import MemoryTile

DATA = np.arange(64, dtype=np.int32)


def design() -> MemoryTile:
    """64 words into a buffer of a memory tile and out of it."""
    tile = MemoryTile()
    buffer, full = tile.buffer("block", 64), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(DATA)
    tile.mm2s[0].expect(DATA)
    return tile
