"""Packet fan-out and fan-in: one link up, one link down, four compute tiles told apart by packet ids.

Run it with ``memtile run examples/packets.py``.

One channel of the memory tile cuts a matrix into four bands of columns, as a tiling for each port of a packet
split asks, and sends each band as a packet to its compute tile. The tiles send their bands back as packets,
which take turns on the way to one channel of the memory tile.
"""

from __future__ import annotations

import numpy as np

from memtile import Array, TilingParameters

SIZE, WORKERS = 32, 4
BAND = SIZE // WORKERS


def band(worker: int) -> TilingParameters:
    """The worker's columns."""
    return TilingParameters(
        buffer_dimension=(SIZE, SIZE),
        tiling_dimension=(BAND, SIZE),
        offset=(worker * BAND, 0),
        packet_port_id=worker,
    )


def design() -> Array:
    """One column: a memory tile and four compute tiles."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    workers = [array.compute_tile(0, row) for row in array.device.compute_rows][:WORKERS]
    matrix = np.arange(SIZE * SIZE, dtype=np.int32).reshape(SIZE, SIZE)
    source = shared.buffer("matrix", (SIZE, SIZE), data=matrix)
    out = array.packet_bus("out", *((shared.mm2s[0], [worker.s2mm[0]]) for worker in workers))
    back = array.packet_bus("back", *((worker.mm2s[0], [shared.s2mm[0]]) for worker in workers))

    shared.mm2s[0].start(*out.split(source, [band(n) for n in range(WORKERS)]))
    for number, worker in enumerate(workers):
        mine, full = worker.buffer("band", (SIZE, BAND)), worker.lock(0, "full")
        worker.s2mm[0].start(worker.write(mine).guarded(None, full.release()))
        worker.mm2s[0].start(back.streams[number].packets(worker.read(mine).guarded(full.acquire())))
        worker.expect(mine, matrix[:, number * BAND : (number + 1) * BAND])
    bands = shared.buffer("bands", (WORKERS, SIZE, BAND))
    shared.s2mm[0].start(shared.write(bands))
    shared.expect(bands, matrix.reshape(SIZE, WORKERS, BAND).swapaxes(0, 1))
    return array
