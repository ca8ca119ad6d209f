"""What a tile reports to its event units: signals of the tile, and events about its data memory (AM020)."""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.jit.decorators import inlined, jit
from memtile.model.events.asserted import raise_event as raise_in_unit
from memtile.model.state.state import Spec, State

_BITS = WORD_BITS


@inlined
def signal(st: State, tile: int, what: int) -> None:
    """The tile reports ``what``, a ``Signal``, in this cycle."""
    st.signals[tile, what] = st.clock.now[0]


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
