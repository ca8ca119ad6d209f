"""A matrix is transposed on its way: rows go in, every compute tile of a column gets columns.

Run it with ``memtile run examples/transpose.py``.

A matrix of 64 x 64 words arrives at the memory tile row by row. Four channels read sixteen columns of it
each, column by column, which takes two dimensions of the address generators, and send them up to four compute
tiles; there they lie as sixteen rows of 64. No core has touched them.
"""

from __future__ import annotations

import numpy as np

from memtile import Array, TilingParameters, TraversingParameters, one_writer

SIZE, WORKERS = 64, 4
BAND = SIZE // WORKERS


def columns(worker: int) -> TilingParameters:
    """The worker's columns, one after the other, each from top to bottom."""
    return TilingParameters(
        buffer_dimension=(SIZE, SIZE),
        tiling_dimension=(1, SIZE),
        offset=(worker * BAND, 0),
        tile_traversal=(TraversingParameters(dimension=0, stride=1, wrap=BAND),),
    )


def design() -> Array:
    """One column: a memory tile and four compute tiles."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    matrix = np.arange(SIZE * SIZE, dtype=np.int32).reshape(SIZE, SIZE)
    rows = shared.buffer("rows", (SIZE, SIZE))
    reads = [[shared.read(rows, columns(n))] for n in range(WORKERS)]
    one_writer(shared, "rows", [shared.write(rows)], reads).start([shared.s2mm[0]], shared.mm2s[:WORKERS])
    shared.s2mm[0].feed(matrix)
    for number, row in enumerate(list(array.device.compute_rows)[:WORKERS]):
        worker = array.compute_tile(0, row)
        band = worker.buffer("band", (BAND, SIZE))
        worker.s2mm[0].start(worker.write(band))
        worker.expect(band, matrix[:, number * BAND : (number + 1) * BAND].T)
        array.connect(shared.mm2s[number], worker.s2mm[0])
    return array
