"""Parts of random array designs: what each one draws, and how it is added to an array."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from memtile import Array, pad, view
from memtile.access.views import View
from memtile.arch.packets import PacketOperation, control_header
from memtile.design.buffers import Buffer
from memtile.design.events import SwitchEnd
from memtile.design.other_tiles import ComputeTile
from memtile.design.tile import Tile
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel

WORDS = (4, 8, 12, 16, 24, 40, 64, 100, 256)
PATTERNS = ([1], [1, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])
_LOAD_BITS = 32


class Rows(Protocol):
    """Where parts can be."""

    device: str
    columns: int
    rounds: tuple[int, ...]

    @property
    def memory_rows(self) -> range:
        """Rows of memory tiles."""

    @property
    def compute_rows(self) -> range:
        """Rows of compute tiles."""


class Builder:
    """An array to which parts are added.

    Args:
        array: the array.

    Attributes:
        array: the array.
        kernels: that run on its cores, by place.
    """

    def __init__(self, array: Array) -> None:
        self.array = array
        self._names: Counter[str] = Counter()
        self.kernels: dict[tuple[int, int], Kernel] = {}
        self._later: list[Callable[[], None]] = []

    def name(self, what: str) -> str:
        """Return a name that nothing else has."""
        self._names[what] += 1
        return f"{what}{self._names[what]}"

    def memory(self, column: int, row: int = 0) -> Tile:
        """Return the memory tile of a column, modulo what there is."""
        rows = self.array.device.memory_rows
        return self.array.memory_tile(column % self.array.columns, rows[row % len(rows)])

    def compute(self, column: int, row: int) -> ComputeTile:
        """Return the compute tile of a column and of a row counted from the lowest."""
        rows = self.array.device.compute_rows
        return self.array.compute_tile(column % self.array.columns, rows[row % len(rows)])

    def interface(self, column: int) -> Tile:
        """Return the interface tile of a column, or of the nearest one that has a DMA."""
        every = range(self.array.columns)
        found = [each for each in every if self.array.device.has_interface_dma(each)]
        return self.array.interface_tile(min(found or every, key=lambda each: abs(each - column)))

    def source(self, words: int) -> Buffer:
        """Return an array in external memory with numbers."""
        data = (np.arange(words, dtype=np.uint32) * np.uint32(2654435761)).view(np.int32)
        return self.array.external(self.name("in"), data)

    def target(self, words: int) -> Buffer:
        """Return an array in external memory for results."""
        return self.array.external(self.name("out"), np.zeros(words, np.int32))

    def run_kernel(self, tile: ComputeTile, kernel: Kernel) -> None:
        """Run a kernel; a tile has one."""
        assert tile.place is not None
        self.kernels[tile.place] = kernel
        tile.run_kernel(kernel)

    def later(self, what: Callable[[], None]) -> None:
        """Do something when all parts are there."""
        self._later.append(what)

    def finish(self) -> None:
        """Do what was put off."""
        for what in self._later:
            what()


class Part(Protocol):
    """A part of a design."""

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Part:
        """Return a random one."""

    def add(self, builder: Builder) -> None:
        """Add it to an array."""

    def features(self) -> set[str]:
        """Return names of what it has."""


def walked(words: int, walk: int) -> View | None:
    """Return a view of a buffer of a multiple of 4 words: in order, transposed, with steps, halves."""
    whole = view((words,))
    table = view((words // 4, 4))
    made: tuple[View | None, ...] = (
        None,
        table.T,
        whole[::2],
        table[:, 1:3],
        whole.reshape((2, 2, -1)).transpose((1, 0, 2)),
    )
    return made[walk]


WALKS = 5


def _beside(column: int, space: Rows) -> list[int]:
    return [each for each in (column - 1, column + 1) if 0 <= each < space.columns]


class Relay(NamedTuple):
    """Blocks from external memory through a ring in a memory tile or its neighbour, and back."""

    column: int
    out: int
    row: int
    beside: int
    words: int
    depth: int
    rounds: int
    walk: int
    pads: tuple[int, ...]
    pad_value: int
    repeat: int
    lacks: bool

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Relay:
        """Return a random one."""
        column = rng.randrange(space.columns)
        pads = tuple(rng.randrange(4) for _ in range(4)) if rng.random() < 0.35 else ()
        return cls(
            column,
            column if rng.random() < 0.7 else rng.randrange(space.columns),
            rng.randrange(len(space.memory_rows)),
            rng.choice((column, column, *_beside(column, space))),
            rng.choice(WORDS),
            rng.randint(1, 3),
            rng.choice(space.rounds),
            rng.choice((0, 0, 1, 2, 3, 4)) if not pads else 0,
            pads,
            rng.choice((0, 0, 7)) if pads and space.device in ("npu2", "xc2ve3858") else 0,
            rng.choice((1, 1, 1, 2)),
            rng.random() < 0.05,
        )

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        tile = builder.memory(self.column, self.row)
        from_tile, to_tile = builder.interface(self.column), builder.interface(self.out)
        words, depth = max(self.words, 4), max(self.depth, 1)
        rounds, owner = depth * max(self.rounds, 1), builder.memory(self.beside, self.row)
        buffers = [owner.buffer(builder.name("block"), words, np.int32) for _ in range(depth)]
        free = tile.seen(owner.lock(0 if self.lacks else depth, builder.name("free")))
        full = tile.seen(owner.lock(0, builder.name("full")))
        pattern = walked(words, self.walk)
        if self.pads:
            before, after, first, last = (*self.pads, 0, 0, 0)[:4]
            pattern = pad(view((words // 4, 4)), ((before, after), (first, last)))
        reads = [
            tile.read(each, pattern).repeated(max(self.repeat, 1)).guarded(full.acquire(), free.release())
            for each in buffers
        ]
        source, sink = from_tile.free_channel(receives=False), to_tile.free_channel(receives=True)
        into, out = tile.free_channel(receives=True), tile.free_channel(receives=False)
        builder.array.connect(source, into)
        builder.array.connect(out, sink)
        if self.pad_value:
            out.pad_with(self.pad_value)
        given = builder.source(words * rounds)
        sent = sum(each.words for each in reads) * (rounds // depth)
        result = builder.target(sent)
        writes = [tile.write(each).guarded(free.acquire(), full.release()) for each in buffers]
        into.start(*writes, repeat=rounds // depth)
        out.start(*reads, repeat=rounds // depth)
        sink.start(to_tile.write(result))
        source.start(from_tile.read(given))

    def features(self) -> set[str]:
        """Return names of what it has."""
        found = {"locks", "external memory"}
        found |= {"padding"} if self.pads else set()
        found |= {"padding word"} if self.pad_value else set()
        found |= {f"walk {self.walk}"} if self.walk else set()
        found |= {"from column to column"} if self.out != self.column else set()
        found |= {"neighbour memory", "neighbour locks"} if self.beside != self.column else set()
        return found | ({"deadlock"} if self.lacks else set())


class Loop(NamedTuple):
    """Words of a memory tile, or of its neighbour, that come back to it by a stream."""

    column: int
    row: int
    words: int
    walk: int
    compressed: bool
    beside: int
    again: int

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Loop:
        """Return a random one."""
        column = rng.randrange(space.columns)
        beside = _beside(column, space)
        return cls(
            column,
            rng.randrange(len(space.memory_rows)),
            rng.choice(WORDS),
            rng.choice((0, 0, 1, 2, 3, 4)),
            rng.random() < 0.5 and space.device != "npu2",
            rng.choice(beside) if beside and rng.random() < 0.6 else column,
            rng.choice((0, *space.rounds)),
        )

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        tile, words = builder.memory(self.column, self.row), max(self.words, 4)
        owner = builder.memory(self.beside, self.row)
        data = np.arange(words, dtype=np.int32) * (np.arange(words) % 3 > 0)
        held = owner.buffer(builder.name("held"), words, np.int32, data=data.astype(np.int32))
        reads = tile.read(held, walked(words, self.walk))
        copy = tile.buffer(builder.name("copy"), reads.words, np.int32)
        writes = tile.write(copy)
        if self.compressed:
            reads, writes = reads.compressed(), writes.compressed()
        out, into = tile.free_channel(receives=False), tile.free_channel(receives=True)
        builder.array.connect(out, into)
        out.start(reads, repeat=self.again + 1)
        into.start(writes, repeat=self.again + 1)

    def features(self) -> set[str]:
        """Return names of what it has."""
        found = {"compression"} if self.compressed else set()
        found |= {"neighbour memory"} if self.beside != self.column else set()
        return found | ({f"walk {self.walk}"} if self.walk else set())


class Work(NamedTuple):
    """Blocks from a memory tile through a core back to it; the result may be in a neighbour of the core."""

    column: int
    row: int
    words: int
    rounds: int
    cycles: int
    mood: int
    beside: int
    style: int

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Work:
        """Return a random one."""
        column, row = rng.randrange(space.columns), rng.randrange(len(space.compute_rows))
        beside = [0, 0, *([1] if row + 1 < len(space.compute_rows) else []), *([2] if column else [])]
        return cls(
            column,
            row,
            rng.choice(WORDS[:-1]),
            rng.choice(space.rounds),
            rng.choice((1, 5, 20, 60, 200)),
            rng.choice((0, 0, 0, 3)),
            rng.choice(beside),
            rng.randrange(3),
        )

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        memory, worker = builder.memory(self.column), builder.compute(self.column, self.row)
        words, rounds = max(self.words, 4), max(self.rounds, 1)
        beside = worker
        if self.beside:
            column, row = (self.column, self.row + 1) if self.beside == 1 else (self.column - 1, self.row)
            beside = builder.compute(column, row)
        data = np.arange(words * rounds, dtype=np.int32)
        source = memory.buffer(builder.name("source"), words * rounds, np.int32, data=data)
        target = memory.buffer(builder.name("target"), words * rounds, np.int32)
        block = worker.buffer(builder.name("given"), words, np.int32)
        result = beside.buffer(builder.name("made"), words, np.int32)
        empty, full = worker.lock(1, builder.name("empty")), worker.lock(0, builder.name("ready"))
        room, done = beside.lock(1, builder.name("room")), beside.lock(0, builder.name("done"))
        sends, takes = memory.free_channel(receives=False), memory.free_channel(receives=True)
        into, out = worker.free_channel(receives=True), beside.free_channel(receives=False)
        builder.array.connect(sends, into)
        builder.array.connect(out, takes)
        sends.start(memory.read(source))
        takes.start(memory.write(target))
        into.start(worker.write(block).guarded(empty.acquire(), full.release()), repeat=rounds)
        out.start(beside.read(result).guarded(done.acquire(), room.release()), repeat=rounds)

        def kernel(core: Core) -> Iterator[Action]:
            for _ in range(rounds):
                yield core.acquire(full)
                yield core.acquire(room)
                yield core.cycles(max(self.cycles, 1))
                if self.style == 0:
                    core.view(result)[:] = core.view(block) + 1
                else:
                    core.write(result, core.read(block) * 3)
                if self.style == 2:
                    yield core.access(core.walk(block, _LOAD_BITS), store=core.walk(result, _LOAD_BITS))
                if self.mood and int(core.read(block)[0]) % self.mood == 0:
                    yield core.cycles(self.mood)
                yield core.release(done)
                yield core.release(empty)

        builder.run_kernel(worker, kernel)

    def features(self) -> set[str]:
        """Return names of what it has."""
        found = {"kernels", "locks"}
        found |= {"kernel that depends on words"} if self.mood else set()
        found |= {"neighbour memory", "neighbour locks"} if self.beside else set()
        return found | ({"accesses of a core"} if self.style == 2 else set())


class Cascade(NamedTuple):
    """Cores in a row: each puts values on the cascade to the next, and the last one stores them."""

    column: int
    row: int
    steps: tuple[bool, ...]
    values: int
    waits: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Cascade:
        """Return a random one."""
        row, column = rng.randrange(1, len(space.compute_rows)), rng.randrange(space.columns)
        steps, south, east = tuple[bool, ...](), row, space.columns - 1 - column
        for _ in range(rng.randint(1, 3)):
            if not south and not east:
                break
            is_east = not south or (east > 0 and rng.random() < 0.5)
            south, east, steps = south - (not is_east), east - is_east, (*steps, is_east)
        return cls(
            column, row, steps, rng.choice(space.rounds),
            tuple(rng.choice((0, 1, 9, 50)) for _ in range(len(steps) + 1)),
        )  # fmt: skip

    def _tiles(self, builder: Builder) -> list[ComputeTile]:
        column, row, found = self.column, self.row, [builder.compute(self.column, self.row)]
        for is_east in self.steps:
            column, row = (column + 1, row) if is_east else (column, row - 1)
            found.append(builder.compute(column, row))
        return found

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        tiles = self._tiles(builder)
        for tile, following in pairwise(tiles):
            tile.cascade_to(following)
        last, values = tiles[-1], max(self.values, 1)
        made = last.buffer(builder.name("sum"), 16 * values, np.int32)
        done = last.lock(0, builder.name("summed"))
        memory = builder.memory(self.column)
        target = memory.buffer(builder.name("sums"), 16 * values, np.int32)
        out, into = last.free_channel(receives=False), memory.free_channel(receives=True)
        builder.array.connect(out, into)
        out.start(last.read(made).guarded(done.acquire()))
        into.start(memory.write(target))

        def kernel(core: Core, place: int) -> Iterator[Action]:
            for n in range(values):
                here = np.full(16, 100 * place + n, np.int32)
                if place:
                    here = here + (yield core.get_cascade())
                if self.waits[place % len(self.waits)] if self.waits else 0:
                    yield core.cycles(self.waits[place % len(self.waits)])
                if place + 1 < len(tiles):
                    yield core.put_cascade(here)
                else:
                    core.view(made)[16 * n : 16 * n + 16] = here
            if place + 1 == len(tiles):
                yield core.release(done)

        for place, tile in enumerate(tiles):
            builder.run_kernel(tile, partial(kernel, place=place))

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"cascades", "kernels"} | {"cascade east" if each else "cascade south" for each in self.steps}


class CoreStream(NamedTuple):
    """A core that puts words into its stream, and another core that gets them."""

    column: int
    row: int
    to: int
    words: int
    times: int
    cycles: int
    last: bool

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> CoreStream:
        """Return a random one."""
        row, to = rng.sample(range(len(space.compute_rows)), 2)
        return cls(
            rng.randrange(space.columns), row, to, rng.choice((1, 2, 4, 8)), rng.choice(space.rounds),
            rng.choice((0, 1, 30)), rng.random() < 0.5,
        )  # fmt: skip

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        sender, receiver = (builder.compute(self.column, row) for row in (self.row, self.to))
        words, times = max(self.words, 1), max(self.times, 1)
        kept = receiver.buffer(builder.name("stream"), words * times, np.int32)
        builder.array.connect(sender.stream_out, receiver.stream_in)

        def sends(core: Core) -> Iterator[Action]:
            for n in range(times):
                yield core.put_stream(np.arange(words, dtype=np.int32) + n, last=self.last)

        def gets(core: Core) -> Iterator[Action]:
            for n in range(times):
                found = yield core.get_stream(words)
                if self.cycles:
                    yield core.cycles(self.cycles)
                core.view(kept)[n * words : n * words + words] = found

        builder.run_kernel(sender, sends)
        builder.run_kernel(receiver, gets)

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"core streams", "kernels"}


class Packets(NamedTuple):
    """Compute tiles that send packets over shared links to one channel of the memory tile."""

    column: int
    senders: int
    words: int
    rounds: int
    out_of_order: bool
    keeps: bool

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Packets:
        """Return a random one."""
        ordered = rng.random() < 0.5
        return cls(
            rng.randrange(space.columns), rng.randint(1, 3), rng.choice(WORDS[:6]), rng.randint(1, 4),
            not ordered, ordered and rng.random() < 0.5,
        )  # fmt: skip

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        memory, count, words = builder.memory(self.column), max(self.senders, 1), max(self.words, 4)
        rounds = max(self.rounds, 1)
        senders = [builder.compute(self.column, n) for n in range(count)]
        sends, into = (
            [each.free_channel(receives=False) for each in senders],
            memory.free_channel(receives=True),
        )
        keeps = self.keeps or self.out_of_order
        bus = builder.array.packet_bus(
            builder.name("bus"), *((each, [into]) for each in sends), keep_headers=keeps
        )
        size = words if self.out_of_order else words + self.keeps
        places = [memory.buffer(builder.name("place"), size, np.int32) for _ in range(count * rounds)]
        numbers: tuple[int, ...] = (0,) * len(places)
        if self.out_of_order:
            numbers = into.start_out_of_order(*map(memory.write, places), packets=len(places))
        else:
            into.start(*map(memory.write, places))
        for n, (sender, channel, stream) in enumerate(zip(senders, sends, bus.streams, strict=True)):
            data = np.arange(words, dtype=np.int32) + 1000 * n
            source = sender.buffer(builder.name("packet"), words, np.int32, data=data)
            work = [stream.packets(sender.read(source), bd=numbers[n * rounds + k]) for k in range(rounds)]
            channel.start(*reversed(work))

    def features(self) -> set[str]:
        """Return names of what it has."""
        found = {"packets"} | ({"packets that merge"} if self.senders > 1 else set())
        return (
            found
            | ({"out of order"} if self.out_of_order else set())
            | ({"headers"} if self.keeps else set())
        )


class Fan(NamedTuple):
    """Packets of one channel of the memory tile to several compute tiles, or one circuit to all of them."""

    column: int
    receivers: int
    words: int
    by_packets: bool

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Fan:
        """Return a random one."""
        return cls(rng.randrange(space.columns), rng.randint(1, 3), rng.choice(WORDS[:6]), rng.random() < 0.6)

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        memory, words = builder.memory(self.column), max(self.words, 4)
        receivers = [builder.compute(self.column, n) for n in range(max(self.receivers, 1))]
        out, ends = memory.free_channel(receives=False), [r.free_channel(receives=True) for r in receivers]
        data = np.arange(words * len(ends), dtype=np.int32)
        source = memory.buffer(builder.name("fan"), words * len(ends), np.int32, data=data)
        parts = [view((len(data),))[n * words : n * words + words] for n in range(len(ends))]
        if self.by_packets:
            bus = builder.array.packet_bus(builder.name("bus"), *((out, [end]) for end in ends))
            out.start(*(s.packets(memory.read(source, p)) for s, p in zip(bus.streams, parts, strict=True)))
        else:
            builder.array.connect(out, *ends)
            out.start(memory.read(source, parts[0]))
        for tile, end in zip(receivers, ends, strict=True):
            end.start(tile.write(tile.buffer(builder.name("end"), words, np.int32)))

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"packets", "packets that part"} if self.by_packets else {"one to many"}


class Control(NamedTuple):
    """Control packets of a memory tile that give locks of a compute tile values."""

    column: int
    row: int
    values: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Control:
        """Return a random one."""
        row = rng.randrange(len(space.compute_rows))
        return cls(
            rng.randrange(space.columns), row, tuple(rng.randrange(4) for _ in range(rng.randint(1, 4)))
        )

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        memory, tile = builder.memory(self.column), builder.compute(self.column, self.row)
        locks = [tile.lock(0, builder.name("told")) for _ in self.values]
        out = memory.free_channel(receives=False)
        bus = builder.array.packet_bus(
            builder.name("control"), (out, [SwitchEnd(tile, "CTRL0", receives=True)]), keep_headers=True
        )
        words = []
        for lock, value in zip(locks, self.values, strict=True):
            place = tile.kind.lock_value_base + lock.id * tile.kind.lock_value_stride
            words.append([control_header(PacketOperation.WRITE, place), value])
        if not words:
            return
        data = np.array(words, np.uint32).view(np.int32)
        source = memory.buffer(builder.name("orders"), data.shape, np.int32, data=data)
        parts = [view(data.shape)[n : n + 1] for n in range(len(words))]
        out.start(*(bus.streams[0].packets(memory.read(source, part)) for part in parts))

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"control packets", "packets"}


class Feed(NamedTuple):
    """A memory tile whose ports the test bench feeds and empties, at the pace of patterns."""

    column: int
    row: int
    words: int
    rounds: int
    fed: int
    emptied: int

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Feed:
        """Return a random one."""
        return cls(
            rng.randrange(space.columns), rng.randrange(len(space.memory_rows)), rng.choice(WORDS),
            rng.choice(space.rounds), rng.randrange(4), rng.randrange(4),
        )  # fmt: skip

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        tile, words, rounds = builder.memory(self.column, self.row), max(self.words, 4), max(self.rounds, 1)
        block = tile.buffer(builder.name("fed"), words, np.int32)
        free, full = tile.lock(1, builder.name("fed_free")), tile.lock(0, builder.name("fed_full"))
        into, out = tile.free_channel(receives=True), tile.free_channel(receives=False)
        into.start(tile.write(block).guarded(free.acquire(), full.release()), repeat=rounds)
        out.start(tile.read(block).guarded(full.acquire(), free.release()), repeat=rounds)
        into.feed(np.arange(words * rounds, dtype=np.int32), pattern=PATTERNS[self.fed])
        out.collect(np.int32, pattern=PATTERNS[self.emptied])

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"test bench", "locks"}
