"""When each event was last asserted, and the sticky status that follows from it (AM020 events; AM025).

Nothing is evaluated that nobody looks at: where something happens the model stores the cycle, and an event
is asserted when that cycle is the current one. Sticky bits are brought up to date when they are read or
cleared, or when a selector changes.
"""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.model.event_selectors import last_channel, last_conflict, last_error, last_lock, last_port
from memtile.model.event_state import NEVER, Source
from memtile.model.jit import inlined, jit
from memtile.model.state import NOW, Spec, State

_TRUE, _GROUP, _CHANNEL = int(Source.TRUE), int(Source.GROUP), int(Source.CHANNEL)
_CHANNEL_ERROR, _LOCK, _PORT = int(Source.CHANNEL_ERROR), int(Source.LOCK), int(Source.PORT)
_CONFLICT, _SIGNAL, _CORE = int(Source.CONFLICT), int(Source.SIGNAL), int(Source.CORE)
_FIRST = 2  # events 0 and 1 are NONE and TRUE


@inlined
def raise_event(st: State, unit: int, event: int, cycle: int) -> None:
    """The event is asserted in ``cycle``."""
    st.stamps[unit, event] = cycle


@jit
def last_from_source(spec: Spec, st: State, unit: int, source: int, argument: int, cycle: int) -> int:
    """Last cycle up to ``cycle`` in which what the event stands for was so; -1 = never."""
    tile = spec.event_units.tile[unit]
    if source == _CHANNEL:
        return last_channel(spec, st, unit, argument, cycle)
    if source == _PORT:
        return last_port(spec, st, unit, argument, cycle)
    if source == _LOCK:
        return last_lock(spec, st, unit, argument, cycle)
    if source == _SIGNAL:
        return int(st.signals[tile, argument])
    if source == _CONFLICT:
        return last_conflict(spec, st, tile, argument)
    if source == _CHANNEL_ERROR:
        return last_error(spec, st, tile, argument)
    if source == _CORE:
        return int(st.core_seen[spec.tiles.core[tile], argument])
    return cycle if source == _TRUE else NEVER


@jit
def last_single(spec: Spec, st: State, unit: int, event: int, cycle: int) -> int:
    """The same for an event that is not a group, also when it was raised by its number."""
    module = spec.event_units.module[unit]
    source, argument = spec.event_sources[module, event, 0], spec.event_sources[module, event, 1]
    raised = st.stamps[unit, event]
    if source == 0:
        return int(raised)
    return max(int(raised), last_from_source(spec, st, unit, source, argument, cycle))


@jit
def last_group(spec: Spec, st: State, unit: int, group: int, cycle: int) -> int:
    """Last cycle in which an enabled member of the group was asserted."""
    module = spec.event_units.module[unit]
    enabled = st.registers[spec.event_units.group[unit] + group]
    first, latest = spec.event_groups.first[module, group], NEVER
    for bit in range(spec.event_groups.members[module, group]):
        if (enabled >> bit) & 1:
            latest = max(latest, last_single(spec, st, unit, first + bit, cycle))
    return latest


@jit
def last(spec: Spec, st: State, unit: int, event: int, cycle: int) -> int:
    """Last cycle up to ``cycle``, the current one, in which the event was asserted; -1 = never."""
    module = spec.event_units.module[unit]
    if spec.event_sources[module, event, 0] == _GROUP:
        members = last_group(spec, st, unit, spec.event_sources[module, event, 1], cycle)
        return max(members, int(st.stamps[unit, event]))
    return last_single(spec, st, unit, event, cycle)


@jit
def asserted(spec: Spec, st: State, unit: int, event: int) -> bool:
    """Whether the event is asserted in this cycle; event 0 never is."""
    return event > 0 and last(spec, st, unit, event, st.clock[NOW]) == st.clock[NOW]


@jit
def fold(spec: Spec, st: State, unit: int) -> None:
    """Between two cycles: put what happened since the last time into the sticky status registers."""
    since, first = st.observers.folded[unit], spec.event_units.status[unit]
    latest = st.clock[NOW] - 1
    for event in range(_FIRST, spec.event_modules.last[spec.event_units.module[unit]] + 1):
        if since <= last(spec, st, unit, event, latest) <= latest:
            st.registers[first + event // WORD_BITS] |= 1 << (event % WORD_BITS)
    st.observers.folded[unit] = st.clock[NOW]
    tile = spec.event_units.tile[unit]
    if spec.event_units.locks[unit] >= 0:
        for lock in range(spec.tiles.lock_base[tile], spec.tiles.lock_base[tile] + spec.tiles.locks[tile]):
            st.locks.held[lock] = 0


@jit
def fold_tile(spec: Spec, st: State, tile: int) -> None:
    """:func:`fold` for all units of the tile."""
    for unit in range(spec.tiles.first_unit[tile], spec.tiles.first_unit[tile] + spec.tiles.units[tile]):
        fold(spec, st, unit)
