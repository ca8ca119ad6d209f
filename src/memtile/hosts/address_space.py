"""The host's view of an array: absolute addresses, and time that passes with every read.

Writes of the driver carry no acknowledgement and its polls are long runs of reads, so the array runs a fixed
number of cycles before each read is answered, fewer when nothing can move any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memtile.arch.address_map import ARRAY_BASE, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, WORD_BYTES
from memtile.design.array import Array
from memtile.errors import Problem, RegisterError
from memtile.jit.tables import plain
from memtile.sim import machine
from memtile.sim.engine import Engine

CYCLES_PER_READ = 200  # a poll of the driver reads every 200 us: 5000 reads, a million cycles, a second
_NO_TILE = -1
_ROWS = 1 << (COLUMN_SHIFT - ROW_SHIFT)


class AddressSpace:
    """Reads and writes at absolute byte addresses: the array's, and the NPI registers beside it.

    The NPI registers keep what is written and do nothing (DEV-NPI-1).

    Args:
        array: what answers.
        cycles_per_read: array cycles before each read.
    """

    def __init__(self, array: Array, cycles_per_read: int = CYCLES_PER_READ) -> None:
        self._array, self._cycles = array, cycles_per_read
        self._posted = _PostedWrites(array.engine)
        self._npi: dict[int, int] = {}

    @property
    def now(self) -> int:
        """Cycles simulated so far."""
        return self._array.engine.now

    def write32(self, address: int, value: int) -> None:
        """Write one 32-bit word; raises :class:`RegisterError` where nothing answers."""
        if self._is_npi(address):
            self._npi[address] = value
        else:
            self._array.door.write32(self._offset(address), value)

    def write_many(self, addresses: Sequence[int], values: Sequence[int]) -> Iterator[RegisterError]:
        """Write words in order, quickly; gives an error for each that nothing answers, after the others."""
        offsets = np.array(addresses, dtype=np.uint64) - np.uint64(ARRAY_BASE)
        done = self._posted.write(offsets, np.array(values, dtype=np.int64))
        for n in np.flatnonzero(~done).tolist():
            if self._is_npi(addresses[n]):
                self._npi[addresses[n]] = values[n]
            else:
                yield self._refusal(addresses[n])

    def _refusal(self, address: int) -> RegisterError:
        """Why an access was refused, without repeating it."""
        try:
            return self._array.door.refusal(self._offset(address))
        except RegisterError as error:
            return error

    def read32(self, address: int) -> int:
        """Let the array run, then read one word; raises :class:`RegisterError` where nothing answers."""
        self._array.engine.wait(self._cycles)
        if self._is_npi(address):
            return self._npi.get(address, 0)
        return self._array.door.read32(self._offset(address))

    @staticmethod
    def _is_npi(address: int) -> bool:
        return NPI_BASE <= address < NPI_BASE + NPI_BYTES and address % WORD_BYTES == 0

    @staticmethod
    def _offset(address: int) -> int:
        if address >= ARRAY_BASE:
            return address - ARRAY_BASE
        raise RegisterError(
            Problem(
                reason="address",
                where="host",
                field="address",
                given=f"{address:#x}",
                allowed=(
                    f"the array from {ARRAY_BASE:#x}, "
                    f"NPI registers {NPI_BASE:#x}..{NPI_BASE + NPI_BYTES - 1:#x}"
                ),
                source="open driver",
                says=f"nothing answers at {address:#x}; the array begins at {ARRAY_BASE:#x}, "
                f"NPI registers are {NPI_BASE:#x}..{NPI_BASE + NPI_BYTES - 1:#x}",
            )
        )


class _PostedWrites:
    """Many writes in one call into the compiled engine instead of one per word.

    Addresses are those of the array, ``column << 25 | row << 20 | offset`` (AM020 chapter 2).

    Args:
        engine: the model; its tiles are found by their places.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        tiles = plain(engine.spec.tiles)
        self._tile_at = np.full((int(tiles.column.max()) + 1, _ROWS), _NO_TILE, dtype=np.int64)
        self._tile_at[tiles.column, tiles.row] = np.arange(len(tiles.column))

    def write(
        self, addresses: npt.NDArray[np.uint64], values: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Write 32-bit words in order; bool per word, False where nothing answers or it is not aligned."""
        columns = addresses >> COLUMN_SHIFT
        inside = (columns < len(self._tile_at)) & (addresses % WORD_BYTES == 0)
        places = np.where(inside, addresses, 0).astype(np.int64)
        tiles = self._tile_at[places >> COLUMN_SHIFT, places >> ROW_SHIFT & (_ROWS - 1)]
        tiles[~inside] = _NO_TILE
        done = np.zeros(len(values), dtype=np.bool_)
        machine.write_many(self._engine.state, tiles, places % TILE_BYTES, values, done)
        return done
