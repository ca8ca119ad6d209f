"""A layer of 24 channels on a kernel that takes 16 at a time: the memory tile pads the channels up to 32.

Run it with ``memtile run examples/channel_padding.py``.

The manual names two uses of zero padding (AM020, memory tile DMA): the halo of a convolution, which is in
``convolution.py``, and this one, the granularity of a kernel. Images of 24 channels come from external memory
as they are. On the way to the core they become two blocks of 16 channels; the second one ends in eight that
are zero and lie in no memory, so that the weights that meet them may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile import Array, End, pad, view
from memtile.kernels import Action, Core, Kernel

IMAGES, PIXELS, CHANNELS = 4, 128, 24
LANES = 16  # channels that the kernel takes at a time, and makes
BLOCKS = -(-CHANNELS // LANES)
PADDED = BLOCKS * LANES
MULTIPLIERS = 256  # int8 products that a core is said to make in a cycle
CYCLES = PIXELS * LANES * LANES // MULTIPLIERS

Ints = npt.NDArray[Any]


def worker(blocks: End, sums: End, weights: Ints) -> Kernel:
    """A 1 x 1 convolution: 16 channels of all pixels at a time, times their weights."""
    kept = blocks.tile.buffer("weights", weights.shape, np.int8, data=weights)

    def convolution(core: Core) -> Iterator[Action]:
        for image in range(IMAGES):
            yield core.acquire(sums.free)
            total = np.zeros((PIXELS, LANES), np.int32)
            for number in range(BLOCKS):
                yield core.acquire(blocks.full)
                yield core.cycles(CYCLES)
                block = core.read(blocks.buffer(image * BLOCKS + number))
                total += block.astype(np.int32) @ core.read(kept)[number]
                yield core.release(blocks.free)
            core.write(sums.buffer(image), total)
            yield core.release(sums.full)

    return convolution


def design() -> Array:
    """One column: an interface tile, a memory tile and a compute tile."""
    array = Array("npu1", columns=1)
    outside, shared, tile = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
    random = np.random.default_rng(seed=26)
    images = random.integers(-128, 128, (IMAGES, PIXELS, CHANNELS), dtype=np.int8)
    weights = random.integers(-128, 128, (PADDED, LANES), dtype=np.int8)
    results = np.zeros((IMAGES, PIXELS, LANES), np.int32)

    features = array.object_fifo("features", outside, shared, shape=(PIXELS, CHANNELS), dtype=np.int8)
    padded = pad(view((PIXELS, CHANNELS), np.int8), ((0, 0), (0, PADDED - CHANNELS)))
    in_blocks = padded.reshape(PIXELS, BLOCKS, LANES).transpose(1, 0, 2)
    [blocks] = features.split("blocks", [tile], parts=[in_blocks])
    sums = array.object_fifo("sums", tile, outside, shape=(PIXELS, LANES), dtype=np.int32)
    tile.run_kernel(worker(blocks.consumers[0], sums.producer, weights.reshape(BLOCKS, LANES, LANES)))

    features.producer.channel.start(outside.read(array.external("images", images)))
    sums.consumers[0].channel.start(outside.write(array.external("sums", results)))
    wanted = images.astype(np.float64) @ weights[:CHANNELS].astype(np.float64)  # exact below 2**53
    array.expect_array("sums", results, wanted.astype(np.int32))
    return array
