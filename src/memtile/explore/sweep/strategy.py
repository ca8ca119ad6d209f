"""Which variants a sweep tries, in batches: what comes out of a batch decides the next one.

The same rows give the same batches, on however many processes they are tried: a sweep that goes on from its
log asks for what it asked for, and gets what is known from the log.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from memtile.errors import DesignError
from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.row import SweepRow, VariantState
from memtile.explore.sweep.space import Label, Point, Space, SweepAxis
from memtile.explore.sweep.variant_figures import FIGURES

Batch = Iterable[Point]
Batches = Generator[Batch, Sequence[SweepRow], None]
"""Yields batches of points and takes the rows of each, in the order of the points."""
BATCH = 16
LISTED = 256
"""Points of a batch where all are known beforehand, at most: some designs with several constants each."""
_IDLE_BATCHES = 8  # without a point that is new, after which points are taken by chance


def listed(points: Iterator[Point], *, whole: bool) -> Batches:
    """Points as they come: all in one batch, which nothing waits for, or in batches."""
    if whole:
        yield points
        return
    size = BATCH
    while batch := list(itertools.islice(points, size)):
        yield batch
        size = min(2 * size, LISTED)


def optimised(space: Space, objectives: Sequence[str], sampler: str, trials: int, seed: int) -> Batches:
    """Points that Optuna chooses, of those that it has not seen.

    Args:
        space: what is varied.
        objectives: names of figures.
        sampler: ``tpe`` (Bayesian), ``nsga2`` (evolutionary).
        trials: how many different points, at most.
        seed: of what is by chance.

    Raises:
        InputFileError: Optuna is not installed.
        DesignError: no such sampler.
    """
    optuna = extra("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    directions = ["minimize"] * len(objectives)
    study = optuna.create_study(directions=directions, sampler=_sampler(optuna, sampler, seed))
    spreads = {axis.name: _spread(optuna, axis) for axis in space.axes}
    fallback = space.random(space.size or trials, seed)
    seen: set[tuple[Label, ...]] = set()
    idle, most = 0, trials if space.size is None else min(trials, space.size)
    while len(seen) < most:
        asked = [study.ask(spreads) for _ in range(BATCH)]
        points: list[Point] = [
            {axis.name: _label(axis, each.params[axis.name]) for axis in space.axes} for each in asked
        ]
        new = [point for point in _different(points) if tuple(point.values()) not in seen]
        idle = 0 if new else idle + 1
        if idle >= _IDLE_BATCHES:
            rest = (point for point in fallback if tuple(point.values()) not in seen)
            points, asked = list(itertools.islice(rest, BATCH)), []
            new = points
        new = new[: most - len(seen)]
        seen.update(tuple(point.values()) for point in new)
        known = [point for point in _different(points) if tuple(point.values()) in seen]
        rows = yield known
        told = {tuple(row.point[axis.name] for axis in space.axes): row for row in rows}
        for each, point in zip(asked, points, strict=False):
            _tell(study, each, told.get(tuple(point.values())), objectives)


def _different(points: Iterable[Point]) -> Iterator[Point]:
    yield from {tuple(point.values()): point for point in points}.values()


def _sampler(optuna: Any, name: str, seed: int) -> Any:
    samplers = {
        "tpe": lambda: optuna.samplers.TPESampler(seed=seed),
        "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=seed, population_size=2 * BATCH),
    }
    if name in samplers:
        return samplers[name]()
    listed = ", ".join(samplers)
    raise DesignError.of(
        "sampler", repr(name), listed, reason="sampler", where="sweep", source="docs/sweep.md"
    )


def _spread(optuna: Any, axis: SweepAxis) -> Any:
    """The distribution of an axis: numbers in even steps as numbers, so that near means alike."""
    spread = optuna.distributions
    if not axis.values:
        return spread.FloatDistribution(*axis.span, log=axis.log)
    if _in_order(axis.values):
        return spread.IntDistribution(0, len(axis.values) - 1)
    return spread.CategoricalDistribution(range(len(axis.values)))


def _in_order(values: Sequence[Label]) -> bool:
    if len(values) < 2 or any(
        isinstance(value, bool) or not isinstance(value, int | float) for value in values
    ):
        return False
    return all(a < b for a, b in itertools.pairwise(values))  # type: ignore[operator]


def _label(axis: SweepAxis, value: Any) -> Label:
    return axis.values[value] if axis.values else float(value)


def _tell(study: Any, trial: Any, row: SweepRow | None, objectives: Sequence[str]) -> None:
    """Tell Optuna what came of a point; what is not good has broken a constraint, or is worse than others."""
    state = extra("optuna").trial.TrialState
    if row is None:
        study.tell(trial, state=state.FAIL)
        return
    if row.state is VariantState.GOOD:
        trial.set_constraint("feasible", 0.0)
        study.tell(trial, [FIGURES[name].cost(row.figures[name]) for name in objectives])
        return
    known = {name: FIGURES[name].cost(row.figures.get(name, _WORST)) for name in objectives}
    trial.set_constraint("feasible", 0.0 if row.state is VariantState.BEATEN else 1.0)
    study.tell(trial, [abs(_WORST) if value == -_WORST else value for value in known.values()])


_WORST = 1e12  # cost of what is not known
