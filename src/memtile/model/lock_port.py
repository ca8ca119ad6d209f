"""The lock requests of a channel: acquire before the first word of a BD, release after its last (AM020).

Within a cycle all acquires look at the values before any release of that cycle.
"""

from __future__ import annotations

from memtile.model import core
from memtile.model.bd_load import halt
from memtile.model.dma_registers import ERROR_LOCK_UNAVAILABLE
from memtile.model.jit import inlined, jit
from memtile.model.locks import add, bid, resolve, satisfied, take, won
from memtile.model.state import ACTIVITY, NOW, Spec, State
from memtile.model.states import Cause, Phase
from memtile.model.timing_index import FINISHED_BD_DELAY

_ACQUIRE, _RUN = int(Phase.ACQUIRE), int(Phase.RUN)
_MOVING, _LOCK, _SWITCH = int(Cause.MOVING), int(Cause.LOCK_ACQUIRE), int(Cause.BD_SWITCH)


@jit
def granted(st: State, ch: int) -> None:
    """The BD may move its words from the next cycle on."""
    st.channels.phase[ch] = _RUN
    st.channels.fetch_why[ch] = _SWITCH
    st.clock[ACTIVITY] += 1


@jit
def ask(spec: Spec, st: State, ch: int) -> None:
    """Ask for the lock of the channel's BD; a BD without acquire goes on at once."""
    c = st.channels
    if c.acquire_enable[ch] == 0:
        granted(st, ch)
        return
    lock = resolve(spec, st, c.tile[ch], c.number[ch], c.acquire_lock[ch])
    if lock < 0:
        halt(st, ch, ERROR_LOCK_UNAVAILABLE)
    elif satisfied(st.locks.value[lock], c.acquire_value[ch]):
        bid(st, lock, ch)


@jit
def receive(spec: Spec, st: State, ch: int) -> None:
    """Take the lock if it was granted, else the channel is stalled on it."""
    c = st.channels
    lock = resolve(spec, st, c.tile[ch], c.number[ch], c.acquire_lock[ch])
    if won(st, lock, ch):
        take(st.locks, lock, c.acquire_value[ch])
        granted(st, ch)
    elif c.why[ch] != _MOVING:
        c.why[ch] = _LOCK


@jit
def post_release(spec: Spec, st: State, ch: int) -> None:
    """The BD no longer needs its memory: note its release for the end of this cycle."""
    c = st.channels
    c.release_due[ch] = 1 if c.release_value[ch] != 0 else 0
    c.due_lock[ch] = c.release_lock[ch]
    c.due_value[ch] = c.release_value[ch]
    c.finished_bd[ch] = st.clock[NOW] + spec.timing[FINISHED_BD_DELAY]


@jit
def release(spec: Spec, st: State, ch: int) -> None:
    """Carry out the release noted in this cycle."""
    c = st.channels
    c.release_due[ch] = 0
    lock = resolve(spec, st, c.tile[ch], c.number[ch], c.due_lock[ch])
    if lock < 0:
        halt(st, ch, ERROR_LOCK_UNAVAILABLE)
    else:
        add(st.locks, lock, c.due_value[ch])
        st.clock[ACTIVITY] += 1


@inlined
def serve(spec: Spec, st: State) -> None:
    """All lock traffic of one cycle: acquires, then releases."""
    c, roster = st.channels, st.active_channels
    for slot in range(1, roster[0] + 1):
        if c.phase[roster[slot]] == _ACQUIRE:
            ask(spec, st, roster[slot])
    if st.active_cores[0] > 0:
        core.ask_locks(st)
    for slot in range(1, roster[0] + 1):
        if c.phase[roster[slot]] == _ACQUIRE:
            receive(spec, st, roster[slot])
    if st.active_cores[0] > 0:
        core.receive_locks(st)
    for slot in range(1, roster[0] + 1):
        if c.release_due[roster[slot]] == 1:
            release(spec, st, roster[slot])
    if st.active_cores[0] > 0:
        core.release_locks(st)
