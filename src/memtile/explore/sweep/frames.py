"""Rows of a sweep as a table of Arrow: a column for each thing that was varied or set, and each figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.figures import FIGURES
from memtile.explore.sweep.row import Row

ROW = "row"
"""The column of a log that has each row whole, as JSON."""
_FIXED = ("number", "key", "state", "kind", "why")


def table_of(rows: Sequence[Row], *, keep: bool = False) -> Any:
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
        kind = arrow.float64() if figure.most else arrow.int64()
        columns[name] = arrow.array([row.figures.get(name) for row in rows], kind)
    columns["seconds"] = arrow.array([row.seconds for row in rows], arrow.float64())
    if keep:
        columns[ROW] = arrow.array([json.dumps(each) for each in data])
    return arrow.table(columns)


def _column(arrow: Any, values: Sequence[Any]) -> Any:
    """Labels as a column: of their type, or as texts where their types differ."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return arrow.array(values)


def frame_of(rows: Sequence[Row]) -> Any:
    """The same as a pandas data frame.

    Raises:
        InputFileError: pyarrow or pandas is not installed.
    """
    extra("pandas")
    return table_of(rows).to_pandas()


def texts_of(point: Mapping[str, Any]) -> list[str]:
    """What is varied, as ``NAME=VALUE``."""
    return [f"{name}={value}" for name, value in point.items()]
