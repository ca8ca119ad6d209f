"""The host waits for the reader before it starts the writer."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, Host, HostAction


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])
    tile.s2mm[0].start(tile.write(tile.buffer("came", 256)))
    tile.mm2s[0].start(tile.read(tile.buffer("given", 256, data=np.arange(256))))
    there = array.external("there", np.ones(256, np.int32))

    def sequence(host: Host) -> Iterator[HostAction]:
        reads = host.start(door.mm2s[0], door.read(there))
        yield reads
        yield host.wait(reads)
        yield host.start(door.s2mm[0], door.write(there))
        yield host.wait()

    array.host(sequence)
    return array
