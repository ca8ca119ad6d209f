"""Which rows of the state belong to a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy.typing as npt

from memtile.arch.ports import ARBITERS
from memtile.jit.tables import plain
from memtile.model.state.columns import Column, Ints, Owner, columns_of, fields_of
from memtile.model.state.memory import INTERFACES
from memtile.model.state.state import Spec, State, StateTables


class TileColumn(NamedTuple):
    """The part of a column of the state that belongs to one tile.

    Attributes:
        name: ``table.column``, or the name of an array that is no table.
        values: the whole column.
        rows: which rows of it, as an index.
        column: its declaration.
    """

    name: str
    values: npt.NDArray[Any]
    rows: slice | Ints
    column: Column


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


def nodes_of(spec: Spec, tile: int) -> slice:
    """Rows of the broadcast switches."""
    first = spec.event_units.first_node
    units = units_of(spec, tile)
    if units.start == units.stop:
        return slice(0)
    last = int(first[units.stop]) if units.stop < len(first) else len(spec.nodes.unit)
    return slice(int(first[units.start]), last)


def words_of(spec: Spec, tile: int) -> slice:
    """Entries of ``State.memory``."""
    return _rows(spec.tiles.memory_base, spec.tiles.memory_words, tile)


def columns_of_tile(st: State, tile: int, which: Callable[[Column], bool] = bool) -> Iterator[TileColumn]:
    """The columns of the state that have rows of the tile, in order; those ``which`` says, all if omitted."""
    rows: dict[Owner, slice | Ints] = {}
    for field, name, column, owner in _declared(which):
        if owner not in rows:
            rows[owner] = _ROWS[owner](st, tile)
        values = getattr(st, field)
        if name:
            values = getattr(plain(values), name)
        yield TileColumn(f"{field}.{name}" if name else field, values, rows[owner], column)


@cache
def _declared(which: Callable[[Column], bool]) -> list[tuple[str, str, Column, Owner]]:
    """Columns that belong to tiles: field of the state, name in its table or "", what it is, its owner."""
    found: list[tuple[str, str, Column, Owner]] = []
    for field, (what, owner) in fields_of(StateTables).items():
        if owner is not Owner.MODEL:
            own = {"": what} if isinstance(what, Column) else columns_of(what)
            found += [(field, name, column, owner) for name, column in own.items() if which(column)]
    return found


def _rows(first: Ints, count: Ints, tile: int) -> slice:
    return slice(int(first[tile]), int(first[tile]) + int(count[tile]))


def _core(st: State, tile: int) -> slice:
    core = int(st.spec.tiles.core[tile])
    return slice(core, core + 1) if core >= 0 else slice(0)


def _externals(st: State, tile: int) -> Ints:
    rows: Ints = st.channels.external[channels_of(st.spec, tile)]
    return rows[rows >= 0]


def _each(many: int) -> Callable[[State, int], slice]:
    return lambda _st, tile: slice(tile * many, (tile + 1) * many)


_ROWS: dict[Owner, Callable[[State, int], slice | Ints]] = {
    Owner.TILE: _each(1),
    Owner.CHANNEL: lambda st, tile: channels_of(st.spec, tile),
    Owner.EXTERNAL: _externals,
    Owner.CORE: _core,
    Owner.LOCK: lambda st, tile: locks_of(st.spec, tile),
    Owner.BANK: lambda st, tile: _rows(st.spec.tiles.bank_base, st.spec.tiles.banks, tile),
    Owner.INTERFACE: _each(INTERFACES),
    Owner.PORT: lambda st, tile: ports_of(st.spec, tile),
    Owner.ARBITER: _each(ARBITERS),
    Owner.UNIT: lambda st, tile: units_of(st.spec, tile),
    Owner.NODE: lambda st, tile: nodes_of(st.spec, tile),
    Owner.REGISTER: lambda st, tile: registers_of(st.spec, tile),
    Owner.WORD: lambda st, tile: words_of(st.spec, tile),
}
