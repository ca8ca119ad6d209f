"""The stream ports of a core: 32 bits in and 32 bits out, a word a cycle, without a FIFO (AM020 chapter 4).

The words of an action are in ``State.accesses``: of its step, the word and its TLAST.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.state.causes import CoreCause
from memtile.model.state.events import CoreEvent
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
