"""The channel that takes blocks goes round."""

import numpy as np

from memtile import Array

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)

    array.connect(door.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], door.s2mm[0])
    box, free, full = shared.buffer("box", N), shared.lock(1, "free"), shared.lock(0, "full")
    shared.s2mm[0].start(shared.write(box).guarded(free.acquire(), full.release()), loop=True)
    shared.mm2s[0].start(shared.read(box).guarded(full.acquire(), free.release()), loop=True)
    door.mm2s[0].start(door.read(array.external("x", np.arange(4 * N, dtype=np.int32))))
    door.s2mm[0].start(door.write(array.external("y", np.zeros(4 * N, np.int32))))
    return array
