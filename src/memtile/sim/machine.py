"""The one compiled function that Python calls: whatever a host asks of the model, in one piece of code.

Each function that is called from Python is compiled with all that it calls. The clock loop, the memory-mapped
port and the untimed run share most of that, so they are compiled once, behind one operation code.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from memtile.jit.decorators import ENABLED, entry, jit
from memtile.jit.structs import Pointer, dereference, pointer_to
from memtile.model import axi, column_clock
from memtile.model.dma import executions
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim import clock, passing
from memtile.sim.forward import loop
from memtile.sim.forward.plan import Arrays

Bools = npt.NDArray[np.bool_]


class Operation(IntEnum):
    """What :func:`carry_out` does, and what its numbers ``x y z`` and arrays ``a b c flags`` are then."""

    RUN = 0  # x: cycle to reach
    READ = 1  # x: tile, y: offset
    WRITE = 2  # x: tile, y: offset, z: word
    WRITE_MANY = 3  # a: tiles, b: offsets, c: words, flags: what was written
    EXECUTE = 4  # x: limit, a: orders, b: room, c: log
    SETTLE = 5
    PASS = 6  # x: cycle to reach
    FORWARD = 7  # x: cycle to reach, a: plan, b: kept, c: book
    FORGET = 8  # b: kept, c: book


COMPILED = ("arch", "model", "sim/clock.py", "sim/forward", "sim/passing.py", "sim/machine.py")
"""What the code of :func:`operate` is made of; the source hash of everything compiled is over these."""

_NONE = np.zeros(0, dtype=np.int64)
_NOTHING = np.zeros(0, dtype=np.bool_)
_state_in = dereference(State)


@jit
def carry_out(
    st: State, operation: int, x: int, y: int, z: int, a: Ints, b: Ints, c: Ints, flags: Bools
) -> int:
    """Carry out one :class:`Operation`, which says what it takes; the functions below give names to that."""
    if operation == Operation.RUN:
        return clock.run(st, x)
    if operation == Operation.READ:
        return axi.read(st, x, y)
    if operation == Operation.WRITE:
        return axi.write(st, x, y, z)
    if operation == Operation.WRITE_MANY:
        return passing.write_many(st, a, b, c, flags)
    if operation == Operation.EXECUTE:
        return 1 if executions.advance(st, a, b, c, x) else 0
    if operation == Operation.PASS:
        return 1 if passing.pass_time(st, x) else 0
    if operation == Operation.FORWARD:
        return loop.run(st, a, b, c, x)
    if operation == Operation.FORGET:
        loop.forget(st, b, c)
    if operation == Operation.SETTLE:
        clock.settle(st)
    return 0


@entry(COMPILED)
def operate(
    st: Pointer, operation: int, x: int, y: int, z: int, a: Ints, b: Ints, c: Ints, flags: Bools
) -> int:
    """The same for a pointer to the state."""
    return carry_out(_state_in(st), operation, x, y, z, a, b, c, flags)


def ask(
    st: State,
    operation: Operation,
    x: int = 0,
    y: int = 0,
    z: int = 0,
    *,
    arrays: tuple[Ints, Ints, Ints] = (_NONE, _NONE, _NONE),
    flags: Bools = _NOTHING,
) -> int:
    """Have an operation carried out, compiled or not; what it does not take can be left out."""
    if not ENABLED:
        return carry_out(st, operation, x, y, z, *arrays, flags)
    code = int(operation)  # Numba takes a hundred times as long to see what type an enum member has
    return operate(pointer_to(st), code, x, y, z, *arrays, flags)


def run(st: State, until: int, *, settled: bool = True) -> clock.Stop:
    """Advance to cycle ``until`` at most; why the clock stopped. What rests is booked if ``settled``."""
    stop = ask(st, Operation.RUN, int(until))
    while st.clock.columns_written[0]:
        column_clock.follow(st)
        stop = ask(st, Operation.RUN, int(until))
    if settled:
        settle(st)
    return clock.Stop(stop)


def run_forward(st: State, until: int, work: Arrays) -> clock.Stop:
    """Advance to cycle ``until`` at most, jumping over what repeats; why the clock stopped.

    It also stops, as for a limit, when as many cycles as the budget in the book says have been stepped.
    """
    stop = ask(st, Operation.FORWARD, int(until), arrays=work)
    while st.clock.columns_written[0]:
        column_clock.follow(st)
        forget_periods(st, work)
        stop = ask(st, Operation.FORWARD, int(until), arrays=work)
    return clock.Stop(stop)


def forget_periods(st: State, work: Arrays) -> None:
    """Something else than the clock has changed the state, or may have."""
    ask(st, Operation.FORGET, arrays=work)


def settle(st: State) -> None:
    """Book the cycles in which channels and cores rested."""
    ask(st, Operation.SETTLE)


def cycle(st: State) -> clock.Stop:
    """One cycle of the array clock."""
    return run(st, st.clock.now[0] + 1)


def read(st: State, tile: int, offset: int) -> int:
    """Read one word, see ``axi.read``."""
    return int(ask(st, Operation.READ, tile, int(offset)))


def write(st: State, tile: int, offset: int, value: int) -> int:
    """Write one word, see ``axi.write``."""
    answer = ask(st, Operation.WRITE, tile, int(offset), int(value))
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return int(answer)


def write_many(st: State, tiles: Ints, offsets: Ints, values: Ints, done: Bools) -> int:
    """Write many words, see ``passing.write_many``; how many it came to."""
    written = ask(st, Operation.WRITE_MANY, arrays=(tiles, offsets, values), flags=done)
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return int(written)


def pass_time(st: State, until: int) -> bool:
    """Let time pass up to cycle ``until``, see ``passing.pass_time``."""
    return bool(ask(st, Operation.PASS, int(until)))


def execute(st: State, orders: Ints, room: Ints, log: Ints, limit: int) -> bool:
    """Rounds of whole BD executions, see ``executions.advance``."""
    went_on = bool(ask(st, Operation.EXECUTE, limit, arrays=(orders, room, log)))
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return went_on
