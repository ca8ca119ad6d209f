"""A product of two matrices, C = A B, on the columns of an array, as ``memtile plan`` lays it out.

The cores of a row share bands of A, those of a column strips of B, and each makes blocks of C. Memory tiles
hold panels of A and B, send them in the order in which the cores' multipliers want them, and put the blocks
of C in order again. Run it with ``memtile run``; ``--set data=no`` for its time alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from memtile.access.views import View, view
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.object_fifo import End, ObjectFifo
from memtile.design.other_tiles import ComputeTile
from memtile.design.tile import Tile
from memtile.design.transfers import Transfer
from memtile.runs.timed_kernels import timed_by
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import apart
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.kernels.listed_actions import acquire, cycles, listed, loop, release

Numbers = npt.NDArray[Any]
Place = tuple[int, int]  # column and row of a core, from 0
Job = tuple[Channel, Transfer, int]  # a task of an interface tile, and how often it runs


@dataclass(frozen=True)
class GemmBlock:
    """What a core multiplies at once, and in which order it has it: blocks of r x s by s x t.

    ``zeros`` are the rows of ``tall``, the columns of ``wide`` and the inner places of a panel that lie
    beyond the matrices.
    """

    tall: int
    wide: int
    deep: int
    s: int
    t: int
    zeros: tuple[int, int, int] = (0, 0, 0)

    @property
    def own(self) -> tuple[int, int]:
        """Rows and columns of C that a core makes and that the matrix has."""
        return self.tall - self.zeros[0], self.wide - self.zeros[1]

    def of_a(self, rows: View) -> View:
        """Rows of a panel of A as tiles: columns of blocks, each below the other."""
        long = rows.shape[1]
        blocks = rows.reshape(self.tall, long // self.s, self.s).transpose(1, 0, 2)
        return blocks.reshape(long // self.deep, self.deep // self.s * self.tall, self.s)

    def of_b(self, panel: View) -> View:
        """A panel of B as tiles: rows of blocks."""
        long = len(panel)
        blocks = panel.reshape(long // self.s, self.s, self.wide // self.t, self.t).transpose(0, 2, 1, 3)
        return blocks.reshape(long // self.deep, self.deep * self.wide // self.t, self.t)

    def of_c(self, rows: View) -> View:
        """Rows of a block of C as a core has them: columns of blocks."""
        blocks = rows.reshape(self.tall, self.wide // self.t, self.t).transpose(1, 0, 2)
        return blocks.reshape(self.wide // self.t * self.tall, self.t)

    def product(self, a: Numbers, b: Numbers) -> Numbers:
        """What a core makes of a tile of A and one of B; exact up to 2**53, as sums in float64 are."""
        left = a.reshape(-1, self.tall, self.s).transpose(1, 0, 2).reshape(self.tall, self.deep)
        right = b.reshape(-1, self.wide // self.t, self.s, self.t).transpose(0, 2, 1, 3)
        result: Numbers = left.astype(np.float64) @ right.reshape(self.deep, self.wide).astype(np.float64)
        return result

    def stored(self, total: Numbers) -> Numbers:
        """Sums in the order in which a core has them."""
        blocks = total.reshape(self.tall, self.wide // self.t, self.t).transpose(1, 0, 2)
        return blocks.reshape(-1, self.t)


def worker(ends: Sequence[End], block: GemmBlock, counts: tuple[int, int, int], *, data: bool) -> Kernel:
    """The core of one tile: blocks of C, tiles for each of them, cycles for each of these."""
    a, b, c = ends
    blocks, steps, count = counts
    each = acquire(a.full), acquire(b.full), cycles(count), release(a.free), release(b.free)
    all_steps = loop(blocks, acquire(c.free), loop(steps, *each), release(c.full))
    if not data:
        return listed(all_steps, name="gemm")

    def gemm(core: Core) -> Iterator[Action]:
        step = 0
        for number in range(blocks):
            yield core.acquire(c.free)
            total = np.zeros((block.tall, block.wide))
            for _ in range(steps):
                yield core.acquire(a.full)
                yield core.acquire(b.full)
                yield core.cycles(count)
                total += block.product(core.read(a.buffer(step)), core.read(b.buffer(step)))
                yield core.release(a.free)
                yield core.release(b.free)
                step += 1
            goal = c.buffer(number)
            core.write(goal, block.stored(total).astype(goal.dtype))
            yield core.release(c.full)

    return timed_by(gemm, all_steps)


def spread(
    come: ObjectFifo,
    name: str,
    to: Sequence[Sequence[Tile]],
    parts: Sequence[View],
    again: int,
    filled: View,
) -> tuple[ObjectFifo, ...]:
    """Parts of objects of a memory tile on their way to cores, ``again`` times each, two deep there.

    What comes are the places of ``filled``; where they are not all of an object the others hold zeros.
    """
    (end,) = come.consumers
    some = filled.size < prod(end.buffers[0].shape)
    for buffer in end.buffers if some else ():
        end.tile.store(buffer, np.zeros(buffer.shape, buffer.dtype))
    return come.split(name, to, parts=parts, filled=filled if some else None, depth=2, repeat=again)


class GemmDesign:
    """The product on an array, part by part; :func:`design` puts them together."""

    def __init__(
        self, array: Array, sizes: tuple[int, int, int], rows: int, block: GemmBlock, types: Any
    ) -> None:
        self.array, self.rows, self.block = array, rows, block
        self.m, self.n, self.k = sizes
        self.type, self.sums = types
        self.columns = range(array.columns)
        tall, wide = block.own
        self.bands = self.m // (rows * tall)
        self.strips = self.n // (array.columns * wide)
        self.ends: dict[Place, list[End]] = {(x, y): [] for x in self.columns for y in range(rows)}

    def core(self, x: int, y: int) -> ComputeTile:
        """The compute tile of a core."""
        return self.array.compute_tile(x, self.array.device.compute_rows[y])

    def left(self, panel: int, again: int, *, shared: bool) -> list[tuple[Channel, int, int]]:
        """Ways of A to the cores: for each channel that loads it the first row of a band, and how many."""
        tall = self.block.tall
        each = -(-self.rows // len(self.columns)) if shared else self.rows
        found = []
        for column in self.columns:
            first = column * each if shared else 0
            mine = range(first, min(first + each, self.rows))
            if not mine:
                continue
            size = (len(mine) * tall, panel)
            tiles = self.array.interface_tile(column), self.array.memory_tile(column)
            come = self.array.object_fifo(f"A{column}", *tiles, shape=size, dtype=self.type)
            whole = view(size, self.type)
            parts = [self.block.of_a(whole[n * tall : (n + 1) * tall]) for n in range(len(mine))]
            across = self.columns if shared else [column]
            tiles_of = [[self.core(x, y) for x in across] for y in mine]
            own = whole.reshape(len(mine), tall, panel)[:, : self.block.own[0], : panel - self.block.zeros[2]]
            made = spread(come, f"a{column}", tiles_of, parts, again, own)
            for y, fifo in zip(mine, made, strict=True):
                for x, end in zip(across, fifo.consumers, strict=True):
                    self.ends[x, y].append(end)
            found.append((come.producer.channel, first * own.shape[1], len(mine) * own.shape[1]))
        return found

    def right(self, panel: int, again: int) -> list[Channel]:
        """Ways of B to the cores: the channels that load it."""
        found, size = [], (panel, self.block.wide)
        for column in self.columns:
            tiles = self.array.interface_tile(column), self.array.memory_tile(column)
            come = self.array.object_fifo(f"B{column}", *tiles, shape=size, dtype=self.type)
            cores = [self.core(column, y) for y in range(self.rows)]
            whole = view(size, self.type)
            own = whole[: panel - self.block.zeros[2], : self.block.own[1]]
            (made,) = spread(come, f"b{column}", [cores], [self.block.of_b(whole)], again, own)
            for y, end in enumerate(made.consumers):
                self.ends[column, y].append(end)
            found.append(come.producer.channel)
        return found

    def back(self, ways: int, depth: int) -> list[list[Channel]]:
        """Ways of C from the cores, ``ways`` for each column: the channels that store it."""
        share, tall = self.rows // ways, self.block.tall
        size = (share * tall, self.block.wide)
        parts = [self.block.of_c(view(size, self.sums)[n * tall : (n + 1) * tall]) for n in range(share)]
        own = self._own(view(size, self.sums).reshape(share, tall, self.block.wide))
        found: list[list[Channel]] = []
        for column in self.columns:
            tiles = self.array.memory_tile(column), self.array.interface_tile(column)
            found.append([])
            for way in range(ways):
                rows = range(way * share, (way + 1) * share)
                name = f"C{column}.{way}"
                go = self.array.object_fifo(name, *tiles, shape=size, dtype=self.sums)
                cores = [self.core(column, y) for y in rows]
                made = go.gather(f"c{column}.{way}", cores, parts=parts, taken=own, depth=depth)
                for y, fifo in zip(rows, made, strict=True):
                    self.ends[column, y].append(fifo.producer)
                found[-1].append(go.consumers[0].channel)
        return found

    def _own(self, blocks: View) -> View | None:
        """What of some blocks of C the matrix has; None = all of it."""
        rows, columns = self.block.own
        own = blocks[:, :rows, :columns]
        return own if own.size < blocks.size else None

    def work(self, steps: int, cycles: int, *, data: bool) -> None:
        """Have all cores make their blocks of C, in steps of so many cycles."""
        for (x, y), ends in self.ends.items():
            counts = self.bands * self.strips, steps, cycles
            self.core(x, y).run_kernel(apart(worker(ends, self.block, counts, data=data)))

    def jobs(self, matrices: Sequence[Any], panel: int, keep: str, ways: Any) -> Iterator[Job]:
        """What the interface tiles do, in the order in which it is begun: one round after another."""
        lefts, rights, stores = ways
        a, b, c = matrices
        share, panel = self.m // self.bands, panel - self.block.zeros[2]
        down = (
            view(a.shape, self.type).reshape(self.bands, share, self.k // panel, panel).transpose(0, 2, 1, 3)
        )
        across = view(b.shape, self.type).reshape(self.k, len(self.columns), self.strips, -1)
        places = view(c.shape, self.sums).reshape(self.bands, share, len(self.columns), self.strips, -1)
        by_strips = keep == "b"
        for n in range(self.strips if by_strips else self.bands):
            for channel, first, count in lefts:
                rows = down[:, :, first : first + count] if by_strips else down[n, :, first : first + count]
                again = 1 if keep != "none" else self.strips
                yield channel, channel.tile.read(a, rows), again
            for x, channel in enumerate(rights):
                strips = across[:, x, n] if by_strips else across[:, x].transpose(1, 0, 2)
                yield channel, channel.tile.read(b, strips), 1
            for x, channels in enumerate(stores):
                for way, channel in enumerate(channels):
                    mine = slice(way * share // len(channels), (way + 1) * share // len(channels))
                    block = places[:, mine, x, n] if by_strips else places[n, mine, x].transpose(1, 0, 2)
                    yield channel, channel.tile.write(c, block), 1


def begin(array: Array, jobs: Sequence[Job]) -> None:
    """Start tasks, or have a host start them one after another where the queues do not hold all."""
    fits = (
        sum(len(work.tasks) for channel, work, _ in jobs if channel is each) <= each.tile.kind.queue_depth
        for each, _, _ in jobs
    )
    if all(fits):
        for channel, work, again in jobs:
            channel.start(work, repeat=again)
        return
    array.start_in_order(jobs)


def design(
    m: int = 512,
    n: int = 512,
    k: int = 512,
    dtype: Literal["int8", "int16", "int32", "bfloat16"] = "int8",
    device: str = "npu1",
    columns: int = 4,
    rows: int = 4,
    tall: int = 64,
    wide: int = 64,
    deep: int = 64,
    s: int = 8,
    t: int = 8,
    panel: int = 64,
    keep: Literal["none", "a", "b"] = "none",
    spread: Literal["rows", "columns"] = "rows",
    ways: Literal[1, 2] = 1,
    depth: Literal[1, 2] = 2,
    macs: int = 256,
    zero_rows: int = 0,
    zero_columns: int = 0,
    zero_depth: int = 0,
    data: bool = True,
) -> Array:
    """The product of an m x k and a k x n matrix.

    Args:
        m: rows of A and C; ``n`` columns of B and C, ``k`` columns of A and rows of B.
        dtype: of A and B; C is int32, or float32 of bfloat16.
        device: that it is for.
        columns: of the array.
        rows: cores in each column.
        tall: rows of C that a core makes at once.
        wide: columns of C that a core makes at once.
        deep: of the inner dimension, what a core adds up at once.
        s: inner dimension of the multiplier's blocks; ``t`` their width in B and C.
        panel: of the inner dimension, what a memory tile holds at once.
        keep: matrix whose panels memory tiles send again instead of loading them again.
        spread: "rows" = cores of a row share one copy of A; "columns" = every column loads all of A.
        ways: channels on which a column's blocks of C leave.
        depth: buffers for C in a core.
        macs: multiplications that a core is said to make in a cycle.
        zero_rows: of ``tall``, beyond the matrix; ``zero_columns`` of ``wide``, ``zero_depth`` of ``panel``.
        data: with matrices and their product; else the cores only take their time.
    """
    array, kind = Array(device, columns), dtype_of(dtype)
    sums = np.dtype(np.int32 if kind.kind == "i" else np.float32)
    block = GemmBlock(tall, wide, deep, s, t, (zero_rows, zero_columns, zero_depth))
    made = GemmDesign(array, (m, n, k), rows, block, (kind, sums))
    a, b, c = numbers((m, n, k), kind, sums, data=data)
    matrices = [array.external(name, matrix) for name, matrix in zip("ABC", (a, b, c), strict=True)]
    lefts = made.left(panel, made.strips if keep == "a" else 1, shared=spread == "rows")
    rights = made.right(panel, made.bands if keep == "b" else 1)
    stores = made.back(ways, depth)
    made.work(k // (panel - zero_depth) * panel // deep, -(-tall * wide * deep // macs), data=data)
    begin(array, list(made.jobs(matrices, panel, keep, (lefts, rights, stores))))
    if data:
        array.expect_array("C", c, (a.astype(np.float64) @ b.astype(np.float64)).astype(sums))
    return array


def numbers(
    sizes: tuple[int, int, int], kind: np.dtype[Any], sums: np.dtype[Any], *, data: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """A and B of small whole numbers, of which all sums are exact, and room for C."""
    m, n, k = sizes
    random = np.random.default_rng(seed=512)
    a, b = (
        random.integers(-8, 8, shape).astype(kind) if data else np.zeros(shape, kind)
        for shape in ((m, k), (k, n))
    )
    return a, b, np.zeros((m, n), sums)


def dtype_of(name: Any) -> np.dtype[Any]:
    """The type of the elements."""
    if name == "bfloat16":
        import ml_dtypes

        name = ml_dtypes.bfloat16
    kind: np.dtype[Any] = np.dtype(name)
    return kind
