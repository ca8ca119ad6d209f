"""A convolution, int8 in and out, whose weights come in rounds, as ``memtile plan`` lays it out.

Each core makes some channels of whole images. It gets some input channels of an image and the weights for
them at once, and adds partial sums up until all input channels were there. One memory tile sends the images
to all cores; that of each column sends its cores their weights, which external memory holds in the order of
their use, and puts the features of the column together. Run it with ``memtile run``; ``--set data=no`` for
its time alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from memtile.access.views import view
from memtile.design.array import Array
from memtile.design.object_fifo import End
from memtile.design.other_tiles import ComputeTile
from memtile.runs.timed_kernels import timed_by
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import apart
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.kernels.listed_actions import acquire, cycles, listed, loop, release

Numbers = npt.NDArray[Any]
SHIFT = 8  # sums are rounded, divided by 256 and clipped to 0..127


@dataclass(frozen=True)
class RoundsLayer:
    """A layer and how it is cut.

    Attributes:
        image: images, rows, columns and channels.
        features: that are made.
        size: of the window; ``stride`` from one to the next.
        together: images that a core works on at once.
        wide: channels that a core makes at once; ``deep`` input channels that it adds up at once.
        beside: rows and columns of zeros around an image that come with it; else the core has them.
    """

    image: tuple[int, int, int, int]
    features: int
    size: int
    stride: int
    together: int
    wide: int
    deep: int
    beside: int

    @property
    def made(self) -> tuple[int, int]:
        """Rows and columns of features."""
        rows, columns = ((side - 1) // self.stride + 1 for side in self.image[1:3])
        return rows, columns

    @property
    def groups(self) -> int:
        """Objects of images."""
        return self.image[0] // self.together

    @property
    def chunks(self) -> int:
        """Of the input channels."""
        return self.image[3] // self.deep

    @property
    def pixels(self) -> int:
        """Of the features of an object."""
        return self.together * self.made[0] * self.made[1]

    def object_shape(self, channels: int) -> tuple[int, int, int, int]:
        """Some channels of the images of an object."""
        rows, columns = (side + 2 * self.beside for side in self.image[1:3])
        return self.together, rows, columns, channels

    def sums(self, images: Numbers, weights: Numbers) -> Numbers:
        """Sums of products for each window of images with zeros around them; exact, as in float64."""
        rows, columns = self.made
        total = np.zeros((*images.shape[:-3], rows, columns, weights.shape[-1]))
        for row, column in np.ndindex(self.size, self.size):
            piece = images[..., row :: self.stride, column :: self.stride, :][..., :rows, :columns, :]
            total += piece.astype(np.float64) @ weights[row, column].astype(np.float64)
        return total

    def around(self, images: Numbers) -> Numbers:
        """Images with all their zeros."""
        halo = self.size // 2 - self.beside
        return np.pad(images, ((0, 0), (halo, halo), (halo, halo), (0, 0)))

    def packed(self, weights: Numbers, columns: int, cores: int) -> Numbers:
        """Weights in the order of their use: by column and core, then by round and chunk."""
        shape = self.size**2, self.chunks, self.deep, columns, -1, cores, self.wide
        cut = weights.reshape(shape).transpose(3, 5, 4, 1, 0, 2, 6)
        return cut.reshape(columns * cores, -1, self.size**2 * self.deep * self.wide)


def rounded(sums: Numbers) -> Numbers:
    """Features of sums, int8."""
    return np.asarray(np.clip((sums.astype(np.int64) + (1 << (SHIFT - 1))) >> SHIFT, 0, 127), np.int8)


def worker(
    ends: Sequence[End], kept: Any, layer: RoundsLayer, counts: Sequence[int], *, data: bool
) -> Kernel:
    """A core: chunks of images and their weights in, its channels of the features out."""
    images, weights, go = ends
    objects, count = counts
    came = acquire(images.full), acquire(weights.full)
    gone = release(images.free), release(weights.free)
    chunks = loop(layer.chunks, *came, cycles(count), *gone)
    steps = loop(objects, acquire(go.free), chunks, release(go.full))
    if not data:
        return listed(steps, name="convolution")

    def convolution(core: Core) -> Iterator[Action]:
        step = 0
        for number in range(objects):
            yield core.acquire(go.free)
            for chunk in range(layer.chunks):
                yield core.acquire(images.full)
                yield core.acquire(weights.full)
                yield core.cycles(count)
                area = layer.around(core.read(images.buffer(step)))
                window = core.read(weights.buffer(step)).reshape(layer.size, layer.size, layer.deep, -1)
                part = layer.sums(area, window).reshape(layer.pixels, -1)
                core.write(kept, (part + core.read(kept) if chunk else part).astype(np.int32))
                yield core.release(images.free)
                yield core.release(weights.free)
                step += 1
            core.write(go.buffer(number), rounded(core.read(kept)))
            yield core.release(go.full)

    return timed_by(convolution, steps)


class RoundsDesign:
    """The layer on an array, part by part; :func:`design` puts them together."""

    def __init__(self, array: Array, columns: Sequence[int], cores: int, layer: RoundsLayer) -> None:
        self.array, self.columns, self.layer = array, columns, layer
        self.tiles = [
            [array.compute_tile(column, row) for row in array.device.compute_rows[:cores]]
            for column in columns
        ]
        self.rounds = layer.features // (len(columns) * cores * layer.wide)
        self.ends: dict[ComputeTile, list[End]] = {tile: [] for tiles in self.tiles for tile in tiles}

    def images(self, numbers: Numbers, panel: int) -> None:
        """The way of the images: from external memory to a memory tile, from there to all cores."""
        layer, first = self.layer, self.columns[0]
        _, rows, columns, channels = layer.image
        shape, beside = layer.object_shape(panel), layer.beside
        tiles = self.array.interface_tile(first), self.array.memory_tile(first)
        come = self.array.object_fifo("images", *tiles, shape=shape, dtype=np.int8)
        whole = view(shape, np.int8)
        own = whole[:, beside : beside + rows, beside : beside + columns]
        parts = whole.reshape(*shape[:3], panel // layer.deep, layer.deep).transpose(3, 0, 1, 2, 4)
        keeps = panel == channels
        for buffer in come.consumers[0].buffers if beside else ():
            tiles[1].store(buffer, np.zeros(buffer.shape, buffer.dtype))
        (made,) = come.split(
            "chunks",
            [list(self.ends)],
            parts=[parts],
            filled=own if beside else None,
            depth=2,
            repeat=self.rounds if keeps else 1,
        )
        for tile, end in zip(self.ends, made.consumers, strict=True):
            self.ends[tile].append(end)
        source = self.array.external("images", numbers)
        order = view(numbers.shape, np.int8).reshape(layer.groups, -1, 1, channels // panel, panel)
        pixels, again = order.shape[1], 1 if keeps else self.rounds
        order = order.transpose(0, 2, 3, 1, 4).broadcast_to(
            (layer.groups, again, channels // panel, pixels, panel)
        )
        come.producer.channel.start(tiles[0].read(source, order))

    def weights(self, packed: Numbers, ways: int) -> None:
        """The ways of the weights: one for each column, or two where no images come; cores dealt evenly."""
        places = [column for n, column in enumerate(self.columns) for _ in range(ways if n else 1)]
        every = list(zip(self.ends, packed, strict=True))
        for number, column in enumerate(places):
            count = -(-len(every) // (len(places) - number))
            mine, every = every[:count], every[count:]
            name = f"weights{number}"
            own = np.stack([each for _, each in mine], axis=1)
            tiles = self.array.interface_tile(column), self.array.memory_tile(column)
            come = self.array.object_fifo(name, *tiles, shape=own.shape[1:], dtype=np.int8)
            made = come.split(f"w{number}", [[core] for core, _ in mine], depth=2)
            for (core, _), fifo in zip(mine, made, strict=True):
                self.ends[core].append(fifo.consumers[0])
            source = self.array.external(name, own)
            come.producer.channel.start(tiles[0].read(source), repeat=self.layer.groups)

    def features(self, results: Numbers, depth: int) -> None:
        """The ways of the features back, one for each column."""
        layer, target = self.layer, self.array.external("features", results)
        order = view(results.shape, np.int8).reshape(
            layer.groups, layer.pixels, len(self.columns), self.rounds, len(self.tiles[0]) * layer.wide
        )
        for number, (column, cores) in enumerate(zip(self.columns, self.tiles, strict=True)):
            tiles = self.array.memory_tile(column), self.array.interface_tile(column)
            shape = (layer.pixels, len(cores) * layer.wide)
            go = self.array.object_fifo(f"features{column}", *tiles, shape=shape, dtype=np.int8)
            whole = view(shape, np.int8)
            parts = [whole[:, n * layer.wide : (n + 1) * layer.wide] for n in range(len(cores))]
            made = go.gather(f"f{column}", cores, parts=parts, depth=depth)
            for core, fifo in zip(cores, made, strict=True):
                self.ends[core].append(fifo.producer)
            mine = order[:, :, number].transpose(0, 2, 1, 3)
            go.consumers[0].channel.start(tiles[1].write(target, mine))

    def work(self, macs: int, *, data: bool) -> None:
        """Have all cores make their channels."""
        layer = self.layer
        cycles = -(-layer.pixels * layer.wide * layer.size**2 * layer.deep // macs)
        counts = layer.groups * self.rounds, cycles
        for tile, ends in self.ends.items():
            kept = tile.buffer("sums", (layer.pixels, layer.wide), np.int32)
            tile.run_kernel(apart(worker(ends, kept, layer, counts, data=data)))


def design(
    images: int = 1,
    height: int = 14,
    width: int = 14,
    channels: int = 256,
    features: int = 256,
    size: int = 3,
    stride: int = 1,
    device: str = "npu1",
    columns: int = 4,
    cores: int = 4,
    together: int = 1,
    wide: int = 16,
    deep: int = 32,
    panel: int = 32,
    ways: Literal[1, 2] = 1,
    depth: Literal[1, 2] = 1,
    padding: Literal["memory tile", "core"] = "core",
    macs: int = 256,
    data: bool = True,
) -> Array:
    """A ``size`` x ``size`` convolution, zeros beyond the border of the image, weights in rounds.

    Args:
        images: that are sent one after another, of ``height`` rows, ``width`` columns and ``channels``.
        features: channels that are made.
        size: of the window, odd; ``stride`` rows and columns between windows.
        device: that it is for.
        columns: with an interface DMA that are used, the first ones; ``cores`` in each.
        together: images that a core works on at once.
        wide: channels that a core makes at once; it makes all of its own in rounds.
        deep: input channels that a core adds up at once.
        panel: input channels of an image that the memory tile holds; all of them are sent again each round.
        ways: channels for the weights of a column where no images come.
        depth: buffers for features in a core.
        padding: who adds zeros around the images.
        macs: multiplications that a core is said to make in a cycle.
        data: with images and their features; else the cores only take their time.
    """
    beside = size // 2 if padding == "memory tile" else 0
    shape = (images, height, width, channels)
    layer = RoundsLayer(shape, features, size, stride, together, wide, deep, beside)
    used = find_columns(device, columns)
    array = Array(device, used[-1] + 1)
    made = RoundsDesign(array, used, cores, layer)
    random = np.random.default_rng(seed=33)
    pictures = random.integers(-128, 128, shape, dtype=np.int8)
    kernel = random.integers(-20, 20, (size, size, channels, features), dtype=np.int8)
    results = np.zeros((images, *layer.made, features), np.int8)
    made.images(pictures, panel)
    made.weights(layer.packed(kernel, columns, cores), ways)
    made.features(results, depth)
    made.work(macs, data=data)
    if data:
        halo = size // 2
        padded = np.pad(pictures, ((0, 0), (halo, halo), (halo, halo), (0, 0)))
        array.expect_array("features", results, rounded(layer.sums(padded, kernel)))
    return array


def find_columns(device: str, count: int) -> Sequence[int]:
    """The first columns of a device with an interface DMA."""
    return Array(device).device.noc_columns[:count]
