"""The one compiled function that Python calls: whatever a host asks of the model, in one piece of code.

Each function that is called from Python is compiled with all that it calls. The clock loop, the memory-mapped
port and the untimed run share most of that, so they are compiled once, behind one operation code.
"""

from __future__ import annotations

from ctypes import c_int64
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from memtile.jit.decorators import ENABLED, entry, jit
from memtile.jit.struct_layout import lay_out
from memtile.jit.structs import Struct, dereference, place_of
from memtile.jit.tables import cells
from memtile.model import axi, column_clock
from memtile.model.dma import executions
from memtile.model.roster import put_in_order
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.doors import passing_time
from memtile.sim.doors.passing_time import PacedAccesses, Programmed
from memtile.sim.loop import clock
from memtile.sim.loop.compiled_sources import ENGINE
from memtile.sim.skip import compiled


class _ExecutionsArrays(NamedTuple):
    orders: Ints
    room: Ints
    log: Ints


class Executions(_ExecutionsArrays, Struct):
    """What ``executions.advance`` takes."""


class _OrderArrays(NamedTuple):
    numbers: Ints


class CallOrder(_OrderArrays, Struct):
    """What :func:`operate` takes: an operation, its numbers ``x y z``, and the address of ``more`` or 0."""


class MachineCall(IntEnum):
    """What :func:`carry_out` does, and what its numbers ``x y z`` and further struct ``more`` are then."""

    RUN = 0  # x: cycle to reach
    READ = 1  # x: tile, y: offset
    WRITE = 2  # x: tile, y: offset, z: word
    PERFORM = 3  # more: Accesses
    EXECUTE = 4  # x: limit, more: Executions
    SETTLE = 5
    PASS = 6  # x: cycle to reach
    SKIP = 7  # x, more: as y, a SkipOperation, says
    SET_UP = 8  # x: end, more: Programmed
    ACCESS = 9  # x: tile, y: offset, z: word or READ


COMPILED = ENGINE
"""What the code of :func:`operate` is made of; the source hash of everything compiled is over these."""

FOLLOW = 1  # a write was answered, and there is to do what ``column_clock`` does
# Members of an enum are slow to look up.
_WRITE, _READ, _ACCESS = int(MachineCall.WRITE), int(MachineCall.READ), int(MachineCall.ACCESS)
_RUN = int(MachineCall.RUN)
STOPS = {int(stop): stop for stop in clock.Stop}
_NO_INTS = np.zeros(0, dtype=np.int64)
_state_in, _order_in = dereference(State), dereference(CallOrder)
_accesses_in, _programmed_in = dereference(PacedAccesses), dereference(Programmed)
_executions_in = dereference(Executions)
for _struct in (
    CallOrder(_NO_INTS),
    PacedAccesses(_NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS),
    Programmed(_NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS),
    Executions(_NO_INTS, _NO_INTS, _NO_INTS),
):
    lay_out(_struct)


@jit
def write_one(st: State, tile: int, offset: int, value: int) -> int:
    """Write one word, see ``axi.write``; ``FOLLOW`` where more is to do."""
    answer = axi.write(st, tile, offset, value)
    return FOLLOW if st.clock.columns_written[0] > 0 else answer


@jit
def carry_out(  # noqa: C901 - a flat table
    st: State, operation: int, x: int, y: int, z: int, more: Any
) -> int:
    """Carry out one :class:`MachineCall`, which says what it takes; functions below give names to that."""
    if operation == MachineCall.RUN:
        return clock.run(st, x)
    if operation == MachineCall.READ:
        return axi.read(st, x, y)
    if operation == MachineCall.WRITE:
        return write_one(st, x, y, z)
    if operation == MachineCall.ACCESS:
        return passing_time.access_now(st, x, y, z)
    if operation == MachineCall.PERFORM:
        return passing_time.perform(st, _accesses_in(more))
    if operation == MachineCall.SET_UP:
        return passing_time.set_up(st, _programmed_in(more), x)
    if operation == MachineCall.EXECUTE:
        work = _executions_in(more)
        return 1 if executions.advance(st, work.orders, work.room, work.log, x) else 0
    if operation == MachineCall.PASS:
        return 1 if passing_time.pass_time(st, x) else 0
    if operation == MachineCall.SKIP:
        return compiled.carry_out(st, y, x, more)
    if operation == MachineCall.SETTLE:
        clock.settle(st)
    return 0


@entry(COMPILED, State, CallOrder, PacedAccesses, Programmed, Executions, *compiled.STRUCTS)
def operate(st: int, order: int) -> int:
    """Carry out the :class:`CallOrder` at an address on the state at an address."""
    numbers = _order_in(order).numbers
    return carry_out(_state_in(st), numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])


class Desk(NamedTuple):
    """What it takes to call compiled code for a state: made once, as making it takes longer than a call.

    Attributes:
        order: that compiled code is given for it.
        numbers: of the order.
        given: what ``operate.free`` and ``operate.held`` take.
        answer: what they leave.
        written: whether a register of column clocks was.
    """

    order: CallOrder
    numbers: memoryview
    given: tuple[Any, ...]
    answer: c_int64
    written: memoryview


