"""The one compiled function that Python calls: whatever a host asks of the model, in one piece of code.

Each function that is called from Python is compiled with all that it calls. The clock loop, the memory-mapped
port and the untimed run share most of that, so they are compiled once, behind one operation code.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from memtile.model import axi, column_clock, executions
from memtile.model.jit import entry
from memtile.model.reference import by_reference
from memtile.model.state import CLOCKED, NOW, Ints, Spec, State
from memtile.sim import clock

Bools = npt.NDArray[np.bool_]


class Operation(IntEnum):
    """What :func:`operate` does."""

    RUN = 0
    READ = 1
    WRITE = 2
    WRITE_MANY = 3
    EXECUTE = 4


_RUN, _READ, _WRITE = int(Operation.RUN), int(Operation.READ), int(Operation.WRITE)
_WRITE_MANY, _EXECUTE = int(Operation.WRITE_MANY), int(Operation.EXECUTE)
_NONE = np.zeros(0, dtype=np.int64)
_NOTHING = np.zeros(0, dtype=np.bool_)


@entry
def operate(
    whole_spec: Spec,
    whole_state: State,
    operation: int,
    tile: int,
    at: int,
    value: int,
    tiles: Ints,
    places: Ints,
    values: Ints,
    done: Bools,
) -> int:
    """Carry out one operation; which arguments it uses, the functions below say."""
    spec, st = by_reference(whole_spec), by_reference(whole_state)
    if operation == _RUN:
        return clock.run(spec, st, at)
    if operation == _READ:
        return axi.read(spec, st, tile, at)
    if operation == _WRITE:
        return axi.write(spec, st, tile, at, value)
    if operation == _WRITE_MANY:
        return axi.write_many(spec, st, tiles, places, values, done)
    if operation == _EXECUTE:
        return 1 if executions.advance(spec, st, places, values, tiles, at) else 0
    return 0


def run(spec: Spec, st: State, until: int) -> clock.Stop:
    """Advance to cycle ``until`` at most; why the clock stopped."""
    stop = operate(spec, st, _RUN, 0, int(until), 0, _NONE, _NONE, _NONE, _NOTHING)
    while st.clock[CLOCKED]:
        column_clock.follow(spec, st)
        stop = operate(spec, st, _RUN, 0, int(until), 0, _NONE, _NONE, _NONE, _NOTHING)
    return clock.Stop(stop)


def cycle(spec: Spec, st: State) -> clock.Stop:
    """One cycle of the array clock."""
    return run(spec, st, st.clock[NOW] + 1)


def read(spec: Spec, st: State, tile: int, offset: int) -> int:
    """Read one word, see ``axi.read``."""
    return int(operate(spec, st, _READ, tile, int(offset), 0, _NONE, _NONE, _NONE, _NOTHING))


def write(spec: Spec, st: State, tile: int, offset: int, value: int) -> int:
    """Write one word, see ``axi.write``."""
    answer = operate(spec, st, _WRITE, tile, int(offset), int(value), _NONE, _NONE, _NONE, _NOTHING)
    if st.clock[CLOCKED]:
        column_clock.follow(spec, st)
    return int(answer)


def write_many(spec: Spec, st: State, tiles: Ints, offsets: Ints, values: Ints, done: Bools) -> None:
    """Write many words, see ``axi.write_many``."""
    first = 0
    while first < len(values):
        rest = slice(first, None)
        first += operate(spec, st, _WRITE_MANY, 0, 0, 0, tiles[rest], offsets[rest], values[rest], done[rest])
        if st.clock[CLOCKED]:
            column_clock.follow(spec, st)


def execute(spec: Spec, st: State, orders: Ints, room: Ints, log: Ints, limit: int) -> bool:
    """Rounds of whole BD executions, see ``executions.advance``."""
    went_on = bool(operate(spec, st, _EXECUTE, 0, limit, 0, log, orders, room, _NOTHING))
    if st.clock[CLOCKED]:
        column_clock.follow(spec, st)
    return went_on
