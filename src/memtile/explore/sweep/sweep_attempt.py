"""One variant tried, in whatever process: made, judged before its run, run, and judged after it."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memtile.arch.energy import energy_table
from memtile.arch.timing import chosen_timing
from memtile.design.array import Array
from memtile.design.bench import Bench
from memtile.design.memory_tile import MemoryTile
from memtile.design.run_design import make
from memtile.errors import InputFileError, MemtileError
from memtile.explain.outcome import reasons_at_limit
from memtile.explain.results import Result, Status
from memtile.explore.sweep.prepared import keep, prepared
from memtile.explore.sweep.row import (
    Costs,
    SweepRow,
    Variant,
    VariantState,
    costs_of,
    dominates,
    fault,
    points_of,
    row_of,
)
from memtile.explore.sweep.sources import loaded
from memtile.explore.sweep.variant_figures import after_run, before_run, energy_of
from memtile.importers.design_file import guarded, user_code

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram

_MAKING = threading.Lock()  # modules of users are loaded, and designs made, one after another


_BEST = {"energy": 0.0, "share": 1.0}  # what only a run tells, at its best
BOUND = "bound"
"""Among the figures of what was stopped early: cycles that it needs at least."""


Subject: TypeAlias = "str | GraphProgram"
"""What variants are of: a design by its file, or a graph in C++."""


@dataclass(frozen=True, slots=True)
class Rivals:
    """Variants that are known: what cannot be better than them need not run to its end.

    Attributes:
        objectives: by which variants are compared.
        costs: of those that are on the front so far; none = everything runs.
    """

    objectives: Sequence[str]
    costs: Sequence[Costs] = ()

    def beat(self, figures: Mapping[str, float], bound: int) -> bool:
        """Whether one of them is better than a variant can be."""
        best = costs_of({**figures, **_BEST, "cycles": bound}, self.objectives)
        return any(dominates(costs, best) for costs in self.costs)

    def spare(self, row: SweepRow) -> bool:
        """Whether what is known of a variant is enough: one stopped early may have had other rivals."""
        return row.state is not VariantState.BEATEN or self.beat(row.figures, int(row.figures[BOUND]))

    def cycles(self, figures: Mapping[str, float]) -> float:
        """From how many cycles on one of them is better, or as good and earlier; infinite = from none."""
        if "cycles" not in self.objectives:
            return math.inf
        best = costs_of({**figures, **_BEST, "cycles": -math.inf}, self.objectives)
        at = self.objectives.index("cycles")
        worse = (
            costs[at]
            for costs in self.costs
            if all(a <= b for n, (a, b) in enumerate(zip(costs, best, strict=True)) if n != at)
        )
        return min(worse, default=math.inf)


def attempt(subject: Subject, task: Variant, rivals: Rivals) -> SweepRow:
    """Try a variant.

    Args:
        subject: file of a design, or a graph.
        task: the variant.
        rivals: variants that are known; those of graphs run to their end whatever is known.
    """
    begin = time.perf_counter()
    if isinstance(subject, str):
        file, row = subject, _attempt(subject, task, rivals)
    else:
        from memtile.explore.sweep.graph_variants import attempt_graph

        file, row = str(subject.files[0]), attempt_graph(subject, task)
    folder = f"{Path(file).parent}/"
    why = row.why.replace(folder, "") if folder != "./" else row.why
    return replace(row, why=why, seconds=time.perf_counter() - begin)


def _attempt(file: str, task: Variant, rivals: Rivals) -> SweepRow:
    given, constants = points_of(task)
    figures: dict[str, float] = {}
    bad, beaten = VariantState.INFEASIBLE, VariantState.BEATEN
    try:
        with chosen_timing({name: int(str(value)) for name, value in constants.items()}):
            with _MAKING:
                function = loaded(file, task.sources)
                key = (file, task.sources, json.dumps(given, sort_keys=True))
                its_own = {} if task.check else constants
                ready = prepared(key, its_own, lambda: _made(file, function, given))
            made = ready.made
            figures = before_run(made)
            if rivals.costs and rivals.beat(figures, bound := ready.bound):
                keep(key, ready)
                why = f"no run of it is shorter than {bound} cycles, and a variant that is known is better"
                return row_of(task, beaten, why, "bound", {**figures, BOUND: bound})
            limit = min(task.max_cycles, rivals.cycles(figures) + 1)
            options = replace(task, max_cycles=int(limit), data=task.data and _bench(made).compares)
            with reasons_at_limit(limit >= task.max_cycles):
                result = guarded(file, lambda: made.run(options))
            row = _judged(task, made, result, figures, limit)
            keep(key, ready)
    except InputFileError as error:
        return row_of(task, bad, _line(error), "failed", figures)
    except MemtileError as error:
        return row_of(task, bad, _line(error), "refused", figures)
    return row


def _made(file: str, function: Callable[..., Any], given: Mapping[str, object]) -> MemoryTile | Array:
    """The design, ready to run: routed, if it is an array."""
    made: MemoryTile | Array = user_code(Path(file), lambda: make(function, given, file))
    if isinstance(made, Array):
        guarded(file, made.route)
    return made


def _bench(made: MemoryTile | Array) -> Bench:
    return made if isinstance(made, Array) else made.bench


def _judged(
    task: Variant, made: MemoryTile | Array, result: Result, figures: Mapping[str, float], limit: float
) -> SweepRow:
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.good:
        found = after_run(made, figures, result)
        if task.energy:
            found["energy"] = energy_of(made, result, energy_table(task.energy))
        return row_of(task, VariantState.GOOD, "", "", found)
    if result.status is Status.LIMIT and limit < task.max_cycles:
        why = f"not done after {limit - 1:.0f} cycles, in which a variant that is known was"
        return row_of(task, VariantState.BEATEN, why, "cycles", {**figures, BOUND: int(limit)})
    kind, why = fault(result)
    return row_of(task, VariantState.INFEASIBLE, why, kind, figures)


def _line(error: MemtileError) -> str:
    return " ".join(" ".join(error.messages).split())
