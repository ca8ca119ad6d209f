"""The third of three cores makes one object, the others two."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, End
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    cores = [array.compute_tile(0, row) for row in (2, 3, 4)]
    whole = array.object_fifo("whole", shared, door, shape=(3, 16))
    for number, (tile, part) in enumerate(zip(cores, whole.gather("part", cores), strict=True)):
        times = 2 - number // 2

        def kernel(core: Core, end: End = part.producer, times: int = times) -> Iterator[Action]:
            for turn in range(times):
                yield core.acquire(end.free)
                core.write(end.buffer(turn), np.full((1, 16), turn))
                yield core.release(end.full)

        tile.run_kernel(kernel)
    door.s2mm[0].start(door.write(array.external("back", np.zeros(96, np.int32))))
    return array
