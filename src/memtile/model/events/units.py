"""The event units that somebody has set up: combo events, edges, counters, timers, once per cycle.

A unit costs nothing until one of its registers asks for something. What a unit derives from other events (a
combo, an edge, a counter at its threshold) is asserted in the cycle after them (DEV-OBS-1).

It also has registers of the event units that do more than hold a value (AM025 Event_*, Timer_*, Trace_*).
"""

from __future__ import annotations

from memtile.arch.events import COMBOS, EDGES, ComboOperation
from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import inlined, jit
from memtile.model.cores import debug
from memtile.model.events import broadcast, trace_unit
from memtile.model.events.asserted import asserted, raise_event, raise_later
from memtile.model.events.unit_setup import (
    USES_BROADCAST,
    USES_COMBOS,
    USES_CORE,
    USES_COUNTERS,
    USES_EDGES,
    USES_SCRUBBING,
    USES_TIMER,
    USES_TRACE,
    configure,
)
from memtile.model.memory import ecc
from memtile.model.state.columns import NEVER
from memtile.model.state.event_columns import COUNTERS, ChannelEvent, TileSignal
from memtile.model.state.state import State

_WORD_MAX = (1 << WORD_BITS) - 1
_COUNTER, _COMBO = 0, COUNTERS  # bits of ``derived``
_EDGE = _COMBO + COMBOS
_EVENTS = _EDGE + EDGES


@inlined
def derive(st: State, unit: int, which: int) -> None:
    """The event is to be asserted in the next cycle."""
    st.observers.derived[unit] |= 1 << which


@jit
def raise_derived(st: State, unit: int, cycle: int) -> None:
    """Assert what was derived in ``cycle``."""
    module, derived = st.spec.event_units.module[unit], st.observers.derived[unit]
    for n in range(_EVENTS):
        if (derived >> n) & 1:
            event = st.spec.event_modules.edge[module] + n - _EDGE
            if n < _COMBO:
                event = st.spec.event_modules.counter[module] + n - _COUNTER
            elif n < _EDGE:
                event = st.spec.event_modules.combo[module] + n - _COMBO
            raise_later(st, unit, event, cycle)


@jit
def publish(st: State, unit: int, before: int) -> None:
    """Assert in the next cycle what was derived in this one; the tile is quiet when it is as ``before``."""
    if st.observers.derived[unit] != before:
        st.clock.activity[0] += 1
    raise_derived(st, unit, st.clock.now[0] + 1)


@jit
def operate(operation: int, a: bool, b: bool) -> bool:
    """A ``ComboOperation``."""
    if operation == ComboOperation.AND:
        return a and b
    if operation == ComboOperation.AND_NOT:
        return a and not b
    return a or (b if operation == ComboOperation.OR else not b)


@jit
def combine(st: State, unit: int) -> None:
    """Combo 0 of A and B, combo 1 of C and D, combo 2 of those two."""
    o = st.observers
    a = asserted(st, unit, o.combo_input[unit, 0])
    b = asserted(st, unit, o.combo_input[unit, 1])
    c = asserted(st, unit, o.combo_input[unit, 2])
    d = asserted(st, unit, o.combo_input[unit, 3])
    left, right = operate(o.combo_operation[unit, 0], a, b), operate(o.combo_operation[unit, 1], c, d)
    if left:
        derive(st, unit, _COMBO)
    if right:
        derive(st, unit, _COMBO + 1)
    if operate(o.combo_operation[unit, 2], left, right):
        derive(st, unit, _COMBO + 2)


@jit
def detect_edges(st: State, unit: int) -> None:
    """Events that begin or end to be asserted."""
    o = st.observers
    for n in range(EDGES):
        level = 1 if asserted(st, unit, o.edge_event[unit, n]) else 0
        rises = level > o.edge_was[unit, n] and o.edge_rising[unit, n] == 1
        falls = level < o.edge_was[unit, n] and o.edge_falling[unit, n] == 1
        if rises or falls:
            derive(st, unit, _EDGE + n)
        o.edge_was[unit, n] = level


