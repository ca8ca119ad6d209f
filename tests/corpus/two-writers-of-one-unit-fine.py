"""The core that reads both parts waits for two."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core, Kernel


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    below, middle, above = (array.compute_tile(0, row) for row in (2, 3, 4))
    parts, whole, done = (
        [middle.buffer(name, 16) for name in "ab"],
        middle.buffer("whole", 32),
        middle.lock(0, "done"),
    )

    def writer(number: int, cycles: int) -> Kernel:
        def kernel(core: Core) -> Iterator[Action]:
            yield core.cycles(cycles)
            core.write(parts[number], np.full(16, number))
            yield core.release(done)

        return kernel

    def reader(core: Core) -> Iterator[Action]:
        yield core.acquire(done, -2)
        core.write(whole, np.concatenate([core.read(part) for part in parts]))

    below.run_kernel(writer(0, 20))
    above.run_kernel(writer(1, 90))
    middle.run_kernel(reader)
    return array
