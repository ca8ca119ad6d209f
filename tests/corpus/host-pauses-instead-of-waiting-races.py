"""The host lets some cycles pass instead of waiting for the writer: enough here, not everywhere."""

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.design.host import Host, HostAction


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    memory, shim = array.memory_tile(0), array.interface_tile(0)
    there = array.external("there", np.zeros(64, np.int32))
    source = memory.buffer("source", 64, np.int32, data=np.arange(64, dtype=np.int32))
    target = memory.buffer("target", 64, np.int32)
    array.connect(memory.mm2s[0], shim.s2mm[0])
    array.connect(shim.mm2s[0], memory.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    memory.s2mm[0].start(memory.write(target))

    def sequence(host: Host) -> Iterator[HostAction]:
        written = host.start(shim.s2mm[0], shim.write(there))
        yield written
        yield host.pause(5000)
        yield host.start(shim.mm2s[0], shim.read(there))
        yield host.wait()

    array.host(sequence)
    return array