@inlined
def count(st: State, unit: int) -> None:
    """Let the performance counters count, then start, stop and reset them (DEV-OBS-2)."""
    o, first = st.observers, st.spec.event_units.counter[unit]
    for n in range(st.spec.event_units.counters[unit]):
        start, stop = o.start[unit, n], o.stop[unit, n]
        if start == stop and start > 0:
            o.counting[unit, n] = 1 if asserted(st, unit, start) else 0
        if o.counting[unit, n] == 1:
            st.registers[first + n] = (st.registers[first + n] + 1) & _WORD_MAX
            if st.registers[first + n] == o.threshold[unit, n]:
                derive(st, unit, _COUNTER + n)
        if start != stop:
            if stop > 0 and asserted(st, unit, stop):
                o.counting[unit, n] = 0
            elif o.counting[unit, n] == 0 and asserted(st, unit, start):
                o.counting[unit, n] = 1
        if o.reset[unit, n] > 0 and asserted(st, unit, o.reset[unit, n]):
            st.registers[first + n] = 0


@jit
def reset_timer(st: State, unit: int, cycle: int) -> None:
    """The timer is 0 in ``cycle``."""
    st.observers.timer_base[unit] = cycle
    raise_later(st, unit, st.spec.event_modules.timer_sync[st.spec.event_units.module[unit]], cycle)


@jit
def have_done(st: State, unit: int, uses: int) -> None:
    """Let the scrubber and the core act on the asserted events that are chosen for them."""
    if uses & USES_SCRUBBING and asserted(st, unit, st.observers.scrubbing[unit]):
        ecc.trigger(st, st.spec.event_units.tile[unit])
    if uses & USES_CORE:
        debug.follow(st, unit)


@inlined
def step_unit(st: State, unit: int) -> None:
    """One cycle of one unit: what comes in this cycle itself first, then what follows from it in the next."""
    o, now, uses = st.observers, st.clock.now[0], st.observers.uses[unit]
    before, o.derived[unit] = o.derived[unit], 0
    if uses & USES_TIMER and now - o.timer_base[unit] == o.timer_trigger[unit]:
        raise_event(st, unit, st.spec.event_modules.timer_reached[st.spec.event_units.module[unit]], now)
        st.clock.activity[0] += 1
    if uses & USES_BROADCAST:
        broadcast.send(st, unit)
    if uses & USES_COMBOS:
        combine(st, unit)
    if uses & USES_EDGES:
        detect_edges(st, unit)
    if uses & USES_COUNTERS:
        count(st, unit)
    if uses & (USES_SCRUBBING | USES_CORE):
        have_done(st, unit, uses)
    if uses & USES_TRACE:
        trace_unit.step(st, unit)
    if uses & USES_TIMER and asserted(st, unit, o.timer_reset[unit]):
        reset_timer(st, unit, now + 1)
        st.clock.activity[0] += 1
    if o.derived[unit] | before:
        publish(st, unit, before)


@jit
def step(st: State) -> None:
    """One cycle of all units in use, after everything that can assert their events."""
    if st.in_flight[0] > 0:
        broadcast.deliver(st)
    roster, kept = st.active_units, 0
    for slot in range(1, roster[0] + 1):
        unit = roster[slot]
        if st.observers.uses[unit] == 0:
            st.observers.active[unit] = st.observers.derived[unit] = 0
            continue
        step_unit(st, unit)
        kept += 1
        roster[kept] = unit
    roster[0] = kept


@jit
def hold_signal(st: State, tile: int, what: int, cycle: int) -> None:
    """Keep what the tile reported in the last cycle asserted up to ``cycle``."""
    if st.signals[tile, what] == st.clock.now[0] - 1:
        st.signals[tile, what] = cycle


@jit
def hold_port(st: State, port: int, cycle: int) -> None:
    """A word that waited in the port waits up to ``cycle``, and so does the channel's buffer stay full."""
    latest, channel = st.clock.now[0] - 1, st.switch.channel[port]
    if st.switch.stalled[port] == latest:
        st.switch.stalled[port] = cycle
    if channel >= 0 and st.seen[channel, ChannelEvent.MEMORY] == latest:
        st.seen[channel, ChannelEvent.MEMORY] = cycle
    hold_signal(st, st.switch.tile[port], TileSignal.STREAM_PACKET, cycle)


@jit
def hold(st: State, cycle: int) -> None:
    """Keep stalls and waiting words asserted up to ``cycle``."""
    latest = st.clock.now[0] - 1
    for slot in range(1, st.active_channels[0] + 1):
        for kind in range(st.seen.shape[1]):
            if st.seen[st.active_channels[slot], kind] == latest:
                st.seen[st.active_channels[slot], kind] = cycle
        hold_signal(st, st.channels.tile[st.active_channels[slot]], TileSignal.TOKEN_STALL, cycle)
    for slot in range(1, st.active_ports[0] + 1):
        hold_port(st, st.active_ports[slot], cycle)
    for slot in range(1, st.active_cores[0] + 1):
        for kind in range(st.core_seen.shape[1]):
            if st.core_seen[st.active_cores[slot], kind] == latest:
                st.core_seen[st.active_cores[slot], kind] = cycle


