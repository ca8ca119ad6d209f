"""The address space of tiles as a memory-mapped master would read it, without what a read would change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from memtile.arch.acts import Shows
from memtile.arch.core import CORE
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.explain.dump.formats import TILE_WORDS, Words
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import answering, index_map, registers_of
from memtile.model.state.tiles import OUTSIDE
from memtile.sim.engine import Engine


def array_tiles(engine: Engine) -> Iterator[int]:
    """Model indices of the tiles of a partition, column by column and in a column from row 0 on."""
    tiles = plain(engine.spec.tiles)
    order = np.lexsort((tiles.row, tiles.column))
    return (int(tile) for tile in order if tiles.column[tile] != OUTSIDE)


def all_words(engine: Engine) -> Iterator[Words]:
    """The words of each of :func:`array_tiles`."""
    return (tile_words(engine, tile) for tile in array_tiles(engine))


def tile_words(engine: Engine, tile: int) -> Words:
    """All words of a tile's address space; uint32, 0 where nothing answers and in a tile without clock."""
    found = np.zeros(TILE_WORDS, np.uint32)
    if not engine.has_clock(tile):
        return found
    state, tiles = engine.state, plain(engine.spec.tiles)
    name = KIND_NAMES[int(tiles.kind[tile])]
    index = _index(name)
    here = (index >= 0) & answering(name, bool(tiles.has_dma[tile]))
    found[here] = _values(engine, tile, name)[index[here]]
    first, count = int(tiles.memory_base[tile]), int(tiles.memory_words[tile])
    found[:count] = state.memory[first : first + count]
    if TILE_KINDS[name].role == "compute":
        at, core = CORE.program_base // WORD_BYTES, int(tiles.core[tile])
        words = state.program[core * CORE.program_words : (core + 1) * CORE.program_words]
        found[at : at + CORE.program_words] = words
    return found


@cache
def _index(name: TileName) -> npt.NDArray[np.int16]:
    return index_map(name)


def _values(engine: Engine, tile: int, name: TileName) -> npt.NDArray[np.uint32]:
    """What each register of the tile reads as."""
    registers, tiles, door = registers_of(name), plain(engine.spec.tiles), engine.door(tile).at_once()
    first = int(tiles.register_base[tile])
    values = engine.state.registers[first : first + len(registers)] & _readable(name)
    has_dma = answering(name, bool(tiles.has_dma[tile]))
    for number, register in enumerate(registers):
        if Shows.READABLE in register.acts.shows and has_dma[register.offset // WORD_BYTES]:
            values[number] = door.read32(register.offset)
    return values.astype(np.uint32)


@cache
def _readable(name: TileName) -> npt.NDArray[np.int64]:
    return np.array([register.readable for register in registers_of(name)], np.int64)
