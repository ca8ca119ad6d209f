"""The weights are sent once, and the core keeps them over all turns."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door = array.interface_tile(0)
    low = array.compute_tile(0, 2)

    w = array.object_fifo("w", door, low, shape=N, depth=1)
    come = array.object_fifo("come", door, low, shape=N)
    go = array.object_fifo("go", low, door, shape=N)

    def scale(core: Core) -> Iterator[Action]:
        yield core.acquire(w.consumers[0].full)
        for turn in range(4):
            yield core.acquire(come.consumers[0].full)
            yield core.acquire(go.producer.free)
            core.write(
                go.producer.buffer(turn),
                core.read(come.consumers[0].buffer(turn)) * core.read(w.consumers[0].buffer(0)),
            )
            yield core.release(go.producer.full)
            yield core.release(come.consumers[0].free)
        yield core.release(w.consumers[0].free)

    low.run_kernel(scale)
    door.mm2s[0].start(door.read(array.external("w", np.full(N, 3, np.int32))))
    door.mm2s[1].start(door.read(array.external("x", np.arange(4 * N, dtype=np.int32))))
    door.s2mm[0].start(door.write(array.external("y", np.zeros(4 * N, np.int32))))
    return array
