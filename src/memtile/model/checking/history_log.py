"""The history of a run: what every channel, core, port and lock did, noted whenever it changes.

Nobody in the model reads it, and nothing is noted before somebody asks for it: then one look at the end of
each cycle compares everybody with what he did in the cycle before. A row of ``State.log`` is ``[cycle,
thing, value]``: from this cycle on the thing has the value. ``State.heat`` counts the accesses of each bank,
and its conflicts, in ``BINS`` stretches of the run, which become twice as long when they do not suffice.

Where time is skipped, a row says which period comes again how often, and the accesses of the banks are
spread evenly over these cycles: a stretch is then exact but for a part of one period at each of its ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from memtile.arch.members import Declared, Members
from memtile.jit.decorators import inlined, jit
from memtile.model.state.causes import Cause, Colours, CoreCause, CorePhase, ValueFacts
from memtile.model.state.state import State

LOG_FIELDS = 3
LOG_ROWS = 1 << 17
_ENOUGH = LOG_ROWS // 2  # rows with which the clock loop returns; a cycle adds one for each thing at most
BINS = 256
ON, COUNT, MISSED, BEGAN, WIDTH = range(5)  # entries of State.logging; WIDTH: cycles of a stretch
LOGGING = WIDTH + 1

KIND_BITS = 3  # of a thing: its kind, and above that its index in the model
JUMP = (
    1 << KIND_BITS
) - 1  # as kind: the rows of the last period come again; index: its cycles, value: how often
BD_LSB, BD_MASK = 8, 0xFF  # of the value of a channel, above its cause: its BD
LOCK_LSB = 16  # of a channel's and of a core's, above that: one more than the lock that it waits for
LEVEL_LSB, LEVEL_BIAS, LEVEL_MASK = (
    8,
    1 << 15,
    0xFFFF,
)  # of the value of a lock, above what was done: its value
AGENT_LSB = 24  # and above that who did it, as in ``notes``


class Thing(IntEnum):
    """What has a history."""

    CHANNEL = 0
    CORE = 1
    PORT = 2
    LOCK = 3


class PortDoes(Members):
    """What a port of a stream switch does in a cycle."""

    text: str
    colours: Colours
    is_idle: bool

    EMPTY = ValueFacts(0, "empty", Cause.IDLE.colours, is_idle=True)  # or a word has just come
    MOVING = ValueFacts(1, "moving", Cause.MOVING.colours)  # a word leaves
    # a word is there and does not leave
    HOLDING = ValueFacts(2, "holding a word", Cause.STREAM_BLOCKED.colours)


@dataclass(eq=False)
class ActFacts(Declared):
    """Declares what was done to a lock, with the text before who did it."""

    number: int
    text: str


class LockAct(Members):
    """What was done to a lock."""

    text: str

    ACQUIRE = ActFacts(0, "acquired by")
    RELEASE = ActFacts(1, "released by")
    SET = ActFacts(2, "set by")  # by its register
    RESET = ActFacts(3, "begins")  # seen anew: by a reset of its tile, or at the begin


@inlined
def logging(st: State) -> bool:
    """Whether anything is noted."""
    return bool(st.logging[ON] > 0)


@jit
def put(st: State, kind: int, index: int, value: int) -> None:
    """Append a row; the clock loop returns when there are enough of them."""
    at = st.logging[COUNT]
    if at >= st.log.shape[0]:
        st.logging[MISSED] += 1
        return
    st.log[at, 0] = st.clock.now[0]
    st.log[at, 1] = kind | (index << KIND_BITS)
    st.log[at, 2] = value
    st.logging[COUNT] = at + 1
    if at >= _ENOUGH:
        st.clock.full[0] = 1


@jit
def changed(st: State, kind: int, index: int, place: int, value: int) -> None:
    """Append a row if the thing, whose last value is at ``place`` of ``State.logged``, has another one."""
    if st.logged[place] != value:
        st.logged[place] = value
        put(st, kind, index, value)


@jit
def channel_value(st: State, ch: int) -> int:
    """What a channel does: its cause, its BD while it has one, the lock that it waits for."""
    why = st.channels.why[ch]
    if why == Cause.IDLE or why == Cause.TASK_START or why == Cause.CLOCK_OFF:
        return int(why)
    value = why | ((st.channels.bd[ch] & BD_MASK) << BD_LSB)
    if why == Cause.LOCK_ACQUIRE:
        value |= (st.channels.lock[ch] + 1) << LOCK_LSB
    return int(value)


@jit
def core_value(st: State, core: int) -> int:
    """What a core does: its cause as it is booked, and the lock that it waits for."""
    value = 0
    if st.cores.active[core] == 1:
        value |= st.cores.why[core]
        if value == CoreCause.LOCK_STALL:
            value |= (st.cores.target[core] + 1) << LOCK_LSB
    elif st.cores.active[core] > 1:
        value |= CoreCause.CLOCK_OFF
    elif st.cores.phase[core] == CorePhase.DONE:
        value |= CoreCause.DONE
    else:
        value |= CoreCause.IDLE
    return value


@jit
def log_port(st: State, port: int) -> None:
    """Note what a port does, if that is new."""
    does = 0
    if st.switch.popped[port] == st.clock.now[0]:
        does |= PortDoes.MOVING
    elif st.switch.held[port] > 0 and st.switch.stalled[port] == st.clock.now[0]:
        does |= PortDoes.HOLDING
    changed(st, Thing.PORT, port, st.channels.phase.shape[0] + st.cores.phase.shape[0] + port, does)


@jit
def log_ports(st: State) -> None:
    """The ports that held a word in this cycle: those that do so now, and those that did so before."""
    first, before = st.channels.phase.shape[0] + st.cores.phase.shape[0], st.logged_ports
    kept = 0
    for slot in range(1, before[0] + 1):
        port = before[slot]
        log_port(st, port)
        if st.logged[first + port] != PortDoes.EMPTY and st.switch.active[port] != 1:
            kept += 1
            before[kept] = port
    for slot in range(1, st.active_ports[0] + 1):
        log_port(st, st.active_ports[slot])
        kept += 1
        before[kept] = st.active_ports[slot]
    before[0] = kept


@jit
def fold(st: State) -> None:
    """Make the stretches of ``State.heat`` twice as long."""
    for bank in range(st.heat.shape[0]):
        for half in range(2):
            for at in range(BINS // 2):
                first = half * BINS + 2 * at
                st.heat[bank, half * BINS + at] = st.heat[bank, first] + st.heat[bank, first + 1]
            for at in range(BINS // 2, BINS):
                st.heat[bank, half * BINS + at] = 0
    st.logging[WIDTH] *= 2


@jit
def stretch_of(st: State, cycle: int) -> int:
    """The stretch of ``State.heat`` that a cycle is in, which has room for it then."""
    while (cycle - st.logging[BEGAN]) // st.logging[WIDTH] >= BINS:
        fold(st)
    return int((cycle - st.logging[BEGAN]) // st.logging[WIDTH])


@jit
def log_banks(st: State) -> None:
    """Count who was served by each bank, and where more than one had asked."""
    now = st.clock.now[0]
    at = stretch_of(st, now)
    for bank in range(st.heat.shape[0]):
        served, clash = st.banks.stamp[bank] == now, st.banks.conflict[bank] == now
        st.heat[bank, at] += served
        st.heat[bank, BINS + at] += clash
        st.banks.accesses[bank] += served
        st.banks.clashes[bank] += clash


@jit
def note_jump(st: State, period: int, times: int) -> None:
    """Note that the rows of the last period come again."""
    if logging(st):
        put(st, JUMP, period, times)


@jit
def spread_jump(st: State, began: int) -> None:
    """Spread what banks did since a cycle, at which a jump began, evenly over its cycles."""
    if not logging(st):
        return
    last = st.clock.now[0] - 1
    end = stretch_of(st, last)
    first, width = stretch_of(st, began), st.logging[WIDTH]
    for bank in range(st.heat.shape[0]):
        for half in range(2):
            left = st.banks.accesses[bank] if half == 0 else st.banks.clashes[bank]
            for at in range(half * BINS, half * BINS + BINS):
                left -= st.heat[bank, at]
            done = 0
            for at in range(first, end + 1 if left > 0 else first):
                passed = min(st.logging[BEGAN] + (at + 1) * width, last + 1) - began
                share = left * passed // (last + 1 - began)
                st.heat[bank, half * BINS + at] += share - done
                done = share


@jit
def log_causes(st: State) -> None:
    """Channels and cores."""
    channels = st.channels.phase.shape[0]
    for ch in range(channels):
        changed(st, Thing.CHANNEL, ch, ch, channel_value(st, ch))
    for core in range(st.cores.phase.shape[0]):
        changed(st, Thing.CORE, core, channels + core, core_value(st, core))


@jit
def log_cycle(st: State) -> None:
    """Note what is new in this cycle, whose causes have just been booked."""
    log_causes(st)
    log_ports(st)
    log_banks(st)


@jit
def look_at_locks(st: State) -> None:
    """Note the locks that somebody has changed who does not say so."""
    first = st.channels.phase.shape[0] + st.cores.phase.shape[0] + st.switch.held.shape[0]
    for lock in range(st.locks.value.shape[0]):
        if st.logged[first + lock] != st.locks.value[lock]:
            lock_act(st, LockAct.RESET, 0, lock)


@jit
def lock_act(st: State, act: int, agent: int, lock: int) -> None:
    """Note what was done to a lock, and its value then."""
    if st.logging[ON] == 0:
        return
    first = st.channels.phase.shape[0] + st.cores.phase.shape[0] + st.switch.held.shape[0]
    level = st.locks.value[lock]
    st.logged[first + lock] = level
    put(st, Thing.LOCK, lock, act | ((level + LEVEL_BIAS) << LEVEL_LSB) | (agent << AGENT_LSB))
