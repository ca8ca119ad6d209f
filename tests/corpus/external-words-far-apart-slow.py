"""An interface tile reads single words of external memory, each in a row of its own."""

import numpy as np

from memtile import Array
from memtile.bd.descriptor import Descriptor


def design() -> Array:
    """The whole design."""
    array = Array("npu1", 1)
    shim, memory = array.interface_tile(0), array.memory_tile(0)
    data = np.arange(2048, dtype=np.int32)
    given, block = array.external("given", data), memory.buffer("block", 2048, np.int32)
    shim.mm2s[0].start(Descriptor("interface", 2048, given.dma_address, dims=((64, 32), (1, 0))))
    memory.s2mm[0].start(memory.write(block))
    array.connect(shim.mm2s[0], memory.s2mm[0])
    memory.expect(block, data.reshape(32, 64).T.reshape(-1).copy())
    return array
