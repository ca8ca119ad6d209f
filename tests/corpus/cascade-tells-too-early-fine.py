"""A core says by the cascade that its data is there."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    above, below = array.compute_tile(0, 3), array.compute_tile(0, 2)
    block, result = above.buffer("block", 8, np.int32), below.buffer("result", 8, np.int32)
    above.cascade_to(below)

    def writer(core: Core) -> Iterator[Action]:
        yield core.cycles(50)
        core.write(block, np.arange(8, dtype=np.int32))
        yield core.put_cascade(np.zeros(16, np.int32))

    def reader(core: Core) -> Iterator[Action]:
        yield core.get_cascade()
        core.write(result, core.read(block))

    above.run_kernel(writer)
    below.run_kernel(reader)
    return array
