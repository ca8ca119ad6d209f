"""The host starts all transfers and ends."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, Host, HostAction

PARTS, WORDS = 3, 64


def design() -> Array:
    """Three transfers each way through one buffer of a memory tile."""
    array = Array("npu1", columns=1)
    outside, tile = array.interface_tile(0), array.memory_tile(0)
    buffer, free, full = tile.buffer("slot", WORDS), tile.lock(1, "free"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(free.acquire(), full.release()), loop=True)
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), free.release()), loop=True)
    array.connect(outside.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], outside.s2mm[0])
    sources = [array.external(f"from {n}", np.full(WORDS, n, np.int32)) for n in range(PARTS)]
    targets = [array.external(f"to {n}", np.zeros(WORDS, np.int32)) for n in range(PARTS)]

    def run(host: Host) -> Iterator[HostAction]:
        for source, target in zip(sources, targets, strict=True):
            yield host.start(outside.mm2s[0], outside.read(source))
            yield host.start(outside.s2mm[0], outside.write(target))

    array.host(run)
    return array
