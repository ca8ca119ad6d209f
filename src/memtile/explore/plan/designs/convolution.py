"""Layers of a convolution, int8 in and out, a column of cores for each, as ``memtile plan`` lays them out.

An image goes from external memory to a memory tile in objects of some rows. Memory tiles send them, with
zeros beside the rows, to all cores of a column; a core keeps the objects above and below, and makes its part
of the features: some rows, some columns or some channels. The memory tile of the next layer puts the parts
together, and leaves out columns beyond the image. Run it with ``memtile run``; ``--set data=no`` for its time
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from memtile.access.views import View, pad, view
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.object_fifo import End
from memtile.design.protocols import one_reader
from memtile.design.tile import Tile
from memtile.runs.timed_kernels import timed_by
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.isolation import apart
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.kernels.listed_actions import KernelStep, acquire, cycles, listed, loop, release

Numbers = npt.NDArray[Any]
SHIFT = 8  # sums are rounded, divided by 256 and clipped to 0..127


@dataclass(frozen=True)
class CoreShare:
    """What a core makes of each object: rows of it, columns and channels."""

    rows: slice
    columns: slice
    channels: slice

    @property
    def key(self) -> tuple[slice, slice, slice]:
        """For an array or a view of an object."""
        return self.rows, self.columns, self.channels


def parts_of(split: str, cores: int, shape: tuple[int, int, int]) -> list[CoreShare]:
    """Equal parts of an object along its rows, columns or channels."""
    axis = ("rows", "columns", "channels").index(split)
    each = shape[axis] // cores
    whole = [slice(0, size) for size in shape]
    cuts = [slice(n * each, (n + 1) * each) for n in range(cores)]
    return [CoreShare(*(cut if n == axis else whole[n] for n in range(3))) for cut in cuts]


@dataclass(frozen=True)
class ImageLayer:
    """What each layer makes of an image with zeros around it: every ``stride``-th window, pooled.

    Attributes:
        stride: rows and columns between two windows.
        pool: rows and columns of features that become one.
        pooling: which one: the largest, or the mean, rounded.
    """

    stride: int = 1
    pool: int = 1
    pooling: Literal["max", "mean"] = "max"

    @property
    def step(self) -> int:
        """Rows of an image for each row that is made of it, and columns likewise."""
        return self.stride * self.pool

    def features(self, padded: Numbers, weights: Numbers) -> Numbers:
        """Features of an image, int8; of each channel alone by weights of three axes."""
        size, stride = len(weights), self.stride
        rows, columns = ((side - size) // stride + 1 for side in padded.shape[:2])
        total = np.zeros((rows, columns, weights.shape[-1]))  # float64: exact below 2**53, and by BLAS
        image, factors = padded.astype(np.float64), weights.astype(np.float64)
        for row, column in np.ndindex(size, size):
            piece = image[row::stride, column::stride][:rows, :columns]
            total += piece @ factors[row, column] if weights.ndim == 4 else piece * factors[row, column]
        return self.pooled(np.clip((total.astype(np.int32) + (1 << (SHIFT - 1))) >> SHIFT, 0, 127))

    def pooled(self, features: Numbers) -> Numbers:
        """One of ``pool`` x ``pool`` features."""
        rows, columns = (side // self.pool for side in features.shape[:2])
        squares = features.reshape(rows, self.pool, columns, self.pool, -1)
        if self.pooling == "max":
            return np.asarray(squares.max(axis=(1, 3)), np.int8)
        count = self.pool**2
        return np.asarray((squares.sum(axis=(1, 3)) + count // 2) // count, np.int8)


def image_steps(come: End, go: End, groups: int, halo: int, count: int) -> list[KernelStep]:
    """What a core does for one image without its words: objects of some rows in, features out."""
    steps: list[KernelStep] = []
    came = 0
    for group in range(groups):
        last = min(group + 1, groups - 1) if halo else group
        steps += [acquire(come.full)] * (last + 1 - came)
        came = last + 1
        steps += [acquire(go.free), cycles(count), release(go.full)]
        done = (group > 0 or not halo) + (halo > 0 and group == groups - 1)
        steps += [release(come.free)] * done
    return steps


def worker(
    come: End, go: End, part: CoreShare, kept: Any, kind: ImageLayer, counts: Sequence[int], *, data: bool
) -> Kernel:
    """A core: objects of some rows in, its part of the features of each out."""
    images, groups, halo, beside, count = counts
    steps = loop(images, *image_steps(come, go, groups, halo, count))
    if not data:
        return listed(steps, name="convolution")
    border = 0 if beside else halo  # columns of zeros that do not come with the rows
    step = kind.step

    def window(core: Core, first: int, group: int) -> Numbers:
        """An object between the rows above and below it, zeros where there are none."""
        near = 1 if halo else 0
        objects = [core.read(come.buffer(first + n)) for n in range(groups) if abs(n - group) <= near]
        rows = np.pad(np.concatenate(objects), ((halo, halo), (border, border), (0, 0)))
        tall = come.buffers[0].shape[0]
        above = tall if group and halo else 0
        return rows[above : above + tall + 2 * halo]

    def convolution(core: Core) -> Iterator[Action]:
        came = 0
        for number in range(images * groups):
            image, group = divmod(number, groups)
            last = min(group + 1, groups - 1) if halo else group
            while came <= image * groups + last:
                yield core.acquire(come.full)
                came += 1
            yield core.acquire(go.free)
            yield core.cycles(count)
            weights = core.read(kept)
            area = window(core, image * groups, group)[
                step * part.rows.start : step * part.rows.stop + 2 * halo,
                step * part.columns.start : step * part.columns.stop + 2 * halo,
            ]
            area = area[..., part.channels] if weights.ndim == 3 else area
            core.write(go.buffer(number), kind.features(area, weights))
            yield core.release(go.full)
            done = (group > 0 or not halo) + (halo > 0 and group == groups - 1)
            for _ in range(done):
                yield core.release(come.free)

    return timed_by(convolution, steps)


def end(tile: Tile, name: str, shape: Sequence[int], depth: int, *, receives: bool) -> End:
    """Buffers of a core, their locks and the ring of its channel."""
    channel = (tile.s2mm if receives else tile.mm2s)[0]
    buffers = tuple(tile.buffer(f"{name}.{n}", tuple(shape), np.int8) for n in range(depth))
    free, full = tile.lock(depth, f"{name}.free"), tile.lock(0, f"{name}.full")
    moves = (
        [tile.write(each).guarded(free.acquire(), full.release()) for each in buffers]
        if receives
        else [tile.read(each).guarded(full.acquire(), free.release()) for each in buffers]
    )
    channel.start(*moves, loop=True)
    return End(tile, channel, buffers, (free, full))


def relay(
    array: Array,
    column: int,
    sources: Sequence[Channel],
    shape: Sequence[int],
    depth: int,
    parts: Sequence[View],
    read: View,
) -> Channel:
    """Objects of a memory tile, put together from what ``sources`` send: the channel that sends them on."""
    tile = array.memory_tile(column)
    name = f"objects{len(tile.buffers)}"
    buffers = [tile.buffer(f"{name}.{n}", tuple(shape), np.int8) for n in range(depth)]
    writes = [[tile.write(buffer, part) for buffer in buffers] for part in parts]
    guarded = one_reader(tile, name, writes, [tile.read(buffer, read) for buffer in buffers])
    receivers = [channel for channel in tile.s2mm if not channel.started][: len(parts)]
    sender = next(channel for channel in tile.mm2s if not channel.started)
    guarded.start(receivers, [sender])
    for source, receiver in zip(sources, receivers, strict=True):
        array.connect(source, receiver)
    return sender


def sent(array: Array, images: Numbers) -> Channel:
    """The channel that sends images from external memory."""
    outside = array.interface_tile(0)
    outside.mm2s[0].start(outside.read(array.external("images", images)))
    return outside.mm2s[0]


def stored(array: Array, sender: Channel, wanted: Numbers, *, data: bool) -> None:
    """Have what a channel sends stored in external memory, and compared with what is wanted."""
    outside, results = array.interface_tile(0), np.zeros_like(wanted)
    array.connect(sender, outside.s2mm[0])
    outside.s2mm[0].start(outside.write(array.external("results", results)))
    if data:
        array.expect_array("results", results, wanted)


def numbers(
    shape: tuple[int, ...], kernels: Sequence[tuple[int, ...]], kind: ImageLayer, *, data: bool
) -> tuple[Numbers, list[Numbers], Numbers]:
    """Images, the weights of each layer, and the features that come of them; without ``data`` zeros."""
    random = np.random.default_rng(seed=33)
    images = random.integers(-128, 128, shape, dtype=np.int8)
    weights = [random.integers(-20, 20, kernel, dtype=np.int8) for kernel in kernels]
    if not data:
        sides = (side // kind.step ** len(kernels) for side in shape[1:3])
        return images, weights, np.zeros((shape[0], *sides, kernels[-1][-1]), np.int8)
    features, halo = images, kernels[0][0] // 2
    for each in weights:
        around = np.pad(features, ((0, 0), (halo, halo), (halo, halo), (0, 0)))
        features = np.stack([kind.features(image, each) for image in around])
    return images, weights, features


def column_of(
    array: Array,
    layer: int,
    parts: Sequence[CoreShare],
    weights: Numbers,
    shape: Sequence[int],
    depths: tuple[int, int],
    kind: ImageLayer,
    counts: tuple[int, int, int, int, int],
    *,
    data: bool,
) -> list[tuple[End, End]]:
    """The cores of a layer, each with its part: where objects of ``shape`` come and where features go."""
    ends = []
    images, groups, halo, beside, macs = counts
    for row, part in zip(array.device.compute_rows, parts, strict=False):
        tile = array.compute_tile(layer, row)
        come = end(tile, "in", shape, depths[0], receives=True)
        made = [each.stop - each.start for each in part.key]
        go = end(tile, "out", made, depths[1], receives=False)
        own = weights[..., part.channels]
        kept = tile.buffer("weights", own.shape, np.int8, data=own)
        windows = made[0] * made[1] * kind.pool**2
        products = (own.size + (kind.pool > 1) * made[2]) * windows  # to pool is one more for each
        steps = images, groups, halo, beside, -(-products // macs)
        tile.run_kernel(apart(worker(come, go, part, kept, kind, steps, data=data)))
        ends.append((come, go))
    return ends


def design(
    images: int = 3,
    height: int = 32,
    width: int = 32,
    channels: int = 8,
    features: int = 8,
    size: int = 3,
    depthwise: bool = False,
    layers: int = 2,
    stride: int = 1,
    pool: int = 1,
    pooling: Literal["max", "mean"] = "max",
    device: str = "npu1",
    cores: int = 4,
    split: Literal["rows", "columns", "channels"] = "columns",
    tall: int = 1,
    depth: int = 2,
    depth_in: int = 4,
    depth_out: int = 2,
    padding: Literal["memory tile", "core"] = "core",
    macs: int = 256,
    data: bool = True,
) -> Array:
    """Layers of a ``size`` x ``size`` convolution, zeros beyond the border of the image.

    Args:
        images: that are sent one after another, of ``height`` rows and ``width`` columns.
        channels: of the images, and of what all layers but the last make; ``features`` those of the last.
        size: of the window, odd; one for each channel if ``depthwise``; ``layers`` follow each other.
        stride: rows and columns between windows; ``pool`` x ``pool`` features become one by ``pooling``.
        device: that it is for; ``cores`` in each column.
        split: what the cores of a column divide; ``padding`` is who adds zeros beside the rows.
        tall: rows of an object; all of an image, or a divisor of them.
        depth: objects that a memory tile holds; ``depth_in`` those and ``depth_out`` the results of a core.
        macs: multiplications that a core is said to make in a cycle.
        data: with images and their features; else the cores only take their time.
    """
    array, kind = Array(device, layers), ImageLayer(stride, pool, pooling)
    beside = size // 2 if padding == "memory tile" else 0
    each = (size, size) if depthwise else (size, size, channels)
    kernels = [*[(*each, channels)] * (layers - 1), (*each, features)]
    pictures, weights, wanted = numbers((images, height, width, channels), kernels, kind, data=data)
    source, shape = [sent(array, pictures)], (tall, width, channels)
    parts, objects = [view(shape, np.int8)], height // tall
    for layer, kernel in enumerate(weights):
        width = width if layer == 0 else width // kind.step
        made = -(-width // (kind.step * cores)) * cores if split == "columns" else width // kind.step
        beyond = made * kind.step - width
        wide = pad(view(shape, np.int8)[:, :width], ((0, 0), (beside, beside + beyond), (0, 0)))
        sender = relay(array, layer, source, shape, depth, parts, wide)
        shape = (shape[0] // kind.step, made, kernel.shape[-1])
        mine = parts_of(split, cores, shape)
        counts, depths = (images, objects, size // 2, beside, macs), (depth_in, depth_out)
        ends = column_of(array, layer, mine, kernel, wide.shape, depths, kind, counts, data=data)
        array.connect(sender, *(come.channel for come, _ in ends))
        source = [go.channel for _, go in ends]
        parts = [view(shape, np.int8)[part.key] for part in mine]
    whole = view(shape, np.int8)[:, : width // kind.step]
    stored(array, relay(array, 0, source, shape, depth, parts, whole), wanted, data=data)
    return array
