"""The host starts both columns and waits then."""

from collections.abc import Iterator

import numpy as np

from memtile import Array, Host, HostAction


def design() -> Array:
    """The whole design."""
    array, data = Array("npu1", columns=2), np.arange(1500, dtype=np.int32)
    doors = [array.interface_tile(column) for column in range(2)]
    reads = [door.read(array.external(f"data{n}", data.copy())) for n, door in enumerate(doors)]
    for column, door in enumerate(doors):
        tile = array.memory_tile(column)
        block = tile.buffer("block", 1500)
        array.connect(door.mm2s[0], tile.s2mm[0])
        tile.s2mm[0].start(tile.write(block))
        tile.expect(block, data)

    def sequence(host: Host) -> Iterator[HostAction]:
        for door, read in zip(doors, reads, strict=True):
            yield host.start(door.mm2s[0], read)
        yield host.wait()

    array.host(sequence)
    return array
