"""The lock requests of a channel: acquire before the first word of a BD, release after its last (AM020).

Within a cycle all acquires look at the values before any release of that cycle. A channel that waited for a
lock goes on ``s2mm_lock_wait`` or ``mm2s_lock_wait`` cycles after the grant and is stalled until then
(DEV-LOCK-6).
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.arch.timing import Unlimited
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.cores import core_step
from memtile.model.dma.bd_load import halt
from memtile.model.dma.channel_registers import ERROR_LOCK_UNAVAILABLE
from memtile.model.dma.fifo import note_shortest
from memtile.model.memory.banks import core_of_lock
from memtile.model.memory.locks import bid, release_to, resolve, satisfied, take, without_clock, won
from memtile.model.roster import append, backed_up, wake_channel
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State

_AT_ONCE = int(Unlimited.DESCRIPTORS)


@jit
def wake_waiting(st: State, ch: int) -> None:
    """Something happens to a channel that waits, in a cycle in which it may have been resting."""
    if st.channels.active[ch] == 0:
        wake_channel(st, ch)
        if backed_up(st, ch):
            st.seen[ch, ChannelEvent.MEMORY] = st.clock.now[0]
        st.channels.why[ch] = Cause.BD_SWITCH


@jit
def granted(st: State, ch: int) -> None:
    """The BD may move its words from the next cycle on."""
    wake_waiting(st, ch)
    if st.fifos.held[ch] > st.walks.stream_words[ch]:  # of S2MM alone: an MM2S begins with nothing
        note_shortest(st, ch)
    st.channels.phase[ch] = Phase.RUN
    st.channels.fetch_why[ch] = Cause.BD_SWITCH
    st.clock.activity[0] += 1


@jit
def begin_at_once(st: State, ch: int) -> None:
    """Let a BD that follows another one begin in this cycle if its lock is free; nothing if BDs cost time."""
    c = st.channels
    if st.spec.timing.unlimited[0] & _AT_ONCE == 0 or c.phase[ch] != Phase.ACQUIRE:
        return
    lock, operand = c.lock[ch], c.acquire_value[ch]
    if c.acquire_enable[ch] == 0:
        granted(st, ch)
    elif lock >= 0 and satisfied(st.locks.value[lock], operand) and not without_clock(st, lock):
        take(st, lock, operand)
        notes.acquired(st, notes.FIRST_CHANNEL + ch, lock, operand)
        granted(st, ch)


@inlined
def stalled(st: State, ch: int) -> None:
    """The channel did not get its lock in this cycle, or has not heard of it."""
    st.channels.stalled[ch] = 1
    st.seen[ch, ChannelEvent.STALLED_LOCK] = st.clock.now[0]
    if st.channels.why[ch] != Cause.MOVING:
        st.channels.why[ch] = Cause.LOCK_ACQUIRE


@inlined
def ask(st: State, ch: int) -> None:
    """Ask for the lock of the channel's BD; a BD without acquire goes on at once."""
    c = st.channels
    lock = c.lock[ch]
    if c.acquire_enable[ch] == 0:
        granted(st, ch)
    elif lock < 0:
        wake_waiting(st, ch)
        halt(st, ch, ERROR_LOCK_UNAVAILABLE)
    elif satisfied(st.locks.value[lock], c.acquire_value[ch]) and not without_clock(st, lock):
        bid(st, lock, ch)
        append(st.bidding, ch)
    else:
        stalled(st, ch)


@jit
def receive(st: State, ch: int) -> None:
    """Take the lock if it was granted, else the channel is stalled on it."""
    c = st.channels
    if not won(st, c.lock[ch], ch):
        stalled(st, ch)
        return
    take(st, c.lock[ch], c.acquire_value[ch])
    notes.acquired(st, notes.FIRST_CHANNEL + ch, c.lock[ch], c.acquire_value[ch])
    wait = _wait(st, ch)
    if wait == 0:
        granted(st, ch)
        return
    wake_waiting(st, ch)
    stalled(st, ch)
    c.phase[ch] = Phase.TAKEN
    c.until[ch] = st.clock.now[0] + wait
    st.clock.activity[0] += 1


@jit
def _wait(st: State, ch: int) -> int:
    """Cycles until a channel hears of the lock that it takes in this cycle."""
    if st.channels.stalled[ch] == 0:
        return 0
    if st.channels.direction[ch] == MM2S:
        return int(st.spec.timing.mm2s_lock_wait[0])
    return int(st.spec.timing.s2mm_lock_wait[0])


@jit
def hear(st: State, ch: int) -> None:
    """A cycle of a channel that has its lock: stalled until it hears of it, and then at work."""
    if st.clock.now[0] < st.channels.until[ch]:
        stalled(st, ch)
    elif st.clock.now[0] == st.channels.until[ch]:
        st.clock.activity[0] += 1
    else:
        granted(st, ch)


@jit
def look_again(st: State) -> None:
    """Find the locks of all waiting channels anew: what they can reach has changed."""
    c = st.channels
    for slot in range(1, st.waiting_channels[0] + 1):
        ch = st.waiting_channels[slot]
        c.lock[ch] = resolve(st, c.tile[ch], c.number[ch], c.acquire_lock[ch])
    st.clock.locks_changed[0] = 1


@jit
def post_release(st: State, ch: int) -> None:
    """The BD no longer needs its memory: note its release for the end of this cycle."""
    c = st.channels
    if c.release_value[ch] != 0:
        append(st.releasing, ch)
        c.due_lock[ch] = c.release_lock[ch]
        c.due_value[ch] = c.release_value[ch]
    st.seen[ch, ChannelEvent.FINISHED_BD] = c.finished_bd[ch]
    c.finished_bd[ch] = st.clock.now[0] + st.spec.timing.finished_bd_delay[0]


@jit
def release(st: State, ch: int) -> None:
    """Carry out the release noted in this cycle."""
    c = st.channels
    lock = resolve(st, c.tile[ch], c.number[ch], c.due_lock[ch])
    if lock < 0:
        halt(st, ch, ERROR_LOCK_UNAVAILABLE)
    else:
        release_to(st, lock, c.due_value[ch])
        notes.released(st, notes.FIRST_CHANNEL + ch, lock, c.due_value[ch])
        st.clock.activity[0] += 1


@inlined
def ask_all(st: State) -> None:
    """Let the waiting channels ask; who no longer waits leaves the list."""
    c, roster = st.channels, st.waiting_channels
    kept = 0
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
        if c.phase[ch] == Phase.ACQUIRE:
            ask(st, ch)
            st.clock.locks_changed[0] |= c.active[ch]
            kept += 1
            roster[kept] = ch
        else:
            c.waiting[ch] = 0
    roster[0] = kept


@inlined
def serve(st: State) -> None:
    """All lock traffic of one cycle: acquires, then releases.

    While no lock changes, who waits for one and rests need not ask again, nor a core.
    """
    asked = st.clock.locks_changed[0]
    if asked:
        st.clock.locks_changed[0] = 0
        ask_all(st)
        if st.active_cores[0] > 0:
            core_step.ask_locks(st)
    for slot in range(1, st.bidding[0] + 1):
        asking = core_of_lock(st, st.bidding[slot])
        if asking < 0:
            receive(st, st.bidding[slot])
        else:
            core_step.receive_lock(st, asking)
    st.bidding[0] = 0
    for slot in range(1, st.releasing[0] + 1):
        release(st, st.releasing[slot])
    st.releasing[0] = 0
    if asked and st.active_cores[0] > 0:
        core_step.release_locks(st)
