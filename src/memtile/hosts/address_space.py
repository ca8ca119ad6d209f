"""The host's view of an array: absolute addresses, and time that passes with every access.

Two accesses are ``access_cycles`` apart. The driver's polls are long runs of reads, so the array runs a fixed
number of cycles before each of them, and the driver's time-outs are long enough for what it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memtile.arch.address_map import ARRAY_BASE, ARRAY_BYTES, NPI_BASE, NPI_BYTES
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.errors import RegisterError
from memtile.hosts.array_accesses import ArrayAccesses
from memtile.hosts.external_memory import ServedMemory
from memtile.hosts.notices import Notice
from memtile.hosts.refusals import Access, nowhere, refusal
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import Ints
from memtile.sim.npi import Npi
from memtile.sim.passing import READ

Answer = int | RegisterError
"""The word read, 0 for a write, or why nothing answers."""

POLLS = 25
"""Equal reads in a row after which a client waits: at 200 cycles each beyond all latencies of the array."""

CYCLES_PER_READ = 200  # a poll of the driver reads every 200 us: 5000 reads, a million cycles, a second


class AddressSpace:
    """Reads and writes at absolute byte addresses: the array's, its NPI registers' and external memory's.

    What the NPI registers do: ``sim.npi``.

    Args:
        array: what answers.
        cycles_per_read: array cycles before each read.
        memory: external memory, which the interface tiles reach; None = there is none.

    Raises:
        DesignError: two memories have a byte in common.
    """

    def __init__(
        self, array: Array, cycles_per_read: int = CYCLES_PER_READ, memory: ServedMemory | None = None
    ) -> None:
        self.array, self._memory = array, memory
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
        ends = [*(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(at)]
        for first, end in zip([0, *ends], ends, strict=False):
            if inside[first]:
                yield from self._in_array(at[first:end] - np.uint64(ARRAY_BASE), words[first:end])
            else:
                yield from ([self._elsewhere(*access)] for access in accesses[first:end])

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
        (answer,) = next(self.carry_out([(address, value)]))
        if isinstance(answer, RegisterError):
            raise answer
        return answer

    def refused(self, access: Access, error: RegisterError) -> Notice:
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
