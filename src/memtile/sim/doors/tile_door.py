"""The door of a tile: memory-mapped AXI4 accesses in process, with the driver's forms of access.

Everything that configures a tile goes through here; nothing else sets a descriptor or a lock. An access
comes from a privileged master (DEV-AXI-1). A 128-bit beat of a burst is four words of a block write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.errors import Problem, RegisterError
from memtile.jit.tables import cells
from memtile.model import axi
from memtile.model.checking import notes
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.memory import watchpoints
from memtile.model.register_tables import answering
from memtile.model.state.memory import AccessOrigin
from memtile.model.state.state import State
from memtile.sim.doors import host_memory, passing_time
from memtile.sim.doors.host_time import HostTime
from memtile.sim.doors.passing_time import READ
from memtile.sim.loop import compiled_model
from memtile.sim.loop.timing_only import gone

_WORD_MAX = (1 << WORD_BITS) - 1
_NO_OFFSET = ~(TILE_BYTES - WORD_BYTES)  # bits that no byte offset of a word has
_SOURCE = "AM025 memory map"
_FEW = 16  # words that are sooner written one after another than laid out for compiled code

Words = npt.NDArray[np.uint32]


def _is_word(value: object) -> bool:
    return isinstance(value, (int, Integral)) and 0 <= int(value) <= _WORD_MAX


class Door:
    """Reads and writes of one tile's address space.

    Args:
        state: its state; accesses act on it at once.
        tile: model index of the tile.
        host: whose accesses these are, and how long they take; None = they take no time and no bank.
        filled: by word of ``State.memory``, set where something is written; None = nobody wants to know.
        looks: is called before each access; None = nobody wants to know.

    Every method raises :class:`RegisterError` for an address that is unaligned, outside the tile or answered
    by nothing, and for a value that is not 32 bit; a read of data memory after a run without words raises
    :class:`DesignError`.
    """

    def __init__(
        self,
        state: State,
        tile: int,
        host: HostTime | None = None,
        filled: npt.NDArray[np.bool_] | None = None,
        looks: Callable[[], None] | None = None,
    ) -> None:
        self._spec, self._state, self._tile = state.spec, state, tile
        self._filled, self._look = filled, looks
        self._off, self._host = cells(state.gates).off, host
        self._wordless = cells(state.clock).wordless
        self._timed = None if host is None else host.access  # no method of its own, which would keep the door
        self._kind = TILE_KINDS[KIND_NAMES[state.spec.tiles.kind[tile]]]
        self._memory_bytes, self._memory_base = (
            self._kind.memory_bytes,
            int(state.spec.tiles.memory_base[tile]),
        )
        self._answering = answering(self._kind.name, bool(state.spec.tiles.has_dma[tile]))
        self._at_once = None if host is None else Door(state, tile, filled=filled, looks=looks)

    def at_once(self) -> Door:
        """This door without host time, for accesses from outside the simulated system."""
        return self if self._at_once is None else self._at_once

    def write32(self, offset: int, value: int) -> None:
        """Write one 32-bit word at byte ``offset``."""
        if (
            type(offset) is not int
            or offset & _NO_OFFSET
            or type(value) is not int
            or not 0 <= value <= _WORD_MAX
            or self._off[self._tile]
        ):
            self._write_slowly(offset, value)
            return
        if (self._timed or self._access_at_once)(self._tile, offset, value) < 0:
            raise self._unanswered(offset)
        if offset < self._memory_bytes and self._filled is not None:
            self._filled[self._memory_base + offset // WORD_BYTES] = True

    def _access_at_once(self, tile: int, offset: int, value: int) -> int:
        if self._look is not None:
            self._look()
        return compiled_model.access_at_once(self._state, tile, offset, value)

    def _write_slowly(self, offset: int, value: int) -> None:
        """Say what is wrong with a write, or take numbers of another type."""
        self._arrive(1)
        self._write(offset, value)
        self._fill(offset, WORD_BYTES)
        self._use_memory(offset, WORD_BYTES)

    def _arrive(self, words: int) -> None:
        """Let time pass until the host comes to an access of so many words."""
        if self._look is not None:
            self._look()
        if self._host is not None:
            self._host.begin(self._tile, words)

    def _fill(self, offset: int, count: int) -> None:
        """Bytes are written: those of data memory have contents from now on."""
        if self._filled is not None and offset < self._memory_bytes:
            base = self._memory_base
            self._filled[base + offset // WORD_BYTES : base - (-(offset + count) // WORD_BYTES)] = True

    def _use_memory(self, offset: int, count: int) -> None:
        """An access to ``count`` bytes has been made: those of data memory take their banks (DEV-ARB-2)."""
        if self._host is not None and offset < self._memory_bytes and count:
            first, end = offset // WORD_BYTES, -(-(offset + count) // WORD_BYTES)
            self._host.uses_memory(self._tile, first, end - first)

    def _write(self, offset: int, value: int) -> None:
        self._check_offset(offset)
        if not _is_word(value):
            raise self._no_word(offset, value)
        if compiled_model.write(self._state, self._tile, int(offset), int(value)) == axi.SLAVE_ERROR:
            raise self._unmapped(offset)

    def read32(self, offset: int) -> int:
        """Read one 32-bit word at byte ``offset``, with the side effects of the read."""
        if type(offset) is not int or offset & _NO_OFFSET or self._off[self._tile] or self._wordless[0]:
            return self._read_slowly(offset)
        value = (self._timed or self._access_at_once)(self._tile, offset, READ)
        if value < 0:
            raise self._unanswered(offset)
        return value

    def _read_slowly(self, offset: int) -> int:
        """Say what is wrong with a read, or take a number of another type."""
        self._arrive(1)
        self._check_offset(offset)
        self._must_have_words(offset)
        value = self._read(offset)
        self._use_memory(offset, WORD_BYTES)
        return value

    def _read(self, offset: int) -> int:
        self._check_offset(offset)
        value = compiled_model.read(self._state, self._tile, int(offset))
        if value == axi.SLAVE_ERROR:
            raise self._unmapped(offset)
        return int(value)

    def _unanswered(self, offset: int) -> RegisterError:
        """Why a word did not answer."""
        return self._without_clock(offset) if self._off[self._tile] else self._unmapped(offset)

    def mask_write32(self, offset: int, mask: int, value: int) -> None:
        """Read, replace the bits of ``mask`` by those of ``value``, write."""
        self.write32(offset, (self.read32(offset) & ~mask & _WORD_MAX) | (value & mask))

    def block_write32(self, offset: int, words: Sequence[int] | Words) -> None:
        """Write consecutive words from byte ``offset`` on; data memory takes them in one go.

        Arrays of integers of at most 32 bits are taken bit by bit, whatever their sign.

        Raises:
            RegisterError: nothing answers some word; nothing is written, the tile's sticky status says so.
        """
        self._arrive(len(words))
        self._check_offset(offset)
        data = self._words(offset, words)
        memory = self._memory(offset, len(data))
        if memory is not None:
            host_memory.before_store(self._state, self._tile, offset, data.nbytes)
            memory[:] = data
            self._fill(offset, data.nbytes)
            self._show(offset, data.nbytes, True)
            self._use_memory(offset, data.nbytes)
            return
        first = offset // WORD_BYTES
        answered = self._answering[first : first + len(data)]
        hole = len(answered) if answered.all() else int(answered.argmin())
        if hole < len(data):
            self._write(offset + hole * WORD_BYTES, int(data[hole]))  # refused
        self._write_registers(offset, data)

    def _write_registers(self, offset: int, data: Words) -> None:
        """Write words that something answers, in order, with what each of them does."""
        count = len(data)
        if count <= _FEW and offset >= self._memory_bytes:
            for at, word in zip(range(int(offset), TILE_BYTES, WORD_BYTES), data.tolist(), strict=False):
                if self._off[self._tile]:
                    raise self._without_clock(at)
                if compiled_model.write(self._state, self._tile, at, word) == axi.SLAVE_ERROR:
                    raise self._unmapped(at)
            return
        offsets = np.arange(offset, offset + count * WORD_BYTES, WORD_BYTES)
        tiles, values = np.full(count, self._tile), data.astype(np.int64)
        masks, costs = np.full(count, _WORD_MAX), np.full(count, passing_time.AT_ONCE)
        at = 0
        while at < count:
            here = slice(at, None)
            words = passing_time.Programmed(
                tiles[here], offsets[here], values[here], masks[here], costs[here]
            )
            written = compiled_model.set_up(self._state, words)
            at += written
            if at < count and self._off[self._tile]:
                raise self._without_clock(int(offsets[at]))
            if not written:
                self._write(int(offsets[at]), int(values[at]))
                at += 1

    def write_bytes(self, offset: int, data: bytes) -> None:
        """Write ``data`` from byte ``offset`` on, wherever that is in data memory: byte enables (DEV-AXI-2).

        Raises:
            RegisterError: some byte lies outside data memory; nothing is written.
        """
        if not isinstance(offset, Integral) or not 0 <= offset <= self._kind.memory_bytes - len(data):
            raise RegisterError(self._beyond_memory(offset, len(data)))
        self._arrive(-(-len(data) // WORD_BYTES))
        memory = self._memory(0, self._kind.memory_words)
        assert memory is not None
        host_memory.before_store(self._state, self._tile, offset, len(data))
        memory.view(np.uint8)[offset : offset + len(data)] = np.frombuffer(data, dtype=np.uint8)
        self._fill(offset, len(data))
        self._show(offset, len(data), True)
        self._use_memory(offset, len(data))

    def block_read32(self, offset: int, words: int) -> Words:
        """Read ``words`` consecutive words from byte ``offset`` on; uint32[words]."""
        if words < 0:
            problem = Problem(
                f"{offset:#07x}",
                f"{words} words",
                "0 or more",
                f"the block at {offset:#07x} has {words} words; it must have 0 or more",
                reason="words",
                where=self._kind.title,
                source=_SOURCE,
            )
            raise RegisterError(problem)
        self._arrive(words)
        if self._memory(offset, words) is not None:
            self._must_have_words(offset)
            first = offset // WORD_BYTES
            self._show(offset, words * WORD_BYTES, False)
            self._use_memory(offset, words * WORD_BYTES)
            return host_memory.load(self._state, self._tile, first, words, twice=True)
        reads = [self._read(offset + index * WORD_BYTES) for index in range(words)]
        return np.array(reads, dtype=np.uint32)

    def _must_have_words(self, offset: int) -> None:
        """Refuse reads of data memory in which a run has left no words."""
        if offset < self._memory_bytes and self._wordless[0]:
            raise gone(f"{self._kind.title}, {offset:#07x}", "reads of data memory")

    def poll(self, offset: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        """Read until ``(word & mask) == value``; ``advance`` between reads, give up when it returns False."""
        while self.read32(offset) & mask != value:
            if not advance():
                return False
        return True

    def requests_lock(self, offset: int) -> bool:
        """Whether a read at ``offset`` acquires or releases a lock."""
        return 0 <= offset - self._kind.lock_request_base < self._kind.lock_request_bytes

    def refusal(self, offset: int) -> RegisterError:
        """Why an access to ``offset`` was refused, without another one."""
        if not self._is_offset(offset):
            return self._no_offset(offset)
        answered = self._answering[offset // WORD_BYTES]
        return self._without_clock(offset) if answered else self._unmapped(offset)

    def _show(self, offset: int, count: int, writes: bool) -> None:
        """Show an access to ``count`` bytes of data memory to the tile's watchpoints, and note it."""
        first, end = offset // WORD_BYTES, -(-(offset + count) // WORD_BYTES)
        base = self._memory_base
        notes.host_accesses(self._state, base + first, end - first, writes)
        if count and self._state.memories.watched[self._tile]:
            tile, origin = self._tile, int(AccessOrigin.AXI)
            watchpoints.see(self._state, tile, first, end - first, origin, writes)

    def _memory(self, offset: int, words: int) -> Words | None:
        """View of data memory when the whole range lies in it."""
        self._check_offset(offset)
        first = offset // WORD_BYTES
        if first + words > self._kind.memory_words:
            return None
        base = self._memory_base + first
        return self._state.memory[base : base + words]

    def _words(self, offset: int, words: Sequence[int] | Words) -> Words:
        data: npt.NDArray[Any] = np.asarray(words).reshape(-1)
        if data.dtype.kind not in "iu":
            data = np.array(words, dtype=object).reshape(-1)
            fits = np.array([_is_word(word) for word in data], dtype=bool)
        elif data.itemsize > WORD_BYTES:
            fits = (data >= 0) & (data <= _WORD_MAX)
        else:
            return data.astype(np.uint32, copy=False)
        if not fits.all():
            first = int(fits.argmin())
            raise self._no_word(offset + first * WORD_BYTES, data[first])
        return data.astype(np.uint32)

    def _no_word(self, offset: int, value: object) -> RegisterError:
        given = hex(int(value)) if isinstance(value, Integral) else str(value)
        return RegisterError.of(
            f"{offset:#07x}",
            given,
            f"0x0..{_WORD_MAX:#x}",
            f"the value for {offset:#07x} is {given}, allowed are 0x0..{_WORD_MAX:#x}",
            reason="register_value",
            where=self._kind.title,
            source=_SOURCE,
        )

    def _check_offset(self, offset: int) -> None:
        if self._off[self._tile]:
            raise self._without_clock(offset)
        if not self._is_offset(offset):
            raise self._no_offset(offset)

    @staticmethod
    def _is_offset(offset: object) -> bool:
        return isinstance(offset, (int, Integral)) and int(offset) in range(0, TILE_BYTES, WORD_BYTES)

    def _no_offset(self, offset: object) -> RegisterError:
        return RegisterError.of(
            "offset",
            hex(int(offset)) if isinstance(offset, Integral) else repr(offset),
            f"a multiple of {WORD_BYTES:#x} in 0x0..{TILE_BYTES - WORD_BYTES:#x}",
            reason="address",
            where=self._kind.title,
            source=_SOURCE,
        )

    def _without_clock(self, offset: object) -> RegisterError:
        place = f"column {self._spec.tiles.column[self._tile]}"
        given = f"{int(offset):#07x}" if isinstance(offset, Integral) else repr(offset)
        return RegisterError.of(
            place,
            f"access to {given}",
            f"only its interface tile, while the clock of {place} is off or its reset is on",
            f"{given} does not answer: while the clock of {place} is off or its reset is on, "
            "only its interface tile does",
            "Write 1 to Column_Clock_Control and 0 to AIE_Tile_Column_Reset.",
            reason="clock_off",
            where=self._kind.title,
            source="AM025, DEV-CLK-2",
        )

    def _beyond_memory(self, offset: int, count: int) -> Problem:
        given = f"{offset:#x}..{offset + count - 1:#x}" if isinstance(offset, Integral) else repr(offset)
        memory = f"0x0..{self._kind.memory_bytes - 1:#x}"
        return Problem(
            "bytes",
            given,
            f"bytes of data memory, {memory}",
            f"the bytes written are {given}, allowed are those of data memory, {memory}",
            "Registers take whole 32-bit words.",
            reason="byte_enables",
            where=self._kind.title,
            source=_SOURCE,
        )

    def _unmapped(self, offset: int) -> RegisterError:
        if answering(self._kind.name, has_dma=True)[offset // WORD_BYTES]:
            return RegisterError.of(
                "offset",
                f"{offset:#07x}",
                "registers of an interface tile without DMA",
                f"nothing is at offset {offset:#07x}: this interface tile has no DMA",
                "The tile answers with a slave error; memtile info lists the columns with DMA.",
                reason="no_dma",
                where=self._kind.title,
                source=_SOURCE,
            )
        return RegisterError.of(
            "offset",
            f"{offset:#07x}",
            "data memory and the registers of the map",
            f"nothing is at offset {offset:#07x}, neither data memory nor a register",
            "The tile answers with a slave error.",
            reason="unmapped",
            where=self._kind.title,
            source=_SOURCE,
        )
