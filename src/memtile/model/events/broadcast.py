"""Event broadcast: sixteen channels over switches that pass them on, side by side (AM020 event broadcast).

An event that drives a channel is seen as BROADCAST_n in its own unit at once and, ``broadcast_hop`` cycles
per switch later, in every unit that the channel reaches. What comes from west goes on to the east only, from
the south to north, west and east, and so on: no path is a loop (AM025 Event_Broadcast_Block_*). A tile hears
nothing from a side from which it is isolated (AM025 Tile_Control, DEV-ISO-1). Memory and interface tiles have
two switches; their unit is at the western one (DEV-OBS-4). At those of interface tiles are interrupt
controllers (``interrupts``), which take what arrives and raise channels of their own.
"""

from __future__ import annotations

from memtile.arch.events import BROADCAST_CHANNELS
from memtile.arch.register_map import register_named
from memtile.jit.decorators import jit
from memtile.model.events import interrupts
from memtile.model.events.asserted import asserted, raise_event
from memtile.model.state.event_columns import EAST, FLIGHT, NORTH, SOUTH, WEST
from memtile.model.state.state import State

_OPPOSITE = (NORTH, EAST, SOUTH, WEST)
_CONTROL = register_named("memory_tile", "Tile_Control")
_ISOLATION_LSB = tuple(_CONTROL.field(f"Isolate_From_{s}").lsb for s in ("South", "West", "North", "East"))


@jit
def isolates(st: State, node: int, sender: int, side: int) -> bool:
    """Whether the tile of ``node`` takes nothing from another tile at ``side`` (AM025 Tile_Control)."""
    if st.spec.nodes.tile[node] == st.spec.nodes.tile[sender]:
        return False
    return bool((st.registers[st.spec.nodes.isolation[node]] >> _ISOLATION_LSB[side]) & 1)


@jit
def launch(st: State, node: int, side: int, channels: int) -> None:
    """Send the channels in the bit mask to the switch at ``side``, unless something blocks them."""
    there = st.spec.nodes.link[node, side]
    channels &= ~st.registers[st.spec.nodes.block[node, side]]
    if there < 0 or channels == 0 or isolates(st, there, node, _OPPOSITE[side]):
        return
    slot = (st.clock.now[0] + st.spec.timing.broadcast_hop[0]) % FLIGHT
    if st.flights[there, _OPPOSITE[side], slot] == 0:
        st.in_flight[0] += 1
    st.flights[there, _OPPOSITE[side], slot] |= channels


@jit
def forward(st: State, node: int, inside: int, south: int, west: int, north: int, east: int) -> None:
    """Send on what came from each side and from inside; a second-level interrupt controller hears it all."""
    interrupts.interrupt(st, node, inside | south | west | north | east)
    launch(st, node, WEST, inside | east | north | south)
    launch(st, node, EAST, inside | west | north | south)
    launch(st, node, NORTH, inside | south)
    launch(st, node, SOUTH, inside | north)


@jit
def raise_channels(st: State, unit: int, channels: int) -> None:
    """The unit sees these channels in this cycle."""
    first = st.spec.event_modules.broadcast[st.spec.event_units.module[unit]]
    for n in range(BROADCAST_CHANNELS):
        if (channels >> n) & 1:
            raise_event(st, unit, first + n, st.clock.now[0])


@jit
def arrive(st: State, node: int, side: int) -> int:
    """Channels that come in from ``side`` in this cycle, as a bit mask."""
    slot = st.clock.now[0] % FLIGHT
    channels = st.flights[node, side, slot]
    if channels:
        st.flights[node, side, slot] = 0
        st.in_flight[0] -= 1
    return int(channels)


@jit
def deliver(st: State) -> None:
    """Let everything that is on its way arrive where it is due."""
    st.clock.activity[0] += 1
    for node in range(st.flights.shape[0]):
        south, west = arrive(st, node, SOUTH), arrive(st, node, WEST)
        north, east = arrive(st, node, NORTH), arrive(st, node, EAST)
        unit = st.spec.nodes.unit[node]
        if south | west | north | east and st.gates.off[st.spec.event_units.tile[unit]] == 0:
            inside = interrupts.raised(st, node, north)
            north = interrupts.let_in(st, node, north)
            if node == st.spec.event_units.first_node[unit]:
                raise_channels(st, unit, inside | south | west | north | east)
            forward(st, node, inside, south, west, north, east)


@jit
def driven(st: State, unit: int) -> int:
    """Channels whose event is asserted in this cycle, or that an interrupt controller raises; a bit mask."""
    channels = interrupts.raised_by_events(st, unit, st.spec.event_units.first_node[unit])
    for n in range(BROADCAST_CHANNELS):
        if asserted(st, unit, st.observers.broadcast[unit, n]):
            channels |= 1 << n
    return channels


@jit
def send(st: State, unit: int) -> None:
    """Put the events that drive channels on their way; a channel may drive others of its unit."""
    sent, channels = 0, driven(st, unit)
    while channels != sent:
        raise_channels(st, unit, channels)
        sent, channels = channels, driven(st, unit)
    node = st.spec.event_units.first_node[unit]
    if sent:
        forward(st, node, sent, 0, 0, 0, 0)
    east = st.spec.nodes.link[node, EAST]
    if east >= 0 and st.spec.nodes.unit[east] == unit:  # the second switch of the tile
        raised = interrupts.raised_by_events(st, unit, east)
        if raised:
            forward(st, east, raised, 0, 0, 0, 0)
