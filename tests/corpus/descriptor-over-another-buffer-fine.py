"""A descriptor by hand writes a log beside a block."""

import numpy as np

from memtile import MemoryTile
from memtile.bd import OWN, Descriptor


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    block, log = tile.buffer("block", 32, np.int32), tile.buffer("log", 32, np.int32)
    full = tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
    tile.s2mm[0].feed(np.arange(32, dtype=np.int32))
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
    tile.mm2s[0].collect()
    tile.s2mm[1].start(Descriptor("memory", 32, OWN.address(log.offset // 4)))
    tile.s2mm[1].feed(np.zeros(32, np.int32))
    return tile
