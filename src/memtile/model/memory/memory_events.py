"""Events about data memory, raised by their number in the module that has the memory."""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import jit
from memtile.model.events.asserted import raise_event as raise_in_unit
from memtile.model.state.state import Spec, State

_BITS = WORD_BITS


@jit
def memory_unit(spec: Spec, tile: int) -> int:
    """The event unit of the module with the data memory, the last one of a tile."""
    return int(spec.tiles.first_unit[tile] + spec.tiles.units[tile] - 1)


@jit
def raise_event(st: State, tile: int, event: int) -> None:
    """The event happens in this cycle; its sticky bit is set at once, for an untimed run has no cycles."""
    unit = memory_unit(st.spec, tile)
    raise_in_unit(st, unit, event, st.clock.now[0])
    st.registers[st.spec.event_units.status[unit] + event // _BITS] |= 1 << (event % _BITS)
