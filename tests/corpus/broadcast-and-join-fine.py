"""One core takes one object of a broadcast before it helps the other one."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

WORDS = 64
BEFORE = 1  # objects of 'a' that the first core takes before it gives one of 'b'


def design() -> Array:
    """A broadcast to two cores, one of which waits for the other before it takes its part."""
    array = Array("npu1", columns=1)
    outside, first, second = array.interface_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 4)
    a = array.object_fifo("a", outside, [first, second], shape=WORDS, depth=1)
    b = array.object_fifo("b", first, second, shape=WORDS, depth=1)

    def gather(core: Core) -> Iterator[Action]:
        for _ in range(BEFORE):
            yield core.acquire(a.consumers[0].full)
            yield core.release(a.consumers[0].free)
        yield core.acquire(b.producer.free)
        yield core.release(b.producer.full)
        for _ in range(4 - BEFORE):
            yield core.acquire(a.consumers[0].full)
            yield core.release(a.consumers[0].free)

    def join(core: Core) -> Iterator[Action]:
        yield core.acquire(b.consumers[0].full)
        for _ in range(4):
            yield core.acquire(a.consumers[1].full)
            yield core.release(a.consumers[1].free)
        yield core.release(b.consumers[0].free)

    first.run_kernel(gather)
    second.run_kernel(join)
    outside.mm2s[0].start(outside.read(array.external("a", np.arange(4 * WORDS, dtype=np.int32))))
    return array
