"""Each of two results goes into the array of the other one."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=32).consumers[0]
    more = array.object_fifo("more", tile, door, shape=32).producer
    less = array.object_fifo("less", tile, door, shape=32).producer

    def kernel(core: Core) -> Iterator[Action]:
        for end in (come.full, more.free, less.free):
            yield core.acquire(end)
        core.write(more.buffer(0), core.read(come.buffer(0)) + 5)
        core.write(less.buffer(0), core.read(come.buffer(0)) - 7)
        for end in (come.free, more.full, less.full):
            yield core.release(end)

    tile.run_kernel(kernel)
    data = np.arange(32, dtype=np.int32)
    door.mm2s[0].start(door.read(array.external("data", data)))
    names = ("higher", "lower")
    results = [np.zeros(32, np.int32) for _ in names]
    for number, (name, result) in enumerate(zip(names, results, strict=True)):
        door.s2mm[1 - number].start(door.write(array.external(name, result)))
    array.expect_array("higher", results[0], data + 5)
    array.expect_array("lower", results[1], data - 7)
    return array
