"""The cascade: 512-bit values from core to core, eastwards or southwards (AM020 chapter 4).

A core has two values of output and two of input. A value that it puts stands in its output; with the next
cycle it moves to the input of the core on the side that ``Accumulator_Control`` names as output, if that core
has this one's side as its input and had room when the cycle began. Else it stays where it is (DEV-CASC-2).
"""

from __future__ import annotations

from memtile.arch.core import CORE
from memtile.arch.register_map import register_named
from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.state.causes import CoreCause
from memtile.model.state.columns import Ints
from memtile.model.state.event_columns import CoreEvent
from memtile.model.state.state import State
from memtile.model.state.tile_columns import Deep, Values

_CONTROL = register_named("core", "Accumulator_Control")
_FROM_WEST, _TO_EAST = _CONTROL.field("Input").mask, _CONTROL.field("Output").mask
_WORDS, _DEPTH = CORE.cascade_words, CORE.cascade_depth


@jit
def choose_sides(st: State, tile: int, value: int) -> None:
    """A write to Accumulator_Control: from which neighbour the core gets values, to which it puts them."""
    core, cascades = st.spec.tiles.core[tile], st.cascades
    cascades.from_west[core] = 1 if value & _FROM_WEST else 0
    cascades.to_east[core] = 1 if value & _TO_EAST else 0


@jit
def receiver(st: State, core: int) -> int:
    """The core that the output goes to, -1 = none is there."""
    cascades = st.cascades
    return int(cascades.east[core] if cascades.to_east[core] == 1 else cascades.south[core])


@jit
def sender(st: State, core: int) -> int:
    """The core that the input comes from, -1 = none is there."""
    cascades = st.cascades
    return int(cascades.west[core] if cascades.from_west[core] == 1 else cascades.north[core])


@jit
def drop_oldest(words: Values, entered: Deep, held: Ints, core: int) -> None:
    """Let the oldest value of an input or output go; the others move up."""
    held[core] -= 1
    for slot in range(1, _DEPTH):
        entered[core, slot - 1] = entered[core, slot]
    for word in range((_DEPTH - 1) * _WORDS):
        words[core, word] = words[core, word + _WORDS]


@jit
def put(st: State, core: int) -> bool:
    """Phase 2b: put the value of the core's action into its output; whether there was room."""
    cascades, held = st.cascades, st.cascades.out_held[core]
    if held == _DEPTH:
        st.cores.why[core] = CoreCause.CASCADE_STALL
        return False
    for word in range(_WORDS):
        cascades.out_words[core, held * _WORDS + word] = st.accesses[core, word, 0, 0]
    cascades.out_entered[core, held] = st.clock.now[0]
    cascades.out_held[core] = held + 1
    st.cascading[0] += 1
    st.core_seen[core, CoreEvent.CASCADE_PUT] = st.clock.now[0]
    notes.cascade_put(st, core)
    return True


@jit
def get(st: State, core: int) -> bool:
    """Phase 2b: take the oldest value of the core's input; whether there was one (DEV-CASC-1)."""
    cascades, now = st.cascades, st.clock.now[0]
    there = cascades.in_held[core] > 0
    if not there or now - cascades.in_entered[core, 0] < st.spec.timing.cascade_latency[0] - 1:
        st.cores.why[core] = CoreCause.CASCADE_STALL
        st.clock.activity[0] += there  # only time separates the value from the core
        return False
    for word in range(_WORDS):
        st.accesses[core, word, 0, 0] = cascades.in_words[core, word]
    drop_oldest(cascades.in_words, cascades.in_entered, cascades.in_held, core)
    cascades.in_taken[core] = now
    st.core_seen[core, CoreEvent.CASCADE_GET] = now
    notes.cascade_got(st, core, sender(st, core))
    return True


@jit
def step(st: State) -> None:
    """Phase 3: move values from outputs to inputs, one each, after the cores have put and got theirs."""
    for core in range(st.cascades.out_held.shape[0]):
        if st.cascades.out_held[core] > 0:
            move(st, core)


@jit
def move(st: State, core: int) -> None:
    """Move the oldest value of the core's output, if it may."""
    cascades, now, to = st.cascades, st.clock.now[0], receiver(st, core)
    if to < 0 or sender(st, to) != core or cascades.out_entered[core, 0] == now:
        return
    if st.gates.off[st.cores.tile[core]] + st.gates.off[st.cores.tile[to]] > 0:
        return
    held = cascades.in_held[to]
    taken_now = 1 if cascades.in_taken[to] == now else 0
    if held + taken_now >= _DEPTH:
        return
    for word in range(_WORDS):
        cascades.in_words[to, held * _WORDS + word] = cascades.out_words[core, word]
    cascades.in_entered[to, held] = now
    cascades.in_held[to] = held + 1
    drop_oldest(cascades.out_words, cascades.out_entered, cascades.out_held, core)
    st.cascading[0] -= 1
    st.clock.activity[0] += 1


@jit
def empty(st: State, core: int) -> None:
    """Drop what is in the core's input and output: its reset (DEV-CASC-3)."""
    st.cascading[0] -= st.cascades.out_held[core]
    st.cascades.out_held[core] = st.cascades.in_held[core] = 0
