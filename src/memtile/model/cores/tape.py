"""Actions that kernels are known to ask for: cores are given them without asking Python.

Row 0 of ``State.tape`` says whether it is in use. Row 1 + n is core n's: the row of its next action, and the
row behind its last one. Each other row is an action, by the numbers that the log of accesses has for it, and
what a core needs beside them.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma import access_log
from memtile.model.roster import OFF, retire_cores
from memtile.model.state.causes import CorePhase
from memtile.model.state.state import State

ON = 0  # of row 0: 1 = cores are given what is on the tape
AT, STOP = range(2)  # of a core's row
FIRST, SECOND, THIRD, KIND, TARGET = range(5)  # of an action
COLUMNS = 5
WAIT, LOCK, EVENT, ACCESSES = range(access_log.UNKNOWN + 1, access_log.UNKNOWN + 5)  # as KIND
END = -1  # as KIND: the kernel has come to its end


@jit
def asks(st: State, core: int) -> bool:
    """Whether the core wants to be given an action."""
    cores = st.cores
    waits = cores.phase[core] == CorePhase.NEXT and cores.active[core] != OFF
    return bool(waits and cores.halted[core] == 0)


@jit
def knows_all(st: State) -> bool:
    """Whether the tape has what each core that asks does next."""
    tape = st.tape
    if tape[0, ON] == 0:
        return False
    for core in range(st.cores.phase.shape[0]):
        if st.cores.reset[core] != 0:
            return False
        if tape[1 + core, AT] == tape[1 + core, STOP] and asks(st, core):
            return False
    return True


@jit
def begin(st: State, core: int, row: int) -> None:
    """Set the core to work on an action of the tape from this cycle on; KIND is WAIT or LOCK, or END."""
    tape, cores, now = st.tape, st.cores, st.clock.now[0]
    kind = tape[row, KIND]
    if st.access_log[0, access_log.ON] != 0:
        code = access_log.UNKNOWN if kind == END else kind
        first, second, third = tape[row, FIRST], tape[row, SECOND], tape[row, THIRD]
        access_log.append(st, access_log.FIRST_CORE - core, first, second, third, code)
    if kind == END:
        cores.phase[core], cores.ended[core] = CorePhase.DONE, 1
        retire_cores(st)
        return
    cores.step[core] = 0
    if kind == WAIT:
        cores.phase[core], cores.until[core] = CorePhase.WAIT, now + tape[row, TARGET] - 1
        return
    cores.phase[core] = CorePhase.ACQUIRE if tape[row, THIRD] == 1 else CorePhase.RELEASE
    cores.until[core] = now + st.spec.timing.core_lock[0]
    cores.lock[core], cores.value[core] = tape[row, FIRST], tape[row, SECOND]
    cores.target[core] = tape[row, TARGET]


@jit
def serve(st: State) -> bool:
    """Give every core that asks its next action; False = one of them has to be asked itself."""
    if not knows_all(st):
        return False
    for core in range(st.cores.phase.shape[0]):
        if asks(st, core):
            row = st.tape[1 + core, AT]
            st.tape[1 + core, AT] = row + 1
            begin(st, core, row)
    st.clock.asking[0], st.clock.locks_changed[0] = 0, 1
    return True
