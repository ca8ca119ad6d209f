"""A matrix product of 512 x 512 int32 from external memory, over four compute tiles, checked with NumPy.

Run it with ``memtile run examples/gemm.py``.

Each column of the array computes some columns of C = A B. From external memory (L3) its interface tile sends
A in blocks of 128 x 16 and B in blocks of 16 x 128 to its memory tile (L2), which cuts the blocks of A into
four bands, one for each compute tile (L1), and sends the blocks of B to all four. A core adds the products of
32 pairs of blocks up to a band of a block of C, 32 x 128; the memory tile joins four of them on their way
back. All buffers but those of C in the cores are double, so that words and cores move at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile import Array, Buffer, End, TilingParameters, TraversingParameters
from memtile.kernels import Action, Core, Kernel, apart

SIZE, DEEP = 512, 16
WORKERS, BAND, WIDE = 4, 32, 128
TALL = WORKERS * BAND
STEPS, BLOCKS = (
    SIZE // DEEP,
    SIZE // TALL,
)  # blocks added up for one block of C; blocks of C in a column of blocks
MULTIPLIERS = 64  # int32 products that a core is said to make in a cycle

Ints = npt.NDArray[Any]


def halves(a: Ints, b: Ints) -> Ints:
    """Products of the low 16 bits of ``a`` with ``b``, then of the high ones: int64[2 * rows, columns].

    NumPy is fast in float64 only, which is exact up to 2**53: not for products of two int32, as flipped bits
    can make them, but for sums of 64 products of 16 with 32 bits.
    """
    parts = np.concatenate((a & 0xFFFF, a >> 16)).astype(np.float64)
    return (parts @ b.astype(np.float64)).astype(np.int64)


def joined(sums: Ints) -> Ints:
    """The int32 sums, modulo 2**32, of added-up :func:`halves`."""
    low, high = np.split(sums, 2)
    total: Ints = (low + (high << 16)).astype(np.int32)
    return total


def product(a: Ints, b: Ints) -> Ints:
    """The int32 product of two matrices, a strip of 64 columns of ``a`` after another."""
    strips = range(0, a.shape[1], MULTIPLIERS)
    sums = [halves(a[:, first : first + MULTIPLIERS], b[first : first + MULTIPLIERS]) for first in strips]
    return joined(np.sum(sums, axis=0))


def worker(a: End, b: End, c: End, blocks: int) -> Kernel:
    """The core of one compute tile, which keeps to itself, so that each column has a clock of its own."""

    @apart
    def gemm(core: Core) -> Iterator[Action]:
        step = 0
        for block in range(blocks):
            yield core.acquire(c.free)
            total = np.zeros((2 * BAND, WIDE), np.int64)
            for _ in range(STEPS):
                yield core.acquire(a.full)
                yield core.acquire(b.full)
                yield core.cycles(BAND * DEEP * WIDE // MULTIPLIERS)
                total += halves(core.read(a.buffer(step)), core.read(b.buffer(step)))
                yield core.release(a.free)
                yield core.release(b.free)
                step += 1
            core.write(c.buffer(block), joined(total))
            yield core.release(c.full)

    return gemm


def walk(tile: tuple[int, int], start: tuple[int, int], *loops: tuple[int, int, int]) -> TilingParameters:
    """Tiles of a matrix, sizes and places as (column, row)."""
    return TilingParameters((SIZE, SIZE), tile, start, tuple(TraversingParameters(*loop) for loop in loops))


def column(array: Array, number: int, matrices: tuple[Buffer, ...], strips: range) -> None:
    """One column of tiles computes the blocks of C in ``strips`` (columns of blocks)."""
    left, right, result = matrices
    outside, shared = array.interface_tile(number), array.memory_tile(number)
    rows = list(array.device.compute_rows)[:WORKERS]
    cores = [array.compute_tile(number, row) for row in rows]
    into_a = array.object_fifo(f"A{number}", outside, shared, shape=(TALL, DEEP))
    into_b = array.object_fifo(f"B{number}", outside, shared, shape=(DEEP, WIDE))
    out = array.object_fifo(f"C{number}", shared, outside, shape=(TALL, WIDE))
    bands = into_a.split(f"a{number}", cores)
    (wide,) = into_b.split(f"b{number}", [cores])
    parts = out.gather(f"c{number}", cores, depth=1)
    for n, tile in enumerate(cores):
        tile.run_kernel(
            worker(bands[n].consumers[0], wide.consumers[n], parts[n].producer, BLOCKS * len(strips))
        )

    first, repeat = strips.start * WIDE, len(strips)
    a_blocks = [walk((DEEP, TALL), (0, row * TALL), (0, DEEP, STEPS)) for row in range(BLOCKS)]
    for blocks in a_blocks:
        into_a.producer.channel.start(outside.read(left, blocks), repeat=repeat)
    across = (0, WIDE, repeat)
    into_b.producer.channel.start(outside.read(right, walk((WIDE, SIZE), (first, 0), across)), repeat=BLOCKS)
    for row in range(BLOCKS):
        blocks = walk((WIDE, TALL), (first, row * TALL), across)
        out.consumers[0].channel.start(outside.write(result, blocks))


def design(columns: int = 1, limit: int = 100) -> Array:
    """The product on one column, or shared by several, of values from ``-limit`` to ``limit - 1``."""
    array = Array("npu1", columns)
    random = np.random.default_rng(seed=512)
    a, b = (random.integers(-limit, limit, (SIZE, SIZE), dtype=np.int32) for _ in range(2))
    c = np.zeros((SIZE, SIZE), np.int32)
    strips = SIZE // WIDE // columns
    matrices = tuple(array.external(name, matrix) for name, matrix in zip("ABC", (a, b, c), strict=True))
    for number in range(columns):
        column(array, number, matrices, range(number * strips, (number + 1) * strips))
    array.expect_array("C", c, product(a, b))
    return array
