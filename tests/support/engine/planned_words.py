"""The words of the state that fast-forward plans to compare, by their addresses, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.jit.addresses import WORD
from memtile.jit.tables import plain
from memtile.model.state.columns import Column, Reset
from memtile.model.state.state import State
from memtile.model.state.state_differences import columns
from memtile.sim.loop.engine import Engine
from memtile.sim.skip import compared_columns as plan
from memtile.sim.skip import live_parts
from memtile.sim.skip.records import Arrays, RowsOf, SpanRule, Spans
from memtile.sim.skip.repeat_guards import quiet_elsewhere

Ints = npt.NDArray[np.int64]


def planned(st: State) -> Arrays:
    """The arrays of fast-forward with a plan of what is live now."""
    work = plan.arrays(st)
    live_parts.make_plan(st, work)
    return work


def addresses(work: Arrays) -> tuple[Ints, Ints]:
    """Address of each word of the plan, and how it is compared."""
    plan, count = plain(work.plan), int(work.search.span_count[0])
    spans = list(zip(*(getattr(plan, name)[:count].tolist() for name in Spans._fields), strict=True))
    found = [
        (first + np.add.outer(np.arange(rows) * apart, np.arange(words) * WORD)).ravel()
        for first, rows, apart, words, *_ in spans
    ]
    compared = [how for _, rows, _, words, how, _ in spans for _ in range(rows * words)]
    return np.concatenate(found), np.array(compared)


def compared_columns(st: State) -> Iterator[tuple[str, Column, npt.NDArray[Any], SpanRule, Ints]]:
    """Name, declaration and values of each column that is compared, how, and the addresses of its words."""
    for name, values, column, owner in columns(st):
        how = plan.how(name, column, owner)
        if how is None or not values.size or ("." not in name and column.reset is Reset.OUTSIDE):
            continue
        if plan.LISTS.get(name) is RowsOf.LENGTH:
            values = values[:1]
        yield name, column, values, how, addresses_of(values)


def addresses_of(values: npt.NDArray[Any]) -> Ints:
    """Address of each element."""
    places = np.full(values.shape, values.__array_interface__["data"][0])
    for axis, stride in enumerate(values.strides):
        along = [1] * values.ndim
        along[axis] = -1
        places += (np.arange(values.shape[axis]) * stride).reshape(along)
    return places


def changed_outside(engine: Engine, cycles: int) -> set[str]:
    """Names of the columns in which stepping so far changes words that the plan does not have.

    Accounts of what rests are booked for all, live or not. Columns of which it is said that they stay are
    looked at as well.
    """
    st = engine.state
    assert quiet_elsewhere(st)
    inside = np.sort(addresses(planned(st))[0])
    before = {name: values.copy() for name, values in planned_columns(st)}
    engine.forward.on = False
    engine.run(engine.now + cycles)
    return {
        name
        for name, values in planned_columns(engine.state)
        if not np.isin(addresses_of(values)[values != before[name]], inside).all()
    }


def planned_columns(st: State) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Name and values of each column that is compared, accounts aside, or stays."""
    for name, _, values, how, _ in compared_columns(st):
        if how is not SpanRule.ACCOUNT:
            yield name, values
    for name, values, column, owner in columns(st):
        if plan.stays(name, column, owner):
            yield name, values
