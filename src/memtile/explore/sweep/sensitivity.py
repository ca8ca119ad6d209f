"""How much each thing that was varied moves a figure: the part of its variance that it explains alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby

from memtile.explore.sweep.row import SweepRow
from memtile.explore.sweep.space import Space, SweepAxis

_BINS = 8  # of an axis without steps
Effects = Mapping[str, float]
"""By name of an axis, 0 to 1."""


def sensitivity(space: Space, rows: Sequence[SweepRow], figure: str) -> Effects:
    """The part of a figure's variance over good variants that each axis explains alone, largest first.

    It is the variance of the means that the figure has at each value of the axis, over that of all (the
    correlation ratio; of a whole grid the first-order index of Sobol). What only several axes together do is
    in none of them, so that the parts of a grid add up to at most 1; of a search they need not.

    Args:
        space: what was varied.
        rows: good variants.
        figure: name of a figure that all of them have.
    """
    values = [row.figures[figure] for row in rows]
    total = _variance(values)
    found = {axis.name: _between(axis, rows, values) / total if total else 0.0 for axis in space.axes}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _between(axis: SweepAxis, rows: Sequence[SweepRow], values: Sequence[float]) -> float:
    """The variance of the means of groups, each as heavy as it has members."""
    pairs = sorted(((_group(axis, row), value) for row, value in zip(rows, values, strict=True)), key=str)
    means: list[float] = []
    for _, members in groupby(pairs, key=lambda pair: pair[0]):
        group = [value for _, value in members]
        means += [math.fsum(group) / len(group)] * len(group)
    return _variance(means)


def _group(axis: SweepAxis, row: SweepRow) -> Hashable:
    """The value of an axis, or the bin of a number."""
    label = row.point.get(axis.name)
    if axis.values or not isinstance(label, int | float):
        return repr(label)
    low, high = axis.span
    return min(int((label - low) / (high - low) * _BINS), _BINS - 1) if high > low else 0


def _variance(values: Sequence[float]) -> float:
    if not values:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)
