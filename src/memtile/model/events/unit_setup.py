"""How an event unit is set up: what its registers make it do each cycle, worked out when one is written."""

from __future__ import annotations

from memtile.arch.events import BROADCAST_CHANNELS, COMBOS, EDGES, ComboOperation
from memtile.arch.protection import EVENT_TRUE
from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS
from memtile.arch.trace_facts import SLOTS, TraceState
from memtile.jit.decorators import jit
from memtile.model.cores import debug
from memtile.model.events import broadcast
from memtile.model.events.selectors import resolve
from memtile.model.roster import append
from memtile.model.state.columns import NEVER
from memtile.model.state.state import State

USES_TIMER, USES_COMBOS, USES_EDGES, USES_COUNTERS, USES_BROADCAST, USES_TRACE, USES_SCRUBBING, USES_CORE = (
    1 << n for n in range(8)
)

_INPUTS = register_named("memory_tile", "Combo_event_inputs")
_COMBO_LSB = tuple(_INPUTS.field(f"event{x}").lsb for x in "ABCD")
_OPERATIONS = register_named("memory_tile", "Combo_event_control")
_OPERATION_LSB = tuple(_OPERATIONS.field(f"combo{n}").lsb for n in range(COMBOS))
_OPERATION_MAX = _OPERATIONS.field("combo0").maximum
_EDGES = register_named("memory_tile", "Edge_Detection_event_control")
_EDGE_LSB = tuple(_EDGES.field(f"Edge_Detection_Event_{n}").lsb for n in range(EDGES))
_RISING_LSB = tuple(_EDGES.field(f"Edge_Detection_{n}_Trigger_Rising").lsb for n in range(EDGES))
_FALLING_LSB = tuple(_EDGES.field(f"Edge_Detection_{n}_Trigger_Falling").lsb for n in range(EDGES))
_START = register_named("memory_tile", "Performance_Control0")
_START_LSB = tuple(_START.field(f"Cnt{n}_Start_Event").lsb for n in range(2))
_STOP_LSB = tuple(_START.field(f"Cnt{n}_Stop_Event").lsb for n in range(2))
_EVENT_MAX = _START.field("Cnt0_Start_Event").maximum
_TIMER = register_named("memory_tile", "Timer_Control").field("Reset_Event")
_TIMER_LSB = _TIMER.lsb
_TRACE_LSB = tuple(
    register_named("memory_tile", "Trace_Control0").field(f"Trace_{x}_Event").lsb for x in ("Start", "Stop")
)
_SLOT_REGISTER = register_named("memory_tile", "Trace_Event0")
_SLOTS_PER_REGISTER = len(_SLOT_REGISTER.fields)
_SLOT_LSB = tuple(_SLOT_REGISTER.field(f"Trace_Event{n}").lsb for n in range(_SLOTS_PER_REGISTER))
_WORD_MAX = (1 << WORD_BITS) - 1
_TRUE = EVENT_TRUE


@jit
def configure_combos(st: State, unit: int) -> int:
    """Read the combo and edge registers; the uses they make."""
    o, e = st.observers, st.spec.event_units
    inputs, control = st.registers[e.combo[unit]], st.registers[e.combo[unit] + 1]
    edges = st.registers[e.edge[unit]]
    uses = 0
    for n in range(len(_COMBO_LSB)):
        o.combo_input[unit, n] = (inputs >> _COMBO_LSB[n]) & _EVENT_MAX
        uses |= USES_COMBOS if o.combo_input[unit, n] > 0 else 0
    for n in range(COMBOS):
        o.combo_operation[unit, n] = (control >> _OPERATION_LSB[n]) & _OPERATION_MAX
        uses |= (
            USES_COMBOS if o.combo_operation[unit, n] == ComboOperation.OR_NOT else 0
        )  # asserted without any event
    for n in range(EDGES):
        o.edge_event[unit, n] = (edges >> _EDGE_LSB[n]) & _EVENT_MAX
        o.edge_rising[unit, n] = (edges >> _RISING_LSB[n]) & 1
        o.edge_falling[unit, n] = (edges >> _FALLING_LSB[n]) & 1
        if o.edge_event[unit, n] > 0 and o.edge_rising[unit, n] + o.edge_falling[unit, n] > 0:
            uses |= USES_EDGES
    return uses


