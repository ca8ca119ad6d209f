"""The address spaces of an array's tiles: as a model has them, and as register writes leave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memtile.arch.acts import Acts
from memtile.arch.tiles import WORD_BYTES, TileName
from memtile.design.array import Array
from memtile.explain.compare.registers import Place, Tiles
from memtile.explain.dump.capture import array_tiles, tile_words
from memtile.explain.dump.formats import Words
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.model.state.columns import Ints
from memtile.runs.firmware import pointer_of, pointer_words
from memtile.runs.operations import WORD_MAX, Operation, locate, words_written
from memtile.sim.engine import Engine


def placed_words(engine: Engine, words: Sequence[Words]) -> Tiles:
    """Words of tiles, column by column, by the places that the model of an array has for them."""
    tiles = plain(engine.spec.tiles)
    return {
        (int(tiles.column[tile]), int(tiles.row[tile])): (KIND_NAMES[int(tiles.kind[tile])], its)
        for tile, its in zip(array_tiles(engine), words, strict=True)
    }


def tiles_of(engine: Engine, locks: Ints | None = None) -> Tiles:
    """The tiles of a model as they are; without data memory, which a run has changed.

    Args:
        engine: the model.
        locks: values that the locks shall have, by their index among all locks; None = as they are.
    """
    found: dict[Place, tuple[TileName, Words]] = {}
    tiles = plain(engine.spec.tiles)
    for tile in array_tiles(engine):
        words, count = tile_words(engine, tile), int(tiles.memory_words[tile])
        words[:count] = 0
        name, base = KIND_NAMES[int(tiles.kind[tile])], int(tiles.lock_base[tile])
        for register in registers_of(name) if locks is not None else ():
            if register.acts is Acts.LOCK_VALUE:
                assert locks is not None
                words[register.offset // WORD_BYTES] = locks[base + register.argument]
        found[int(tiles.column[tile]), int(tiles.row[tile])] = name, words
    return found


def written_tiles(operations: Iterable[Operation], array: Array) -> Tiles:
    """Tiles as register writes leave those of a new array; polls and waits are taken to be met."""
    blank = placed_words(array.engine, [tile_words(array.engine, t) for t in array_tiles(array.engine)])
    for operation in operations:
        pointer = pointer_of(operation)
        words = pointer_words(pointer.register, pointer.offset) if pointer else words_written(operation)
        for word in words:
            column, row, offset = locate(word.address)
            if (column, row) in blank:
                _, its = blank[column, row]
                at = offset // WORD_BYTES
                its[at] = np.uint32(int(its[at]) & ~word.mask & WORD_MAX | word.value & word.mask)
    return blank
