"""Many register writes in one call into the compiled engine instead of one per word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.state.tiles import OUTSIDE
from memtile.sim.engine import Engine

_NO_TILE = -1
_ROWS = 1 << (COLUMN_SHIFT - ROW_SHIFT)


class PostedWrites:
    """Many writes to the tiles of an engine.

    Addresses are those of the array, ``column << 25 | row << 20 | offset`` (AM020 chapter 2).

    Args:
        engine: the model; its tiles are found by their places.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        tiles = plain(engine.spec.tiles)
        self._tile_at = np.full((int(tiles.column.max()) + 1, _ROWS), _NO_TILE, dtype=np.int64)
        (inside,) = np.nonzero(tiles.column != OUTSIDE)
        self._tile_at[tiles.column[inside], tiles.row[inside]] = inside

    def write(
        self, addresses: npt.NDArray[np.uint64], values: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Write 32-bit words in order; bool per word, False where nothing answers or it is not aligned."""
        columns = addresses >> COLUMN_SHIFT
        inside = (columns < len(self._tile_at)) & (addresses % WORD_BYTES == 0)
        places = np.where(inside, addresses, 0).astype(np.int64)
        tiles = self._tile_at[places >> COLUMN_SHIFT, places >> ROW_SHIFT & (_ROWS - 1)]
        tiles[~inside] = _NO_TILE
        return self._engine.post(tiles, places % TILE_BYTES, values)
