"""Single writes of a program, many of them carried out by one call: what follows each other without a wait.

The result is that of carrying them out one by one; whatever is not sure to be the same is left to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.design.array import Array
from memtile.io.program.operations import WORD_MAX, BlockWrite, MaskWrite, Operation, Write
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.passing import AT_ONCE, Programmed

_LEAST, _MOST = 4, 1 << 16  # operations of a batch
_LONGEST = 64  # words of a block that is taken apart

ALONE = -2  # instead of a cost
Cost = Callable[[Operation], int]
"""Cycles from an operation to the next one; ``AT_ONCE`` = it takes no time, ``ALONE`` = it stands alone."""


class Batches:
    """Carries out writes of an array.

    Args:
        array: the model.
        apart: whether a write of so many words from an address on has to be carried out alone.
    """

    def __init__(self, array: Array, apart: Callable[[int, int], bool]) -> None:
        self._engine, self._apart = array.engine, apart
        tiles = plain(array.engine.spec.tiles)
        self._tiles = {
            column << COLUMN_SHIFT | row << ROW_SHIFT: tile
            for tile, (column, row) in enumerate(zip(tiles.column.tolist(), tiles.row.tolist(), strict=True))
        }
        kinds = [TILE_KINDS[KIND_NAMES[kind]] for kind in tiles.kind.tolist()]
        self._memory_bytes = [kind.memory_bytes for kind in kinds]

    def carry_out(self, operations: Sequence[Operation], first: int, cost: Cost, end: int) -> int:
        """Carry out operations from number ``first`` on, as many as go together.

        Args:
            operations: of a program that was checked.
            first: number of the first one.
            cost: of each of them.
            end: cycle from which on none is carried out.

        Returns:
            How many were; 0 = the first one has to be carried out alone.
        """
        words: list[tuple[int, int, int, int, int]] = []
        ends: list[int] = []  # words so far after each operation
        for operation in islice(operations, first, first + _MOST):
            cycles = cost(operation)
            if cycles == ALONE or not self._add(operation, cycles, words):
                break
            ends.append(len(words))
        if len(ends) < _LEAST:
            return 0
        columns = np.array(words, np.int64).T
        written = self._engine.set_up(Programmed(*map(np.ascontiguousarray, columns)), end)
        return int(np.searchsorted(ends, written, side="right"))

    def _add(self, operation: Operation, cycles: int, words: list[tuple[int, int, int, int, int]]) -> bool:
        """Append tile, offset, value, mask and cost of each word that is written; False = stands alone."""
        mask = WORD_MAX
        values: Sequence[int] = ()
        if isinstance(operation, Write):
            address, value = operation.address, operation.value
        elif isinstance(operation, MaskWrite):
            address, value, mask = operation.address, operation.value, operation.mask
        elif isinstance(operation, BlockWrite) and 0 < len(operation.words) <= _LONGEST:
            address, (value, *values) = operation.address, operation.words
        else:
            return False
        offset = address % TILE_BYTES
        tile = self._tiles[address - offset]
        if self._apart(address, 1 + len(values)) or (values and offset < self._memory_bytes[tile]):
            return False
        words.append((tile, offset, value, mask, cycles))
        for n, later in enumerate(values, 1):
            words.append((tile, offset + n * WORD_BYTES, later, mask, AT_ONCE))
        return True
