"""Events of what a selector register chooses: channels, locks and stream switch ports (AM025 *_Selection).

:func:`resolve` works the choice out when a selector is written, as ``State.lines``. The functions ``last_*``
give the last cycle in which such an event was asserted, -1 = never.
"""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.arch.tiles import DIRECTIONS, MM2S
from memtile.jit.decorators import inlined, jit
from memtile.model.roster import backed_up, held_event, rested
from memtile.model.state.columns import NEVER
from memtile.model.state.event_columns import (
    ALL_CHANNELS,
    KIND,
    PER_KIND,
    SOURCE,
    THING,
    VALUE,
    ChannelEvent,
    EventSource,
    LockEvent,
    PortEvent,
)
from memtile.model.state.state import State

_CHANNELS = register_named("memory_tile", "DMA_Event_Channel_Selection")
_CHANNEL_LSB = tuple(_CHANNELS.field(f"{side}_Sel{n}_Channel").lsb for side in DIRECTIONS for n in range(2))
_CHANNEL_MAX = _CHANNELS.field("S2MM_Sel0_Channel").maximum
_PORTS = register_named("memory_tile", "Stream_Switch_Event_Port_Selection_0")
_PORT_FIELDS = sum(field.name.endswith("ID") for field in _PORTS.fields)
_PORT_LSB = tuple(_PORTS.field(f"Port_{n}_ID").lsb for n in range(_PORT_FIELDS))
_MASTER_LSB = tuple(_PORTS.field(f"Port_{n}_Master_Slave").lsb for n in range(_PORT_FIELDS))
_PORT_MAX = _PORTS.field("Port_0_ID").maximum
_LOCKS = register_named("memory_tile", "Locks_Event_Selection_0")
_LOCK_LSB, _LOCK_MAX = _LOCKS.field("Lock_Select").lsb, _LOCKS.field("Lock_Select").maximum
_VALUE_MAX = _LOCKS.field("Lock_Value").maximum


