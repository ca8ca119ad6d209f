"""One test of a design: checked, run with its arrays, compared, and its cycles held to a budget."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.timing import chosen_timing
from memtile.check.check import refused
from memtile.check.check_result import CheckResult
from memtile.cli.check import checked
from memtile.cli.costs import design_costs
from memtile.cli.failure import UsageError, expected_end, internal_error
from memtile.cli.graph_file import graph_program, is_graph
from memtile.cli.iron_program import is_iron
from memtile.cli.kernel_sources import KernelSources
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.runnable import (
    ProgramOptions,
    Runnable,
    iron_design,
    mlir_design,
    program_files,
    python_design,
)
from memtile.errors import InputFileError, MemtileError
from memtile.explain.finding_places import in_order
from memtile.explain.findings import Finding, Severity
from memtile.explain.results import Status
from memtile.explore.line_answers import answer_lines
from memtile.explore.suite.arrays import LAST_NAME, against, read_expected
from memtile.explore.suite.cases import DesignCase
from memtile.explore.suite.outcome import CaseOutcome, Verdict
from memtile.explore.suite.settings import CaseSettings
from memtile.explore.suite.uses import refuse_unused, takes
from memtile.explore.survey.survey_cases import LAST, Facts, facts_of
from memtile.importers.design_file import silent
from memtile.importers.hosted_array import HostedArray
from memtile.runs.array_names import Given, Wanted
from memtile.runs.options import USUAL, RunOptions
from memtile.runs.program import Run
from memtile.sim.loop.engine_warmup import ready

_REFUSED = ("MT0100", "MT0101", "MT0102")
_MISSING = {"mlir_unknown": "operation", "mlir_external": "function"}
UNKNOWN = "nothing says what must come out"


def serve() -> None:
    """Test the designs that come in, until there are no more; Ctrl-C is for the process that asks.

    A request without a design is answered when the engine is there.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer_lines(_answer)


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    if asked["case"] is None:
        ready()
        return {}
    with chosen_timing(asked["timing"]):
        return attempt(DesignCase.of(asked["case"]), RunOptions(**asked["run"])).as_json()


class _Ended(NamedTuple):
    """How a run ended.

    Attributes:
        run: result and arrays.
        is_known: something says what must come out.
        wrong: what is wrong beside findings and comparisons; empty if nothing is.
        device: that it ran on.
    """

    run: Run
    is_known: bool
    wrong: str = ""
    device: str = ""


def attempt(case: DesignCase, options: RunOptions = USUAL) -> CaseOutcome:
    """Test a design; whatever happens becomes an outcome.

    Args:
        case: the design, and how it is tested.
        options: of its run.
    """
    return attempt_run(case, options)[0]


def attempt_run(case: DesignCase, options: RunOptions = USUAL) -> tuple[CaseOutcome, Run | None]:
    """The outcome of a test as :func:`attempt`, and the run; None = it never began."""
    start = time.monotonic()
    file = str(case.design.path)
    empty = CaseOutcome(
        case.name, file, Verdict.BROKEN, budget=case.budget, baseline=case.baseline,
        allow_unknown=case.settings.allow_unknown,
    )  # fmt: skip
    run: Run | None = None
    try:
        found, run = _tested(case, empty, options)
    except (MemtileError, UsageError) as error:
        found = _refusal(empty, error)
    except Exception as error:  # the next design is tested whatever this one does
        if (end := expected_end(error, [file])) is not None:
            found = replace(empty, why=end[0])
        else:
            found = replace(empty, verdict=Verdict.ERROR, why=internal_error(error).replace("\n", ". "))
    return replace(found, seconds=time.monotonic() - start), run


def _refusal(empty: CaseOutcome, error: Any) -> CaseOutcome:
    if not isinstance(error, MemtileError):
        return replace(empty, verdict=Verdict.REFUSED, why=error.format_message())
    findings = in_order(tuple(refused(empty.file, error)))
    lacks = [each for each in error.problems if each.reason in _MISSING]
    missing = tuple(dict.fromkeys(f"{_MISSING[each.reason]} {each.given}" for each in lacks))
    return replace(empty, verdict=Verdict.REFUSED, why=_line(findings[0]), findings=findings, missing=missing)


