"""The host's view of an array: absolute addresses, and time that passes with every access.

Two accesses are ``access_cycles`` apart. The driver's polls are long runs of reads, so the array runs a fixed
number of cycles before each of them, and the driver's time-outs are long enough for what it waits for.

It also has many reads and writes of an array in few calls into the compiled engine instead of some per word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import ARRAY_BASE, ARRAY_BYTES, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES, WORD_BYTES
from memtile.errors import RegisterError
from memtile.hosts.external_memory import ServedMemory
from memtile.hosts.notices import ServerNotice
from memtile.hosts.unanswered import HostAccess, nowhere, refusal, tile_of
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import NONE, Ints
from memtile.model.state.tile_columns import OUTSIDE
from memtile.runs.core_kernels import CoreKernels
from memtile.runs.machine import ArrayMachine
from memtile.sim.doors.array_door import Npi
from memtile.sim.doors.passing_time import READ, PaceColumn, PacedAccesses, repeats
from memtile.sim.loop.engine import Engine

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
        self._engine, self._accesses = engine, PacedAccesses.room(_MOST, wait, most)
        self._counters = self._accesses.counters
        tiles = plain(engine.spec.tiles)
        self._tile_at = np.full((int(tiles.column.max()) + 1, _ROWS), NONE, dtype=np.int64)
        (inside,) = np.nonzero(tiles.column != OUTSIDE)
        self._tile_at[tiles.column[inside], tiles.row[inside]] = inside

    @property
    def stops(self) -> int:
        """How often a client came to be waiting so far."""
        return int(self._counters[PaceColumn.STOPS])

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
        self._counters[[PaceColumn.AT, PaceColumn.END, PaceColumn.DUE]] = 0, count, NONE

    def wait(self) -> None:
        """Let the cycles pass that come before a read in which the array has no part."""
        for _ in self.perform(np.full(1, _OUTSIDE, np.uint64), np.full(1, READ, np.int64)):
            """No tile answers."""

    def note_read(self, address: int, value: int) -> None:
        """A word outside of the array was read, at an absolute byte address."""
        repeats(self._counters, NONE - 1 - address, value)


Answer = int | RegisterError
"""The word read, 0 for a write, or why nothing answers."""

POLLS = 25
"""Equal reads in a row after which a client waits: at 200 cycles each beyond all latencies of the array."""

CYCLES_PER_READ = 200  # a poll of the driver reads every 200 us: 5000 reads, a million cycles, a second


class AddressSpace:
    """Reads and writes at absolute byte addresses: the array's, its NPI registers' and external memory's.

    What the NPI registers do: ``sim.doors.array_door.Npi``.

    Args:
        array: what answers.
        cycles_per_read: array cycles before each read.
        memory: external memory, which the interface tiles reach; None = there is none.
        cores: kernels that begin when their cores are enabled; None = there are none.

    Attributes:
        array: what answers.
        cores: as given.

    Raises:
        DesignError: two memories have a byte in common.
    """

    def __init__(
        self,
        array: ArrayMachine,
        cycles_per_read: int = CYCLES_PER_READ,
        memory: ServedMemory | None = None,
        cores: CoreKernels | None = None,
    ) -> None:
        self.array, self._memory, self.cores = array, memory, cores
        if memory is not None:
            memory.attach(array.engine)
        self._accesses = ArrayAccesses(array.engine, cycles_per_read, POLLS)
        self._npi = Npi(array.engine)
        tiles = plain(array.engine.spec.tiles)
        places = zip(tiles.column.tolist(), tiles.row.tolist(), strict=True)
        self._kinds = dict(zip(places, map(KIND_NAMES.__getitem__, tiles.kind.tolist()), strict=True))

    @property
    def now(self) -> int:
        """Cycles simulated so far."""
        return self.array.engine.now

    @property
    def memories(self) -> str:
        """The addresses of external memory; empty = there is none."""
        return str(self._memory) if self._memory is not None else ""

    @property
    def polled(self) -> int:
        """How often a client has read the same ``POLLS`` times in a row so far."""
        return self._accesses.stops

    def carry_out(self, accesses: Sequence[tuple[int, int | None]]) -> Iterator[list[Answer]]:
        """Make reads and writes in order.

        Args:
            accesses: byte address and word to write; None = the word is read, after the array has run.

        Yields:
            What the next ones gave, each time that something may have happened that a client is told of.
        """
        at = np.array([address for address, _ in accesses], dtype=np.uint64)
        words = np.array([READ if value is None else value for _, value in accesses], dtype=np.int64)
        inside = at - np.uint64(ARRAY_BASE) < ARRAY_BYTES
        starting = self._starting(accesses)
        ends = [*(np.flatnonzero(np.diff(inside) | starting[:-1] | starting[1:]) + 1).tolist(), len(at)]
        for first, end in zip([0, *ends], ends, strict=False):
            if inside[first]:
                answers = self._in_array(at[first:end] - np.uint64(ARRAY_BASE), words[first:end])
                if self.cores is not None and starting[first]:
                    answers = iter([*answers])  # one, given when its core has begun
                    self.cores.follow()
                yield from answers
            else:
                yield from ([self._elsewhere(*access)] for access in accesses[first:end])

    def _starting(self, accesses: Sequence[tuple[int, int | None]]) -> npt.NDArray[np.bool_]:
        """Which accesses may enable or reset a core that has a kernel."""
        if self.cores is None:
            return np.zeros(len(accesses), np.bool_)
        known, started = self._kinds, self.cores.started_by
        writes = [value is not None and tile_of(address) in known for address, value in accesses]
        pairs = zip(accesses, writes, strict=True)
        return np.array(
            [write and started(address - ARRAY_BASE, 1) for (address, _), write in pairs], np.bool_
        )

    def _in_array(self, at: npt.NDArray[np.uint64], words: Ints) -> Iterator[list[Answer]]:
        made = 0
        for answers in self._accesses.perform(at, words):
            yield [
                word if word >= 0 else self.array.door.refusal(int(at[made + n]))
                for n, word in enumerate(answers)
            ]
            made += len(answers)

    def _elsewhere(self, address: int, value: int | None) -> Answer:
        """An access to NPI registers, to external memory, or to what is not there."""
        if value is None:
            self._accesses.wait()
        try:
            if value is not None:
                self._write(address, value)
                return 0
            word = self._read(address)
        except RegisterError as error:
            return error
        self._accesses.note_read(address, word)
        return word

    def _write(self, address: int, value: int) -> None:
        if self._is_npi(address):
            self._npi.write(address - NPI_BASE, value)
        else:
            memory, word = self._in_memory(address, writes=True)
            memory.words[word] = value

    def _read(self, address: int) -> int:
        if self._is_npi(address):
            return self._npi.read(address - NPI_BASE)
        memory, word = self._in_memory(address, writes=False)
        return int(memory.words[word])

    def write32(self, address: int, value: int) -> None:
        """Write one 32-bit word; raises :class:`RegisterError` where nothing answers."""
        self._one(address, value)

    def read32(self, address: int) -> int:
        """Let the array run, then read one word; raises :class:`RegisterError` where nothing answers."""
        return self._one(address, None)

    def _one(self, address: int, value: int | None) -> int:
        [(answer,)] = self.carry_out([(address, value)])
        if isinstance(answer, RegisterError):
            raise answer
        return answer

    def refused(self, access: HostAccess, error: RegisterError) -> ServerNotice:
        """The notice about an access that was refused with ``error``."""
        return refusal(access, self._kinds, error)

    @staticmethod
    def _is_npi(address: int) -> bool:
        return NPI_BASE <= address < NPI_BASE + NPI_BYTES and address % WORD_BYTES == 0

    def _in_memory(self, address: int, *, writes: bool) -> tuple[ServedMemory, int]:
        """The memory and the word in it that is accessed at ``address``; raises if there is none."""
        memory = self._memory
        word = None if memory is None else memory.find(address)
        if memory is None or word is None:
            raise RegisterError.of(
                "address",
                f"{address:#x}",
                f"the array from {ARRAY_BASE:#x}",
                nowhere(address, self.memories),
                reason="nowhere",
                where="host",
                source="open driver",
            )
        self.array.engine.checks.host_accesses(address, 1, writes=writes)
        return memory, word
