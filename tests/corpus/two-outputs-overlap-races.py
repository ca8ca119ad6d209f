"""The halves that two channels write overlap by 8 words."""

import numpy as np

from memtile import Array, view


def design() -> Array:
    """The whole design."""
    array = Array("npu1", columns=1)
    memory, shim = array.memory_tile(0), array.interface_tile(0)
    there = array.external("there", np.zeros(64, np.int32))
    source = memory.buffer("source", 64, np.int32, data=np.arange(64, dtype=np.int32))
    for n in (0, 1):
        array.connect(memory.mm2s[n], shim.s2mm[n])
        memory.mm2s[n].start(memory.read(source, view((64,))[32 * n : 32 * n + 32]))
        shim.s2mm[n].start(shim.write(there, view((64,))[24 * n : 24 * n + 32]))
    return array
