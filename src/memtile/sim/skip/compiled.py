"""The compiled side of skipping time: what the one compiled function does of it, by number."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from memtile.jit.decorators import jit
from memtile.jit.struct_layout import lay_out
from memtile.jit.structs import dereference
from memtile.model.state.state import State
from memtile.sim.forward import loop, reach, replay, rings
from memtile.sim.forward.places import Arrays, no_arrays
from memtile.sim.forward.reach import Groups


class SkipOperation(IntEnum):
    """What :func:`carry_out` does, what its number ``x`` is then, and which struct ``more`` is."""

    RUN = 0  # x: cycle to reach, more: Arrays
    FORGET = 1  # more: Arrays
    REPLAY = 2  # more: Arrays
    END_REPLAY = 3  # more: Arrays
    PUT_BACK = 4  # x: number of an action, more: Arrays
    GROUP = 5  # more: Groups


STRUCTS = Arrays, Groups
"""What ``more`` may be."""
_arrays_in, _groups_in = dereference(Arrays), dereference(Groups)
lay_out(no_arrays())
lay_out(Groups(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64)))


@jit
def carry_out(st: State, operation: int, x: int, more: Any) -> int:
    """Carry out a :class:`SkipOperation`, which says what it takes."""
    if operation == SkipOperation.RUN:
        return loop.run(st, _arrays_in(more), x)
    if operation == SkipOperation.REPLAY:
        return replay.replay(st, _arrays_in(more))
    if operation == SkipOperation.GROUP:
        return reach.find_groups(st, _groups_in(more))
    if operation == SkipOperation.FORGET:
        rings.forget(st, _arrays_in(more))
    if operation == SkipOperation.END_REPLAY:
        loop.end_replay(st, _arrays_in(more))
    if operation == SkipOperation.PUT_BACK:
        replay.put_back(st, _arrays_in(more), x)
    return 0
