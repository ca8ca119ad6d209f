"""A core takes eight words."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    memory, tile = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(memory.mm2s[0], tile.stream_in)
    memory.mm2s[0].start(memory.read(memory.buffer("words", 8, data=np.arange(8))))

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(8):
            yield core.get_stream()

    tile.run_kernel(kernel)
    return array
