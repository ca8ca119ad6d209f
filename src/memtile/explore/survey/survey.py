"""Try every design below a folder: as ``memtile test`` does with arrays beside a design."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from memtile.arch.timing import chosen_timing
from memtile.errors import InputFileError
from memtile.explore.suite.cases import DesignCase
from memtile.explore.suite.settings import SECONDS, CaseSettings
from memtile.explore.suite.suite import Watch, run_suite
from memtile.explore.suite.uses import takes
from memtile.explore.survey.survey_cases import SurveyCase, facts_of, find
from memtile.explore.survey.survey_outcome import DesignOutcome, SurveyResult
from memtile.runs.options import RunOptions

_OF_PROGRAMS = "npu2"
"""Device of programs of IRON, unless another one is given."""


def survey_test(
    case: SurveyCase, functions: Path | None = None, device: str = "", seconds: float = SECONDS
) -> DesignCase:
    """The test of a design that a survey makes.

    Args:
        case: what to try.
        functions: Python file with functions that cores call and designs only declare; a file beside a
            design comes before.
        device: for a design that leaves it open; empty = what lies beside it says.
        seconds: its time.
    """
    settings = CaseSettings(check=False, allow_unknown=True, seconds=seconds)
    if takes(case.path, "sequence"):
        data = replace(case.data, device=device or case.data.device)
        kernels = [str(functions.resolve())] if functions is not None and not _has_functions(case) else []
        return DesignCase(case.name, replace(case, data=data), replace(settings, kernels=kernels))
    is_program = takes(case.path, "arguments")
    return DesignCase(case.name, case, replace(settings, device=device or _OF_PROGRAMS * is_program))


def _has_functions(case: SurveyCase) -> bool:
    """Whether a file of functions lies beside a design; what is wrong with its facts, its test says."""
    try:
        return facts_of(case.data.facts).functions is not None
    except InputFileError:
        return False


def survey(
    folder: Path,
    *,
    functions: Path | None = None,
    device: str = "",
    options: RunOptions,
    seconds: float = SECONDS,
    timing: Mapping[str, int] | None = None,
    watch: Watch = iter,
    ends: Callable[[BaseException], bool] = lambda _: False,
) -> SurveyResult:
    """Try every design and build below a folder; Ctrl-C keeps what is done, and so does what else ends it.

    Designs run in a process of their own: one that crashes or never ends is an outcome, and the next one
    gets a new process.

    Args:
        folder: to search, with all that are in it.
        functions: Python file with functions that cores call and designs only declare.
        device: for designs that leave it open.
        options: of each run.
        seconds: time for each design.
        timing: timing constants of all runs, by name; the others are those of each design.
        watch: goes along with the designs, to show how far the survey is.
        ends: says of another exception whether it ends the survey with what is done.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
        DesignError: what is no timing constant, or outside its range.
    """
    with chosen_timing(timing or {}):  # names and ranges, said once
        pass
    start, found = time.monotonic(), find(folder)
    tests = [survey_test(case, functions, device, seconds) for case in found.cases]
    result = run_suite(tests, options=options, timing=timing, watch=watch, ends=ends)
    outcomes = tuple(DesignOutcome.of_test(each) for each in result.outcomes)
    took = time.monotonic() - start
    left = found.others, found.programs
    return SurveyResult(str(folder), outcomes, len(found.cases), *left, result.interrupted, took)
