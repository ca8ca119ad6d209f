"""Which variants are better than which: domination and the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtile.explore.sweep.figures import FIGURES

Costs = tuple[float, ...]
"""Of one variant, one number for each objective, less being better."""


def costs_of(figures: Mapping[str, float], objectives: Sequence[str]) -> Costs:
    """The costs of a variant."""
    return tuple(FIGURES[name].cost(figures[name]) for name in objectives)


def dominates(one: Costs, other: Costs) -> bool:
    """Whether one variant is nowhere worse and somewhere better than another."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def front(costs: Sequence[Costs]) -> list[int]:
    """Places of those that nobody dominates, in the order of their costs; equals are all in it."""
    kept: list[int] = []
    for place in sorted(range(len(costs)), key=lambda place: (costs[place], place)):
        if not any(dominates(costs[other], costs[place]) for other in kept):
            kept.append(place)
    return kept
