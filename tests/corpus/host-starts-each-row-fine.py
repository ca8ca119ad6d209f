"""The host starts one task for all rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from memtile import MemoryTile
from memtile.design.host import Host

ROWS, WORDS = 32, 16


def design() -> MemoryTile:
    """The whole design."""
    tile = MemoryTile()
    data = np.arange(ROWS * WORDS, dtype=np.int32)
    rows = tile.buffer("rows", ROWS * WORDS, np.int32, data=data)

    def sequence(host: Host) -> Iterator[Any]:
        yield host.start(tile.mm2s[0], tile.read(rows))
        yield host.wait()

    tile.bench.host(sequence)
    tile.mm2s[0].expect(data)
    return tile
