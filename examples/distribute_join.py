"""Distribute and join through a memory tile: frames are cut into four for four compute tiles, and come back.

Run it with ``memtile run examples/distribute_join.py``.

The memory tile takes frames of 32 x 64 words into one of two buffers. Four channels read a band of eight rows
each and send it up to a compute tile of the column, which passes it on from a double buffer of its own. The
bands come back to the memory tile as four streams, which together fill one of two other buffers, and leave it
as a frame again. Every buffer is guarded by locks, so that all fourteen channels work at the same time.
"""

from __future__ import annotations

import numpy as np

from memtile import Array, TilingParameters, hand_over, one_reader, one_writer

FRAMES = 4
ROWS, COLUMNS, WORKERS = 32, 64, 4
BAND = ROWS // WORKERS
DEPTH = 2


def band(worker: int) -> TilingParameters:
    """The rows of one worker."""
    return TilingParameters(
        buffer_dimension=(COLUMNS, ROWS),
        tiling_dimension=(COLUMNS, BAND),
        offset=(0, worker * BAND),
    )


def design() -> Array:
    """One column: a memory tile and four compute tiles."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    workers = [array.compute_tile(0, row) for row in array.device.compute_rows][:WORKERS]
    arriving = [shared.buffer(f"arriving {n}", (ROWS, COLUMNS)) for n in range(DEPTH)]
    leaving = [shared.buffer(f"leaving {n}", (ROWS, COLUMNS)) for n in range(DEPTH)]
    frame_in, *bands_in = shared.s2mm[: WORKERS + 1]
    frame_out, *bands_out = (shared.mm2s[WORKERS], *shared.mm2s[:WORKERS])

    reads = [[shared.read(b, band(n)) for b in arriving] for n in range(WORKERS)]
    distribute = one_writer(shared, "arriving", [shared.write(b) for b in arriving], reads)
    distribute.start([frame_in], bands_out)
    writes = [[shared.write(b, band(n)) for b in leaving] for n in range(WORKERS)]
    join = one_reader(shared, "leaving", writes, [shared.read(b) for b in leaving])
    join.start(bands_in, [frame_out])

    for worker, sent, back in zip(workers, bands_out, bands_in, strict=True):
        buffers = [worker.buffer(f"band {n}", (BAND, COLUMNS)) for n in range(DEPTH)]
        passing = hand_over(
            worker, "band", [worker.write(b) for b in buffers], [worker.read(b) for b in buffers]
        )
        passing.start([worker.s2mm[0]], [worker.mm2s[0]])
        array.connect(sent, worker.s2mm[0])
        array.connect(worker.mm2s[0], back)

    random = np.random.default_rng(seed=4)
    for _ in range(FRAMES):
        frame = random.integers(-1000, 1000, (ROWS, COLUMNS), dtype=np.int32)
        frame_in.feed(frame)
        frame_out.expect(frame)
    return array
