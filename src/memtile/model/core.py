"""The core of a compute tile: one action at a time, as its kernel in Python asked for it.

An action begins in the cycle after the one before it ended. Its last cycle puts the core on the list of those
that ask for their next action; the clock loop then returns to Python before the next cycle. Lock operations
are decided with those of the channels, after an arbitration that an uncontended one pays too (``core_lock``).
"""

from __future__ import annotations

from memtile.arch.core import SIDES
from memtile.model import core_ports, locks
from memtile.model.jit import inlined, jit
from memtile.model.state import ACTIVITY, ASKING, NOW, Spec, State
from memtile.model.states import CoreCause, CorePhase

_NEXT, _DONE = int(CorePhase.NEXT), int(CorePhase.DONE)
_WAIT, _ACCESS = int(CorePhase.WAIT), int(CorePhase.ACCESS)
_ACQUIRE, _RELEASE = int(CorePhase.ACQUIRE), int(CorePhase.RELEASE)
_RUNNING, _IDLE, _LOCK = int(CoreCause.RUNNING), int(CoreCause.IDLE), int(CoreCause.LOCK_STALL)
_CAUSE_DONE = int(CoreCause.DONE)
_NOWHERE, _SIDES = -1, len(SIDES)


@jit
def over(st: State, core: int) -> None:
    """The core's action ends with this cycle."""
    st.cores.phase[core] = _NEXT
    st.clock[ASKING] += 1
    st.clock[ACTIVITY] += 1


@inlined
def ask_memory(st: State) -> None:
    """Phase 2a: presume what each core does, enter its accesses into the banks' arbitration."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        stalled = cores.phase[core] == _ACQUIRE or cores.phase[core] == _RELEASE
        cores.why[core] = _LOCK if stalled and cores.step[core] > 0 else _RUNNING
        cores.step[core] += stalled
        if cores.phase[core] == _ACCESS:
            core_ports.ask(st, core)


@inlined
def use_memory(spec: Spec, st: State) -> None:
    """Phase 2b: accesses are granted, waiting times end."""
    cores = st.cores
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if cores.phase[core] == _WAIT:
            if st.clock[NOW] >= cores.until[core]:
                over(st, core)
        elif cores.phase[core] == _ACCESS and core_ports.receive(st, core):
            cores.step[core] += 1
            if cores.step[core] == cores.steps[core]:
                over(st, core)
            else:
                core_ports.begin_step(spec, st, core)


@jit
def resolve(spec: Spec, st: State, core: int) -> int:
    """Global index of the lock of the core's operation, or -1 when there is no tile on that side."""
    tile = st.cores.tile[core]
    side = st.cores.lock[core] // spec.tiles.locks[tile]
    owner = spec.tiles.core_reach[tile, side] if side < _SIDES else _NOWHERE
    if owner < 0:
        return _NOWHERE
    return int(spec.tiles.lock_base[owner] + st.cores.lock[core] % spec.tiles.locks[tile])


@jit
def requester(st: State, core: int) -> int:
    """Number of the core among the requesters of the locks."""
    return int(st.channels.phase.shape[0] + core)


@jit
def deciding(st: State, core: int, phase: int) -> bool:
    """Whether the core's operation of this kind has come through its arbitration time."""
    return bool(st.cores.phase[core] == phase and st.clock[NOW] >= st.cores.until[core])


@inlined
def ask_locks(spec: Spec, st: State) -> None:
    """Phase 5: enter the acquires that can be satisfied."""
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if deciding(st, core, _ACQUIRE):
            lock = resolve(spec, st, core)
            if locks.satisfied(st.locks.value[lock], st.cores.value[core]):
                locks.bid(st, lock, requester(st, core))


@inlined
def receive_locks(spec: Spec, st: State) -> None:
    """Phase 5: take the locks that were granted."""
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if deciding(st, core, _ACQUIRE):
            lock = resolve(spec, st, core)
            if locks.won(st, lock, requester(st, core)):
                locks.take(st.locks, lock, st.cores.value[core])
                over(st, core)


@inlined
def release_locks(spec: Spec, st: State) -> None:
    """Phase 5: add the releases, after all acquires."""
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        if deciding(st, core, _RELEASE):
            locks.add(st.locks, resolve(spec, st, core), st.cores.value[core])
            over(st, core)


@inlined
def account(st: State, cycles: int) -> None:
    """Phase 6: book the cycles under each active core's cause."""
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        st.core_spent[core, st.cores.why[core]] += cycles


@jit
def settle(st: State) -> None:
    """Book the cycles in which a core was not active: it had no kernel yet, or its kernel was done."""
    for core in range(st.core_spent.shape[0]):
        booked = 0
        for cause in range(st.core_spent.shape[1]):
            booked += st.core_spent[core, cause]
        cause = _CAUSE_DONE if st.cores.phase[core] == _DONE else _IDLE
        st.core_spent[core, cause] += st.clock[NOW] - booked


@jit
def next_timer(st: State) -> int:
    """Earliest cycle at which a core's waiting or arbitration time ends, or -1."""
    earliest = -1
    for slot in range(1, st.active_cores[0] + 1):
        core = st.active_cores[slot]
        at = st.cores.until[core]
        timed = st.cores.phase[core] == _WAIT or st.cores.phase[core] == _ACQUIRE
        timed = timed or st.cores.phase[core] == _RELEASE
        if timed and at >= st.clock[NOW] and (earliest < 0 or at < earliest):
            earliest = at
    return int(earliest)
