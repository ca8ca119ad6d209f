"""Tables and arrays of the state at rest, as their columns declare it (``state.columns``)."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import table
from memtile.model.state.columns import BUILT, Column, columns_of, dtypes_of, fields_of
from memtile.model.state.state import StateTables

T = TypeVar("T")
_PAGES = 1 << 18  # bytes from which on an array has pages of its own


def at_rest(columns: type[T], rows: int, **built: Any) -> T:
    """A table of the state in a model that was just built.

    Args:
        columns: class of the table.
        rows: how many.
        built: values of the columns that depend on the tile: those declared as ``BUILT``, and no other.

    Raises:
        TypeError: a column is missing, or has a value at rest already.
    """
    table_class: type = columns
    declared = columns_of(table_class)
    _same(columns.__name__, built, {name for name, column in declared.items() if column.rest is BUILT})
    rest = {name: column.rest for name, column in declared.items() if column.rest}
    return table(columns, rows, **rest, **built)


def arrays_at_rest(shapes: Mapping[str, int | tuple[int, ...]], **built: Any) -> dict[str, Any]:
    """The arrays of the state that are no tables, in a model that was just built.

    Args:
        shapes: of each of them, but the ``built`` ones; a list has room for so many numbers and its length.
        built: those declared as ``BUILT``.

    Raises:
        TypeError: one is missing, or there is no such array.
    """
    arrays = {name: what for name, (what, _) in fields_of(StateTables).items() if isinstance(what, Column)}
    _same("State", {**shapes, **built}, set(arrays))
    _same("State", built, {name for name, column in arrays.items() if column.rest is BUILT})
    return {name: _filled(name, shape, arrays[name]) for name, shape in shapes.items()} | built


def _filled(name: str, shape: int | tuple[int, ...], column: Column) -> npt.NDArray[Any]:
    """An array with its value at rest; of zeros, the host gives memory only to those that are touched.

    Large ones get pages of their own: in a process that makes one array after another, the C library takes
    memory that was used before, and clears all of it.
    """
    kind, count = dtypes_of(StateTables)[name], int(np.prod(shape))
    if column.rest == 0 and count * kind.itemsize >= _PAGES:
        return np.frombuffer(mmap.mmap(-1, count * kind.itemsize), kind).reshape(shape)
    if column.rest == 0:
        return np.zeros(shape, kind)
    return np.full(shape, column.rest, kind)


def _same(where: str, given: Mapping[str, Any], wanted: set[str]) -> None:
    if given.keys() != wanted:
        missing, strange = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        raise TypeError(f"{where}: no value for {missing}, a value too many for {strange}")
