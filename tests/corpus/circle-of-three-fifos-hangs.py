"""Three cores pass objects round, and each takes before it puts the first one."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, ObjectFifo
from memtile.kernels import Action, Core, Kernel

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    low, mid, high = (array.compute_tile(0, row) for row in (2, 3, 4))

    ab = array.object_fifo("ab", low, mid, shape=N)
    bc = array.object_fifo("bc", mid, high, shape=N)
    ca = array.object_fifo("ca", high, low, shape=N)

    def stage(take: ObjectFifo, give: ObjectFifo, first: bool = False) -> Kernel:
        def kernel(core: Core) -> Iterator[Action]:
            for turn in range(3):
                if turn or not first:
                    yield core.acquire(take.consumers[0].full)
                    value = core.read(take.consumers[0].buffer(turn - first))
                    yield core.release(take.consumers[0].free)
                else:
                    value = np.zeros(N, np.int32)
                yield core.acquire(give.producer.free)
                core.write(give.producer.buffer(turn), value + 1)
                yield core.release(give.producer.full)

        return kernel

    low.run_kernel(stage(ca, ab))
    mid.run_kernel(stage(ab, bc))
    high.run_kernel(stage(bc, ca))
    return array
