"""The core of a compute tile: one action at a time, as its kernel in Python asked for it.

An action begins in the cycle after the one before it ended. Its last cycle puts the core on the list of those
that ask for their next action; the clock loop then returns to Python before the next cycle. Lock operations
are decided with those of the channels, after an arbitration that an uncontended one pays too (``core_lock``).
A core that waited for a lock goes on ``core_lock_wait`` cycles after the grant (DEV-LOCK-6).
A core that its debug unit has halted stays where it is (``debug``).

It also has the stream ports of a core: 32 bits in and 32 bits out, a word a cycle, without a FIFO (AM020).

The words of an action are in ``State.accesses``: of its step, the word and its TLAST.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.cores import cascade, core_ports, debug
from memtile.model.memory import locks
from memtile.model.memory.banks import core_lock
from memtile.model.roster import OFF, append
from memtile.model.state.causes import CoreCause, CorePhase
from memtile.model.state.event_columns import CoreEvent
from memtile.model.state.state import State
from memtile.model.streams.beats import pop_word
from memtile.model.streams.switch_ports import has_room, offers, push


@jit
def get_word(st: State, core: int) -> bool:
    """Phase 2b: take a word from the master port behind the core; whether it was the last of the action."""
    cores, port = st.cores, st.cores.stream_in[core]
    if not offers(st, port):
        cores.why[core] = CoreCause.STREAM_STALL
        return False
    notes.core_receives(st, core, st.switch.last[port, st.switch.head[port]])
    word, last = pop_word(st, port)
    st.accesses[core, cores.step[core], 0, 0] = word
    st.accesses[core, cores.step[core], 0, 1] = last
    st.core_seen[core, CoreEvent.STREAM_GET] = st.clock.now[0]
    return moved(st, core)


@jit
def put_word(st: State, core: int) -> bool:
    """Phase 2b: put a word into the slave port behind the core; whether it was the last of the action."""
    cores, port = st.cores, st.cores.stream_out[core]
    if not has_room(st, port):
        cores.why[core] = CoreCause.STREAM_STALL
        return False
    word, last = st.accesses[core, cores.step[core], 0, 0], st.accesses[core, cores.step[core], 0, 1]
    notes.core_sends(st, core, port)
    push(st, port, word, last | st.switch.parity[port])
    st.core_seen[core, CoreEvent.STREAM_PUT] = st.clock.now[0]
    return moved(st, core)


@jit
def moved(st: State, core: int) -> bool:
    """A word of the action is through; whether it was the last one."""
    st.cores.step[core] += 1
    st.clock.activity[0] += 1
    return bool(st.cores.step[core] == st.cores.steps[core])


@jit
def over(st: State, core: int) -> None:
    """The core's action ends with this cycle."""
    st.cores.phase[core] = CorePhase.NEXT
    st.clock.asking[0] += 1
    st.clock.activity[0] += 1


@inlined
def at_locks(phase: int) -> bool:
    """Whether a core in this phase is at a lock operation."""
    return bool(phase == CorePhase.ACQUIRE or phase == CorePhase.RELEASE or phase == CorePhase.TAKEN)


@jit
def ask_memory(st: State) -> None:
    """Phase 2a: begin each core's cycle, and enter its accesses into the banks' arbitration."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if cores.halted[core] > 0:
            cores.why[core] = CoreCause.HALTED
            continue
        stalled = at_locks(cores.phase[core])
        cores.why[core] = CoreCause.LOCK_STALL if stalled and cores.step[core] > 0 else CoreCause.RUNNING
        if stalled and cores.step[core] == 0:
            requested = (
                CoreEvent.LOCK_ACQUIRE if cores.phase[core] == CorePhase.ACQUIRE else CoreEvent.LOCK_RELEASE
            )
            st.core_seen[core, requested] = st.clock.now[0]
            cores.step[core] = 1
        if cores.phase[core] == CorePhase.ACCESS:
            core_ports.ask(st, core)


@jit
def use_memory(st: State) -> None:
    """Phase 2b: accesses are granted, waiting times end."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if cores.halted[core] > 0:
            continue
        if cores.phase[core] == CorePhase.ACCESS:
            core_ports.receive(st, core)
            ends = cores.step[core] == cores.steps[core]
        elif cores.phase[core] == CorePhase.WAIT or cores.phase[core] == CorePhase.TAKEN:
            ends = st.clock.now[0] >= cores.until[core]
        else:
            ends = cores.phase[core] >= CorePhase.GET_CASCADE and use_link(st, core)
        if ends:
            over(st, core)


