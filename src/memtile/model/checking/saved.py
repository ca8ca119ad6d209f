"""Whether a state from outside is one that a run could have left: what its columns hold, and their links.

Compiled code checks no index. So what a file says is checked before, column by column against what each one
declares that it holds, and then across columns (``links``). A state that passes may be one that no run leads
to; it is one from which compiled code stays within its arrays, and every cycle ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.model.checking.links import LINKS, Fault, wrong
from memtile.model.state.columns import (
    AtBuild,
    Cycle,
    Holds,
    Limit,
    Owner,
    Roster,
    Row,
    Rows,
    Same,
)
from memtile.model.state.compare import Values, columns
from memtile.model.state.state import State

Array = npt.NDArray[Any]
Counts = Mapping[Owner, int]


class Form(NamedTuple):
    """Type and shape of an array in a file.

    Attributes:
        dtype: of its elements; None = any.
        shape: of it, a length of -1 is any; None = any.
    """

    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None

    def fits(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
        """Whether an array has this form."""
        if self.dtype is not None and self.dtype != dtype:
            return False
        if self.shape is None:
            return True
        same = len(shape) == len(self.shape)
        return same and all(b in (-1, a) for a, b in zip(shape, self.shape, strict=True))

    def __str__(self) -> str:
        """As in a message."""
        return f"{self.dtype} {list(self.shape or ())}"


def forms(built: State) -> dict[str, Form]:
    """The type and shape of each column that is saved of a model, by name."""
    return {each.name: Form(each.values.dtype, _shape(each)) for each in columns(built)}


def faults(built: State, saved: Mapping[str, Array]) -> list[Fault]:
    """What is wrong with the columns of a saved state, each of the form that :func:`forms` gives.

    Args:
        built: the same model as it was built.
        saved: the values by name of the column.
    """
    table = list(columns(built))
    rows = {each.owner: len(each.values) for each in reversed(table)}
    found = [fault for each in table for fault in _of_column(rows, each, saved)]
    if found:
        return found
    return [fault for link in LINKS for fault in link(built, saved)]


def _shape(each: Values) -> tuple[int, ...]:
    free = isinstance(each.column.holds, Holds) and each.column.holds.any_length
    return (-1, *each.values.shape[1:]) if free else each.values.shape


def _of_column(rows: Counts, each: Values, saved: Mapping[str, Array]) -> Iterator[Fault]:
    holds = each.column.holds
    if isinstance(holds, Roster):
        yield from _of_roster(rows, each.name, holds, saved)
    elif holds is not None:
        values = saved[each.name]
        first = _limit(rows, each, holds.first, saved)
        last = _limit(rows, each, holds.last, saved)
        if isinstance(holds.first, AtBuild) and values.shape != each.values.shape:
            yield Fault(each.name, (), len(values), f"{len(each.values)} rows, as the model has")
        elif not _within(values, first, last):
            yield _outside(each.name, values, first, last)


def _within(values: Array, first: Any, last: Any) -> bool:
    """Whether all values are in the range; of plain numbers the least and the largest value decide."""
    if not values.size:
        return True
    if isinstance(first, int) and isinstance(last, int):
        return bool(first <= int(values.min()) and int(values.max()) <= last)
    return bool(((values >= first) & (values <= last)).all())


def _outside(name: str, values: Array, first: Any, last: Any) -> Fault:
    at = np.argwhere((values < first) | (values > last))[0]
    place = tuple(at.tolist())
    low, high = (int(np.broadcast_to(limit, values.shape)[place]) for limit in (first, last))
    return Fault(name, place, int(values[place]), f"{low}" if low == high else f"{low}..{high}")


def _limit(rows: Counts, each: Values, limit: Limit, saved: Mapping[str, Array]) -> Any:
    """A limit as a number, or as an array of numbers for each element."""
    if isinstance(limit, Rows):
        return rows[limit.owner] - 1 + limit.more
    if isinstance(limit, Cycle):
        return int(saved["clock.now"][0]) + limit.more
    if isinstance(limit, Same):
        table = each.name.partition(".")[0]
        return _by_row(saved[f"{table}.{limit.column}"] + limit.more, each.values)
    if isinstance(limit, Row):
        return _by_row(np.arange(len(each.values)) + limit.more, each.values)
    return each.values if isinstance(limit, AtBuild) else int(limit)


def _by_row(limits: Array, values: Array) -> Array:
    return limits.reshape(-1, *[1] * (values.ndim - 1))


def _of_roster(rows: Counts, name: str, roster: Roster, saved: Mapping[str, Array]) -> Iterator[Fault]:
    values = saved[name]
    most = len(values) - 1 if roster.owner is not None else 0
    if not 0 <= values[0] <= most:
        yield Fault(name, (0,), int(values[0]), f"0..{most}" if most else "0")
    elif roster.owner is not None:
        yield from _of_members(name, rows[roster.owner], roster.flag, saved)


def _of_members(name: str, rows: int, flag: str, saved: Mapping[str, Array]) -> Iterator[Fault]:
    members = saved[name][1 : 1 + saved[name][0]]
    if not _within(members, 0, rows - 1):
        fault = _outside(name, members, 0, rows - 1)
        yield fault._replace(place=(fault.place[0] + 1,))
        return
    times = np.bincount(members, minlength=rows)
    wanted = saved[flag] == 1 if flag else np.minimum(times, 1)
    says = f"each row once in which {flag} is 1" if flag else "each row once"
    yield from wrong(name, times != wanted, times, says)
