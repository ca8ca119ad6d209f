"""Event broadcast, sixteen channels over switches that pass them on, and interrupt controllers (AM020).

An event that drives a channel is seen as BROADCAST_n in its own unit at once and, ``broadcast_hop`` cycles
per switch later, in every unit that the channel reaches. What comes from west goes on to the east only, from
the south to north, west and east, and so on: no path is a loop (AM025 Event_Broadcast_Block_*). A tile hears
nothing from a side from which it is isolated (AM025 Tile_Control, DEV-ISO-1). Memory and interface tiles have
two switches; their unit is at the western one (DEV-OBS-4). At those of interface tiles are interrupt
controllers, which take what arrives and raise channels of their own (AM025; open driver).

Two of the first level stand at the broadcast switches A and B of every interface tile. Each takes the sixteen
broadcast channels that come down its column, before ``block_north_in`` keeps them from the row, and four
events of the tile. What it takes and is enabled for, it keeps in its status and raises as the channel that
its ``irq_no`` names (DEV-IRQ-1). The one of the second level, in interface tiles with a connection to the
network on chip, hears the channels at switch B (DEV-IRQ-2) and holds an interrupt line of the host while its
status has a bit (DEV-IRQ-3).
"""

from __future__ import annotations

import numpy as np

from memtile.arch.events import BROADCAST_CHANNELS
from memtile.arch.interface_registers import IRQ_EVENTS
from memtile.arch.register_map import register_named
from memtile.arch.registers import ModuleName
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.jit.tables import plain
from memtile.model.events.asserted import asserted, raise_event
from memtile.model.state.event_columns import EAST, FLIGHT, NORTH, SOUTH, WEST
from memtile.model.state.state import State

_FIRST, _SECOND = "Interrupt_controller_1st_level", "Interrupt_controller_2nd_level"


def _behind(module: ModuleName, mask: str, name: str) -> int:
    """Registers from the one called ``mask`` to the one called ``name``."""
    first, found = register_named(module, mask), register_named(module, name)
    return (found.offset - first.offset) // WORD_BYTES


_STATUS = _behind("pl", f"{_FIRST}_mask_A", f"{_FIRST}_status_A")
_NUMBER = _behind("pl", f"{_FIRST}_mask_A", f"{_FIRST}_irq_no_A")
_EVENTS = _behind("pl", f"{_FIRST}_mask_A", f"{_FIRST}_irq_event_A")
_BLOCKED = _behind("pl", f"{_FIRST}_mask_A", f"{_FIRST}_block_north_in_A_value")
_CHOSEN = register_named("pl", f"{_FIRST}_irq_event_A")
_EVENT_LSB = tuple(_CHOSEN.field(f"IRQ_Event{n}").lsb for n in range(IRQ_EVENTS))
_EVENT_MAX = _CHOSEN.field("IRQ_Event0").maximum
_SECOND_STATUS = _behind("noc", f"{_SECOND}_mask", f"{_SECOND}_status")
_LINE = _behind("noc", f"{_SECOND}_mask", f"{_SECOND}_interrupt")
_LINE_MAX = register_named("noc", f"{_SECOND}_interrupt").field("NoC_Interrupt").maximum


@jit
def raised(st: State, node: int, inputs: int) -> int:
    """Let the first-level controller at the switch take inputs; the channels that it raises, a bit mask."""
    mask = st.spec.nodes.first_level[node]
    if mask < 0:
        return 0
    taken = inputs & st.registers[mask]
    if taken == 0:
        return 0
    st.registers[mask + _STATUS] |= taken
    return int(1 << st.registers[mask + _NUMBER])


@jit
def let_in(st: State, node: int, channels: int) -> int:
    """Of the channels that come from the north, those that go on into the row."""
    mask = st.spec.nodes.first_level[node]
    if mask < 0:
        return channels
    return int(channels & ~st.registers[mask + _BLOCKED])


@jit
def watches(st: State, node: int) -> bool:
    """Whether the first-level controller at the switch looks at events of its tile."""
    mask = st.spec.nodes.first_level[node]
    return bool(mask >= 0 and st.registers[mask + _EVENTS] != 0)


@jit
def raised_by_events(st: State, unit: int, node: int) -> int:
    """Channels that the controller at the switch raises for events of the unit in this cycle."""
    if not watches(st, node):
        return 0
    chosen, inputs = st.registers[st.spec.nodes.first_level[node] + _EVENTS], 0
    for n in range(len(_EVENT_LSB)):
        if asserted(st, unit, (chosen >> _EVENT_LSB[n]) & _EVENT_MAX):
            inputs |= 1 << (BROADCAST_CHANNELS + n)
    return raised(st, node, inputs)


@jit
def interrupt(st: State, node: int, channels: int) -> None:
    """Let the second-level controller at the switch, if there is one, take channels."""
    mask = st.spec.nodes.second_level[node]
    if mask >= 0:
        st.registers[mask + _SECOND_STATUS] |= channels & st.registers[mask]


def lines(st: State) -> int:
    """The interrupt lines of the host that some second-level controller holds, a bit mask."""
    masks = plain(st.spec.nodes).second_level
    masks = masks[masks >= 0]
    pending = masks[st.registers[masks + _SECOND_STATUS] != 0]
    held = st.registers[pending + _LINE] & _LINE_MAX
    return int(np.bitwise_or.reduce(1 << held, initial=0))


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
    interrupt(st, node, inside | south | west | north | east)
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
            inside = raised(st, node, north)
            north = let_in(st, node, north)
            if node == st.spec.event_units.first_node[unit]:
                raise_channels(st, unit, inside | south | west | north | east)
            forward(st, node, inside, south, west, north, east)


@jit
def driven(st: State, unit: int) -> int:
    """Channels whose event is asserted in this cycle, or that an interrupt controller raises; a bit mask."""
    channels = raised_by_events(st, unit, st.spec.event_units.first_node[unit])
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
        raised = raised_by_events(st, unit, east)
        if raised:
            forward(st, east, raised, 0, 0, 0, 0)