@jit
def selected_channel(st: State, unit: int, selector: int) -> int:
    """The channel that selector 0 to 3 (S2MM 0, 1, MM2S 0, 1) watches; -1 = none."""
    tile, register = st.spec.event_units.tile[unit], st.spec.event_units.channels[unit]
    per_direction = st.spec.tiles.channels[tile] // 2
    number = selector % 2
    if register >= 0:
        number = (st.registers[register] >> _CHANNEL_LSB[selector]) & _CHANNEL_MAX
    if number >= per_direction:
        return NEVER
    return int(st.spec.tiles.channel_base[tile] + (selector // 2) * per_direction + number)


@jit
def backs_up(st: State, ch: int) -> bool:
    """Whether the channel rests, for some cycles already, while a test bench has words for it."""
    return bool(st.channels.active[ch] == 0 and backed_up(st, ch) and rested(st, ch) > 0)


@inlined
def last_channel(st: State, ch: int, kind: int, cycle: int) -> int:
    """Events of DMA channels; those that rest assert what they rest with."""
    if kind == ChannelEvent.FINISHED_BD:
        due = int(st.channels.finished_bd[ch])  # or still to come, and then the one before it counts
        return due if due <= cycle else int(st.seen[ch, kind])
    if st.channels.active[ch] == 0 and (
        held_event(st, ch) == kind or (kind == ChannelEvent.MEMORY and backs_up(st, ch))
    ):
        return cycle
    return int(st.seen[ch, kind])


@jit
def last_error(st: State, tile: int, argument: int) -> int:
    """A sticky error bit of a channel, or of any channel of a direction, was set."""
    count = st.spec.tiles.channels[tile] // 2
    first = st.spec.tiles.channel_base[tile] + (argument // PER_KIND) * count
    number = argument % PER_KIND
    if number != ALL_CHANNELS:
        return int(st.seen[first + number, ChannelEvent.ERROR]) if number < count else NEVER
    latest = NEVER
    for ch in range(first, first + count):
        latest = max(latest, int(st.seen[ch, ChannelEvent.ERROR]))
    return latest


@inlined
def last_lock(st: State, unit: int, lock: int, kind: int, value: int, cycle: int) -> int:
    """Events of a lock, with the value that its selector asks for."""
    if kind < LockEvent.EQUAL_TO_VALUE:
        return int(st.locks.event[lock, kind])
    if st.locks.value[lock] == value and st.locks.since[lock] <= cycle:
        return cycle
    return int(st.observers.folded[unit]) if (st.locks.held[lock] >> value) & 1 else NEVER


@jit
def selected_port(st: State, unit: int, selector: int) -> int:
    """The stream switch port that the selector watches; -1 = none."""
    tile = st.spec.event_units.tile[unit]
    word = st.registers[st.spec.event_units.ports[unit] + selector // _PORT_FIELDS]
    number = (word >> _PORT_LSB[selector % _PORT_FIELDS]) & _PORT_MAX
    if (word >> _MASTER_LSB[selector % _PORT_FIELDS]) & 1:
        return (
            int(st.spec.tiles.master_base[tile] + number) if number < st.spec.tiles.masters[tile] else NEVER
        )
    return int(st.spec.tiles.slave_base[tile] + number) if number < st.spec.tiles.slaves[tile] else NEVER


@jit
def last_crossing(st: State, port: int) -> int:
    """A word left the port, or crossed the stream port of the test bench in its place."""
    ch = st.switch.channel[port]
    return max(int(st.switch.popped[port]), int(st.seen[ch, ChannelEvent.PORT_RUNNING]) if ch >= 0 else NEVER)


@jit
def last_waiting(st: State, port: int, cycle: int) -> int:
    """A word waited at the port."""
    ch = st.switch.channel[port]
    if ch < 0 or st.channels.switch_port[ch] >= 0:
        return int(st.switch.stalled[port])
    if st.channels.direction[ch] != MM2S and backs_up(st, ch):
        return cycle
    at_bench = ChannelEvent.STREAM if st.channels.direction[ch] == MM2S else ChannelEvent.MEMORY
    return max(int(st.switch.stalled[port]), int(st.seen[ch, at_bench]))


@inlined
def last_port(st: State, port: int, kind: int, cycle: int) -> int:
    """Events of a stream switch port."""
    if kind == PortEvent.RUNNING:
        return last_crossing(st, port)
    if kind == PortEvent.STALLED:
        return last_waiting(st, port, cycle)
    if kind == PortEvent.IDLE:
        busy = last_crossing(st, port) == cycle or last_waiting(st, port, cycle) == cycle
        return int(st.switch.idle[port]) if busy else cycle
    ch = st.switch.channel[port]
    return max(int(st.switch.tlast[port]), int(st.seen[ch, ChannelEvent.PORT_TLAST]) if ch >= 0 else NEVER)


@jit
def thing(st: State, unit: int, source: int, argument: int) -> int:
    """Number of the channel, lock, port or bank that asserts an event as selected now; -1 = none."""
    tile, selector = st.spec.event_units.tile[unit], argument % PER_KIND
    if source == EventSource.CHANNEL:
        return selected_channel(st, unit, selector)
    if source == EventSource.PORT:
        return selected_port(st, unit, selector)
    if source == EventSource.LOCK:
        word = st.registers[st.spec.event_units.locks[unit] + selector]
        number = (word >> _LOCK_LSB) & _LOCK_MAX
        return int(st.spec.tiles.lock_base[tile] + number) if number < st.spec.tiles.locks[tile] else NEVER
    if source == EventSource.CONFLICT:  # AIE-ML v2 has fewer banks than events (DEV-V2-2)
        return (
            int(st.spec.tiles.bank_base[tile] + argument) if argument < st.spec.tiles.banks[tile] else NEVER
        )
    return int(st.spec.tiles.core[tile] if source == EventSource.CORE else tile)


@jit
def resolve(st: State, unit: int) -> None:
    """Work out what asserts each event of the unit; again whenever a selector is written."""
    module = st.spec.event_units.module[unit]
    for event in range(st.spec.event_modules.last[module] + 1):
        source, argument = st.spec.event_sources[module, event, 0], st.spec.event_sources[module, event, 1]
        found = thing(st, unit, source, argument) if source > EventSource.GROUP else argument
        st.lines[unit, event, SOURCE] = source if found >= 0 else 0
        st.lines[unit, event, THING] = found
        selected = source in (EventSource.CHANNEL, EventSource.PORT, EventSource.LOCK)
        st.lines[unit, event, KIND] = argument // PER_KIND if selected else argument
        if source == EventSource.LOCK:
            word = st.registers[st.spec.event_units.locks[unit] + argument % PER_KIND]
            st.lines[unit, event, VALUE] = word & _VALUE_MAX
    st.observers.resolved[unit] = 1
