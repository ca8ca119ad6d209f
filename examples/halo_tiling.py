"""A feature map through a memory tile: in as strips, out as overlapping zero-padded tiles for a 3x3 kernel.

Run it with ``memtile run examples/halo_tiling.py``.

An int8 feature map of 112 x 112 pixels with 8 channels is cut into six vertical strips, one for each pair
of S2MM and MM2S channels. A strip comes with the neighbouring pixel column that its convolution needs. The
tile stores it in one of two buffers, under two locks, while the other buffer is read out as seven tiles of
16 pixel rows, each with one more row above and below: rows of the neighbouring tiles where there are any,
zeros at the border of the map, and zeros left and right of the outer strips. Nobody but the descriptors
makes those zeros.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile import MemoryTile, TilingParameters, TraversingParameters
from memtile.testing import feature_map

FRAMES = 4
SIZE, CHANNELS = 112, 8
LANES, COLUMNS = 6, 19  # 6 x 19 columns cover 112, two of them beyond the border
ROWS, BANDS = 16, 7
HALO = 1  # a 3x3 kernel looks one pixel around


def strip(lane: int) -> slice:
    """Pixel columns of the map that the lane needs, as far as they exist."""
    return slice(max(lane * COLUMNS - HALO, 0), min((lane + 1) * COLUMNS + HALO, SIZE))


def halo_tiles(lane: int, width: int) -> TilingParameters:
    """The lane's tiles: channels, columns and rows, starting one pixel above and left of its strip."""
    return TilingParameters(
        buffer_dimension=(CHANNELS, width, SIZE),
        tiling_dimension=(CHANNELS, COLUMNS + 2 * HALO, ROWS + 2 * HALO),
        offset=(0, -HALO if lane == 0 else 0, -HALO),
        tile_traversal=(TraversingParameters(dimension=2, stride=ROWS, wrap=BANDS),),
    )


def expected(frame: npt.NDArray[np.int8], lane: int) -> npt.NDArray[np.int8]:
    """The same with NumPy: pad the whole map, take windows."""
    beyond = LANES * COLUMNS - SIZE
    padded = np.pad(frame, ((HALO, HALO), (HALO, HALO + beyond), (0, 0)))
    columns = slice(lane * COLUMNS, (lane + 1) * COLUMNS + 2 * HALO)
    tiles = [padded[band * ROWS : (band + 1) * ROWS + 2 * HALO, columns] for band in range(BANDS)]
    return np.stack(tiles)


def design() -> MemoryTile:
    """Six lanes, each with two buffers that are filled and read in turn."""
    tile = MemoryTile("npu1")
    frames = [feature_map(SIZE, CHANNELS, step) for step in range(FRAMES)]
    for lane in range(LANES):
        columns = strip(lane)
        shape = (SIZE, columns.stop - columns.start, CHANNELS)
        ping, pong = (tile.buffer(f"strip {lane}{half}", shape, np.int8) for half in "ab")
        empty, full = tile.lock(2, f"empty {lane}"), tile.lock(0, f"full {lane}")

        fill = [tile.write(b).guarded(empty.acquire(), full.release()) for b in (ping, pong)]
        read = [
            tile.read(b, halo_tiles(lane, shape[1])).guarded(full.acquire(), empty.release())
            for b in (ping, pong)
        ]
        tile.s2mm[lane].start(*fill, loop=True)
        tile.mm2s[lane].start(*read, loop=True)
        for frame in frames:
            tile.s2mm[lane].feed(frame[:, columns])
            tile.mm2s[lane].expect(expected(frame, lane))
    return tile