def _tested(case: DesignCase, empty: CaseOutcome, options: RunOptions) -> tuple[CaseOutcome, Run | None]:
    facts = facts_of(case.design.data.facts)
    case = _with_device_beside(case, facts)
    settings = _completed(case, facts)
    with silent():
        findings = list(_checked(case, settings)) if settings.check else []
        stops = [finding for finding in findings if finding.code in _REFUSED]
        if stops:
            found = replace(empty, verdict=Verdict.REFUSED, why=_line(stops[0]), findings=in_order(findings))
            return found, None
        ended = _ended(case, settings, options, facts.scalars)
    seen = {(finding.code, finding.message) for finding in findings}
    findings += [each for each in ended.run.result.findings if (each.code, each.message) not in seen]
    return _judged(replace(empty, findings=in_order(findings), device=ended.device), ended), ended.run


def _with_device_beside(case: DesignCase, facts: Facts) -> DesignCase:
    """The test with the device of a file of facts as the one of a text or a build that leaves it open."""
    data = case.design.data
    return replace(case, design=replace(case.design, data=replace(data, device=facts.device or data.device)))


def _completed(case: DesignCase, facts: Facts) -> CaseSettings:
    """The settings, with what lies beside the design where they say nothing.

    Raises:
        InputFileError: arrays that the design does not take.
    """
    settings, data = case.settings, case.design.data
    refuse_unused(case.name, case.design.path, ["inputs"] if settings.inputs else ())
    more: dict[str, Any] = {}
    if takes(case.design.path, "inputs") and not settings.inputs and not settings.expect:
        more["inputs"] = {str(n): str(file) for n, file in {**data.given, **facts.given}.items()}
        expected = {**data.expected, **facts.expected}
        more["expect"] = {LAST_NAME if n == LAST else str(n): str(file) for n, file in expected.items()}
    if facts.functions is not None and not settings.kernels:
        more["kernels"] = [str(facts.functions)]
    if not settings.set:
        more["set"] = [f"{name}={value}" for name, value in facts.parameters.items()]
    if is_graph([str(case.design.path)]):
        more["define"] = settings.define or [f"{name}={value}" for name, value in facts.macros.items()]
        more["include"] = [*settings.include, *map(str, facts.include)]
    is_graph_of_facts = bool(facts.device) and not takes(case.design.path, "sequence")
    more["device"] = settings.device or (facts.device if is_graph_of_facts else "")
    more["sequence"] = settings.sequence or facts.sequence or ""
    return replace(settings, **more)


def _kernels(settings: CaseSettings) -> KernelSources:
    return KernelSources.of(
        settings.kernels or None, include=settings.include or None, define=settings.define or None
    )


def _checked(case: DesignCase, settings: CaseSettings) -> Sequence[Finding]:
    """What a check says of the part of the file that is meant."""
    file = str(case.design.path)
    device = settings.device or case.design.data.device
    results: Sequence[CheckResult] = checked([file], device, settings.set, _kernels(settings))
    chosen = ":".join(filter(None, [case.design.part, settings.sequence]))
    own = [each for each in results if chosen and each.name == f"{file} ({chosen})"]
    return [finding for each in own or results for finding in each.findings]


def _ended(
    case: DesignCase, settings: CaseSettings, options: RunOptions, scalars: Mapping[int, int]
) -> _Ended:
    """Run the design, and compare what came out."""
    file = str(case.design.path)
    if is_graph([file]):
        return _graph(case, settings, options)
    expected = {name: read_expected(path) for name, path in settings.expect.items()}
    made = _loaded(case, settings, expected, scalars)
    is_known = bool(expected)
    if isinstance(made.design, HostedArray) and made.design.verdict is not None:
        is_known = True  # the program looks at its results itself
    done = made.run(options)
    done = against(done, expected, settings.tolerance)
    is_known = is_known or done.result.exact is not None
    return _Ended(done, is_known, _error(done), made.design.device.name)


def _error(done: Run) -> str:
    return next((line for line in (*done.result.errors, done.stopped) if line), "")


