"""Interrupt controllers of the interface tiles (AM020 interrupt handling; AM025; open driver).

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
from memtile.model.events.asserted import asserted
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