def _desk_of(st: State) -> Desk:
    """That of a state, made anew; in the interpreter nothing is to be called."""
    order, answer = CallOrder(np.zeros(5, dtype=np.int64)), c_int64()
    given: tuple[Any, ...] = ()
    if ENABLED:
        place = place_of(st)
        given, answer = (place.result, place.error, place.given, place_of(order).given), place.answer
    written: Any = cells(st.clock).columns_written
    desk = st.desk = Desk(order, memoryview(order.numbers), given, answer, written)  # type: ignore[arg-type]
    return desk


def ask(st: State, operation: int, x: int = 0, y: int = 0, z: int = 0, more: Struct | None = None) -> int:
    """Have an operation carried out, compiled or not; what it does not take can be left out."""
    if not ENABLED:
        return int(carry_out(st, operation, x, y, z, more))
    desk: Desk = st.desk or _desk_of(st)
    numbers = desk.numbers
    numbers[0], numbers[1], numbers[2], numbers[3] = operation, x, y, z
    numbers[4] = 0 if more is None else (more.place or place_of(more)).address
    if operate.free(*desk.given):
        raise RuntimeError("operate: an error in compiled code")
    return desk.answer.value


def run(st: State, until: int, *, settled: bool = True) -> clock.Stop:
    """Advance to cycle ``until`` at most; why the clock stopped. What rests is booked if ``settled``."""
    written = (st.desk or _desk_of(st)).written
    stop = ask(st, _RUN, int(until))
    while written[0]:
        column_clock.follow(st)
        stop = ask(st, _RUN, int(until))
    if settled:
        settle(st)
    return STOPS[stop]


def settle(st: State) -> None:
    """Book the cycles in which channels and cores rested; bring the lists of what is active in order."""
    ask(st, MachineCall.SETTLE)
    put_in_order(st)


def cycle(st: State) -> clock.Stop:
    """One cycle of the array clock, which passes even where nothing can move any more."""
    st.clock.quiet[0] = min(st.clock.quiet[0], clock.SETTLED - 1)
    return run(st, st.clock.now[0] + 1)


def read(st: State, tile: int, offset: int) -> int:
    """Read one word, see ``axi.read``."""
    if not ENABLED:
        return int(axi.read(st, tile, offset))
    desk: Desk = st.desk or _desk_of(st)
    numbers = desk.numbers
    numbers[0], numbers[1], numbers[2] = _READ, tile, offset
    operate.held(*desk.given)
    return desk.answer.value


def write(st: State, tile: int, offset: int, value: int) -> int:
    """Write one word, see ``axi.write``."""
    if ENABLED:
        desk: Desk = st.desk or _desk_of(st)
        numbers = desk.numbers
        numbers[0], numbers[1], numbers[2], numbers[3] = _WRITE, tile, offset, value
        operate.held(*desk.given)
        answer = desk.answer.value
    else:
        answer = write_one(st, tile, offset, value)
    if answer != FOLLOW:
        return answer
    column_clock.follow(st)
    return axi.OKAY


def access_at_once(st: State, tile: int, offset: int, value: int) -> int:
    """Read one word (``value`` is ``passing_time.READ``) or write it in no time."""
    return read(st, tile, offset) if value == passing_time.READ else write(st, tile, offset, value)


def access(st: State, tile: int, offset: int, value: int) -> int:
    """Read or write one word when the host comes to it, see ``passing_time.access_now``."""
    if ENABLED:
        desk: Desk = st.desk or _desk_of(st)
        numbers = desk.numbers
        numbers[0], numbers[1], numbers[2], numbers[3] = _ACCESS, tile, offset, value
        operate.held(*desk.given)
        answer: int = desk.answer.value
    else:
        answer = passing_time.access_now(st, tile, offset, value)
    if answer >= passing_time.ACTED and st.clock.columns_written[0]:
        column_clock.follow(st)
    return answer


def perform(st: State, accesses: PacedAccesses) -> int:
    """Make many accesses, see ``passing_time.perform``; how many it came to."""
    made = ask(st, MachineCall.PERFORM, more=accesses)
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return made


def set_up(st: State, writes: Programmed, end: int = 0) -> int:
    """Write many words, see ``passing_time.set_up``; how many it came to."""
    written = ask(st, MachineCall.SET_UP, int(end), more=writes)
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return written


def pass_time(st: State, until: int) -> bool:
    """Let time pass up to cycle ``until``, see ``passing_time.pass_time``."""
    return bool(ask(st, MachineCall.PASS, int(until)))


def execute(st: State, work: Executions, limit: int) -> bool:
    """Rounds of whole BD executions, see ``executions.advance``."""
    went_on = bool(ask(st, MachineCall.EXECUTE, limit, more=work))
    if st.clock.columns_written[0]:
        column_clock.follow(st)
    return went_on
