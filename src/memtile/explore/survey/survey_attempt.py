"""One design, tried: loaded, run with the data beside it, compared."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import device as find_device
from memtile.cpp.build import SUFFIXES
from memtile.design.array import Array
from memtile.design.run_design import make
from memtile.errors import InputFileError, MemtileError, Problem
from memtile.explain.findings import Severity
from memtile.explain.results import Status
from memtile.explore.survey.survey_cases import LAST, Facts, SurveyCase, facts_of
from memtile.explore.survey.survey_outcome import Bucket, DesignOutcome
from memtile.importers.bodies.container import Container, build
from memtile.importers.design import load
from memtile.importers.design_file import design_function, functions_of, guarded, is_program, user_code
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.io.npy import read_array
from memtile.iron.program_design import ProgramDesign
from memtile.runs.array_names import Given, Wanted
from memtile.runs.array_regions import zeros_for
from memtile.runs.external_uses import ExternalUse, external_uses
from memtile.runs.operations import ArrayShape, Operation
from memtile.runs.options import RunOptions
from memtile.runs.program import Run

Functions = Mapping[str, Callable[..., Any]]
_MISSING = {"mlir_unknown": "operation", "mlir_external": "function"}


def attempt(case: SurveyCase, functions: Functions, device: str, options: RunOptions) -> DesignOutcome:
    """Try a design or a build; whatever happens becomes an outcome.

    Args:
        case: what to try.
        functions: for cores that call what their design only declares, by name.
        device: to be where the text leaves it open and nothing beside it says more; empty = refused then.
        options: of its run.
    """
    start = time.monotonic()
    try:
        found = _tried(case, functions, device, options)
    except MemtileError as error:
        found = _refused(case, error)
    except Exception as error:  # a survey goes on whatever one design does to us
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        found = DesignOutcome(case.name, Bucket.BROKEN, text)
    return replace(found, seconds=time.monotonic() - start)


def _tried(case: SurveyCase, functions: Functions, device: str, options: RunOptions) -> DesignOutcome:
    if case.path.suffix == ".py":
        is_iron = is_program(case.path)
        return _program(case, device, options) if is_iron else _own_design(case, options)
    facts = facts_of(case.data.facts)
    if case.path.suffix in SUFFIXES:
        return _graph(case, facts, device, options)
    if facts.functions is not None:
        functions = {**functions_of(facts.functions), **functions}
    chosen = facts.device or device or case.data.device
    ready: Loaded | Container
    if case.path.is_file():
        ready = _loaded(case, facts, functions, chosen)
        steps, shape = _steps(ready, facts), ArrayShape.of(ready.array.device, ready.array.columns)
    else:
        ready = build(case.path, device=chosen or None, functions=functions)
        steps, shape = ready.bodies.operations, ready.shape
    given = {**case.data.given, **facts.given}
    files = {**case.data.expected, **facts.expected}
    last = _last_written(steps, shape) if LAST in files else LAST
    expected = {str(last if n == LAST else n): read_array(file) for n, file in files.items()}
    wanted = [Wanted(name, array.dtype, array.shape) for name, array in expected.items()]
    options = replace(options, pad_arguments=not wanted)
    if isinstance(ready, Loaded):
        done = _run(ready, facts, given, wanted, options)
    else:
        arrays = [Given(str(n), read_array(file)) for n, file in given.items()]
        arrays += _zeros(external_uses(steps, shape), arrays, wanted)
        done = ready.run(arrays, wanted, options=options)
    found = _outcome(case, done, expected)
    return replace(found, device=ready.array.device.name, cycles=done.result.cycles)


def _program(case: SurveyCase, device: str, options: RunOptions) -> DesignOutcome:
    """What became of the design that a program of IRON runs first, with the program's tensors.

    A program that has the option ``--dev`` and no default for it gets the device, ``npu2`` if none is given.
    """
    chosen = find_device(device).name if device else "npu2"
    design = ProgramDesign(str(case.path), device=chosen)
    asked = design.__signature__.parameters.get("dev")
    values = {"dev": _DEV.get(chosen, chosen)} if asked is not None and asked.default is None else {}
    made = design(**values)
    done = made.run_once(options)
    found = _outcome(case, done, {})
    if done.result.status is Status.FINISHED and done.result.errors:
        found = replace(found, bucket=Bucket.WRONG)
    return replace(found, device=made.device.name, cycles=done.result.cycles)


def _own_design(case: SurveyCase, options: RunOptions) -> DesignOutcome:
    """What became of what ``design()`` returns, with the values that its parameters have."""
    file = str(case.path)
    function = design_function(file)
    made = user_code(case.path, lambda: make(function, {}, file))
    result = guarded(file, lambda: made.run(options))
    found = _outcome(case, Run(result), {})
    if result.good and result.exact:
        found = replace(found, bucket=Bucket.EXACT)
    elif result.status is Status.FINISHED and not result.good:
        wrong = [check.text for check in result.checks if not check.exact]
        found = replace(found, bucket=Bucket.WRONG, why="; ".join([*result.errors, *wrong]))
    name = made.device.name if isinstance(made, Array) else ""
    return replace(found, device=name, cycles=result.cycles)


_DEV = {"npu1": "npu"}
"""What programs call a device."""


def _run(
    design: Loaded, facts: Facts, given: Mapping[int, Path], wanted: Sequence[Wanted], options: RunOptions
) -> Run:
    """Run a design with the arrays of its files; those of numbers are scalars."""
    arrays = {n: read_array(file) for n, file in given.items()}
    kinds = dict(enumerate(design.arguments))
    numbers = {n for n in arrays if n in kinds and is_scalar(kinds[n])}
    scalars = {**{n: int(arrays[n].reshape(-1)[0]) for n in numbers}, **facts.scalars}
    made = [Given(str(n), array) for n, array in arrays.items() if n not in numbers]
    if design.sequence is not None:
        made += _zeros(design.uses(scalars, facts.parameters), made, wanted)
    return design.run_with(made, wanted, scalars=scalars, options=options)


def _steps(design: Loaded, facts: Facts) -> Sequence[Operation]:
    """The steps of the host sequence, as far as they are known."""
    return design.sequence.steps if design.sequence is not None and not facts.scalars else ()


def _last_written(steps: Sequence[Operation], shape: ArrayShape) -> int:
    """The last argument that the array writes.

    Raises:
        InputFileError: it writes none that is known before the run.
    """
    uses = (use for use in external_uses(steps, shape) if use.writes and use.argument is not None)
    found = [use.argument for use in uses if use.argument is not None]
    if not found:
        step = "Give the array the number of its argument, such as out2.npy"
        raise InputFileError(f"an expected array has no number, and no argument is written. {step}.")
    return max(found)


def _loaded(case: SurveyCase, facts: Facts, functions: Functions, device: str) -> Loaded:
    """The design of a file; ``device`` is for a text that leaves it open."""
    more: dict[str, Any] = {
        "name": case.part or None,
        "functions": functions,
        "sequence": facts.sequence,
        "parameters": facts.parameters,
    }
    try:
        return load(case.path, **more)
    except MemtileError as error:
        if not device or [problem.reason for problem in error.problems] != ["device_open"]:
            raise
        return load(case.path, device=device, **more)


def _graph(case: SurveyCase, facts: Facts, device: str, options: RunOptions) -> DesignOutcome:
    """Run the ``main`` of a graph, in its folder or the one above, wherever its input files are."""
    from memtile.adf.graph_file import load as load_graph
    from memtile.adf.program_run import ProgramOptions
    from memtile.explore.sweep.graph_variants import error_line, graph_fault

    chosen = facts.device or device or ProgramOptions().device
    try:
        found = load_graph(case.path, include=facts.include, defines=facts.macros, device=chosen)
        graph = found.within([case.path.parent, case.path.parent.parent])
        done, name = graph.run(options), graph.options.device
    except InputFileError as error:
        why = error_line(error).replace(f"{case.path.parent}{os.sep}", "")
        return DesignOutcome(case.name, Bucket.REFUSED, why)
    if done.graph is None:
        return DesignOutcome(case.name, Bucket.REFUSED, "main ran no graph")
    bucket, why = (Bucket.FINISHED, "") if done.good else (Bucket.STUCK, graph_fault(done)[1])
    return DesignOutcome(case.name, bucket, why, device=name, cycles=done.cycles)


def _zeros(uses: Sequence[ExternalUse], given: Sequence[Given], wanted: Sequence[Wanted]) -> list[Given]:
    """Zeros for the arguments that nobody gave and that are only read, as long as what is read."""
    return zeros_for(uses, {*(each.name for each in given), *(each.name for each in wanted)})


def _refused(case: SurveyCase, error: MemtileError) -> DesignOutcome:
    """Why a design did not begin, and what is missing."""
    missing = dict.fromkeys(
        f"{_MISSING[problem.reason]} {problem.given}"
        for problem in error.problems
        if problem.reason in _MISSING
    )
    return DesignOutcome(case.name, Bucket.REFUSED, _sentence(error), tuple(missing))


def _sentence(error: MemtileError) -> str:
    """The first thing that is wrong, in a line: without the text that a caret points to."""
    if not error.problems:
        return str(error).splitlines()[0]
    first: Problem = error.problems[0]
    says = first.says.splitlines()[0] if first.says else first.message.splitlines()[0]
    line = first.where.rpartition("/")[2]
    more = len(error.problems) - 1
    whole = says if says.startswith(first.where) else f"{line}: {says}"
    return f"{whole}; and {more} more" if more else whole


def _root(case: SurveyCase, done: Run) -> str:
    """One line on why a run did not finish; empty if nothing says it."""
    result = done.result
    hangs = [finding.message for finding in result.findings if finding.severity is Severity.ERROR]
    roots = (*result.unsimulated, *result.errors, *hangs, *result.waiting, done.stopped)
    root = next((line for line in roots if line), "").replace(f"{case.path.parent}{os.sep}", "")
    if result.status is not Status.LIMIT:
        return root
    return f"the limit of cycles is reached; {root}" if root else "the limit of cycles is reached"


def _outcome(case: SurveyCase, done: Run, expected: Mapping[str, npt.NDArray[Any]]) -> DesignOutcome:
    name, result = case.name, done.result
    if result.status is not Status.FINISHED:
        return DesignOutcome(name, Bucket.STUCK, _root(case, done))
    for number, array in expected.items():
        if difference := _difference(done.arrays[number], array):
            return DesignOutcome(name, Bucket.WRONG, f"argument {number}: {difference}")
    return DesignOutcome(name, Bucket.EXACT if expected else Bucket.FINISHED, "; ".join(result.errors))


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> str:
    """How two arrays of one shape and type differ, bit by bit; empty if they do not."""
    one, other = (
        np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)
        for array in (found, expected)
    )
    places = np.flatnonzero((one != other).any(axis=1))
    if not len(places):
        return ""
    first = int(places[0])
    at = ", ".join(map(str, np.unravel_index(first, expected.shape)))
    values = f"{found.reshape(-1)[first]} instead of {expected.reshape(-1)[first]}"
    return f"{len(places)} of {expected.size} elements differ, the first at [{at}]: {values}"
