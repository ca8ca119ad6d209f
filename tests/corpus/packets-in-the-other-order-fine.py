"""A merge in a fixed order lets the first core be first."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.design.locks import Lock
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    ways = [(core.mm2s[0], [tile.s2mm[0]]) for core in cores]
    bus = array.packet_bus("home", *ways, order=((0, 1), (1, 1)))
    both = tile.buffer("both", (2, 16))
    tile.s2mm[0].start(tile.write(both))
    for number, core in enumerate(cores):
        part, done = core.buffer("part", 16, data=np.full(16, number + 1)), core.lock(0, "done")
        core.mm2s[0].start(bus.streams[number].packets(core.read(part).guarded(done.acquire())))

        def kernel(core: Core, late: int = 200 - 190 * number, done: Lock = done) -> Iterator[Action]:
            yield core.cycles(late)
            yield core.release(done)

        core.run_kernel(kernel)
    tile.expect(both, np.repeat([1, 2], 16).reshape(2, 16))
    return array
