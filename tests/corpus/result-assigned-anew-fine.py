"""A core doubles a block of words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile import Array
from memtile.kernels import Action, Core

WORDS = 32


def design() -> Array:
    array = Array("npu1", 1)
    tile, out = array.compute_tile(0, 2), array.interface_tile(0)
    came = tile.buffer("came", WORDS, data=np.arange(WORDS))
    goes = tile.buffer("goes", WORDS)
    done = tile.lock(0, "done")

    def double(core: Core) -> Iterator[Action]:
        source, target = core.view(came), core.view(goes)
        yield core.cycles(WORDS)
        target[...] = source * 2
        yield core.release(done, 1)

    tile.run_kernel(double)
    tile.mm2s[0].start(tile.read(goes).guarded(done.acquire()))
    out.s2mm[0].start(out.write(array.external("out", np.zeros(WORDS, np.int32))))
    array.connect(tile.mm2s[0], out.s2mm[0])
    return array
