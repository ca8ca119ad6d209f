"""A core releases the buffer of its neighbour before it reads it."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door = array.interface_tile(0)
    low, mid = (array.compute_tile(0, row) for row in (2, 3))

    hand = low.buffer("hand", N)
    free, full = low.lock(0, "hand free"), low.lock(0, "hand full")
    y = array.object_fifo("y", mid, door, shape=N)

    def puts(core: Core) -> Iterator[Action]:
        for turn in range(4):
            if turn:
                yield core.acquire(free)
            core.write(hand, np.full(N, turn))
            yield core.cycles(30)
            yield core.release(full)

    def takes(core: Core) -> Iterator[Action]:
        for turn in range(4):
            yield core.acquire(full)
            yield core.acquire(y.producer.free)
            yield core.release(free)
            yield core.cycles(50)
            core.write(y.producer.buffer(turn), core.read(hand))
            yield core.release(y.producer.full)

    low.run_kernel(puts)
    mid.run_kernel(takes)
    door.s2mm[0].start(door.write(array.external("y", np.zeros(4 * N, np.int32))))
    return array
