"""A core adds up two blocks at a time."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=16).consumers[0]
    go = array.object_fifo("go", tile, door, shape=16).producer

    def kernel(core: Core) -> Iterator[Action]:
        for block in range(3):
            yield core.acquire(go.free)
            total = np.zeros(16, np.int32)
            for part in range(2):
                yield core.acquire(come.full)
                total = total + core.read(come.buffer(2 * block + part))
                yield core.release(come.free)
            core.write(go.buffer(block), total)
            yield core.release(go.full)

    tile.run_kernel(kernel)
    data, back = np.arange(96, dtype=np.int32) % 19, np.zeros(48, np.int32)
    door.mm2s[0].start(door.read(array.external("data", data)))
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, data.reshape(3, 2, 16).sum(axis=1).ravel())
    return array
