"""Rows of a sweep as a table of Arrow: a column for each thing that was varied or set, and each figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.row import MOST_BYTES, MOST_ROWS, SweepRow, VariantState
from memtile.explore.sweep.space import Space
from memtile.explore.sweep.variant_figures import ENERGY, FIGURES

ROW = "row"
"""The column of a log that has each row whole, as JSON."""
HEAD = b"memtile.sweep"
"""Where the metadata of a log have its head, as JSON."""
_FIXED = ("number", "key", "state", "kind", "why")


def table_of(rows: Sequence[SweepRow], *, keep: bool = False) -> Any:
    """Rows as an Arrow table.

    Args:
        rows: in any order.
        keep: with the column ``row``, from which a log is read again.

    Returns:
        A ``pyarrow.Table``: ``number``, ``key``, ``state``, ``kind``, ``why``; what was varied or set, under
        its name (``set.NAME`` where one of the other columns is called so); the figures; ``seconds``.

    Raises:
        InputFileError: pyarrow is not installed.
    """
    arrow = extra("pyarrow")
    others = {*_FIXED, *FIGURES, "seconds", ROW}
    data = [row.as_json() for row in rows]
    columns: dict[str, Any] = {name: arrow.array([each[name] for each in data]) for name in _FIXED}
    for name in dict.fromkeys(name for row in rows for name in row.point):
        column = f"set.{name}" if name in others else name
        columns[column] = _column(arrow, [row.point.get(name) for row in rows])
    for name, figure in FIGURES.items():
        kind = arrow.float64() if figure.most or name == ENERGY else arrow.int64()
        columns[name] = arrow.array([row.figures.get(name) for row in rows], kind)
    columns["seconds"] = arrow.array([row.seconds for row in rows], arrow.float64())
    if keep:
        columns[ROW] = arrow.array([json.dumps(each) for each in data], arrow.string())
    return arrow.table(columns)


def table_in(path: Path) -> tuple[str, list[str]]:
    """The head and the rows in a Parquet file, each as JSON; nothing else of the file is read.

    Raises:
        InputFileError: it cannot be read, is no log, or is longer than a log can be.
    """
    arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            head = (file.schema_arrow.metadata or {}).get(HEAD)
            if head is None or file.schema_arrow.get_field_index(ROW) < 0:
                raise InputFileError(f"{path}: this is not the log of a sweep. Give another --log.")
            _of_size(path, file.metadata)
            if not arrow.types.is_string(file.schema_arrow.field(ROW).type):
                raise InputFileError(f"{path}: the log is damaged: its rows are no texts. Give another log.")
            rows = file.read(columns=[ROW], use_threads=False).column(ROW).to_pylist()
            return head.decode(), [text or "" for text in rows]
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputFileError(f"{path}: this is no Parquet file that can be read: {why}.") from None


def _of_size(path: Path, found: Any) -> None:
    """Refuse a file that says it has more than the log of a sweep."""
    size = sum(found.row_group(n).total_byte_size for n in range(found.num_row_groups))
    for what, given, most in (("rows", found.num_rows, MOST_ROWS), ("bytes of rows", size, MOST_BYTES)):
        if not 0 <= given <= most:
            raise InputFileError(f"{path}: the log has {given:,} {what}, allowed are 0..{most:,}.")


def _column(arrow: Any, values: Sequence[Any]) -> Any:
    """Labels as a column: of their type, or as texts where their types differ."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return arrow.array(values)


def frame_of(rows: Sequence[SweepRow]) -> Any:
    """The rows as a pandas data frame.

    Raises:
        InputFileError: pyarrow or pandas is not installed.
    """
    pandas, arrow, table = extra("pandas"), extra("pyarrow"), table_of(rows)
    frame = table.to_pandas()
    for name in table.column_names:  # pandas makes integers with gaps floating point numbers
        if table.column(name).null_count and arrow.types.is_integer(table.column(name).type):
            frame[name] = pandas.array(table.column(name).to_pylist(), "Int64")
    return frame


def _fill(arrays: Mapping[str, Any], space: Space, rows: Sequence[SweepRow]) -> None:
    """Put the figures of rows where their points are."""
    for row in rows:
        place = tuple(axis.values.index(row.point[axis.name]) for axis in space.axes)
        for name in arrays.keys() & row.figures.keys():
            arrays[name][place] = row.figures[name]


def dataset_of(space: Space, rows: Sequence[SweepRow]) -> Any:
    """Good rows as an xarray dataset: a dimension for each axis, a variable for each figure.

    Points that were not tried, or are not good, are NaN.

    Raises:
        InputFileError: xarray or pandas is not installed.
        DesignError: an axis without steps.
    """
    xarray, numpy = extra("xarray"), extra("numpy")
    raise_if([_no_grid(axis.name) for axis in space.axes if not axis.values], DesignError)
    names = [axis.name for axis in space.axes]
    shape = [len(axis.values) for axis in space.axes]
    good = [row for row in rows if row.state is VariantState.GOOD]
    figures = [name for name in FIGURES if any(name in row.figures for row in good)]
    filled = {name: numpy.full(shape, numpy.nan) for name in figures}
    _fill(filled, space, good)
    own = {name: name if name not in FIGURES else f"set.{name}" for name in names}
    variables = {
        name: ([own[each] for each in names], array, {"long_name": FIGURES[name].text})
        for name, array in filled.items()
    }
    return xarray.Dataset(variables, {own[axis.name]: list(axis.values) for axis in space.axes})


def _no_grid(name: str) -> Problem:
    return Problem(
        name,
        "any number in a range",
        "values in steps",
        next_step="Take pandas() or arrow(), or vary it in steps.",
        reason="dataset",
        where="sweep",
        source="an xarray dataset is a grid",
    )
