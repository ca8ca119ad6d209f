"""A sweep: variants of a design tried by a strategy, their rows kept in a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memtile.arch.timing import chosen_timing
from memtile.design.parameters import chosen
from memtile.documents import plain
from memtile.errors import DesignError, Problem, SimulationError, raise_if
from memtile.explore.sweep.cluster import ClusterRunner
from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.processes import HereRunner, ProcessRunner, Request
from memtile.explore.sweep.row import SweepRow, Variant, VariantState, costs_of, front
from memtile.explore.sweep.sources import loaded, sources_of
from memtile.explore.sweep.space import TIMING, Label, Point, Space, label, space_of
from memtile.explore.sweep.strategy import Batches, listed, optimised
from memtile.explore.sweep.sweep_attempt import Rivals, Subject
from memtile.explore.sweep.sweep_result import INTERRUPTED, SweepResult
from memtile.explore.sweep.variant_figures import objectives_of, table_for
from memtile.runs.options import RunOptions
from memtile.system import system

if TYPE_CHECKING:
    from memtile.adf.graph_file import GraphProgram

Strategy = Literal["grid", "random", "optimise"]
SECONDS = 120.0
"""Time for a variant, after which its process is ended."""
TRIALS = 100
BUDGET = "the time is over"
Watch = Callable[[SweepRow, int, int | None], None]
"""Is given each row as it comes, how many there are, and how many there will be; None = nobody knows."""


class Runner(Protocol):
    """Tries variants, here or in other processes."""

    def rows(self, requests: Iterable[Request]) -> Iterator[SweepRow]:
        """The row of each request, as they come."""

    def close(self) -> None:
        """End what was begun."""


@dataclass(frozen=True, slots=True)
class SweepPlan(RunOptions):
    """What is tried, and how; the options of each run too. See :func:`sweep`."""

    strategy: Strategy = "grid"
    count: int | None = None
    objectives: str = "cycles"
    vary: Mapping[str, str] = field(default_factory=dict)
    set: Mapping[str, object] = field(default_factory=dict)
    timing: Mapping[str, int] = field(default_factory=dict)
    sampler: str = "tpe"
    seed: int = 0
    budget: float | None = None
    prune: bool | None = None
    workers: int | None = None
    seconds: float = SECONDS
    scheduler: str = ""
    energy: str = ""


def sweep(
    design: str | Path | GraphProgram,
    plan: SweepPlan | None = None,
    *,
    log: str | Path | None = None,
    watch: Watch | None = None,
) -> SweepResult:
    """Try variants of a design: ``memtile sweep`` from Python.

    Ctrl-C ends it and keeps the finished variants, in the result and in the log.

    Args:
        design: Python file with a ``design()`` function, or a graph in C++ (:func:`memtile.adf.load`), whose
            macros are varied.
        plan: the variants to try; None = the grid of all parameters with known values, by cycles.
        log: Parquet file with the rows; variants in it from the same sources are not run again. None = no
            log.
        watch: called with each row.

    Raises:
        InputFileError: files that cannot be read or written, packages that are missing.
        DesignError: options that do not apply to a sweep, nothing to vary, names or values that the design
            does not have, or an unknown objective.
        SimulationError: no scheduler at the address; a lost scheduler ends the sweep, see
            ``SweepResult.lost``.
    """
    subject = str(design) if isinstance(design, str | Path) else design
    return Sweep(subject, plan or SweepPlan()).run(None if log is None else Path(log), watch)


@dataclass(frozen=True, slots=True)
class _Swept:
    """What a sweep goes through.

    Attributes:
        name: of the file.
        hash: of its sources and of memtile's.
        sources: for logs; empty = of a graph, which no log brings along.
        space: what is varied.
        fixed: labels of what is set.
    """

    name: str
    hash: str
    sources: Mapping[str, Any]
    space: Space
    fixed: Mapping[str, Label]


def _of_design(file: str, plan: SweepPlan, constants: Mapping[str, object]) -> _Swept:
    sources = sources_of(file)
    function = loaded(file, sources.hash)
    space = space_of(function, plan.vary, {**plan.set, **constants}, file)
    first = {axis.name: (*axis.values, axis.span[0])[0] for axis in space.axes}
    given = {name: value for name, value in first.items() if not name.startswith(TIMING)}
    values = chosen(function, {**given, **plan.set}, file)
    fixed = {name: label(values[name]) for name in plan.set}
    return _Swept(sources.name, sources.hash, {sources.hash: plain(sources)}, space, fixed)


def _of_graph(graph: GraphProgram, plan: SweepPlan, constants: Mapping[str, object]) -> _Swept:
    from memtile.explore.sweep.graph_variants import fixed_labels, graph_hash, macro_space

    plan.refuse("a sweep of a graph", "data", "pad_arguments", "dispatch")
    wrong = {"--scheduler": plan.scheduler, "--prune": plan.prune}
    raise_if([_not_of_graphs(name) for name, given in wrong.items() if given], DesignError)
    space = macro_space(graph, plan.vary, {**plan.set, **constants})
    return _Swept(graph.files[0].name, graph_hash(graph), {}, space, fixed_labels(plan.set))


def _not_of_graphs(name: str) -> Problem:
    says = f"{name} is for designs in Python; variants of a graph in C++ run here, and to their end"
    return Problem(
        name,
        "given",
        "a sweep without it",
        says,
        f"Leave {name} out.",
        reason="option",
        where="sweep",
        source="docs/sweep.md",
    )


class Sweep:
    """A sweep that is ready to run.

    Args:
        subject: file of a design, or a graph in C++.
        plan: what is tried.
    """

    def __init__(self, subject: Subject, plan: SweepPlan) -> None:
        self.subject, self.plan = subject, plan.refuse("a sweep", "untimed", "history", "progress")
        self.objectives = objectives_of(plan.objectives)
        self.energy = table_for(plan.energy, self.objectives)
        with chosen_timing(plan.timing):  # names and ranges
            pass
        constants = dict.fromkeys(f"{TIMING}{name}" for name in plan.timing)
        of = (
            _of_design(subject, plan, constants)
            if isinstance(subject, str)
            else _of_graph(subject, plan, constants)
        )
        self._swept, self.space, self.hash = of, of.space, of.hash
        self._fixed = {**of.fixed, **{f"{TIMING}{name}": value for name, value in plan.timing.items()}}
        self._rows: dict[str, SweepRow] = {}
        self._numbers: dict[str, int] = {}
        self._ran, self._stopped, self._lost = 0, "", False

    @property
    def total(self) -> int | None:
        """How many variants there will be, at most; None = nobody knows."""
        size, count = self.space.size, self.plan.count
        if self.plan.strategy == "grid":
            return size
        count = TRIALS if count is None and self.plan.budget is None else count
        return size if count is None else count if size is None else min(size, count)

    @property
    def head(self) -> dict[str, Any]:
        """What the log says of it."""
        return {
            "design": self._swept.name,
            "hash": self.hash,
            "sources": dict(self._swept.sources),
            "space": plain(self.space.axes),
            "set": dict(self._fixed),
            "objectives": list(self.objectives),
            "strategy": self.plan.strategy,
            "max_cycles": self.plan.max_cycles,
            "check": self.plan.check,
            "energy": self.energy,
            "data": self.plan.data,
        }

    def run(self, path: Path | None, watch: Watch | None, *, restart: bool = False) -> SweepResult:
        """Do it; see :func:`sweep`. With ``restart`` the rows of the log are replaced at the end."""
        begin = system().monotonic()
        batches = self._batches()
        log = None if path is None else Log(path)
        if log is not None and restart:
            log.forget()
        with closing(self._runner()) as runner:
            with nullcontext() if log is None else log.open(self.head):
                try:
                    self._go(batches, runner, log, watch or (lambda *_: None), begin)
                except KeyboardInterrupt:
                    self._stopped = INTERRUPTED
                except SimulationError as error:
                    self._stopped, self._lost = str(error), True
            if isinstance(runner, ClusterRunner) and log is not None and not self._stopped:
                runner.forget()
        lost = runner.lost_workers if isinstance(runner, ClusterRunner) and not self._lost else 0
        return replace(self._result(system().monotonic() - begin), lost_workers=lost)

    def _batches(self) -> Batches:
        plan, seed = self.plan, self.plan.seed
        if plan.strategy == "optimise":
            extra("optuna")  # what is missing is told before the log is begun
            most = self.total if self.total is not None else 1 << 30
            return optimised(self.space, self.objectives, plan.sampler, most, seed)
        is_grid = plan.strategy == "grid"
        points = self._spread() if is_grid else self.space.random(self.total or 1 << 30, seed)
        return listed(points, whole=not self._prunes)

    def _spread(self) -> Iterator[Point]:
        """The points of the grid, good ones early; their rows have the numbers of the grid."""
        for number, point in self.space.spread():
            self._numbers[self._variant(point).key] = number
            yield point

    def _variant(self, point: Point) -> Variant:
        return Variant(self.hash, {**self._fixed, **point}, self.energy, **self.plan.changed())

    @property
    def _prunes(self) -> bool:
        if not isinstance(self.subject, str):
            return False  # main may wait more than once, and each wait has its own limit
        return self.plan.strategy == "optimise" if self.plan.prune is None else self.plan.prune

    def _runner(self) -> Runner:
        plan = self.plan
        if plan.scheduler and isinstance(self.subject, str):
            return ClusterRunner(plan.scheduler, self.subject, sources_of(self.subject))
        if plan.workers == 0:
            return HereRunner(self.subject)
        return ProcessRunner(self.subject, plan.workers or _processors(), plan.seconds)

    def _go(self, batches: Batches, runner: Runner, log: Log | None, watch: Watch, begin: float) -> None:
        end = None if self.plan.budget is None else begin + self.plan.budget
        batch = next(batches, None)
        while batch is not None:
            asked: list[str] = []
            for row in runner.rows(self._requests(batch, asked, log, watch, end)):
                self._ran += 1
                if log is not None:
                    log.add(replace(row, number=self._numbers[row.key]))
                self._keep(row, watch)
            if self._stopped:
                return
            try:
                batch = batches.send([self._rows[key] for key in asked])
            except StopIteration:
                return

    def _requests(
        self, batch: Iterable[Point], asked: list[str], log: Log | None, watch: Watch, end: float | None
    ) -> Iterator[Request]:
        """What of a batch is not known yet; notes all its keys in ``asked``."""
        rivals = Rivals(self.objectives, self._best() if self._prunes else ())
        for point in batch:
            task = self._variant(point)
            known = self._rows.get(task.key) or (log.rows.get(task.key) if log is not None else None)
            asked.append(task.key)
            self._numbers.setdefault(task.key, len(self._numbers))
            if known is not None and rivals.spare(known):
                self._keep(known, watch)
                continue
            if end is not None and system().monotonic() > end:
                self._stopped = BUDGET
                return
            yield task, rivals

    def _keep(self, row: SweepRow, watch: Watch) -> None:
        """Have a row, with its place among those that were asked for."""
        new = row.key not in self._rows
        self._rows[row.key] = replace(row, number=self._numbers[row.key])
        if new:
            watch(self._rows[row.key], len(self._rows), self.total)

    def _best(self) -> list[tuple[float, ...]]:
        good = [row for row in self._rows.values() if row.state is VariantState.GOOD]
        costs = [costs_of(row.figures, self.objectives) for row in good]
        return [costs[place] for place in front(costs)]

    def _result(self, seconds: float) -> SweepResult:
        rows = sorted(self._rows.values(), key=lambda row: row.number)
        return SweepResult(
            design=self._swept.name,
            space=self.space,
            objectives=self.objectives,
            rows=tuple(rows),
            ran=self._ran,
            seconds=seconds,
            stopped=self._stopped,
            lost=self._lost,
            expected=self.total,
        )


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
