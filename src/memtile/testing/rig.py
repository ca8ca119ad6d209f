"""A bench around one tile: configure it through its door, step it cycle by cycle, ask what each channel did.

For tests of timing and behaviour. ``issue`` puts work on a channel, a *probe* is anything that can be asked
after a cycle, ``assert_earliest`` holds an event to its exact cycle: not at clk-1, and at clk. Cycle numbers
and phases are those of ``docs/timing.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from memtile.arch.register_map import TILE_MODULES, register_named, tile_register
from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM, TILE_KINDS, WORD_BYTES, TileName
from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.model.state.causes import Cause
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine

Words = npt.NDArray[np.uint32]
Probe = Callable[[], bool]


class Rig:
    """One tile, or a row of equal tiles, with stub masters at the stream ports.

    Args:
        name: tile kind.
        tiles: how many stand side by side; the rig's own methods speak to tile ``at``.
        at: the tile under test.
        timing: timing constants; the defaults if omitted.
    """

    def __init__(
        self, name: TileName = "memory", *, tiles: int = 1, at: int = 0, timing: Timing | None = None
    ):
        row = [Placed(name, n - 1, n + 1 if n + 1 < tiles else -1) for n in range(tiles)]
        self.kind = TILE_KINDS[name]
        self.engine = Engine(row, timing)
        self.door = self.engine.door(at)
        self._first = at * 2 * self.kind.channels
        self._module = TILE_MODULES[name][0]
        self._causes: list[npt.NDArray[np.int64]] = []
        self._entered: list[frozenset[int]] = []
        self._held: list[npt.NDArray[np.int64]] = []

    def beside(self, tile: int) -> Rig:
        """This bench, speaking to another one of its tiles."""
        other = copy(self)
        other.door, other._first = self.engine.door(tile), tile * 2 * self.kind.channels
        return other

    # channels --------------------------------------------------------------------------------------------

    def s2mm(self, number: int = 0) -> int:
        """Model index of S2MM channel ``number``."""
        return self._first + S2MM * self.kind.channels + number

    def mm2s(self, number: int = 0) -> int:
        """Model index of MM2S channel ``number``."""
        return self._first + MM2S * self.kind.channels + number

    # configuration, all through the door -----------------------------------------------------------------

    def write_bd(self, bd: int, descriptor: Descriptor) -> None:
        """Write the register words of ``descriptor`` to BD ``bd``.

        Raises:
            DescriptorError: the registers cannot hold it.
        """
        self.door.block_write32(self.kind.bd_base + bd * self.kind.bd_stride, encode(descriptor, bd))

    def issue(self, ch: int, bd: int, runs: int = 1) -> None:
        """Push a task to the channel's start queue: the chain that starts at ``bd``, ``runs`` times.

        Args:
            ch: model index of the channel.
            bd: first BD of the chain.
            runs: how often the chain runs, 1 or more.
        """
        queue = register_named("memory_tile", "DMA_S2MM_0_Start_Queue")
        word = bd | (runs - 1) << queue.field("Repeat_Count").lsb
        self.door.write32(self.kind.queue_base + self._number(ch) * self.kind.channel_stride, word)

    def reset(self, ch: int) -> None:
        """Set and clear the channel's reset bit, as the driver does."""
        offset = self.kind.control_base + self._number(ch) * self.kind.channel_stride
        reset = register_named("memory_tile", "DMA_S2MM_0_Ctrl").field("Reset").mask
        self.door.write32(offset, reset)
        self.door.write32(offset, 0)

    def memory_control(self, *, interleaved: bool = True, zeroise: bool = False) -> None:
        """Write Memory_Control, by default its reset value; other tiles have no bank mode."""
        bits = {"Memory_Interleaving": interleaved, "Memory_Zeroisation": zeroise}
        register = tile_register(self.kind.name, "Memory_Control")
        word = register.pack(**{field.name: int(bits[field.name]) for field in register.fields})
        self.door.write32(register.offset, word)

    def register(self, name: str) -> int:
        """Read a register of the tile by its AM025 name."""
        return self.door.read32(tile_register(self.kind.name, name).offset)

    def set_lock(self, lock: int, value: int) -> None:
        """Write a lock value register; ``lock`` is the tile's own number."""
        self.door.write32(self.kind.lock_value_base + lock * self.kind.lock_value_stride, value)

    def lock(self, lock: int) -> int:
        """Read a lock value register."""
        return self.door.read32(self.kind.lock_value_base + lock * self.kind.lock_value_stride)

    def request_lock(self, lock: int, value: int, *, acquire: bool) -> bool:
        """One read of the lock request window; whether it was granted.

        Args:
            lock: id of the lock.
            value: what is taken or given.
            acquire: False = release.
        """
        kind = self.kind
        bits = kind.bd_fields["Lock_Acq_Value"].bits
        offset = kind.lock_request_base + lock * kind.lock_request_stride
        offset |= kind.lock_request_acquire * acquire | (value % (1 << bits)) << kind.lock_request_value_lsb
        return self.door.read32(offset) == 1

    def status(self, ch: int, field: str | None = None) -> int:
        """The channel's status register, or one field of it by its AM025 name."""
        direction, number = divmod(self._number(ch), self.kind.channels)
        word = self.door.read32(self.status_offset(ch))
        if field is None:
            return word
        name = f"DMA_{DIRECTIONS[direction]}_Status_{number}"
        return register_named(self._module, name).field(field).get(word)

    def status_offset(self, ch: int) -> int:
        """Byte offset of the channel's status register."""
        direction, number = divmod(self._number(ch), self.kind.channels)
        return self.kind.status_base[direction] + number * WORD_BYTES

    def memory(self, word: int, words: int) -> Words:
        """Data memory from tile-local word ``word`` on; uint32[words]."""
        return self.door.block_read32(word * WORD_BYTES, words)

    def fill(self, word: int, words: Sequence[int] | Words) -> None:
        """Write data memory from tile-local word ``word`` on."""
        self.door.block_write32(word * WORD_BYTES, words)

    # stub masters at the stream ports --------------------------------------------------------------------

    def feed(self, ch: int, words: int | Sequence[int] | Words, pattern: Sequence[int] = ()) -> None:
        """Offer words to an S2MM channel; a number n means the words 1, 2, ..., n.

        Args:
            ch: model index of the channel.
            words: what to offer.
            pattern: 1 = a word is offered in this cycle, 0 = not; repeats from cycle 0. Empty = always.
        """
        data = np.arange(1, words + 1) if isinstance(words, int) else np.asarray(words)
        self.engine.feed(ch, data.astype(np.uint32))
        self._pace(ch, pattern)

    def catch(self, ch: int, pattern: Sequence[int] = ()) -> None:
        """Take what an MM2S channel sends, in the cycles where ``pattern`` is 1; empty = always."""
        self.engine.catch(ch)
        self._pace(ch, pattern)

    def sent(self, ch: int) -> list[int]:
        """Words that the MM2S channel has sent so far."""
        return [int(word) for word in self.engine.caught(ch)]

    # time ------------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """Cycles done: the next one to run has this number."""
        return self.engine.now

    def step(self, cycles: int = 1) -> None:
        """Run cycle by cycle, recording what every channel does in each."""
        for _ in range(cycles):
            before = self._pending()
            self.engine.run(self.now + 1)
            self._causes.append(np.array(self.engine.state.channels.why))
            self._held.append(np.array(self.engine.state.fifos.held))
            after = self._pending()
            self._entered.append(frozenset(ch for ch, left in enumerate(after) if left < before[ch]))

    def step_until(self, probe: Probe, limit: int = 10_000) -> int:
        """Step until ``probe()`` holds after a cycle; the number of that cycle.

        Raises:
            AssertionError: it did not hold within ``limit`` cycles.
        """
        for _ in range(limit):
            self.step()
            if probe():
                return self.now - 1
        raise AssertionError(f"{probe} does not hold within {limit} cycles")

    def timeline(self, ch: int, first: int = 0, last: int | None = None) -> str:
        """What the channel did in each recorded cycle from ``first`` to before ``last``, as letters.

        Args:
            ch: model index of the channel.
            first: first recorded cycle.
            last: the cycle after the last; None = all.
        """
        return "".join(Cause(row[ch]).letter for row in self._causes[first:last])

    def cycles(self, ch: int, cause: Cause) -> list[int]:
        """Numbers of the recorded cycles that the channel spent on ``cause``."""
        return [cycle for cycle, row in enumerate(self._causes) if row[ch] == cause]

    def entered(self, ch: int) -> list[int]:
        """Numbers of the recorded cycles in which a word entered the S2MM channel's ingress buffer."""
        return [cycle for cycle, channels in enumerate(self._entered) if ch in channels]

    def held(self, ch: int) -> list[int]:
        """Words in the channel's ingress or egress buffer at the end of each recorded cycle."""
        return [int(row[ch]) for row in self._held]

    def finished_bd(self, ch: int) -> int:
        """Cycle of the channel's last FINISHED_BD event."""
        return int(self.engine.state.channels.finished_bd[ch])

    def spent(self, ch: int) -> dict[Cause, int]:
        """Cycles booked per cause, without the causes that never occurred."""
        return {cause: int(n) for cause, n in zip(Cause, self.engine.state.spent[ch], strict=True) if n}

    def assert_earliest(self, clk: int, probe: Probe) -> None:
        """Assert that ``probe()`` first holds after cycle ``clk``: not after clk-1, and after clk.

        Raises:
            AssertionError: it holds earlier or later; or cycle ``clk`` is already done.
        """
        assert self.now <= clk, f"cycle {clk} is over, it is now {self.now}"
        for cycle in range(self.now, clk):
            self.step()
            assert not probe(), f"holds already at cycle {cycle}, expected {clk}"
        self.step()
        assert probe(), f"does not hold at cycle {clk}"

    def _pending(self) -> list[int]:
        return [self.engine.pending(ch) for ch in range(len(self.engine.state.channels.why))]

    def _pace(self, ch: int, pattern: Sequence[int]) -> None:
        if len(pattern):
            self.engine.pace(ch, np.asarray(pattern, dtype=np.int64))

    def _number(self, ch: int) -> int:
        return ch - self._first
