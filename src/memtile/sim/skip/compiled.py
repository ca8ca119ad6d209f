"""The compiled side of skipping time: what the one compiled function does of it, by number."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from memtile.jit.decorators import jit
from memtile.jit.struct_layout import lay_out
from memtile.jit.structs import dereference
from memtile.model.state.state import State
from memtile.sim.skip import bd_rings, compiled_replay, probe_loop
from memtile.sim.skip.records import Arrays, no_arrays


class SkipOperation(IntEnum):
    """What :func:`carry_out` does, what its number ``x`` is then, and which struct ``more`` is."""

    RUN = 0  # x: cycle to reach, more: Arrays
    FORGET = 1  # more: Arrays
    REPLAY = 2  # more: Arrays
    END_REPLAY = 3  # more: Arrays
    PUT_BACK = 4  # x: number of an action, more: Arrays


STRUCTS = (Arrays,)
"""What ``more`` may be."""
_arrays_in = dereference(Arrays)
lay_out(no_arrays())


@jit
def carry_out(st: State, operation: int, x: int, more: Any) -> int:
    """Carry out a :class:`SkipOperation`, which says what it takes."""
    if operation == SkipOperation.RUN:
        return probe_loop.run(st, _arrays_in(more), x)
    if operation == SkipOperation.REPLAY:
        return compiled_replay.replay(st, _arrays_in(more))
    if operation == SkipOperation.FORGET:
        bd_rings.forget(st, _arrays_in(more))
    if operation == SkipOperation.END_REPLAY:
        probe_loop.end_replay(st, _arrays_in(more))
    if operation == SkipOperation.PUT_BACK:
        compiled_replay.put_back(st, _arrays_in(more), x)
    return 0
