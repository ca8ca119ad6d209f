"""The manual's headline: six channels in and six out at once, 24 bytes per cycle each way (AM020 chapter 5).

Run it with ``memtile run examples/headline.py``. In linear mode every channel works in a bank of its own, so
no two of them ever want the same one: 64k words per channel at one word per cycle, 30 GB/s in and 30 GB/s out
at 1.25 GHz.
"""

from __future__ import annotations

import numpy as np

from memtile import MemoryTile

WORDS = 1 << 16


def design() -> MemoryTile:
    """Twelve channels, each with one bank of 32 KB that its task passes over again and again."""
    tile = MemoryTile("npu1", interleaved=False)
    random = np.random.default_rng(seed=1)
    for number in range(6):
        arriving = tile.buffer(f"arriving {number}", 8192, np.int32, bank=number)
        leaving = tile.buffer(f"leaving {number}", 8192, np.int32, bank=6 + number)
        tile.store(leaving, random.integers(-1000, 1000, leaving.shape))
        passes = WORDS // leaving.words
        tile.s2mm[number].start(tile.write(arriving), repeat=passes)
        tile.s2mm[number].feed(random.integers(-1000, 1000, WORDS, dtype=np.int32))
        tile.mm2s[number].start(tile.read(leaving), repeat=passes)
        tile.mm2s[number].expect(np.tile(tile.load(leaving), passes))
    return tile
