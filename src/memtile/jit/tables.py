"""Tables of integers: record arrays for compiled code, tuples of columns for the interpreter."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from memtile.jit.settings import ENABLED

T = TypeVar("T")


def table(columns: type[T], *shape: int, **values: Any) -> T:
    """A table of ``shape`` with the columns of class ``columns``; zero where no value is given.

    Compiled code gets one record array, so that a call passes one argument and not thirty; the interpreter
    gets the columns as a tuple of views, because attribute access of a record array is slow there.
    """
    records = np.zeros(shape, dtype=_records(cast(Any, columns)))
    for name, value in values.items():
        records[name] = value
    return _table(columns, records)


def table_in(columns: type[T], words: npt.NDArray[np.int64]) -> T:
    """A table with the columns of class ``columns`` whose rows are in memory that is there, all of it."""
    return _table(columns, words.view(_records(cast(Any, columns))))


def _table(columns: type[T], records: npt.NDArray[Any]) -> T:
    if ENABLED:
        return cast(T, records.view(np.recarray))
    return columns(**{name: records[name] for name in records.dtype.names or ()})


@cache
def _records(columns: type[Any]) -> np.dtype[Any]:
    """The type of a row; one object for each class, so that the types of two tables are quickly compared."""
    hints = get_type_hints(columns, include_extras=True)
    dtype = np.dtype([(name, np.int64, _shape(hint)) for name, hint in hints.items()], align=True)
    return np.dtype((np.record, dtype))


def _shape(hint: Any) -> tuple[int, ...]:
    """Shape of the numbers that a column has in a row: what its type is annotated with."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((note for note in notes if isinstance(note, tuple)), ())


def row_words(columns: type[Any]) -> int:
    """Numbers that a row of a table has."""
    return int(_records(cast(Any, columns)).itemsize) // 8


@cache
def words_of(columns: type[Any], name: str) -> int:
    """Numbers that a column has in a row; the columns of a row follow each other."""
    return int(_records(cast(Any, columns))[name].itemsize) // 8


def plain(records: T) -> T:
    """The table with plain arrays as columns, quick to index from the interpreter."""
    if isinstance(records, (tuple, _Columns)):
        return records
    return cast(T, _Columns(np.asarray(records)))


class _Columns:
    """The columns of a table of records, each looked up when it is first asked for."""

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        self._rows = rows

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        try:
            column: npt.NDArray[Any] = self.__dict__["_rows"][name]
        except (KeyError, ValueError):
            raise AttributeError(name) from None
        setattr(self, name, column)
        return column


def cells(records: T) -> T:
    """The table for single numbers: its columns give and take those of Python, as memory views.

    That takes half the time of NumPy's, and what is done with the numbers a third.
    """
    table: Any = records if isinstance(records, tuple) else np.asarray(records)
    if isinstance(records, tuple):
        columns = table._asdict()
    else:
        columns = {name: table[name] for name in table.dtype.names}
    return cast(T, SimpleNamespace(**{name: memoryview(column) for name, column in columns.items()}))
