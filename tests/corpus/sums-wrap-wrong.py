"""A core doubles int8 numbers and keeps the low eight bits."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=64, dtype=np.int8).consumers[0]
    go = array.object_fifo("go", tile, door, shape=64, dtype=np.int8).producer

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(come.full)
        yield core.acquire(go.free)
        twice = core.read(come.buffer(0)).astype(np.int16) * 2
        core.write(go.buffer(0), twice.astype(np.int8))
        yield core.release(come.free)
        yield core.release(go.full)

    tile.run_kernel(kernel)
    data, back = np.arange(-96, 96, 3, dtype=np.int8), np.zeros(64, np.int8)
    door.mm2s[0].start(door.read(array.external("data", data)))
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, np.clip(data.astype(np.int16) * 2, -128, 127))
    return array
