"""Random designs in which locks, streams or the host order every access, and the same with one order missing.

A design is known by its seed. ``PLANTS`` are the mistakes; each takes one order away, or one too many in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from memtile import Array, MemoryTile
from memtile.design.buffers import Buffer
from memtile.design.host import Host, HostAction
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core

Design = MemoryTile | Array
PLANTS = (
    "no acquire of the reader",
    "no acquire of the writer",
    "one empty too many",
    "wrong lock",
    "overlap",
)


class Ring:
    """Buffers that go from a writer to readers one after another, and back to the writer.

    Args:
        rng: chooses sizes.
        tile: of the buffers.
        name: of everything.
        plant: the mistake, empty = none.
    """

    def __init__(self, rng: random.Random, tile: MemoryTile, name: str, plant: str) -> None:
        self.tile, self.words = tile, rng.choice([4, 8, 12, 32])
        depth, readers = rng.randint(1, 3), rng.randint(1, 2)
        if plant == "overlap":
            depth = max(depth, 2)
        self.rounds = depth * rng.randint(3, 4)
        self.buffers = [tile.buffer(f"{name}{n}", self.words, np.int32) for n in range(depth)]
        self.readers, self.plant = readers, plant
        first = tile.lock(depth + (plant == "one empty too many"), f"{name}_free")
        self.locks = [first, *(tile.lock(0, f"{name}_{n}") for n in range(readers))]
        self.spare = tile.lock(self.rounds + 1, f"{name}_spare")

    def start(self, writer: int, readers: list[int], patterns: list[list[int]]) -> None:
        """Start it on channels of the tile, whose ports are ready as the patterns say."""
        depth, tile = len(self.buffers), self.tile
        data = np.arange(self.words * self.rounds, dtype=np.int32)
        tile.s2mm[writer].start(*(self._writes(n) for n in range(depth)), repeat=self.rounds // depth)
        tile.s2mm[writer].feed(data, pattern=patterns[0])
        for number, channel in enumerate(readers):
            work = [self._reads(n, number) for n in range(depth)]
            tile.mm2s[channel].start(*work, repeat=self.rounds // depth)
            tile.mm2s[channel].collect(pattern=patterns[1 + number])

    def _writes(self, n: int) -> Any:
        acquire = None if self.plant == "no acquire of the writer" else self.locks[0].acquire()
        return self.tile.write(self._at(n, True)).guarded(acquire, self.locks[1].release())

    def _reads(self, n: int, number: int) -> Any:
        lock = self.locks[number + 1]
        if self.plant == "wrong lock" and number == 0:
            lock = self.spare
        acquire = None if self.plant == "no acquire of the reader" and number == 0 else lock.acquire()
        following = self.locks[(number + 2) % len(self.locks)]
        return self.tile.read(self._at(n, False)).guarded(acquire, following.release())

    def _at(self, n: int, writes: bool) -> Buffer:
        """The writer's second buffer is the first one, if they overlap by mistake."""
        return self.buffers[0 if self.plant == "overlap" and n == 1 and writes else n]


def rings(seed: int, plant: str = "") -> MemoryTile:
    """One to three rings on a memory tile; the first one has the mistake."""
    rng = random.Random(seed)
    tile = MemoryTile(interleaved=rng.random() < 0.5)
    senders = list(range(6))
    rng.shuffle(senders)
    for number in range(rng.randint(1, 3)):
        ring = Ring(rng, tile, "abc"[number], plant if number == 0 else "")
        if len(senders) < ring.readers:
            break
        taken = [senders.pop() for _ in range(ring.readers)]
        patterns = [_pattern(rng) for _ in range(1 + ring.readers)]
        ring.start(number * 2 + rng.randint(0, 1), taken, patterns)
    if senders and rng.random() < 0.5:  # weights, which nobody writes
        weights = tile.buffer("weights", 16, np.int32, data=np.arange(16, dtype=np.int32))
        tile.mm2s[senders[0]].start(tile.read(weights), repeat=rng.randint(1, 4))
        tile.mm2s[senders[0]].collect()
    return tile


