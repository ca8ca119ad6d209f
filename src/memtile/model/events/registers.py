"""Registers of the event units that do more than hold a value (AM025 Event_*, Timer_*, Trace_*)."""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import jit
from memtile.model.events.asserted import raise_event
from memtile.model.events.setup import configure
from memtile.model.events.units import reset_timer
from memtile.model.state.state import State

_RESET_MASK = register_named("memory_tile", "Timer_Control").field("Reset").mask
_STATE_LSB = register_named("memory_tile", "Trace_Status").field("State").lsb
_MODE = register_named("core", "Trace_Control0").field("Mode")
_MODE_LSB, _MODE_MAX = _MODE.lsb, _MODE.maximum  # bits that the units of other modules have not
_SHOWN_MODE_LSB = register_named("core", "Trace_Status").field("Mode").lsb
_WORD_MAX = (1 << WORD_BITS) - 1


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
