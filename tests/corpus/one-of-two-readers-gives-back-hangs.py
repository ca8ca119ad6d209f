"""One of two channels that send a buffer does not release it."""

import numpy as np

from memtile import Array

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)

    array.connect(door.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], door.s2mm[0])
    array.connect(shared.mm2s[1], door.s2mm[1])
    box, free, full = shared.buffer("box", N), shared.lock(2, "free"), shared.lock(0, "full")
    shared.s2mm[0].start(shared.write(box).guarded(free.acquire(2), full.release(2)), loop=True)
    shared.mm2s[0].start(shared.read(box).guarded(full.acquire(), free.release()), loop=True)
    shared.mm2s[1].start(shared.read(box).guarded(full.acquire(), None), loop=True)
    door.mm2s[0].start(door.read(array.external("x", np.arange(3 * N, dtype=np.int32))))
    door.s2mm[0].start(door.write(array.external("y", np.zeros(3 * N, np.int32))))
    door.s2mm[1].start(door.write(array.external("z", np.zeros(3 * N, np.int32))))
    return array
