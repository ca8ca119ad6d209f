"""Designs that come to stand still, for tests of dumps."""

from __future__ import annotations

CIRCLE = """from memtile import Array


def design():
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    a, b = tile.buffer("a", 16), tile.buffer("b", 16)
    gone, lost = tile.lock(1, "gone"), tile.lock(1, "lost")
    tile.mm2s[0].start(tile.read(a).guarded(gone.acquire(2), lost.release()), repeat=2)
    tile.mm2s[1].start(tile.read(b).guarded(lost.acquire(2), gone.release()), repeat=2)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[1], tile.s2mm[1])
    for n in range(2):
        tile.s2mm[n].start(tile.write(tile.buffer(f"c{n}", 32)))
    return array
"""

RING = """import numpy as np

from memtile import Array


def design(value=0):
    array = Array("npu1", 1)
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    block = memory.buffer("block", 16, data=np.arange(16))
    band = compute.buffer("band", 16)
    free = compute.lock(0, "free")
    never = compute.lock(value, "never", id=9)

    def hold(core):
        yield core.acquire(never)
        yield core.release(free)

    compute.run_kernel(hold)
    memory.mm2s[0].start(memory.read(block))
    compute.s2mm[0].start(compute.write(band).guarded(free.acquire()))
    array.connect(memory.mm2s[0], compute.s2mm[0])
    return array
"""

MOVING = """import numpy as np

from memtile import Array


def design():
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    source, target = tile.buffer("source", 256, data=np.arange(256)), tile.buffer("target", 256)
    array.connect(tile.mm2s[0], tile.s2mm[0])
    tile.mm2s[0].start(tile.read(source))
    tile.s2mm[0].start(tile.write(target))
    return array
"""

TWO_BUFFERS = """import numpy as np

from memtile import MemoryTile


def design(rows=4, free=2, add=0):
    tile = MemoryTile()
    blocks = [tile.buffer(name, 16, np.int32) for name in ("ping", "pong")]
    empty, full = tile.lock(free, "empty"), tile.lock(0, "full")
    data = np.arange(32 * rows, dtype=np.int32) + add * (np.arange(32 * rows) == 7)
    writes = [tile.write(block).guarded(empty.acquire(), full.release()) for block in blocks]
    reads = [tile.read(block).guarded(full.acquire(), empty.release()) for block in blocks]
    tile.s2mm[0].start(*writes, repeat=rows)
    tile.mm2s[0].start(*reads, repeat=rows)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile
"""
