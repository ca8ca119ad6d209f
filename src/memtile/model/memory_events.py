"""Events about data memory: for now their sticky status."""

from __future__ import annotations

from memtile.arch.events import EVENT_STATUS, EVENT_UNITS
from memtile.arch.protection import MEMORY_MODULE
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.model.jit import jit
from memtile.model.state import Spec, State

_STATUS = tuple(
    (EVENT_UNITS[MEMORY_MODULE[k.role]].base + EVENT_STATUS) // WORD_BYTES if k.role in MEMORY_MODULE else 0
    for k in TILE_KINDS.values()
)
_BITS = WORD_BITS


@jit
def raise_event(spec: Spec, st: State, tile: int, event: int) -> None:
    """The event happens in this cycle."""
    kind = spec.tiles.kind[tile]
    register = spec.register_index[kind, _STATUS[kind] + event // _BITS]
    st.registers[spec.tiles.register_base[tile] + register] |= 1 << (event % _BITS)