@jit
def next_in(st: State, unit: int) -> int:
    """Earliest cycle in which something happens in the unit by itself if all else stays as it is; or -1."""
    o, now, earliest = st.observers, st.clock.now[0], NEVER
    fires = o.timer_base[unit] + o.timer_trigger[unit]
    if o.timer_trigger[unit] >= 0 and fires >= now:
        earliest = fires
    for n in range(st.spec.event_units.counters[unit]):
        left = (o.threshold[unit, n] - st.registers[st.spec.event_units.counter[unit] + n] - 1) & _WORD_MAX
        if o.threshold[unit, n] >= 0 and o.counting[unit, n] == 1 and (earliest < 0 or now + left < earliest):
            earliest = now + left
    at = trace_unit.next_record(st, unit)
    return at if at >= 0 and (earliest < 0 or at < earliest) else earliest


@jit
def limit(st: State, until: int) -> int:
    """``until`` or the earlier cycle up to which the clock may jump."""
    for slot in range(1, st.active_units[0] + 1):
        at = next_in(st, st.active_units[slot])
        if at >= 0:
            until = min(until, at)
    return next_finished(st, until) if st.active_units[0] > 0 else until


@jit
def next_finished(st: State, until: int) -> int:
    """``until`` or the earlier cycle in which a FINISHED_BD is due; no jump begins right behind one."""
    now = int(st.clock.now[0])
    for ch in range(st.channels.phase.shape[0]):
        due = int(st.channels.finished_bd[ch])
        if now - 1 <= due < until:
            until = max(due, now)
    return until


@jit
def skip(st: State, cycles: int) -> None:
    """Let the units see ``cycles`` more cycles like the last one, in which they derived the same."""
    for slot in range(1, st.active_units[0] + 1):
        unit = st.active_units[slot]
        for n in range(st.spec.event_units.counters[unit]):
            if st.observers.counting[unit, n] == 1:
                at = st.spec.event_units.counter[unit] + n
                st.registers[at] = (st.registers[at] + cycles) & _WORD_MAX
        trace_unit.skip(st, unit, cycles)
        raise_derived(st, unit, st.clock.now[0] + cycles - 1)  # and so in each cycle before it
        raise_derived(st, unit, st.clock.now[0] + cycles)


_RESET_MASK = register_named("memory_tile", "Timer_Control").field("Reset").mask
_STATE_LSB = register_named("memory_tile", "Trace_Status").field("State").lsb
_MODE = register_named("core", "Trace_Control0").field("Mode")
_MODE_LSB, _MODE_MAX = _MODE.lsb, _MODE.maximum  # bits that the units of other modules have not
_SHOWN_MODE_LSB = register_named("core", "Trace_Status").field("Mode").lsb


@jit
def generate(st: State, unit: int, value: int) -> None:
    """A write to Event_Generate: the event is asserted in the next cycle (DEV-OBS-3)."""
    if 0 < value <= st.spec.event_modules.last[st.spec.event_units.module[unit]]:
        raise_event(st, unit, value, st.clock.now[0])


@jit
def write_timer_control(st: State, unit: int, value: int) -> None:
    """A write to Timer_Control: the reset event, and perhaps a reset at once."""
    if value & _RESET_MASK:
        reset_timer(st, unit, st.clock.now[0])
    configure(st, unit)


@jit
def timer_half(st: State, unit: int, half: int) -> int:
    """The low (0) or high (1) word of the timer."""
    timer = st.clock.now[0] - st.observers.timer_base[unit]
    return int((timer >> (WORD_BITS * half)) & _WORD_MAX)


@jit
def trace_status(st: State, unit: int) -> int:
    """What Trace_Status shows: the state, and the mode that Trace_Control0 chooses (DEV-TRACE-6)."""
    mode = (st.registers[st.spec.event_units.trace_control[unit]] >> _MODE_LSB) & _MODE_MAX
    return int(st.traces.state[unit] << _STATE_LSB | mode << _SHOWN_MODE_LSB)
