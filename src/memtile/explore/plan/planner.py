"""From what a layer needs to designs: candidates are estimated, the best tried, the best of those proved."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol, Unpack

from memtile.arch.devices import device as find_device
from memtile.arch.timing import chosen_timing
from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, refuse
from memtile.explore.plan.convolution import Convolution
from memtile.explore.plan.plan_result import PlannedWork, PlanResult, Proof, arguments_of, prove, template
from memtile.explore.sweep.processes import HereRunner, ProcessRunner, Request
from memtile.explore.sweep.row import SweepRow, Variant, VariantState, costs_of, front
from memtile.explore.sweep.sources import sources_of
from memtile.explore.sweep.space import TIMING
from memtile.explore.sweep.sweep_attempt import Rivals
from memtile.explore.sweep.variant_figures import objectives_of, table_for
from memtile.output_files import write_output
from memtile.runs.options import USUAL, RunKeywords, RunOptions

TRIED = 24
"""Candidates that are simulated if nothing else is said."""
SECONDS = 300.0
_SLOWEST = 3  # times the estimate of the fastest: what is expected to take longer is tried last
_ROUND = 8  # candidates that are tried before those that they beat are left out
Watch = Callable[[SweepRow, int, int], None]


class PlannedLayer(Protocol):
    """What is to be computed: ``Gemm``, ``Convolution``, ``Attention``, ``RowReduction``."""

    template: ClassVar[str]
    """Name of the design with holes."""

    @property
    def title(self) -> str:
        """One line."""

    @property
    def products(self) -> int:
        """Multiplications of the layer; 0 = they do not bound it."""

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels."""


def plan(
    layer: PlannedLayer,
    *,
    device: str = "npu1",
    columns: int | None = None,
    objectives: str = "cycles,l2,bds",
    tried: int = TRIED,
    proved: int = 1,
    workers: int = 0,
    timing: Mapping[str, int] | None = None,
    energy: str = "",
    watch: Watch | None = None,
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> PlanResult:
    """Return designs for a layer, ranked by simulated cycles; ``memtile plan`` does the same.

    All placements of the layer that fit into memories and channels are estimated, and the most promising ones
    simulated without data. The best is then run with data: it must be bit-exact and have no finding.

    Args:
        layer: the layer to compute.
        device: that it is for.
        columns: of the device that may be used; all if omitted.
        objectives: figures that rank the designs, the most important first; see docs/sweep.md.
        tried: number of candidates to simulate.
        proved: number of the best designs that get a certificate.
        workers: processes; 0 = this one.
        timing: timing constants of all runs, by name.
        energy: table of energies, see docs/sweep.md; empty = none is counted unless it is an objective.
        watch: called with each row, the number of rows so far and the expected total.
        options: of each run.
        more: fields of :class:`RunOptions`.

    Raises:
        DesignError: a layer that cannot be laid out, no such device, objective, columns or timing constant.
    """
    options = RunOptions.of(options, more).refuse("a plan", "untimed", "history", "progress")
    begin, names, machine = time.monotonic(), objectives_of(objectives), _machine(device, columns)
    table = table_for(energy, names)
    layer = layer.on(machine) if isinstance(layer, Convolution) else layer
    found = list(layer.candidates(machine)) or _none(layer, machine)
    fixed = {**layer.fixed(machine), **{f"{TIMING}{name}": at for name, at in (timing or {}).items()}}
    points = [{**fixed, **candidate.point, "data": False} for candidate in _promising(found, tried)]
    with chosen_timing(timing or {}), _file(layer.template) as file:
        hash_ = sources_of(file).hash
        tasks = [Variant(hash_, point, table, **options.changed()) for point in points]
        rows = _tried(file, tasks, names, workers, watch)
        ranked, proofs, failed = _ranked(file, rows, names, proved, options)
    return PlanResult(
        *(layer.template, layer.title, machine.title, names),
        tuple(ranked),
        tuple(failed),
        proofs,
        len(found),
        time.monotonic() - begin,
        timing=dict(timing or {}),
        work=PlannedWork(layer.products, int(fixed.get("macs", 0)), machine.cores),
    )


def _none(layer: PlannedLayer, machine: Machine) -> list[PlanCandidate]:
    allowed = f"parts of {machine.l1} bytes for a core and {machine.l2} for a memory tile, at most"
    says = f"no way to cut {layer.title} has {allowed}"
    raise refuse(layer.template, "layer", layer.title, allowed, says, "Make smaller layers of it.")


def _machine(name: str, columns: int | None) -> Machine:
    device = find_device(name)
    count = device.columns if columns is None else columns
    if not 1 <= count <= device.columns:
        raise refuse(device.name, "columns", count, f"1..{device.columns}")
    return Machine(device, count)


def _promising(found: Iterable[PlanCandidate], count: int) -> list[PlanCandidate]:
    """The fastest by estimate, and among the others those that need least memory for their cycles."""
    order = sorted(found, key=lambda each: (each.cycles, each.l2))
    fast = order[: -(-count // 2)]
    rest = order[len(fast) :]
    near = [each for each in rest if each.cycles <= _SLOWEST * order[0].cycles]
    small = [near[place] for place in front([(each.cycles, each.l2) for each in near])]
    chosen = [*fast, *small[: count - len(fast)]]
    taken = {id(each) for each in chosen}
    return [*chosen, *(each for each in rest if id(each) not in taken)][:count]


@contextmanager
def _file(name: str) -> Iterator[str]:
    """The design with holes as a file."""
    with tempfile.TemporaryDirectory(prefix="memtile-plan-") as folder:
        path = Path(folder, f"{name}_plan.py")
        write_output(path, template(name), durable=False)
        yield str(path)


def _tried(
    file: str,
    tasks: Sequence[Variant],
    names: Sequence[str],
    workers: int,
    watch: Watch | None,
) -> list[SweepRow]:
    numbers = {task.key: n for n, task in enumerate(tasks)}
    rows: list[SweepRow] = []
    runner = ProcessRunner(file, workers, SECONDS) if workers else HereRunner(file)
    try:
        for first in range(0, len(tasks), _ROUND):
            good = [costs_of(row.figures, names) for row in rows if row.state is VariantState.GOOD]
            rivals = Rivals(names, [good[place] for place in front(good)])
            requests: list[Request] = [(task, rivals) for task in tasks[first : first + _ROUND]]
            for row in runner.rows(requests):
                rows.append(replace(row, number=numbers[row.key]))
                if watch is not None:
                    watch(rows[-1], len(rows), len(tasks))
    finally:
        runner.close()
    return sorted(rows, key=lambda row: row.number)


def _ranked(
    file: str, rows: Sequence[SweepRow], names: Sequence[str], proved: int, options: RunOptions
) -> tuple[list[SweepRow], dict[str, Proof], list[SweepRow]]:
    """Good rows, best first; certificates of the best; those that are no good."""
    good = [row for row in rows if row.state is VariantState.GOOD]
    good.sort(key=lambda row: (costs_of(row.figures, names), row.number))
    failed = [row for row in rows if row.state is not VariantState.GOOD]
    proofs: dict[str, Proof] = {}
    kept: list[SweepRow] = []
    for row in good:
        if len(proofs) < proved:
            proof = prove(file, arguments_of(row), row.figures["cycles"], options)
            if not proof.holds:
                failed.append(replace(row, state=VariantState.INFEASIBLE, why=proof.why, kind="certificate"))
                continue
            proofs[row.key] = proof
        kept.append(row)
    return kept, proofs, failed
