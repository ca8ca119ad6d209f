"""DMA channels as a design uses them: start tasks, feed the stream port, take what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.access.boxes import check_walk
from memtile.access.walk import Walk
from memtile.arch.register_map import register_at
from memtile.arch.registers import Register
from memtile.arch.tiles import S2MM, WORD_BYTES, TileKind
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.design.transfers import Transfer, link
from memtile.errors import DescriptorError, DesignError, Problem, raise_if
from memtile.sim.results import Check

if TYPE_CHECKING:
    from memtile.design.tile import Tile

Array = npt.NDArray[Any]


class Channel:
    """One DMA channel of a tile; made by its tile.

    Args:
        tile: the tile it belongs to.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        number: 0..5.
    """

    def __init__(self, tile: Tile, direction: int, number: int) -> None:
        self._tile, self._direction, self._number = tile, direction, number
        self._local = direction * tile.kind.channels + number
        self.index = int(tile.engine.spec.tiles.channel_base[tile.index]) + self._local
        self.expected: Array | None = None
        self.dtype: np.dtype[Any] = np.dtype(np.uint32)
        self.taken = False
        self.claimed = self._begun = False

    @property
    def tile(self) -> Tile:
        """The tile it belongs to."""
        return self._tile

    @property
    def port(self) -> str:
        """``S2MM 0`` to ``MM2S 5``."""
        return f"{'S2MM' if self.receives else 'MM2S'} {self._number}"

    @property
    def name(self) -> str:
        """The port, after the tile's place in an array: ``memory(0,1) MM2S 0``."""
        return f"{self._tile.label}{self.port}"

    @property
    def number(self) -> int:
        """Number within its direction."""
        return self._number

    @property
    def receives(self) -> bool:
        """True for S2MM."""
        return self._direction == S2MM

    def __repr__(self) -> str:
        free = self._tile.bd_pool.free(self._number)
        return f"Channel({self.name}: {free} BDs free, {self._queued()} of {self._depth} tasks queued)"

    def start(
        self, *work: Transfer | Descriptor, repeat: int = 1, loop: bool = False, token: bool = False
    ) -> tuple[int, ...]:
        """Write the descriptors of ``work`` as one chain and push it as a task.

        Args:
            work: transfers or single descriptors, executed in order.
            repeat: runs of the chain, 1..256.
            loop: close the chain into a ring that never ends; then ``repeat`` must be 1.
            token: ask for a task-complete token.

        Returns:
            The BD numbers used.

        Raises:
            DesignError: no free BDs of the channel's parity, task queue full, repeat out of range.
            DescriptorError: a descriptor the tile cannot hold, or whose walk leaves the DMA address space.
        """
        transfers = [w if isinstance(w, Transfer) else Transfer((w,)) for w in work]
        runs = repeat * transfers[0].runs if len(transfers) == 1 else repeat
        self._check(transfers, runs, loop)
        self.claimed = True
        pool, size = self._tile.bd_pool, sum(len(t.descriptors) for t in transfers)
        numbers = pool.choose(self._number, size, self.port)
        chain = chain_words(self._tile.kind, numbers, link(transfers, numbers, loop), self._tile.title)
        pool.take(self._number, size, self.port)  # only now: a refused chain takes and writes nothing
        for number, words in zip(numbers, chain, strict=True):
            self._tile.door.block_write32(self._tile.kind.bd_base + number * self._tile.kind.bd_stride, words)
        self._tile.door.write32(self._queue_register, self._queue_word(numbers[0], runs, token))
        self._begun = True
        return numbers

    def feed(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Offer the bytes of ``data`` at the stream port, one word per cycle, or as ``pattern`` allows.

        Args:
            data: any array of whole 32-bit words, taken in C order.
            pattern: repeating 0/1 readiness per cycle.
        """
        self._must_be(S2MM, "feed")
        self._tile.engine.feed(self.index, _words(data, self.name))
        self._pace(pattern)

    def collect(self, dtype: npt.DTypeLike = np.uint32, pattern: Iterable[int] | None = None) -> None:
        """Take every word of the stream port; the result has them as a flat array of ``dtype``."""
        self._must_be(1 - S2MM, "collect")
        self.dtype, self.taken = np.dtype(dtype), True
        self._tile.engine.catch(self.index)
        self._pace(pattern)

    def expect(self, data: Array, pattern: Iterable[int] | None = None) -> None:
        """Collect, and compare what comes with the elements of ``data`` in C order."""
        self.collect(data.dtype, pattern)
        flat = np.ascontiguousarray(data).ravel()
        self.expected = flat if self.expected is None else np.concatenate([self.expected, flat])

    def output(self) -> Array:
        """What was collected so far; a tail shorter than one element is left out."""
        words = self._tile.engine.caught(self.index)
        whole = words.nbytes // self.dtype.itemsize * self.dtype.itemsize
        return words.view(np.uint8)[:whole].view(self.dtype)

    def check(self) -> Check | None:
        """Comparison of the output with what is expected, if anything is."""
        return None if self.expected is None else Check.compare(self.name, self.output(), self.expected)

    def status(self) -> dict[str, int]:
        """Fields of the channel's status register, AM025 names."""
        kind = self._tile.kind
        register = self._register(kind.status_base[self._direction] + self._number * WORD_BYTES)
        return register.unpack(self._tile.door.read32(register.offset))

    @property
    def started(self) -> bool:
        """Whether it was ever given work."""
        return self._begun

    @property
    def _depth(self) -> int:
        return self._tile.kind.queue_depth

    @property
    def _queue_register(self) -> int:
        return self._tile.kind.queue_base + self._local * self._tile.kind.channel_stride

    def _queue_word(self, bd: int, runs: int, token: bool) -> int:
        register = self._register(self._queue_register)
        return register.pack(Start_BD_ID=bd, Repeat_Count=runs - 1, Enable_Token_Issue=int(token))

    def _register(self, offset: int) -> Register:
        found = register_at(self._tile.kind.name, offset)
        assert found is not None  # the tables of registers and of tile kinds agree, by test
        return found

    def _queued(self) -> int:
        return int(self._tile.engine.state.channels.queue_count[self.index])

    def _pace(self, pattern: Iterable[int] | None) -> None:
        if pattern is not None:
            self._tile.engine.pace(self.index, np.asarray(list(pattern), dtype=np.int64))

    def _check(self, transfers: Sequence[Transfer], runs: int, loop: bool) -> None:
        most = self._tile.kind.max_repeat
        problems: list[Problem] = []
        if not transfers:
            problems.append(
                self._problem("work", "nothing", "at least one transfer", "AM020: a task is a BD chain")
            )
        if not 1 <= runs <= most or (loop and runs > 1):
            allowed = "1 (a ring never ends)" if loop else f"1..{most}"
            problems.append(
                self._problem("repeat", f"{runs} runs", allowed, "AM025 Start_Queue.Repeat_Count")
            )
        if len(transfers) > 1 and any(t.runs > 1 for t in transfers):
            step = "start it as a task of its own"
            problems.append(
                self._problem(
                    "work", "a transfer of several runs", "one run in a longer chain", "AM025", step
                )
            )
        if self._queued() == self._depth:
            step = "run, or put more work into one chain"
            problems.append(
                self._problem("task queue", "one more task", f"{self._depth} queued tasks", "AM020", step)
            )
        raise_if(problems, DesignError)

    def _must_be(self, direction: int, verb: str) -> None:
        if self._direction != direction:
            allowed = "S2MM channels" if direction == S2MM else "MM2S channels"
            raise DesignError(
                self._problem(verb, self.port, allowed, "AM020: S2MM writes memory, MM2S reads it")
            )

    def _problem(self, name: str, given: str, allowed: str, source: str, step: str = "") -> Problem:
        where = f"{self._tile.title}, {self.port}"
        return Problem(name.replace(" ", "_"), where, name, given, allowed, source, step)


def chain_words(
    kind: TileKind, numbers: Sequence[int], chain: Sequence[Descriptor], title: str
) -> list[tuple[int, ...]]:
    """Register words of descriptors for these BDs of a tile, whose walks stay in the DMA address space.

    Raises:
        DescriptorError: every field of any of them that does not fit, or where a walk leaves the space.
    """
    words: list[tuple[int, ...]] = []
    problems: list[Problem] = []
    for number, descriptor in zip(numbers, chain, strict=True):
        try:
            words.append(_checked_words(kind, number, descriptor, title))
        except DescriptorError as error:
            problems += error.problems
    raise_if(problems, DescriptorError)
    return words


def _checked_words(kind: TileKind, number: int, descriptor: Descriptor, title: str) -> tuple[int, ...]:
    where = f"{title}, BD {number}"
    if descriptor.kind != kind:
        raise DescriptorError(
            Problem("tile", where, "tile", descriptor.tile, kind.name, "AM025: BDs differ by tile kind")
        )
    words = encode(descriptor, number)
    walks = (Walk.of(descriptor, run) for run in range(descriptor.iteration.wrap))
    raise_if([p for walk in walks for p in check_walk(walk, kind, where)][:1], DescriptorError)
    return words


def _words(data: Array, name: str) -> npt.NDArray[np.uint32]:
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    if len(flat) % WORD_BYTES:
        given, allowed = f"{len(flat)} bytes", f"a multiple of {WORD_BYTES}"
        raise DesignError(
            Problem("feed", name, "data", given, allowed, "AM020: 32-bit streams", "pad the array")
        )
    return flat.view(np.uint32)
