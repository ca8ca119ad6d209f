"""Three cores take a part each, all as long."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, End
from memtile.kernels import Action, Core, Kernel


def work(come: End, cycles: int) -> Kernel:
    """Blocks that a core takes, each for so many cycles."""

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(6):
            yield core.acquire(come.full)
            yield core.cycles(cycles)
            yield core.release(come.free)

    return kernel


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    shared, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3, 4)]
    whole = array.object_fifo("whole", array.interface_tile(0), shared, shape=(3, 32))
    for core, part, cycles in zip(cores, whole.split("part", cores), (80, 80, 80), strict=True):
        core.run_kernel(work(part.consumers[0], cycles))
    whole.producer.channel.start(
        array.interface_tile(0).read(array.external("data", np.arange(576, dtype=np.int32)))
    )
    return array
