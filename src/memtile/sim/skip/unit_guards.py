"""Event units in a period: what they may do in it, and how long it may repeat for them.

Counters, edges and the trace unit are compared with the rest of the state. What is left is here: a timer that
has to fire, a broadcast that was sent, and words that a trace sent.
"""

from __future__ import annotations

from memtile.arch.events import BROADCAST_CHANNELS
from memtile.arch.trace_facts import TraceState
from memtile.jit.decorators import jit
from memtile.model.events import broadcast, trace_unit
from memtile.model.events.unit_setup import (
    USES_BROADCAST,
    USES_CORE,
    USES_COUNTERS,
    USES_SCRUBBING,
    USES_TIMER,
    USES_TRACE,
)
from memtile.model.state.state import State
from memtile.sim.skip.comparison import DIFFERENT, MARGIN, UNBOUNDED
from memtile.sim.skip.live_parts import is_only_raised
from memtile.sim.skip.records import LOOK_SLOT

_ACTS = USES_CORE | USES_SCRUBBING


@jit
def acts(st: State, unit: int) -> bool:
    """Whether the unit does more than to count, time, combine, trace and broadcast."""
    uses = st.observers.uses[unit]
    if uses & _ACTS:
        return True
    node = st.spec.event_units.first_node[unit]
    while uses & USES_BROADCAST and node < st.spec.nodes.unit.shape[0] and st.spec.nodes.unit[node] == unit:
        if broadcast.watches(st, node):
            return True
        node += 1
    return False


@jit
def units_that_act(st: State) -> int:
    """How many event units act upon something else."""
    count = 0
    for slot in range(1, st.active_units[0] + 1):
        count += 1 if acts(st, st.active_units[slot]) else 0
    return count


@jit
def tracing(st: State) -> bool:
    """Whether a trace has begun and not ended."""
    for slot in range(1, st.active_units[0] + 1):
        if st.traces.state[st.active_units[slot]] != TraceState.IDLE:
            return True
    return False


@jit
def broadcast_since(st: State, unit: int, began: int) -> bool:
    """Whether the unit has seen a broadcast since a cycle, as it does when it sends one."""
    first = st.spec.event_modules.broadcast[st.spec.event_units.module[unit]]
    for n in range(BROADCAST_CHANNELS):
        if max(st.stamps[unit, first + n], st.earlier[unit, first + n]) >= began:
            return True
    return False


@jit
def reset_since(st: State, unit: int, began: int) -> bool:
    """Whether a counter of the unit was reset since a cycle, or is to be in this one."""
    for n in range(st.spec.event_units.counters[unit]):
        event = st.observers.reset[unit, n]
        if event == 0 or not is_only_raised(st, unit, event):
            continue
        if max(st.stamps[unit, event], st.earlier[unit, event]) >= began:
            return True
    return False


@jit
def traced_since(st: State, unit: int, slot: int, began: int) -> bool:
    """Whether the trace unit has sent a word since a cycle.

    The host's list of words is emptied between two runs of the clock loop; what was there before is unknown.
    """
    port = st.spec.event_units.trace_port[unit]
    if port < 0 or st.switch.hosted[port] == 0:
        return bool(port >= 0 and st.switch.popped[port] >= began)
    listed = st.host_words[0, 0]
    idle = st.traces.state[unit] == TraceState.IDLE and st.traces.left[unit] + st.traces.full[unit] == 0
    if listed > 0 and st.host_words[listed, 3] >= began:
        return True
    return slot < LOOK_SLOT and not idle


@jit
def timer_due(st: State, unit: int, began: int, period: int) -> int:
    """The cycle before which a jump has to end as the timer fires; ``DIFFERENT`` if it did in the period."""
    o = st.observers
    fires = o.timer_base[unit] + o.timer_trigger[unit]
    if o.timer_trigger[unit] < 0 or o.timer_base[unit] >= began or fires < began:
        return UNBOUNDED
    return DIFFERENT if fires - MARGIN < began + period else int(fires - MARGIN)


@jit
def of_units(st: State, slot: int, began: int, period: int) -> int:
    """The cycle at which a jump has to end for the event units; ``DIFFERENT`` where it cannot be."""
    bound = UNBOUNDED
    for n in range(1, st.active_units[0] + 1):
        unit = st.active_units[n]
        uses = st.observers.uses[unit]
        if uses & USES_BROADCAST and broadcast_since(st, unit, began):
            return DIFFERENT
        if uses & USES_COUNTERS and reset_since(st, unit, began):
            return DIFFERENT
        if uses & USES_TRACE and traced_since(st, unit, slot, began):
            return DIFFERENT
        if uses & USES_TRACE and st.traces.repeats[unit] > 0:
            bound = min(bound, began + period + trace_unit.repeats_to_come(st, unit) - MARGIN)
        if uses & USES_TIMER:
            due = timer_due(st, unit, began, period)
            if due == DIFFERENT:
                return DIFFERENT
            bound = min(bound, due)
    return bound


@jit
def write_traces(st: State) -> None:
    """Write down the repeats of a jump."""
    for slot in range(1, st.active_units[0] + 1):
        trace_unit.put_full_repeats(st, st.active_units[slot])
