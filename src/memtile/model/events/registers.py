"""Registers of the event units that do more than hold a value (AM025 Event_*, Timer_*, Trace_*, counters).

``argument`` of such a register is its unit within the tile, and for timers which half of the value it reads.
"""

from __future__ import annotations

from enum import IntEnum

from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import jit
from memtile.model.events.asserted import fold, raise_event
from memtile.model.events.setup import configure
from memtile.model.events.units import reset_timer
from memtile.model.state.state import Spec, State

UNITS = 2  # of a tile at most; argument = half * UNITS + unit


class EventBlock(IntEnum):
    """How a register of an event unit behaves; numbers beside ``axi.Block``."""

    CONFIG = 32  # what the unit does each cycle depends on it
    STATUS = 33
    GENERATE = 34
    TIMER_CONTROL = 35
    TIMER = 36
    TRACE_STATUS = 37
    SELECTION = 38  # which channel, lock or port some events are about, or which events a group gathers


FIRST_EVENT_BLOCK = int(EventBlock.CONFIG)
_RESET_MASK = register_named("memory_tile", "Timer_Control").field("Reset").mask
_STATE_LSB = register_named("memory_tile", "Trace_Status").field("State").lsb
_WORD_MAX = (1 << WORD_BITS) - 1


@jit
def unit_of(spec: Spec, tile: int, argument: int) -> int:
    """The event unit that a register belongs to."""
    return int(spec.tiles.first_unit[tile] + argument % UNITS)


@jit
def before_write(st: State, tile: int, block: int, argument: int) -> None:
    """Bring the sticky status up to date before bits of it are cleared, or what it is made of changes."""
    if block in (EventBlock.STATUS, EventBlock.SELECTION, EventBlock.GENERATE, EventBlock.TIMER_CONTROL):
        fold(st, unit_of(st.spec, tile, argument))


@jit
def act_on_write(st: State, tile: int, block: int, argument: int, value: int) -> None:
    """What a write does beyond keeping bits; a generated event is asserted in the next cycle (DEV-OBS-3)."""
    unit = unit_of(st.spec, tile, argument)
    if block == EventBlock.GENERATE:
        if 0 < value <= st.spec.event_modules.last[st.spec.event_units.module[unit]]:
            raise_event(st, unit, value, st.clock.now[0])
        return
    if block == EventBlock.TIMER_CONTROL and value & _RESET_MASK:
        reset_timer(st, unit, st.clock.now[0])
    configure(st, unit)


@jit
def live_value(st: State, tile: int, block: int, argument: int, at: int) -> int:
    """Value of a register that the unit drives; ``at`` is its index in the state."""
    unit = unit_of(st.spec, tile, argument)
    if block == EventBlock.STATUS:
        fold(st, unit)
    elif block == EventBlock.TIMER:
        timer = st.clock.now[0] - st.observers.timer_base[unit]
        return int((timer >> (WORD_BITS * (argument // UNITS))) & _WORD_MAX)
    elif block == EventBlock.TRACE_STATUS:
        return int(st.traces.state[unit] << _STATE_LSB)
    return int(st.registers[at])
