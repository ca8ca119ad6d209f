"""Both cores go through p and q in the same order."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

WORDS, TURNS = 64, 4


def design() -> Array:
    """A core gives objects to two FIFOs, another core takes them."""
    array = Array("npu1", columns=1)
    first, second = array.compute_tile(0, 2), array.compute_tile(0, 4)
    p = array.object_fifo("p", first, second, shape=WORDS, depth=1)
    q = array.object_fifo("q", first, second, shape=WORDS, depth=1)

    def give(core: Core) -> Iterator[Action]:
        for turn in range(TURNS):
            for fifo in (p, p, q):
                yield core.acquire(fifo.producer.free)
                core.write(fifo.producer.buffer(0), np.full(WORDS, turn, np.int32))
                yield core.release(fifo.producer.full)

    def take(core: Core) -> Iterator[Action]:
        for _ in range(TURNS):
            for fifo in (p, p, q):
                end = fifo.consumers[0]
                yield core.acquire(end.full)
                core.read(end.buffer(0))
                yield core.release(end.free)

    first.run_kernel(give)
    second.run_kernel(take)
    return array