def _loaded(
    case: DesignCase,
    settings: CaseSettings,
    expected: Mapping[str, npt.NDArray[Any]],
    scalars: Mapping[int, int],
) -> Runnable:
    """The design, ready to run.

    Raises:
        MemtileError: as loading it raises.
    """
    file, part = str(case.design.path), case.design.part
    given = [f"{name}={path}" for name, path in settings.inputs.items()]
    if is_iron(file):
        kernels, costs = _kernels(settings), design_costs(settings.cost)
        return iron_design(
            file, settings.arguments, settings.set, given,
            device=settings.device, kernels=kernels, costs=costs,
        )()  # fmt: skip
    if file.endswith(".py"):
        return python_design(file, settings.set)()
    kernel = f"{part}:{settings.sequence}" if part else settings.sequence or None
    options = ProgramOptions(given, device=settings.device or None, kernels=_kernels(settings), kernel=kernel)
    if not file.endswith(SUFFIX):
        options = replace(options, device=settings.device or case.design.data.device or None)
        if LAST_NAME in expected:
            raise InputFileError(f"{file}: an expected array of a build needs its number, such as out2.npy.")
        wanted = [Wanted(name, array.dtype, array.shape) for name, array in expected.items()]
        return program_files([file], options, wanted or None)()
    costs = design_costs(settings.cost)
    numbers = [Given(str(n), np.array([number])) for n, number in scalars.items()]
    try:
        return mlir_design(file, options, settings.set, costs=costs, numbers=numbers, sources_beside=True)()
    except MemtileError as error:
        is_open = [problem.reason for problem in error.problems] == ["device_open"]
        if not (is_open and case.design.data.device):
            raise
    options = replace(options, device=case.design.data.device)
    return mlir_design(file, options, settings.set, costs=costs, numbers=numbers, sources_beside=True)()


def _graph(case: DesignCase, settings: CaseSettings, options: RunOptions) -> _Ended:
    """Run the ``main`` of a graph, and compare the data of its output PLIOs."""
    path = case.design.path
    folder = Path(settings.in_folder) if settings.in_folder else None
    graph = graph_program(
        [str(path)], settings.device or None, _kernels(settings), settings.cost,
        settings=settings.set, in_folder=folder, of_run=options, quiet=True,
    )  # fmt: skip
    if folder is None:
        graph = graph.within([Path(), path.parent, path.parent.parent])
    done = graph.run(options)
    if done.result is None:
        raise InputFileError(f"{path}: main ran no graph, so that there is nothing to test.")
    run, wrong = Run(done.result, done.outputs), ""
    if settings.expect and done.good:
        expected = {name: read_expected(file) for name, file in settings.expect.items()}
        run = against(run, expected, settings.tolerance)
    if not done.good and done.result.status is Status.FINISHED:
        ended = f"returned {done.code}" if done.code is not None else f"waits for ever ({done.held})"
        wrong = next((each.message for each in done.missing), f"main {ended}")
    return _Ended(run, bool(settings.expect), wrong, graph.options.device)


def _line(finding: Finding) -> str:
    """The first line of what a finding says: a text with a caret may follow."""
    return finding.message.splitlines()[0]


def _judged(outcome: CaseOutcome, ended: _Ended) -> CaseOutcome:
    """The verdict: an end before data, data before findings, findings before cycles."""
    result = ended.run.result
    outcome = replace(outcome, cycles=result.cycles)
    errors = [finding for finding in outcome.findings if finding.severity is Severity.ERROR]
    first = _line(errors[0]) if errors else ""
    wrong = [check.text for check in result.checks if not check.exact]
    if result.status is not Status.FINISHED:
        limit = "the limit of cycles is reached" if result.status is Status.LIMIT else ""
        says = next(
            filter(None, [first, *result.unsimulated, *result.errors, *result.waiting, ended.wrong]), ""
        )
        return replace(outcome, verdict=Verdict.STUCK, why="; ".join(filter(None, [limit, says])))
    if wrong or ended.wrong:
        return replace(outcome, verdict=Verdict.WRONG, why=next(filter(None, [first, *wrong, ended.wrong])))
    if errors:
        return replace(outcome, verdict=Verdict.FAULTY, why=first)
    if outcome.budget is not None and result.cycles > outcome.budget:
        over = (result.cycles - outcome.budget) / outcome.budget
        says = f"{over:.1%} over the budget of {outcome.budget:,} cycles".replace("%", " %")
        return replace(outcome, verdict=Verdict.SLOW, why=says)
    if not ended.is_known:
        return replace(outcome, verdict=Verdict.UNKNOWN, why=UNKNOWN)
    return replace(outcome, verdict=Verdict.PASSED)
