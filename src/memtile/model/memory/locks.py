"""Semaphore locks: 6-bit counters, two kinds of acquire, sticky overflow and underflow (AM020, AM025).

An operand V below 0 waits for a value of at least -V and subtracts it; V of 0 or more waits for exactly V and
changes nothing (DEV-LOCK-3). A release adds a signed value. A result outside 0..63 sets the lock's sticky
flag and saturates (DEV-LOCK-1). One acquire is granted per lock and cycle, in rotating order over the
channels and cores; releases of a cycle are seen by the acquires of the next (DEV-LOCK-2).

It also has lock registers: values (DEV-LOCK-4), sticky flags, request window (DEV-LOCK-5).
"""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import MEMORY
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.events.reports import signal
from memtile.model.memory.banks import rank
from memtile.model.memory.neighbours import NOWHERE, reach
from memtile.model.state.columns import Ints
from memtile.model.state.event_columns import LockEvent, TileSignal
from memtile.model.state.state import State

_MAX = MEMORY.lock_value_max


@jit
def resolve(st: State, tile: int, number: int, lock_id: int) -> int:
    """Global lock index of a DMA lock id, or -1 when channel ``number`` of ``tile`` cannot reach it."""
    owner = reach(st, tile, number, lock_id >> st.spec.kinds.lock_shift[st.spec.tiles.kind[tile]])
    if owner < 0:
        return NOWHERE
    return int(st.spec.tiles.lock_base[owner] + (lock_id & (st.spec.tiles.locks[owner] - 1)))


@jit
def satisfied(value: int, operand: int) -> bool:
    """Whether an acquire with ``operand`` may proceed on a lock that holds ``value``."""
    if operand < 0:
        return bool(value >= -operand)
    return bool(value == operand)


@inlined
def without_clock(st: State, lock: int) -> bool:
    """Whether the lock grants nothing because its tile has no clock."""
    return bool(st.gated[0] > 0 and st.gates.off[st.locks.tile[lock]] == 1)


@jit
def put(st: State, lock: int, value: int) -> None:
    """The lock has ``value`` from this cycle on; events remember what it had in the cycles before."""
    locks = st.locks
    if locks.since[lock] < st.clock.now[0]:
        locks.held[lock] |= 1 << locks.value[lock]
        locks.since[lock] = st.clock.now[0]
    locks.value[lock] = value
    st.clock.locks_changed[0] = 1


@jit
def add(st: State, lock: int, change: int) -> None:
    """Add a signed value, flag and saturate what leaves the 6-bit range."""
    locks = st.locks
    value = locks.value[lock] + change
    if value > _MAX:
        locks.overflow[lock] = 1
        signal(st, locks.tile[lock], TileSignal.LOCK_ERROR)
        value = _MAX
    elif value < 0:
        locks.underflow[lock] = 1
        signal(st, locks.tile[lock], TileSignal.LOCK_ERROR)
        value = 0
    put(st, lock, value)


@jit
def take(st: State, lock: int, operand: int) -> None:
    """Subtract what a granted acquire takes."""
    st.locks.event[lock, LockEvent.ACQUIRED_GREATER if operand < 0 else LockEvent.ACQUIRED_EQUAL] = (
        st.clock.now[0]
    )
    if operand < 0:
        add(st, lock, operand)


@jit
def release_to(st: State, lock: int, change: int) -> None:
    """A release of ``change``."""
    st.locks.event[lock, LockEvent.RELEASED] = st.clock.now[0]
    add(st, lock, change)


@jit
def attempt(st: State, lock: int, acquire: int, operand: int) -> int:
    """One read of the Lock_Request window: 1 = granted. A release is always granted."""
    if acquire == 0:
        release_to(st, lock, operand)
        return 1
    if not satisfied(st.locks.value[lock], operand):
        return 0
    take(st, lock, operand)
    return 1


@jit
def bid(st: State, lock: int, requester: int) -> None:
    """Enter a satisfiable acquire into the lock's arbitration of this cycle."""
    place = rank(requester, st.locks.turn[lock])
    if st.locks.stamp[lock] != st.clock.now[0] or place < st.locks.best[lock]:
        st.locks.stamp[lock] = st.clock.now[0]
        st.locks.best[lock] = place
        st.locks.winner[lock] = requester


@jit
def won(st: State, lock: int, requester: int) -> bool:
    """Whether the requester takes the lock this cycle; it is then asked last next time."""
    if st.locks.stamp[lock] != st.clock.now[0] or st.locks.winner[lock] != requester:
        return False
    st.locks.turn[lock] = requester + 1
    return True


_VALUE_MASK = MEMORY.lock_value_max
_STRIDE, _ACQUIRE = MEMORY.lock_request_stride, MEMORY.lock_request_acquire
_VALUE_LSB = MEMORY.lock_request_value_lsb
_OPERAND_BITS = MEMORY.bd_fields["Lock_Acq_Value"].bits


@jit
def set_value(st: State, lock: int, value: int) -> None:
    """A write to a lock value register keeps six bits."""
    put(st, lock, value & _VALUE_MASK)
    notes.lock_set(st, lock, value & _VALUE_MASK)


@jit
def flags(sticky: Ints, first: int, count: int) -> int:
    """The sticky flags of up to 32 locks as a register word."""
    word = 0
    for bit in range(min(WORD_BITS, count)):
        word |= sticky[first + bit] << bit
    return int(word)


@jit
def clear_flags(sticky: Ints, first: int, count: int, word: int) -> None:
    """Clear the flags whose bit is written 1, of up to 32 locks."""
    for bit in range(min(WORD_BITS, count)):
        if (word >> bit) & 1:
            sticky[first + bit] = 0


@jit
def operand(offset: int) -> int:
    """Signed lock value in a Lock_Request address."""
    raw = (offset >> _VALUE_LSB) & ((1 << _OPERAND_BITS) - 1)
    if raw >> (_OPERAND_BITS - 1):
        return raw - (1 << _OPERAND_BITS)
    return raw


@jit
def request(st: State, tile: int, offset: int) -> int:
    """A read of the request window: one attempt, 1 = granted."""
    number = (offset // _STRIDE) % st.spec.tiles.locks[tile]
    acquire = 1 if offset & _ACQUIRE else 0
    lock, change = st.spec.tiles.lock_base[tile] + number, operand(offset)
    granted = attempt(st, lock, acquire, change)
    if granted and acquire:
        notes.acquired(st, notes.HOST, lock, change)
    elif granted:
        notes.released(st, notes.HOST, lock, change)
    return granted
