"""When each event was last asserted, and the sticky status that follows from it (AM020 events; AM025).

Nothing is evaluated that nobody looks at: where something happens the model stores the cycle, and an event
is asserted when that cycle is the current one. Sticky bits are brought up to date when they are read or
cleared, or when a selector changes.
"""

from __future__ import annotations

from memtile.arch.protection import EVENT_TRUE
from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import inlined, jit
from memtile.model.events.selectors import last_channel, last_error, last_lock, last_port, resolve
from memtile.model.state.columns import NEVER
from memtile.model.state.event_columns import KIND, SOURCE, THING, VALUE, EventSource
from memtile.model.state.state import State


@inlined
def raise_event(st: State, unit: int, event: int, cycle: int) -> None:
    """The event is asserted in ``cycle``."""
    st.stamps[unit, event] = cycle
    st.clock.raised[0] += 1


@jit
def raise_later(st: State, unit: int, event: int, cycle: int) -> None:
    """The event is asserted in a later ``cycle``; until then the last one before it counts."""
    if st.stamps[unit, event] < cycle:
        st.earlier[unit, event] = st.stamps[unit, event]
        st.stamps[unit, event] = cycle


@inlined
def last_from_source(st: State, unit: int, event: int, cycle: int) -> int:
    """Last cycle up to ``cycle`` in which what the event stands for was so; -1 = never."""
    lines = st.lines
    source, thing, kind = lines[unit, event, SOURCE], lines[unit, event, THING], lines[unit, event, KIND]
    if source == EventSource.PORT:
        return last_port(st, thing, kind, cycle)
    if source == EventSource.CHANNEL:
        return last_channel(st, thing, kind, cycle)
    if source == EventSource.LOCK:
        return last_lock(st, unit, thing, kind, lines[unit, event, VALUE], cycle)
    if source == EventSource.SIGNAL:
        return int(st.signals[thing, kind])
    if source == EventSource.CONFLICT:
        return int(st.banks.conflict[thing])
    if source == EventSource.CHANNEL_ERROR:
        return last_error(st, thing, kind)
    if source == EventSource.CORE:
        return int(st.core_seen[thing, kind])
    return cycle if source == EventSource.TRUE else NEVER


@inlined
def last_raised(st: State, unit: int, event: int, cycle: int) -> int:
    """Last cycle up to ``cycle`` in which the event was raised by its number."""
    stamp = st.stamps[unit, event]
    return int(stamp if stamp <= cycle else st.earlier[unit, event])


@jit
def last_single(st: State, unit: int, event: int, cycle: int) -> int:
    """Last cycle up to ``cycle`` in which an event that is no group was asserted, also by its number."""
    raised = last_raised(st, unit, event, cycle)
    if st.lines[unit, event, SOURCE] == 0:
        return raised
    return max(raised, last_from_source(st, unit, event, cycle))


@jit
def last_group(st: State, unit: int, group: int, cycle: int) -> int:
    """Last cycle in which an enabled member of the group was asserted."""
    module = st.spec.event_units.module[unit]
    enabled = st.registers[st.spec.event_units.group[unit] + group]
    event, latest = st.spec.event_groups.first[module, group], NEVER
    while enabled > 0 and latest < cycle:
        if enabled & 1:
            latest = max(latest, last_single(st, unit, event, cycle))
        enabled >>= 1
        event += 1
    return latest


@jit
def last(st: State, unit: int, event: int, cycle: int) -> int:
    """Last cycle up to ``cycle``, the current one, in which the event was asserted; -1 = never."""
    if st.lines[unit, event, SOURCE] == EventSource.GROUP:
        members = last_group(st, unit, st.lines[unit, event, THING], cycle)
        return max(members, last_raised(st, unit, event, cycle))
    return last_single(st, unit, event, cycle)


@jit
def asserted(st: State, unit: int, event: int) -> bool:
    """Whether the event is asserted in this cycle; 0 and numbers of no event never are, 1 always is."""
    now = st.clock.now[0]
    if event > st.spec.event_modules.last[st.spec.event_units.module[unit]]:
        return False
    if event <= EVENT_TRUE or st.stamps[unit, event] == now:
        return event > 0
    source = st.lines[unit, event, SOURCE]
    if source == 0:
        return False
    if source == EventSource.GROUP:
        return bool(last_group(st, unit, st.lines[unit, event, THING], now) == now)
    return bool(last_from_source(st, unit, event, now) == now)


@jit
def fold(st: State, unit: int) -> None:
    """Between two cycles: put what happened since the last time into the sticky status registers."""
    if st.observers.resolved[unit] == 0:
        resolve(st, unit)
    since, first = st.observers.folded[unit], st.spec.event_units.status[unit]
    latest = st.clock.now[0] - 1
    for event in range(EVENT_TRUE, st.spec.event_modules.last[st.spec.event_units.module[unit]] + 1):
        if since <= last(st, unit, event, latest) <= latest:
            st.registers[first + event // WORD_BITS] |= 1 << (event % WORD_BITS)
    st.observers.folded[unit] = st.clock.now[0]
    tile = st.spec.event_units.tile[unit]
    if st.spec.event_units.locks[unit] >= 0:
        for lock in range(
            st.spec.tiles.lock_base[tile], st.spec.tiles.lock_base[tile] + st.spec.tiles.locks[tile]
        ):
            st.locks.held[lock], st.locks.since[lock] = 0, st.clock.now[0]
