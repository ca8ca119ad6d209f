"""Three cores hand a token round that none of them has at first."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.design.locks import Lock
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tiles = [array.compute_tile(0, row) for row in (2, 3, 4)]
    locks = [tiles[1].lock(0, "a"), tiles[2].lock(0, "b"), tiles[1].lock(0, "c")]
    for number, tile in enumerate(tiles):

        def kernel(
            core: Core, take: Lock = locks[number - 1], give: Lock = locks[number]
        ) -> Iterator[Action]:
            for _ in range(3):
                yield core.acquire(take)
                yield core.cycles(int(np.int32(10)))
                yield core.release(give)

        tile.run_kernel(kernel)
    return array
