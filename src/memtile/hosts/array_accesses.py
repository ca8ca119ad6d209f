"""Many reads and writes of an array in few calls into the compiled engine instead of some per word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.state.columns import NONE, Ints
from memtile.model.state.tiles import OUTSIDE
from memtile.sim.engine import Engine
from memtile.sim.passing import READ, Accesses, Counter, repeats

_ROWS = 1 << (COLUMN_SHIFT - ROW_SHIFT)
_MOST = 1 << 10  # accesses that are made at once
_OUTSIDE = (1 << 64) - 1  # an address of no tile


class ArrayAccesses:
    """Accesses to the tiles of an engine, and how often the last word read has come.

    Addresses are those of the array, ``column << 25 | row << 20 | offset`` (AM020 chapter 2).

    Args:
        engine: the model; its tiles are found by their places.
        wait: cycles that pass before each read.
        most: reads in a row that give the same word after which a client is waiting.
    """

    def __init__(self, engine: Engine, wait: int, most: int) -> None:
        self._engine, self._accesses = engine, Accesses.room(_MOST, wait, most)
        self._counters = self._accesses.counters
        tiles = plain(engine.spec.tiles)
        self._tile_at = np.full((int(tiles.column.max()) + 1, _ROWS), NONE, dtype=np.int64)
        (inside,) = np.nonzero(tiles.column != OUTSIDE)
        self._tile_at[tiles.column[inside], tiles.row[inside]] = inside

    @property
    def stops(self) -> int:
        """How often a client came to be waiting so far."""
        return int(self._counters[Counter.STOPS])

    def perform(self, addresses: npt.NDArray[np.uint64], values: Ints) -> Iterator[list[int]]:
        """Make accesses in order.

        Args:
            addresses: of 32-bit words.
            values: to write; ``READ`` = the word is read.

        Yields:
            What the next accesses gave, each time that something may have happened: the word read, 0 for a
            write, a negative number where nothing answers.
        """
        for first in range(0, len(values), _MOST):
            self._enter(addresses[first : first + _MOST], values[first : first + _MOST])
            seen = 0
            for made in self._engine.perform(self._accesses):
                yield self._accesses.answers[seen:made].tolist()
                seen = made

    def _enter(self, addresses: npt.NDArray[np.uint64], values: Ints) -> None:
        """Let these be the accesses that are to be made."""
        inside = addresses >> COLUMN_SHIFT < len(self._tile_at)
        inside &= (values == READ) | (addresses % WORD_BYTES == 0)  # other writes come to no tile
        places, count = np.where(inside, addresses, 0).astype(np.int64), len(values)
        tiles = self._tile_at[places >> COLUMN_SHIFT, places >> ROW_SHIFT & (_ROWS - 1)]
        self._accesses.tiles[:count] = np.where(inside, tiles, NONE)
        self._accesses.offsets[:count] = places % TILE_BYTES
        self._accesses.values[:count] = values
        self._counters[[Counter.AT, Counter.END, Counter.DUE]] = 0, count, NONE

    def wait(self) -> None:
        """Let the cycles pass that come before a read in which the array has no part."""
        for _ in self.perform(np.full(1, _OUTSIDE, np.uint64), np.full(1, READ, np.int64)):
            """No tile answers."""

    def note_read(self, address: int, value: int) -> None:
        """A word outside of the array was read, at an absolute byte address."""
        repeats(self._counters, NONE - 1 - address, value)
