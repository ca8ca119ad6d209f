"""A channel takes three packets in any order, and two come."""

import numpy as np

from memtile import Array


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    tile, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    bus = array.packet_bus("home", *((core.mm2s[0], [tile.s2mm[0]]) for core in cores), keep_headers=True)
    parts = [tile.write(tile.buffer(name, 16)) for name in "ab"]
    places = tile.s2mm[0].start_out_of_order(*parts, packets=3)
    for stream, core, place in zip(bus.streams, cores, places, strict=True):
        read = core.read(core.buffer("part", 16, data=np.arange(16)))
        core.mm2s[0].start(stream.packets(read, bd=place))
    return array
