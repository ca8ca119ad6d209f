"""Attention, softmax(Q K' / sqrt(d)) V for each head, on an array, as ``memtile plan`` lays it out.

Heads are shared out to columns. Memory tiles cut blocks of Q into bands, one for each core, and send blocks
of K and V to all cores, a block of K before one of V. A core adds up what its queries get, block by block,
with the largest score so far (online softmax). ``keep`` has all keys and values of a head in the memory tile
and sends them again for each block of Q. Run it with ``memtile run``; ``--set data=no`` for its time alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from memtile.access.views import view
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.object_fifo import End
from memtile.design.transfers import Transfer
from memtile.runs.timed_kernels import timed_by
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import apart
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.kernels.listed_actions import acquire, cycles, listed, loop, release

Numbers = npt.NDArray[Any]
KIND = np.dtype(ml_dtypes.bfloat16)


class Softmax:
    """What a core knows of its queries: the largest score so far, the sum of weights, the weighted values."""

    def __init__(self, queries: Numbers) -> None:
        self.queries = queries.astype(np.float32) / np.float32(np.sqrt(queries.shape[1]))
        self.top = np.full((len(queries), 1), -np.inf, np.float32)
        self.sum = np.zeros((len(queries), 1), np.float32)
        self.values = np.zeros(queries.shape, np.float32)

    def add(self, keys: Numbers, values: Numbers) -> None:
        """Take a block of keys and one of values."""
        scores = self.queries @ keys.astype(np.float32).T
        top = np.maximum(self.top, scores.max(axis=1, keepdims=True))
        weights, less = np.exp(scores - top), np.exp(self.top - top)
        self.sum = self.sum * less + weights.sum(axis=1, keepdims=True)
        self.values = self.values * less + weights @ values.astype(np.float32)
        self.top = top

    @property
    def result(self) -> Numbers:
        """What the queries get."""
        return (self.values / self.sum).astype(KIND)


def attention(queries: Numbers, keys: Numbers, values: Numbers, tall: int, deep: int) -> Numbers:
    """One head, with the sums in the order of the cores: bands of queries, blocks of keys."""
    bands = []
    for first in range(0, len(queries), tall):
        band = Softmax(queries[first : first + tall])
        for at in range(0, len(keys), deep):
            band.add(keys[at : at + deep], values[at : at + deep])
        bands.append(band.result)
    return np.concatenate(bands)


def worker(ends: tuple[End, End, End], blocks: int, steps: int, count: int, *, data: bool) -> Kernel:
    """The core of one tile: bands of queries, keys and values in turn, what the queries get."""
    asks, both, go = ends
    came, gone = [acquire(both.full)] * 2, [release(both.free)] * 2
    rounds = loop(steps, *came, cycles(count), *gone)
    block = acquire(asks.full), acquire(go.free), rounds, release(asks.free), release(go.full)
    if not data:
        return listed(loop(blocks, *block), name="attend")

    def attend(core: Core) -> Iterator[Action]:
        step = 0
        for number in range(blocks):
            yield core.acquire(asks.full)
            yield core.acquire(go.free)
            band = Softmax(core.read(asks.buffer(number)))
            for _ in range(steps):
                yield core.acquire(both.full)
                yield core.acquire(both.full)
                yield core.cycles(count)
                band.add(core.read(both.buffer(2 * step)), core.read(both.buffer(2 * step + 1)))
                yield core.release(both.free)
                yield core.release(both.free)
                step += 1
            core.write(go.buffer(number), band.result)
            yield core.release(asks.free)
            yield core.release(go.full)

    return timed_by(attend, loop(blocks, *block))


def numbers(shape: tuple[int, ...], *, data: bool) -> tuple[Numbers, Numbers, Numbers]:
    """Queries, keys and values together, and room for the result."""
    random = np.random.default_rng(seed=64)
    q, kv = (
        random.normal(size=each).astype(KIND) if data else np.zeros(each, KIND)
        for each in (shape, (2, *shape))
    )
    return q, kv, np.zeros_like(q)


def begin(array: Array, channel: Channel, work: Sequence[Transfer], again: int) -> None:
    """Start tasks, or have a host start them one after another where the queue does not hold all."""
    if len(work) <= channel.tile.kind.queue_depth:
        for each in work:
            channel.start(each, repeat=again)
        return
    array.start_in_order([(channel, each, again) for each in work])


def design(
    heads: int = 4,
    length: int = 128,
    size: int = 64,
    device: str = "npu1",
    columns: int = 4,
    cores: int = 4,
    tall: int = 16,
    deep: int = 32,
    depth: int = 4,
    keep: bool = True,
    macs: int = 128,
    exponents: int = 16,
    data: bool = True,
) -> Array:
    """Attention of ``heads`` heads, bfloat16.

    Args:
        heads: number of heads; a multiple of the columns.
        length: number of queries, keys and values of a head.
        size: elements of each query, key and value.
        device: that it is for; ``columns`` of it, ``cores`` in each.
        tall: queries that a core takes at once.
        deep: keys, and values, of a block.
        depth: blocks of keys and values that a core holds; 2 or more.
        keep: all keys and values of a head stay in the memory tile; else they are loaded for each block of Q.
        macs, exponents: multiplications, and exponentials, that a core is said to make in a cycle.
        data: with numbers; else the cores only take their time.
    """
    array = Array(device, columns)
    q, kv, result = numbers((heads, length, size), data=data)
    queries, others, goal = (array.external(n, x) for n, x in (("Q", q), ("KV", kv), ("result", result)))
    share, rounds = heads // columns, length // (cores * tall)
    block, panel = (cores * tall, size), length if keep else deep
    cycles = -(-2 * tall * deep * size // macs) + -(-tall * deep // exponents)
    for column in range(columns):
        outside, shared = array.interface_tile(column), array.memory_tile(column)
        tiles = [array.compute_tile(column, row) for row in array.device.compute_rows[:cores]]
        asks = array.object_fifo(f"Q{column}", outside, shared, shape=block, dtype=KIND)
        bands = asks.split(f"q{column}", tiles, depth=2)
        both = array.object_fifo(f"KV{column}", outside, shared, shape=(2 * panel, size), dtype=KIND)
        turns = view((2 * panel, size), KIND).reshape(2, panel // deep, deep, size).transpose(1, 0, 2, 3)
        again = rounds if keep else 1
        (turn,) = both.split(f"kv{column}", [tiles], parts=[turns], depth=depth, repeat=again)
        back = array.object_fifo(f"O{column}", shared, outside, shape=block, dtype=KIND)
        parts = back.gather(f"o{column}", tiles, depth=2)
        for n, tile in enumerate(tiles):
            ends = bands[n].consumers[0], turn.consumers[n], parts[n].producer
            tile.run_kernel(apart(worker(ends, share * rounds, length // deep, cycles, data=data)))
        mine = slice(column * share, (column + 1) * share)
        asks.producer.channel.start(outside.read(queries, view(q.shape, KIND)[mine]))
        back.consumers[0].channel.start(outside.write(goal, view(q.shape, KIND)[mine]))
        keys = view(kv.shape, KIND)[:, mine].transpose(1, 0, 2, 3)
        turned = [head.reshape(2, length // deep, deep, size).transpose(1, 0, 2, 3) for head in keys]
        loads = [outside.read(others, each) for each in ([keys] if keep else turned)]
        begin(array, both.producer.channel, loads, 1 if keep else rounds)
    if data:
        wanted = [attention(q[h], kv[0, h], kv[1, h], tall, deep) for h in range(heads)]
        array.expect_array("result", result, np.stack(wanted))
    return array
