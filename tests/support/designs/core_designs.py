"""Compute tiles with kernels for tests: places, buffers, and what each core did in every cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtile.arch.tiles import COMPUTE
from memtile.model.state.causes import CoreCause
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine

COLUMN = [Placed("compute", column=1, row=row) for row in (2, 3, 4)]
CROSS = [Placed("compute", column=c, row=r) for c, r in ((1, 3), (1, 2), (0, 3), (1, 4), (2, 3))]
OWN, SOUTH, WEST, NORTH, EAST = range(5)  # tiles of CROSS


INT32 = np.dtype(np.int32)


@dataclass(frozen=True)
class Piece:
    """A buffer at a byte of a compute tile."""

    name: str
    offset: int
    shape: tuple[int, ...] = (8,)
    dtype: np.dtype[Any] = INT32
    place: tuple[int, int] | None = None


def lock_value(engine: Engine, tile: int, lock: int) -> int:
    return engine.door(tile).read32(COMPUTE.lock_value_base + lock * COMPUTE.lock_value_stride)


def set_lock(engine: Engine, tile: int, lock: int, value: int) -> None:
    engine.door(tile).write32(COMPUTE.lock_value_base + lock * COMPUTE.lock_value_stride, value)


def timelines(engine: Engine, cycles: int, cores: Sequence[int] = (0,)) -> list[str]:
    """What each core does in the next cycles, as letters; checks that the books agree."""
    texts = ["" for _ in cores]
    for _ in range(cycles):
        booked = engine.state.core_spent.copy()
        engine.run(engine.now + 1)
        spent = engine.state.core_spent - booked
        assert (spent.sum(axis=1) == 1).all()
        texts = [t + CoreCause(int(spent[c].argmax())).letter for t, c in zip(texts, cores, strict=True)]
    return texts
