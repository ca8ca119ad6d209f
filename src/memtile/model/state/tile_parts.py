"""Which rows of the state's tables belong to a tile."""

from __future__ import annotations

from memtile.model.state.state import Ints, Spec


def channels_of(spec: Spec, tile: int) -> slice:
    """Rows of the DMA channels."""
    return _rows(spec.tiles.channel_base, spec.tiles.channels, tile)


def locks_of(spec: Spec, tile: int) -> slice:
    """Rows of the locks."""
    return _rows(spec.tiles.lock_base, spec.tiles.locks, tile)


def ports_of(spec: Spec, tile: int) -> slice:
    """Rows of the switch ports: the slaves, then the masters."""
    first = int(spec.tiles.slave_base[tile])
    return slice(first, first + int(spec.tiles.slaves[tile]) + int(spec.tiles.masters[tile]))


def units_of(spec: Spec, tile: int) -> slice:
    """Rows of the event units."""
    return _rows(spec.tiles.first_unit, spec.tiles.units, tile)


def registers_of(spec: Spec, tile: int) -> slice:
    """Entries of ``State.registers``."""
    return _rows(spec.tiles.register_base, spec.tiles.registers, tile)


def _rows(first: Ints, count: Ints, tile: int) -> slice:
    return slice(int(first[tile]), int(first[tile]) + int(count[tile]))