@jit
def configure_counters(st: State, unit: int) -> int:
    """Read the counters' control registers; the uses they make."""
    o, e = st.observers, st.spec.event_units
    uses = 0
    for n in range(e.counters[unit]):
        control = st.registers[e.count_control[unit, n]]
        start, stop = (control >> _START_LSB[n % 2]) & _EVENT_MAX, (control >> _STOP_LSB[n % 2]) & _EVENT_MAX
        if start != o.start[unit, n] or stop != o.stop[unit, n]:
            o.counting[unit, n] = 0
        o.start[unit, n], o.stop[unit, n] = start, stop
        resets = st.registers[e.count_reset[unit, n]]
        o.reset[unit, n] = (resets >> e.reset_lsb[unit, n]) & _EVENT_MAX
        o.threshold[unit, n] = st.registers[e.threshold[unit] + n] if n < e.thresholds[unit] else NEVER
        if start > 0 or o.reset[unit, n] > 0:
            uses |= USES_COUNTERS
    return uses


@jit
def configure_timer(st: State, unit: int) -> int:
    """Read the timer's registers; the uses they make. A trigger of all ones never fires."""
    o, e = st.observers, st.spec.event_units
    low, high = st.registers[e.trigger[unit]], st.registers[e.trigger[unit] + 1]
    never = low == _WORD_MAX and high == _WORD_MAX
    o.timer_trigger[unit] = NEVER if never else (high << WORD_BITS) | low
    o.timer_reset[unit] = (st.registers[e.timer_control[unit]] >> _TIMER_LSB) & _EVENT_MAX
    return 0 if never and o.timer_reset[unit] == 0 else USES_TIMER


@jit
def configure_trace(st: State, unit: int) -> int:
    """Read the trace registers; the uses they make."""
    t, e = st.traces, st.spec.event_units
    control = st.registers[e.trace_control[unit]]
    t.start[unit] = (control >> _TRACE_LSB[0]) & _EVENT_MAX
    t.stop[unit] = (control >> _TRACE_LSB[1]) & _EVENT_MAX
    for n in range(SLOTS):
        word = st.registers[e.trace_events[unit] + n // _SLOTS_PER_REGISTER]
        t.slot[unit, n] = (word >> _SLOT_LSB[n % _SLOTS_PER_REGISTER]) & _EVENT_MAX
    in_use = t.start[unit] > 0 or t.state[unit] != TraceState.IDLE or t.left[unit] + t.full[unit] > 0
    return USES_TRACE if in_use else 0


@jit
def configure_broadcast(st: State, unit: int) -> int:
    """Read what drives broadcast channels, interrupt controllers too; the uses they make."""
    uses, node = 0, st.spec.event_units.first_node[unit]
    for n in range(BROADCAST_CHANNELS):
        event = st.registers[st.spec.event_units.broadcast[unit] + n] & _EVENT_MAX
        st.observers.broadcast[unit, n] = event
        uses |= USES_BROADCAST if event > 0 else 0
    while node < st.spec.nodes.unit.shape[0] and st.spec.nodes.unit[node] == unit:
        uses |= USES_BROADCAST if broadcast.watches(st, node) else 0
        node += 1
    return uses


@jit
def configure(st: State, unit: int) -> None:
    """A register of the unit was written: work out what it has to do each cycle."""
    o = st.observers
    uses = configure_combos(st, unit) | configure_counters(st, unit)
    uses |= configure_timer(st, unit) | configure_trace(st, unit)
    uses |= USES_CORE if debug.configure(st, unit) else 0
    if st.spec.event_units.scrubbing[unit] >= 0:
        o.scrubbing[unit] = st.registers[st.spec.event_units.scrubbing[unit]] & _EVENT_MAX
        uses |= USES_SCRUBBING if o.scrubbing[unit] > _TRUE else 0
    o.uses[unit] = uses | configure_broadcast(st, unit)
    o.resolved[unit] = 0
    if o.uses[unit]:
        resolve(st, unit)
    if o.uses[unit] and o.active[unit] == 0:
        o.active[unit] = 1
        append(st.active_units, unit)
