"""The core takes packets in the order in which they are sent."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

N = 16


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    low = array.compute_tile(0, 2)

    bus = array.packet_bus("bus", (shared.mm2s[0], [low.s2mm[0]]), (shared.mm2s[0], [low.s2mm[1]]))
    a, b = shared.buffer("a", N, data=np.arange(N)), shared.buffer("b", N, data=np.arange(N))
    shared.mm2s[0].start(
        *[bus.streams[0].packets(shared.read(a))] * 5, bus.streams[1].packets(shared.read(b))
    )
    xa, xb = low.buffer("xa", N), low.buffer("xb", N)
    fa, ga, gb = low.lock(1, "a free"), low.lock(0, "a full"), low.lock(0, "b full")
    low.s2mm[0].start(low.write(xa).guarded(fa.acquire(), ga.release()), loop=True)
    low.s2mm[1].start(low.write(xb).guarded(None, gb.release()))

    def kernel(core: Core) -> Iterator[Action]:
        for _ in range(5):
            yield core.acquire(ga)
            core.read(xa)
            yield core.release(fa)
        yield core.acquire(gb)
        core.read(xb)

    low.run_kernel(kernel)
    return array
