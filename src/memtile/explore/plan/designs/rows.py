"""Each row of a matrix reduced to a number, or normalised, on an array, as ``memtile plan`` lays it out.

Memory tiles cut blocks of rows into bands, one for each core, and send them over circuits, or as packets over
one channel; they put together what comes back. Run it with ``memtile run``; ``--set data=no`` for its time
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from memtile.access.tiling import TilingParameters
from memtile.access.views import view
from memtile.design.array import Array
from memtile.design.object_fifo import End
from memtile.design.tile import Tile
from memtile.runs.timed_kernels import timed_by
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import apart
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.kernels.listed_actions import acquire, cycles, listed, loop, release

Numbers = npt.NDArray[Any]


def reduced(rows: Numbers, what: str) -> Numbers:
    """What the cores make of some rows: a number of each, or the row with its mean 0 and its variance 1."""
    result: Numbers
    if what == "normalise":
        wide = rows.astype(np.float64)
        mean, spread = wide.mean(axis=1, keepdims=True), wide.var(axis=1, keepdims=True)
        result = (wide - mean) / np.sqrt(spread + 1e-5)
    else:
        result = (np.sum if what == "sum" else np.max)(rows, axis=1, keepdims=True)
    return result.astype(rows.dtype)


def worker(come: End, go: End, blocks: int, count: int, what: str, *, data: bool) -> Kernel:
    """The core of one tile: bands of rows in, what becomes of them out."""
    block = acquire(come.full), acquire(go.free), cycles(count), release(come.free), release(go.full)
    if not data:
        return listed(loop(blocks, *block), name="reduce")

    def reduce(core: Core) -> Iterator[Action]:
        for number in range(blocks):
            yield core.acquire(come.full)
            yield core.acquire(go.free)
            yield core.cycles(count)
            core.write(go.buffer(number), reduced(core.read(come.buffer(number)), what))
            yield core.release(come.free)
            yield core.release(go.full)

    return timed_by(reduce, loop(blocks, *block))


def packets(
    array: Array, column: int, cores: Sequence[Tile], shape: Sequence[int], kind: Any, depth: int
) -> list[End]:
    """Bands of objects to the cores of a column as packets over one channel; the ends of the cores."""
    outside, shared = array.interface_tile(column), array.memory_tile(column)
    tall, width = shape[0] // len(cores), shape[1]
    bus = array.packet_bus(f"bands{column}", *((shared.mm2s[0], [core.s2mm[0]]) for core in cores))
    free, full = shared.lock(depth, f"rows{column}.free"), shared.lock(0, f"rows{column}.full")
    bands = [
        TilingParameters((width, shape[0]), (width, tall), (0, n * tall), packet_port_id=n)
        for n in range(len(cores))
    ]
    buffers = [shared.buffer(f"rows{column}.{n}", tuple(shape), kind) for n in range(depth)]
    writes = [shared.write(each).guarded(free.acquire(), full.release()) for each in buffers]
    shared.s2mm[0].start(*writes, loop=True)
    reads = []
    for each in buffers:
        first, *middle, last = bus.split(each, bands)
        reads += [first.guarded(full.acquire(), None), *middle, last.guarded(None, free.release())]
    shared.mm2s[0].start(*reads, loop=True)
    array.connect(outside.mm2s[0], shared.s2mm[0])
    ends = []
    for core in cores:
        kept = tuple(core.buffer(f"band.{n}", (tall, width), kind) for n in range(2))
        locks = core.lock(2, "band.free"), core.lock(0, "band.full")
        fills = [core.write(each).guarded(locks[0].acquire(), locks[1].release()) for each in kept]
        core.s2mm[0].start(*fills, loop=True)
        ends.append(End(core, core.s2mm[0], kept, locks))
    return ends


def design(
    rows: int = 1024,
    width: int = 512,
    dtype: Literal["int32", "float32"] = "int32",
    what: Literal["sum", "max", "normalise"] = "sum",
    device: str = "npu1",
    columns: int = 4,
    cores: int = 4,
    tall: int = 4,
    depth: int = 2,
    links: Literal["circuits", "packets"] = "circuits",
    per_cycle: int = 16,
    data: bool = True,
) -> Array:
    """The sum or the largest number of each row, or the rows normalised.

    Args:
        rows: of the matrix.
        width: of the matrix.
        dtype: of its numbers, and of what becomes of them.
        what: is made of each row.
        device: that it is for.
        columns: of the array.
        cores: in each column; packets need two or more.
        tall: rows that a core takes at once.
        depth: objects that a memory tile holds.
        links: how bands come to the cores.
        per_cycle: numbers that a core is said to take in a cycle.
        data: with numbers; else the cores only take their time.
    """
    array, kind = Array(device, columns), np.dtype(dtype)
    random = np.random.default_rng(seed=7)
    matrix = random.integers(-99, 99, (rows, width)).astype(kind) if data else np.zeros((rows, width), kind)
    wanted = reduced(matrix, what)
    result = np.zeros_like(wanted)
    source, goal = array.external("rows", matrix), array.external("result", result)
    block = (cores * tall, width)
    share = rows // columns
    for column in range(columns):
        outside, shared = array.interface_tile(column), array.memory_tile(column)
        tiles = [array.compute_tile(column, row) for row in array.device.compute_rows[:cores]]
        if links == "packets":
            comes = packets(array, column, tiles, block, kind, depth)
        else:
            come = array.object_fifo(f"rows{column}", outside, shared, shape=block, dtype=kind, depth=depth)
            comes = [each.consumers[0] for each in come.split(f"band{column}", tiles, depth=2)]
        size = (block[0], wanted.shape[1])
        back = array.object_fifo(f"result{column}", shared, outside, shape=size, dtype=kind, depth=depth)
        goes = [each.producer for each in back.gather(f"part{column}", tiles, depth=2)]
        cycles = -(-tall * width * (3 if what == "normalise" else 1) // per_cycle)
        for tile, came, gone in zip(tiles, comes, goes, strict=True):
            tile.run_kernel(apart(worker(came, gone, share // block[0], cycles, what, data=data)))
        mine = slice(column * share, (column + 1) * share)
        outside.mm2s[0].start(outside.read(source, view(matrix.shape, kind)[mine]))
        outside.s2mm[0].start(outside.write(goal, view(wanted.shape, kind)[mine]))
    if data:
        array.expect_array("result", result, wanted)
    return array
