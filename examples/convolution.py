"""Two layers of a 3 x 3 convolution, int8 in and out, each on the four compute tiles of a column.

Run it with ``memtile run examples/convolution.py``.

Images come from external memory through an interface tile into a memory tile. That cuts each of them into
four tiles with a halo: one pixel more on all sides, from the neighbouring tile, or zeros beyond the border.
A core multiplies and adds in int32 and makes int8 of it again. A second memory tile puts its tiles together
as an image of features, and cuts that for the second layer in the same way. The result goes back to external
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile import Array, End, ObjectFifo, View, pad, view
from memtile.kernels import Action, Core, Kernel

IMAGES, SIZE, CHANNELS = 3, 32, 8
SHAPE = (SIZE, SIZE, CHANNELS)  # rows, columns, channels
HALF = SIZE // 2
SHIFT = 8  # requantisation: int32 sums are rounded, divided by 256 and clipped to 0..127
MULTIPLIERS = 256  # int8 products that a core is said to make in a cycle
CYCLES = HALF * HALF * CHANNELS * CHANNELS * 9 // MULTIPLIERS

Ints = npt.NDArray[Any]


def convolve(padded: Ints, weights: Ints) -> Ints:
    """A layer on an image or a tile with one pixel more on each side; int8 in and out."""
    rows, columns = padded.shape[0] - 2, padded.shape[1] - 2
    total = np.zeros((rows, columns, CHANNELS))  # float64: exact below 2**53, and products by BLAS
    image, factors = padded.astype(np.float64), weights.astype(np.float64)
    for row, column in np.ndindex(3, 3):
        total += image[row : row + rows, column : column + columns] @ factors[row, column]
    clipped: Ints = np.clip((total.astype(np.int32) + (1 << (SHIFT - 1))) >> SHIFT, 0, 127).astype(np.int8)
    return clipped


def quarters(image: View, size: int) -> list[View]:
    """The four tiles of an image, each ``size`` pixels wide and high."""
    return [image[row : row + size, column : column + size] for row in (0, HALF) for column in (0, HALF)]


def worker(tiles: End, results: End, weights: Ints) -> Kernel:
    """The core of one compute tile: a tile with its halo in, a tile out."""
    kept = tiles.tile.buffer("weights", weights.shape, np.int8, data=weights)

    def convolution(core: Core) -> Iterator[Action]:
        for image in range(IMAGES):
            yield core.acquire(tiles.full)
            yield core.acquire(results.free)
            yield core.cycles(CYCLES)
            core.write(results.buffer(image), convolve(core.read(tiles.buffer(image)), core.read(kept)))
            yield core.release(tiles.free)
            yield core.release(results.full)

    return convolution


def layer(array: Array, column: int, source: ObjectFifo, result: ObjectFifo, weights: Ints) -> None:
    """One layer on the compute tiles of a column."""
    cores = [array.compute_tile(column, row) for row in array.device.compute_rows]
    image = view(SHAPE, np.int8)
    with_halo = quarters(pad(image, ((1, 1), (1, 1), (0, 0))), HALF + 2)
    tiles = source.split(f"tile{column}", cores, parts=with_halo)
    results = result.gather(f"result{column}", cores, parts=quarters(image, HALF))
    for core, came, goes in zip(cores, tiles, results, strict=True):
        core.run_kernel(worker(came.consumers[0], goes.producer, weights))


def design() -> Array:
    """Two columns, a layer each."""
    array = Array("npu1", columns=2)
    random = np.random.default_rng(seed=33)
    images = random.integers(-128, 128, (IMAGES, *SHAPE), dtype=np.int8)
    weights = random.integers(-20, 20, (2, 3, 3, CHANNELS, CHANNELS), dtype=np.int8)
    results = np.zeros_like(images)
    first, second = array.interface_tile(0), array.interface_tile(1)

    images_in = array.object_fifo("images", first, array.memory_tile(0), shape=SHAPE, dtype=np.int8)
    features = array.object_fifo(
        "features", array.memory_tile(0), array.memory_tile(1), shape=SHAPE, dtype=np.int8
    )
    results_out = array.object_fifo("results", array.memory_tile(1), second, shape=SHAPE, dtype=np.int8)
    layer(array, 0, images_in, features, weights[0])
    layer(array, 1, features, results_out, weights[1])
    images_in.producer.channel.start(first.read(array.external("images", images)))
    results_out.consumers[0].channel.start(second.write(array.external("results", results)))

    expected = images
    for of_layer in weights:
        padded = np.pad(expected, ((0, 0), (1, 1), (1, 1), (0, 0)))
        expected = np.stack([convolve(image, of_layer) for image in padded])
    array.expect_array("results", results, expected)
    return array
