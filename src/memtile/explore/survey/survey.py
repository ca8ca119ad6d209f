"""Try every design below a folder, one after another, each on its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from memtile.explore.survey.cases import Case, find
from memtile.explore.survey.outcome import Outcome
from memtile.explore.survey.result import SurveyResult
from memtile.explore.survey.worker import Worker
from memtile.runs.options import RunOptions

SECONDS = 120.0
"""Time for a design, the compilation of the engine included."""


def survey(
    folder: Path,
    *,
    functions: Path | None = None,
    device: str = "",
    options: RunOptions,
    seconds: float = SECONDS,
    watch: Callable[[Sequence[Case]], Iterable[Case]] = iter,
) -> SurveyResult:
    """Try every design and build below a folder; Ctrl-C keeps what is done.

    Designs run in a process of their own: one that crashes or never ends is an outcome, and the next one
    gets a new process.

    Args:
        folder: to search, with all that are in it.
        functions: Python file with functions that cores call and designs only declare.
        device: for designs that leave it open.
        options: of each run.
        seconds: time for each design.
        watch: goes along with the designs, to show how far the survey is.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
    """
    start, found = time.monotonic(), find(folder)
    outcomes, interrupted = list[Outcome](), False
    worker = Worker(functions, device, options, seconds)
    try:
        for case in watch(found.cases):
            outcomes.append(worker.attempt(case))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        worker.end()
    took = time.monotonic() - start
    left = found.others, found.programs
    return SurveyResult(str(folder), tuple(outcomes), len(found.cases), *left, interrupted, took)
