"""A matrix product of int8 on one column, with its tiling as parameters; for ``memtile sweep``, timing only.

Run it with ``memtile run examples/gemm_tiles.py``; ``memtile sweep`` tries its variants.

The interface tile sends blocks of A and B to the memory tile, which cuts those of A into bands, one for each
core, and sends those of B to all; blocks of C come back the same way. The cores compute nothing: what a sweep
compares is time, bytes and descriptors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from memtile import Array, End, Range, TilingParameters, TraversingParameters
from memtile.kernels import Action, Core, Kernel

SIZE = 128
PRODUCTS = 256  # int8 products that a core is said to make in a cycle


def worker(a: End, b: End, c: End, blocks: int, steps: int, cycles: int) -> Kernel:
    """A core that takes as long as its products do."""

    def gemm(core: Core) -> Iterator[Action]:
        for _ in range(blocks):
            yield core.acquire(c.free)
            for _ in range(steps):
                yield core.acquire(a.full)
                yield core.acquire(b.full)
                yield core.cycles(cycles)
                yield core.release(a.free)
                yield core.release(b.free)
            yield core.release(c.full)

    return gemm


def walk(tile: tuple[int, int], start: tuple[int, int], across: int, count: int) -> TilingParameters:
    """Tiles of a matrix along its rows, sizes and places as (column, row)."""
    return TilingParameters((SIZE, SIZE), tile, start, (TraversingParameters(0, across, count),))


def design(
    tall: Literal[16, 32, 64, 128] = 64,
    wide: Literal[16, 32, 64, 128] = 64,
    deep: Literal[16, 32, 64, 128] = 32,
    depth: Annotated[int, Range(1, 3)] = 2,
    cores: Literal[1, 2, 4] = 4,
) -> Array:
    """The product, in blocks of ``tall`` x ``deep`` and ``deep`` x ``wide``, ``depth`` buffers of each."""
    array = Array("npu1", 1)
    left, right = (array.external(name, np.zeros((SIZE, SIZE), np.int8)) for name in "AB")
    result = array.external("C", np.zeros((SIZE, SIZE), np.int32))
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    tiles = [array.compute_tile(0, row) for row in list(array.device.compute_rows)[:cores]]
    into_a = array.object_fifo("A", outside, shared, shape=(tall, deep), dtype=np.int8, depth=depth)
    into_b = array.object_fifo("B", outside, shared, shape=(deep, wide), dtype=np.int8, depth=depth)
    out = array.object_fifo("C", shared, outside, shape=(tall, wide), dtype=np.int32, depth=depth)
    bands = into_a.split("a", tiles)
    (block,) = into_b.split("b", [tiles])
    parts = out.gather("c", tiles, depth=1)
    rows, columns, steps = SIZE // tall, SIZE // wide, SIZE // deep
    cycles = tall // cores * deep * wide // PRODUCTS
    for n, tile in enumerate(tiles):
        ends = bands[n].consumers[0], block.consumers[n], parts[n].producer
        tile.run_kernel(worker(*ends, rows * columns, steps, cycles))
    for row in range(rows):
        blocks = walk((deep, tall), (0, row * tall), deep, steps)
        into_a.producer.channel.start(outside.read(left, blocks), repeat=columns)
        out.consumers[0].channel.start(
            outside.write(result, walk((wide, tall), (0, row * tall), wide, columns))
        )
    into_b.producer.channel.start(outside.read(right, walk((wide, SIZE), (0, 0), wide, columns)), repeat=rows)
    return array
