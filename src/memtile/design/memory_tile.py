"""One memory tile as a design sees it: buffers, locks, channels, and a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from memtile.access.tiling import TilingParameters
from memtile.arch.devices import device as find_device
from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY, MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.design.bd_pool import BdPool
from memtile.design.buffers import Array, Buffer, MemoryMap
from memtile.design.channels import Channel, chain_words
from memtile.design.locks import Lock, LockTable
from memtile.design.transfers import Transfer, transfer
from memtile.errors import DesignError, Problem
from memtile.model.construct import Placed
from memtile.sim.engine import Engine
from memtile.sim.outcome import outcome
from memtile.sim.results import Result
from memtile.sim.untimed import run_untimed

MAX_CYCLES = 10_000_000
_INTERLEAVE = register_named("memory_tile", "Memory_Control").field("Memory_Interleaving")


class MemoryTile:
    """A memory tile with nothing around it but the test bench at its stream ports.

    Args:
        device: device name, see ``memtile info``.
        timing: timing constants; the defaults of ``arch.timing`` if omitted.
        interleaved: bank mapping; True = consecutive 16 bytes in consecutive banks, as after reset.

    Attributes:
        s2mm: the six stream-to-memory channels.
        mm2s: the six memory-to-stream channels.
        door: the memory-mapped AXI4 port; everything below ends in writes to it.
    """

    def __init__(
        self, device: str = "npu1", *, timing: Timing | None = None, interleaved: bool = True
    ) -> None:
        self.device = find_device(device)
        self.kind = MEMORY
        self.engine = Engine([Placed("memory")], timing)
        self.door = self.engine.door(0)
        self.bd_pool = BdPool(MEMORY)
        self._memory = MemoryMap(MEMORY)
        self._locks = LockTable(MEMORY)
        self.s2mm = tuple(Channel(self, S2MM, n) for n in range(MEMORY.channels))
        self.mm2s = tuple(Channel(self, MM2S, n) for n in range(MEMORY.channels))
        control = register_named("memory_tile", "Memory_Control").offset
        self.door.mask_write32(control, _INTERLEAVE.mask, _INTERLEAVE.mask if interleaved else 0)

    def __repr__(self) -> str:
        used = sum(b.nbytes for b in self._memory.buffers)
        return (
            f"MemoryTile({self.device.name}: {len(self._memory.buffers)} buffers, {used} of "
            f"{self.kind.memory_bytes} bytes, {len(self._locks.locks)} locks, {self.engine.now} cycles run)"
        )

    def buffer(
        self,
        name: str,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike = np.int32,
        *,
        at: int | None = None,
        bank: int | None = None,
        data: Array | None = None,
    ) -> Buffer:
        """A buffer in data memory, at byte ``at``, or at the first free place (from ``bank`` on).

        Args:
            name: for messages and tables.
            shape: NumPy shape, last dimension contiguous.
            dtype: element type.
            at: first byte.
            bank: first bank to look in, each 32 KB in linear mode.
            data: initial contents.

        Raises:
            DesignError: it does not fit, overlaps, or is not whole 32-bit words.
        """
        size = (shape,) if isinstance(shape, int) else tuple(shape)
        placed = self._memory.place(name, size, dtype, at=at, bank=bank)
        if data is not None:
            self.store(placed, data)
        return placed

    def store(self, buffer: Buffer, data: Array) -> None:
        """Write an array into a buffer through the memory-mapped port.

        Raises:
            DesignError: another shape, or values that the buffer's type does not hold exactly.
        """
        where = f"{self.kind.title}, buffer {buffer.name}"
        given = np.asarray(data)
        if given.shape != buffer.shape:
            problem = Problem("shape", where, "data", str(given.shape), str(buffer.shape), "NumPy shapes")
            raise DesignError(problem)
        with np.errstate(invalid="ignore"):  # a value that does not fit is told below
            array = np.ascontiguousarray(given, dtype=buffer.dtype)
        if not np.array_equal(array, given, equal_nan=given.dtype.kind == "f"):
            allowed, step = f"values that {buffer.dtype} holds exactly", "convert them yourself"
            raise DesignError(Problem("values", where, "data", str(given.dtype), allowed, "NumPy", step))
        self.door.block_write32(buffer.offset, array.reshape(-1).view(np.uint8).view(np.uint32))

    def load(self, buffer: Buffer) -> Array:
        """Read a buffer through the memory-mapped port; array of its shape and dtype."""
        words = self.door.block_read32(buffer.offset, buffer.words)
        return words.view(buffer.dtype).reshape(buffer.shape)

    def lock(self, initial: int = 0, name: str | None = None, *, id: int | None = None) -> Lock:
        """A lock with an initial value of 0..63, with number ``id`` or the lowest that is free."""
        if not 0 <= initial <= self.kind.lock_value_max:
            allowed = f"0..{self.kind.lock_value_max}"
            where = f"{self.kind.title}, lock {name or id or ''}".strip()
            raise DesignError(
                Problem("lock_value", where, "initial", str(initial), allowed, "AM020: six-bit lock state")
            )
        lock = self._locks.take(name, id)
        self.door.write32(self.kind.lock_value_base + lock.id * self.kind.lock_value_stride, initial)
        return lock

    def read(self, buffer: Buffer, tiling: TilingParameters | None = None, **options: bool) -> Transfer:
        """What an MM2S channel reads: the whole buffer in order, or a tiling of it."""
        return transfer(buffer, tiling, "read", **options)

    def write(self, buffer: Buffer, tiling: TilingParameters | None = None, **options: bool) -> Transfer:
        """What an S2MM channel writes: the whole buffer in order, or a tiling of it."""
        return transfer(buffer, tiling, "write", **options)

    def write_bd(self, number: int, descriptor: Descriptor) -> None:
        """Write a descriptor's register words.

        Raises:
            DescriptorError: the tile cannot hold it, or its walk leaves the DMA address space.
        """
        (words,) = chain_words(self.kind, [number], [descriptor])
        self.door.block_write32(self.kind.bd_base + number * self.kind.bd_stride, words)

    def run(
        self,
        max_cycles: int = MAX_CYCLES,
        *,
        untimed: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Result:
        """Run until nothing moves any more, at most ``max_cycles`` further cycles; Ctrl-C keeps what is done.

        Args:
            max_cycles: limit of the cycle run.
            untimed: move the data without a clock.
            progress: called now and then with the cycles done.
        """
        try:
            if untimed:
                stop = run_untimed(self.engine)
            else:
                stop = self.engine.run(self.engine.now + max_cycles, progress)
        except KeyboardInterrupt:
            stop = None
        taken = [channel for channel in self.mm2s if channel.taken]
        outputs = {channel.name: channel.output() for channel in taken}
        checks = [check for channel in taken if (check := channel.check())]
        return outcome(self.engine, stop, outputs, checks, timed=not untimed)
