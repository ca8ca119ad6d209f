"""Lock registers: values (DEV-LOCK-4), sticky flags, request window (DEV-LOCK-5; AM025 Lock_Request)."""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import MEMORY
from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.memory.locks import attempt, put
from memtile.model.state.columns import Ints
from memtile.model.state.state import State

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
