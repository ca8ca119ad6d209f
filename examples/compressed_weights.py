"""Weights with many zeros cross the array compressed, and lie in the compute tiles as they were.

Run it with ``memtile run examples/compressed_weights.py``, or with Python to see the words saved.

Three of four weights of the layer are zero. They are compressed once, for external memory, and stay so in
the interface tile's DMA, in the memory tile and on the streams up the column. Only the DMA of each compute
tile puts the zeros back (AM020 chapter 5: compression), while it stores its rows. A core multiplies them
with a vector; the memory tile gathers the sums on their way back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile import Array, Buffer, End, Lock
from memtile.access import compress
from memtile.kernels import Action, Core, Kernel

ROWS, COLUMNS, WORKERS = 128, 256, 4
BAND = ROWS // WORKERS
MULTIPLIERS = 256  # int8 products that a core is said to make in a cycle


def worker(weights: Buffer, ready: Lock, vector: Buffer, sums: End) -> Kernel:
    """The core of one compute tile."""

    def multiply(core: Core) -> Iterator[Action]:
        yield core.acquire(ready)
        yield core.acquire(sums.free)
        yield core.cycles(BAND * COLUMNS // MULTIPLIERS)
        core.write(sums.buffer(0), core.read(weights).astype(np.int32) @ core.read(vector))
        yield core.release(sums.full)

    return multiply


def design() -> Array:
    """One column: external memory, a memory tile, four compute tiles."""
    array = Array("npu1", columns=1)
    outside, shared = array.interface_tile(0), array.memory_tile(0)
    workers = [array.compute_tile(0, row) for row in array.device.compute_rows][:WORKERS]

    random = np.random.default_rng(seed=8)
    weights = random.integers(-128, 128, (ROWS, COLUMNS), dtype=np.int8)
    weights *= random.random(weights.shape) < 1 / 4
    vector = random.integers(-128, 128, COLUMNS, dtype=np.int8)
    bands = weights.reshape(WORKERS, BAND, COLUMNS)
    compressed = [compress(band.reshape(-1).view(np.uint32)) for band in bands]

    stored = array.external("weights", np.concatenate(compressed))
    kept = [shared.buffer(f"band {n}", len(words), np.uint32) for n, words in enumerate(compressed)]
    came = [shared.lock(0, f"band {n} is there") for n in range(WORKERS)]
    outside.mm2s[0].start(outside.read(stored))
    shared.s2mm[0].start(
        *(shared.write(band).guarded(None, lock.release()) for band, lock in zip(kept, came, strict=True))
    )
    array.connect(outside.mm2s[0], shared.s2mm[0])
    expanded, ready = [], []
    for n, tile in enumerate(workers):
        expanded.append(tile.buffer("weights", (BAND, COLUMNS), np.int8))
        ready.append(tile.lock(0, "weights are there"))
        shared.mm2s[n].start(shared.read(kept[n]).guarded(came[n].acquire()))
        tile.s2mm[0].start(tile.write(expanded[n]).compressed().guarded(None, ready[n].release()))
        array.connect(shared.mm2s[n], tile.s2mm[0])
        tile.expect(expanded[n], bands[n])

    sums = array.object_fifo("sums", shared, outside, shape=ROWS)
    for n, (tile, end) in enumerate(zip(workers, sums.gather("sum", workers, depth=1), strict=True)):
        factors = tile.buffer("vector", COLUMNS, np.int8, data=vector)
        tile.run_kernel(worker(expanded[n], ready[n], factors, end.producer))
    result = np.zeros(ROWS, np.int32)
    sums.consumers[0].channel.start(outside.write(array.external("sums", result)))
    wanted = weights.astype(np.float64) @ vector.astype(np.float64)  # exact below 2**53
    array.expect_array("sums", result, wanted.astype(np.int32))
    return array


def main() -> None:
    """Run, check, and say what compression saved."""
    result = design().run()
    assert result.good, result
    sent = next(use.words for use in result.channels if use.name == "interface(0,0) MM2S 0")
    words = ROWS * COLUMNS // 4
    print(f"{words} words of weights were {sent} in memory and on the streams: {1 - sent / words:.0%} saved")


if __name__ == "__main__":
    main()
