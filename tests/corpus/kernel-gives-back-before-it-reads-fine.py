"""A kernel adds 1 to blocks between two buffers under locks."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    source = memory.buffer("source", 64, np.int32, data=np.arange(64, dtype=np.int32))
    target = memory.buffer("target", 64, np.int32)
    given, made = worker.buffer("given", 16, np.int32), worker.buffer("made", 16, np.int32)
    empty, full = worker.lock(1, "empty"), worker.lock(0, "full")
    room, done = worker.lock(1, "room"), worker.lock(0, "done")
    array.connect(memory.mm2s[0], worker.s2mm[0])
    array.connect(worker.mm2s[0], memory.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    memory.s2mm[0].start(memory.write(target))
    worker.s2mm[0].start(worker.write(given).guarded(empty.acquire(), full.release()), repeat=4)
    worker.mm2s[0].start(worker.read(made).guarded(done.acquire(), room.release()), repeat=4)

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(4):
            yield core.acquire(full)
            yield core.acquire(room)
            yield core.cycles(20)
            core.write(made, core.read(given) + 1)
            yield core.release(done)
            yield core.release(empty)

    worker.run_kernel(kernel)
    return array
