"""Data memory as Python reaches it outside the clock loop: reads are checked and writes make words clean.

For many words at once, in NumPy; ``model.memory.ecc`` says what is done to the few that have flipped cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.model.memory import ecc
from memtile.model.state.columns import Ints
from memtile.model.state.state import State

Words = npt.NDArray[np.uint32]


def flipped(st: State, tile: int, first: int, words: int) -> Ints:
    """Those of the tile's words ``first``, ... that have flipped cells, as places in ``State.memory``."""
    if st.guards.inspected[tile] == 0:
        return np.zeros(0, dtype=np.int64)
    base = int(st.spec.tiles.memory_base[tile]) + first
    return base + np.flatnonzero(st.flips[base : base + words])


def to_rewrite(st: State, tile: int, first: int, words: int) -> Ints:
    """Those of the words ``first``, ... to which a write does more than to change them."""
    if st.guards.lanes[tile] == 0:
        return flipped(st, tile, first, words)
    base = int(st.spec.tiles.memory_base[tile]) + first
    return np.arange(base, base + words)


def load(st: State, tile: int, first: int, words: int, *, twice: bool = False) -> Words:
    """Read tile-local words ``first``, ...; uint32[words].

    Args:
        st: state; errors are reported to it.
        tile: model index.
        first: tile-local word.
        words: how many.
        twice: the access counts as two, see DEV-ECC-7.
    """
    base = int(st.spec.tiles.memory_base[tile]) + first
    read = st.memory[base : base + words].copy()
    for word in flipped(st, tile, first, words).tolist():
        read[word - base] = ecc.delivered(st, tile, word, twice)
    return read


def before_store(st: State, tile: int, first: int, count: int) -> None:
    """Prepare a write of the tile's bytes ``first``, ...: a word that is written in part is read first."""
    if count == 0:
        return
    base, end = int(st.spec.tiles.memory_base[tile]), first + count
    low, high = first // WORD_BYTES, -(-end // WORD_BYTES)
    for word in to_rewrite(st, tile, low, high - low).tolist():
        begins = (word - base) * WORD_BYTES
        if first <= begins and begins + WORD_BYTES <= end:
            ecc.overwritten(st, tile, word, 1)
        else:
            ecc.load_and_store(st, tile, word)


def load_and_store(st: State, tile: int, first: int, words: int) -> None:
    """Read tile-local words ``first``, ... and write back what the reads deliver."""
    for word in flipped(st, tile, first, words).tolist():
        ecc.load_and_store(st, tile, word)
