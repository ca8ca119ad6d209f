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
from memtile.errors import Problem, RegisterError
from memtile.hosts.external_memory import ServedMemory
from memtile.hosts.notices import Notice
from memtile.hosts.posted_writes import PostedWrites
from memtile.hosts.refusals import Access, nowhere, refusal
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.npi import Npi

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
        self.array, self._cycles, self._memory = array, cycles_per_read, memory
        if memory is not None:
            memory.attach(array.engine)
        self._posted = PostedWrites(array.engine)
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

    def write32(self, address: int, value: int) -> None:
        """Write one 32-bit word; raises :class:`RegisterError` where nothing answers."""
        if self._is_npi(address):
            self._npi.write(address - NPI_BASE, value)
        elif (word := self._in_memory(address)) is not None:
            self._words[word] = value
            self.array.engine.checks.host_accesses(address, 1, writes=True)
        else:
            self.array.door.write32(self._offset(address), value)

    def write_many(self, addresses: Sequence[int], values: Sequence[int]) -> Iterator[Notice]:
        """Write words in order, quickly; gives a notice for each that nothing answers."""
        at = np.array(addresses, dtype=np.uint64)
        words = np.array(values, dtype=np.int64)
        inside = at - np.uint64(ARRAY_BASE) < ARRAY_BYTES
        ends = [*(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(at)]
        for first, end in zip([0, *ends], ends, strict=False):
            part = slice(first, end)
            if inside[first]:
                yield from self._write_array(at[part], words[part])
            else:
                yield from self._write_elsewhere(addresses[part], values[part])

    def _write_array(self, at: npt.NDArray[np.uint64], words: npt.NDArray[np.int64]) -> Iterator[Notice]:
        done = self._posted.write(at - np.uint64(ARRAY_BASE), words)
        for n in np.flatnonzero(~done).tolist():
            access = Access(int(at[n]), int(words[n]))
            yield self.refused(access, self.array.door.refusal(access.address - ARRAY_BASE))

    def _write_elsewhere(self, addresses: Sequence[int], values: Sequence[int]) -> Iterator[Notice]:
        for address, value in zip(addresses, values, strict=True):
            try:
                self.write32(address, value)
            except RegisterError as error:
                yield self.refused(Access(address, value), error)

    def refused(self, access: Access, error: RegisterError) -> Notice:
        """The notice about an access that was refused with ``error``."""
        return refusal(access, self._kinds, error)

    def read32(self, address: int) -> int:
        """Let the array run, then read one word; raises :class:`RegisterError` where nothing answers."""
        self.array.engine.wait(self._cycles)
        if self._is_npi(address):
            return self._npi.read(address - NPI_BASE)
        if (word := self._in_memory(address)) is not None:
            self.array.engine.checks.host_accesses(address, 1, writes=False)
            return int(self._words[word])
        return self.array.door.read32(self._offset(address))

    @property
    def _words(self) -> npt.NDArray[np.uint32]:
        assert self._memory is not None
        return self._memory.words

    def _in_memory(self, address: int) -> int | None:
        """The index in ``_words`` of the word at ``address``."""
        return None if self._memory is None else self._memory.find(address)

    @staticmethod
    def _is_npi(address: int) -> bool:
        return NPI_BASE <= address < NPI_BASE + NPI_BYTES and address % WORD_BYTES == 0

    def _offset(self, address: int) -> int:
        if 0 <= address - ARRAY_BASE < ARRAY_BYTES:
            return address - ARRAY_BASE
        raise RegisterError(
            Problem(
                reason="nowhere",
                where="host",
                field="address",
                given=f"{address:#x}",
                allowed=f"the array from {ARRAY_BASE:#x}",
                source="open driver",
                says=nowhere(address, self.memories),
            )
        )
