"""Two states of one model, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain
from memtile.model.state.columns import PROCESS, Column, Owner, columns_of, fields_of
from memtile.model.state.state import State, StateTables

Array = npt.NDArray[Any]


class Values(NamedTuple):
    """A column of a state.

    Attributes:
        name: ``table.column``, or the name of an array that is no table.
        values: all of it; the first dimension has a row for each ``owner``.
        column: its declaration.
        owner: what has a row in it.
    """

    name: str
    values: Array
    column: Column
    owner: Owner


class Difference(NamedTuple):
    """A column in which two states differ.

    Attributes:
        name: of the column.
        owner: what has a row in it.
        places: where, as one index array for each dimension; None where the columns differ in shape.
        mine: the values there, or the shape.
        theirs: those of the other state.
    """

    name: str
    owner: Owner
    places: tuple[Array, ...] | None
    mine: Array
    theirs: Array


def columns(st: State) -> Iterator[Values]:
    """Every column of a state that means the same in another process, in the order of its tables."""
    for field, (what, owner) in fields_of(StateTables).items():
        if isinstance(what, Column):
            if what.kind is not PROCESS:
                yield Values(field, getattr(st, field), what, owner)
            continue
        table = plain(getattr(st, field))
        for name, column in columns_of(what).items():
            if column.kind is not PROCESS:
                yield Values(f"{field}.{name}", getattr(table, name), column, owner)


def differences(mine: State, theirs: State) -> Iterator[Difference]:
    """The columns in which two states of the same model differ."""
    for (name, here, _, owner), (_, there, _, _) in zip(columns(mine), columns(theirs), strict=True):
        if here.shape != there.shape:
            yield Difference(name, owner, None, np.array(here.shape), np.array(there.shape))
        elif not np.array_equal(here, there):
            places = np.nonzero(here != there)
            yield Difference(name, owner, places, here[places], there[places])
