"""The host starts all inputs and waits for the output."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, Host, HostAction
from memtile.kernels import Action, Core

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door = array.interface_tile(0)
    low = array.compute_tile(0, 2)

    come = array.object_fifo("come", door, low, shape=N)
    go = array.object_fifo("go", low, door, shape=N)

    def kernel(core: Core) -> Iterator[Action]:
        for turn in range(4):
            yield core.acquire(come.consumers[0].full)
            yield core.acquire(go.producer.free)
            core.write(go.producer.buffer(turn), core.read(come.consumers[0].buffer(turn)) + 1)
            yield core.release(come.consumers[0].free)
            yield core.release(go.producer.full)

    low.run_kernel(kernel)
    x = [array.external(f"x{n}", np.full(N, n, np.int32)) for n in range(4)]
    y = array.external("y", np.zeros(4 * N, np.int32))

    def sequence(host: Host) -> Iterator[HostAction]:
        out = host.start(door.s2mm[0], door.write(y))
        yield out
        for piece in x:
            yield host.start(door.mm2s[0], door.read(piece))
        yield host.wait(out)

    array.host(sequence)
    return array