@jit
def use_link(st: State, core: int) -> bool:
    """Phase 2b: get or put a value of the cascade or a word of the stream, not both in a cycle (DEV-CORE-7).

    Returns:
        Whether the action ends.
    """
    phase = st.cores.phase[core]
    if phase == CorePhase.GET_CASCADE:
        return cascade.get(st, core)
    if phase == CorePhase.PUT_CASCADE:
        return cascade.put(st, core)
    if phase == CorePhase.GET_STREAM:
        return get_word(st, core)
    return put_word(st, core)


@jit
def ask_locks(st: State) -> None:
    """Phase 5: enter the acquires that are through their arbitration time and can be satisfied."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if cores.phase[core] != CorePhase.ACQUIRE and cores.phase[core] != CorePhase.RELEASE:
            continue
        if cores.halted[core] > 0:
            continue
        if st.clock.now[0] < cores.until[core]:
            st.clock.locks_changed[0] = 1
        elif cores.phase[core] == CorePhase.ACQUIRE:
            lock = cores.target[core]
            if locks.satisfied(st.locks.value[lock], cores.value[core]) and not locks.without_clock(st, lock):
                locks.bid(st, lock, core_lock(st, core))
                append(st.bidding, core_lock(st, core))


@jit
def receive_lock(st: State, core: int) -> None:
    """Phase 5: take the lock if it was granted."""
    cores = st.cores
    if locks.won(st, cores.target[core], core_lock(st, core)):
        locks.take(st, cores.target[core], cores.value[core])
        notes.acquired(st, notes.core_agent(st, core), cores.target[core], cores.value[core])
        wait = st.spec.timing.core_lock_wait[0] if st.clock.now[0] > cores.until[core] else 0
        if wait == 0:
            over(st, core)
            return
        cores.phase[core] = CorePhase.TAKEN
        cores.until[core] = st.clock.now[0] + wait
        st.clock.activity[0] += 1


@jit
def release_locks(st: State) -> None:
    """Phase 5: add the releases that are through their arbitration time, after all acquires."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if cores.halted[core] > 0:
            continue
        if cores.phase[core] == CorePhase.RELEASE and st.clock.now[0] >= cores.until[core]:
            locks.release_to(st, cores.target[core], cores.value[core])
            notes.released(st, notes.core_agent(st, core), cores.target[core], cores.value[core])
            over(st, core)


@jit
def stall_event(why: int) -> int:
    """The event that a core asserts while it is stalled for this cause."""
    if why == CoreCause.LOCK_STALL:
        return CoreEvent.LOCK_STALL
    if why == CoreCause.CASCADE_STALL:
        return CoreEvent.CASCADE_STALL
    return CoreEvent.STREAM_STALL if why == CoreCause.STREAM_STALL else CoreEvent.MEMORY_STALL


@jit
def account(st: State, cycles: int) -> None:
    """Phase 6: book the cycles from now on under each active core's cause."""
    latest = st.clock.now[0] + cycles - 1
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        why = st.cores.why[core]
        st.core_spent[core, why] += cycles
        if why == CoreCause.HALTED:
            st.cores.until[core] += cycles  # what is due at a known cycle is due so much later
            if st.cores.halted[core] & debug.BY_DEBUG:
                st.core_seen[core, CoreEvent.DEBUG_HALTED] = latest
            continue
        st.core_seen[core, CoreEvent.ACTIVE] = latest
        if why != CoreCause.RUNNING:
            st.core_seen[core, stall_event(why)] = latest
        if st.cores.halting_stalls[core] > 0 or st.cores.single[core] > 0:
            debug.note_cycles(st, core, cycles)


@jit
def settle(st: State) -> None:
    """Book the cycles in which cores were not active."""
    for core in range(st.core_spent.shape[0]):
        book(st, core)


@jit
def book(st: State, core: int) -> None:
    """Book the cycles in which a core had no kernel yet, no clock, or its kernel was done."""
    booked = 0
    for cause in range(st.core_spent.shape[1]):
        booked += st.core_spent[core, cause]
    cause = CoreCause.DONE if st.cores.phase[core] == CorePhase.DONE else CoreCause.IDLE
    if st.cores.active[core] == OFF:
        cause = CoreCause.CLOCK_OFF
    st.core_spent[core, cause] += st.clock.now[0] + st.clock.booked[0] - booked


@jit
def next_timer(st: State) -> int:
    """Earliest cycle at which a core's waiting or arbitration time ends, or -1."""
    earliest = -1
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        at = st.cores.until[core]
        timed = st.cores.phase[core] == CorePhase.WAIT or at_locks(st.cores.phase[core])
        if timed and st.cores.single[core] > 0:
            at = min(at, st.clock.now[0] + st.cores.single[core] - 1)
        timed = timed and st.cores.halted[core] == 0
        if timed and at >= st.clock.now[0] and (earliest < 0 or at < earliest):
            earliest = at
    return int(earliest)
