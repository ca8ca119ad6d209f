"""A core writes each object into the first of two buffers."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=64).consumers[0]
    go = array.object_fifo("go", tile, door, shape=64).producer

    def kernel(core: Core) -> Iterator[Action]:
        for turn in range(4):
            yield core.acquire(come.full)
            yield core.acquire(go.free)
            yield core.cycles(200)
            core.write(go.buffer(0), core.read(come.buffer(turn)))
            yield core.release(come.free)
            yield core.release(go.full)

    tile.run_kernel(kernel)
    door.mm2s[0].start(door.read(array.external("there", np.arange(256, dtype=np.int32))))
    door.s2mm[0].start(door.write(array.external("back", np.zeros(256, np.int32))))
    return array
