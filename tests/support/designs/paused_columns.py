"""Columns whose clock stops and whose reset is set, for tests."""

from __future__ import annotations

import numpy as np

from memtile import Array
from memtile.sim.kernels.kernel_core import calls

CLOCK, RESET = 0xFFF20, 0xFFF28
WORDS = 200
DATA = np.arange(WORDS, dtype=np.int32)


def clock(array: Array, column: int, on: bool) -> None:
    """Turn the clock of a column on or off."""
    array.door.at_once().write32(array.door.address(column, 0, CLOCK), int(on))


def reset(array: Array, column: int, on: bool) -> None:
    """Set or end the reset of a column."""
    array.door.at_once().write32(array.door.address(column, 0, RESET), int(on))


def sending(columns: int = 1) -> Array:
    """The memory tile of column 0 sends to a compute tile of the last column; its core doubles what comes."""
    array = Array("npu1", columns)
    source, target = array.memory_tile(0), array.compute_tile(columns - 1, 2)
    out, into = source.buffer("out", WORDS, data=DATA), target.buffer("in", WORDS)
    full = target.lock(0, "full")
    array.connect(source.mm2s[0], target.s2mm[0])
    source.mm2s[0].start(source.read(out))
    target.s2mm[0].start(target.write(into).guarded(None, full.release()))
    target.run_kernel(
        calls(lambda core: core.write(into, core.read(into) * 2), acquire=[(full.id, -1)], cycles=37, times=1)
    )
    target.expect(into, DATA * 2)
    array.route()
    return array