def by_host(seed: int, plant: str = "") -> MemoryTile:
    """A host that starts the reader when the writer has ended; with any mistake it does not wait."""
    rng = random.Random(seed)
    tile, words = MemoryTile(), rng.choice([16, 64])
    buffer = tile.buffer("block", words, np.int32)
    tile.s2mm[0].feed(np.arange(words * 3, dtype=np.int32), pattern=_pattern(rng))
    tile.mm2s[1].collect(pattern=_pattern(rng))

    def sequence(host: Host) -> Iterator[HostAction]:
        for _ in range(3):
            yield host.start(tile.s2mm[0], tile.write(buffer))
            if not plant:
                yield host.wait()
            yield host.start(tile.mm2s[1], tile.read(buffer))
            yield host.wait()

    tile.bench.host(sequence)
    return tile


def in_place(seed: int, plant: str = "") -> Array:
    """Words that leave a buffer and come back to it by a stream; with a mistake some places ahead."""
    rng = random.Random(seed)
    array = Array("npu1", columns=1)
    tile, words = array.memory_tile(0), 16 * rng.randint(3, 8)
    buffer = tile.buffer("block", words, np.int32, data=np.arange(words, dtype=np.int32))
    array.connect(tile.mm2s[0], tile.s2mm[0])
    there = memtile_roll(words) if plant else None
    tile.mm2s[0].start(tile.read(buffer))
    tile.s2mm[0].start(
        *([tile.write(buffer)] if there is None else [tile.write(buffer, part) for part in there])
    )
    return array


def memtile_roll(words: int) -> list[Any]:
    """The second half of a buffer, then its first one."""
    from memtile import view

    whole = view((words,))
    return [whole[words // 2 :], whole[: words // 2]]


def through_core(seed: int, plant: str = "") -> Array:
    """Blocks through a core by two object FIFOs; with a mistake the kernel takes no lock of the first one."""
    rng = random.Random(seed)
    array = Array("npu1", columns=1)
    memory, worker, rounds = array.memory_tile(0), array.compute_tile(0, 2), rng.randint(2, 5)
    words = rng.choice([8, 16])
    source = memory.buffer("source", words * rounds, np.int32, data=np.arange(words * rounds, dtype=np.int32))
    block, result = worker.buffer("block", words, np.int32), worker.buffer("result", words, np.int32)
    empty, full = worker.lock(1, "empty"), worker.lock(0, "full")
    room, done = worker.lock(1, "room"), worker.lock(0, "done")
    array.connect(memory.mm2s[0], worker.s2mm[0])
    array.connect(worker.mm2s[0], memory.s2mm[0])
    target = memory.buffer("target", words * rounds, np.int32)
    memory.mm2s[0].start(memory.read(source))
    memory.s2mm[0].start(memory.write(target))
    worker.s2mm[0].start(worker.write(block).guarded(empty.acquire(), full.release()), repeat=rounds)
    worker.mm2s[0].start(worker.read(result).guarded(done.acquire(), room.release()), repeat=rounds)
    views = rng.random() < 0.5

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(rounds):
            if not plant:
                yield core.acquire(full)
            yield core.acquire(room)
            yield core.cycles(20)
            if views:
                core.view(result)[:] = core.view(block) + 1
            else:
                core.write(result, core.read(block) + 1)
            yield core.release(done)
            yield core.release(empty)

    worker.run_kernel(kernel)
    return array


KINDS: tuple[Callable[..., Design], ...] = (rings, rings, by_host, in_place, through_core)


def ordered(seed: int) -> Design:
    """The design of a seed, in which everything is ordered."""
    return KINDS[seed % len(KINDS)](seed)


def planted(seed: int) -> tuple[Design, str]:
    """The design of a seed with a mistake, and which one it is."""
    plant = PLANTS[seed // len(KINDS) % len(PLANTS)]
    return KINDS[seed % len(KINDS)](seed, plant), plant


def _pattern(rng: random.Random) -> list[int]:
    """Readiness of a port."""
    return rng.choice([[1], [1, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]])
