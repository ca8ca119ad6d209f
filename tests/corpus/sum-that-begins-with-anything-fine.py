"""A kernel clears a sum and adds to it."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    worker = array.compute_tile(0, 2)
    total = worker.buffer("total", 8, np.int32)

    def kernel(core: Core) -> Iterator[Action]:
        core.write(total, np.zeros(8, np.int32))
        for n in range(4):
            yield core.cycles(10)
            core.write(total, core.read(total) + n)

    worker.run_kernel(kernel)
    return array
