"""Can a fast reader or writer of a shared buffer ever take the turn of a slow one (DEV-ADF-30)?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile import MemoryTile
from memtile.adf.buffer_turns import buffer_turns, locks_needed
from memtile.adf.description import Loop, Tiling
from memtile.adf.port_transfers import guarded, start_ring, turn_transfers
from memtile.explain.results import Status

ROUNDS = 5
COLUMNS = 4
PATTERNS = ([1], [1, 0], [0, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 0], [0] * 40 + [1] * 8)


def halves(parts: int, number: int) -> tuple[Tiling, ...]:
    """The rows of one writer of several, in two tilings."""
    return tuple(
        Tiling((COLUMNS, 2 * parts), (COLUMNS, 1), (0, 2 * number + row), (Loop(0, COLUMNS, 1),))
        for row in (0, 1)
    )


def order_of(reader: int, rows: int) -> tuple[Tiling, ...]:
    """What a reader reads: all in a row, columns of rows, or the second half before the first."""
    whole = (COLUMNS, rows)
    return (
        (),
        (Tiling(whole, (1, rows), (0, 0), (Loop(0, 1, COLUMNS),)),),
        (
            Tiling(whole, (COLUMNS, rows // 2), (0, rows // 2)),
            Tiling(whole, (COLUMNS, rows - rows // 2), (0, 0)),
        ),
    )[reader % 3]


def read(frame: npt.NDArray[np.int32], reader: int) -> npt.NDArray[np.int32]:
    """The same with NumPy."""
    half = len(frame) // 2
    return (
        frame.ravel(),
        frame.T.ravel(),
        np.concatenate([frame[half:].ravel(), frame[:half].ravel()]),
    )[reader % 3]


@example(writers=[[1], PATTERNS[-1]], readers=[[1]], depth=2)
@example(writers=[[1]], readers=[[1], PATTERNS[-1]], depth=2)
@example(writers=[[1], [1, 0]], readers=[PATTERNS[-1], [1]], depth=1)
@settings(max_examples=60, deadline=None)
@given(
    writers=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3),
    readers=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3),
    depth=st.integers(1, 3),
)
def test_each_reader_sees_each_turn_whole(
    writers: list[list[int]], readers: list[list[int]], depth: int
) -> None:
    depth = depth if len(writers) + len(readers) <= 4 else min(depth, 2)  # 24 descriptors a parity
    rows = 2 * len(writers)
    frames = np.arange(ROUNDS * rows * COLUMNS, dtype=np.int32).reshape(ROUNDS, rows, COLUMNS)
    tile = MemoryTile("npu1")
    buffers = [tile.buffer(f"m {n}", (rows, COLUMNS)) for n in range(depth)]
    ins, outs = [f"m.in[{n}]" for n in range(len(writers))], [f"m.out[{n}]" for n in range(len(readers))]
    turns = buffer_turns(tile, "m", ins, outs, depth)
    assert len(tile.locks) == locks_needed(len(writers), len(readers), depth)
    for n, pattern in enumerate(writers):
        channel = tile.s2mm[2 * n]
        pairs = zip(buffers, turns.writers[n], strict=True)
        pieces = halves(len(writers), n)
        start_ring(
            channel,
            ins[n],
            [guarded(tile, turn_transfers(tile, each, pieces, "write"), turn) for each, turn in pairs],
        )
        channel.feed(frames[:, 2 * n : 2 * n + 2], pattern)
    for n, pattern in enumerate(readers):
        channel = tile.mm2s[2 * n + 1]
        pairs = zip(buffers, turns.readers[n], strict=True)
        pieces = order_of(n, rows)
        start_ring(
            channel,
            outs[n],
            [guarded(tile, turn_transfers(tile, each, pieces, "read"), turn) for each, turn in pairs],
        )
        channel.expect(np.concatenate([read(frame, n) for frame in frames]), pattern)
    result = tile.run()
    assert result.status is Status.FINISHED
    assert result.exact
