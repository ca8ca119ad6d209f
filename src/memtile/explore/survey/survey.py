"""Try every design below a folder, one after another, each on its own.

It also has the process that runs designs for a survey, and its two ends: a crash ends it alone.

Requests and answers are lines of JSON: a case in, an outcome out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memtile.arch.timing import chosen_timing
from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.explore.survey.survey_cases import SurveyCase, find
from memtile.explore.survey.survey_outcome import Bucket, DesignOutcome, SurveyResult
from memtile.runs.options import RunOptions

_CODE = "from memtile.explore.survey.survey import serve; serve()"


class SurveyWorker:
    """A process that tries designs, begun when there is one, and again after it was lost.

    Args:
        functions: Python file with functions that cores call; None = none.
        device: for texts that leave it open; empty = none.
        options: of each run.
        seconds: time for each design; who takes longer loses the process.
        timing: timing constants of all runs, by name.
    """

    def __init__(
        self,
        functions: Path | None,
        device: str,
        options: RunOptions,
        seconds: float,
        timing: Mapping[str, int],
    ) -> None:
        file = str(functions.resolve()) if functions else None
        self._options = {
            "functions": file,
            "device": device,
            "run": options.changed(),
            "timing": dict(timing),
        }
        self._seconds = seconds
        self._process = LineProcess(_CODE)

    def attempt(self, case: SurveyCase) -> DesignOutcome:
        """Try a design in the process."""
        line = json.dumps({"case": case.as_json(), **self._options})
        try:
            return DesignOutcome.of(json.loads(self._process.ask(line, self._seconds)))
        except NoAnswerError as lost:
            spent = self._seconds if lost.late else 0.0
            return DesignOutcome(case.name, Bucket.BROKEN, str(lost), seconds=spent)

    def end(self) -> str:
        """End the process, whatever it does; how it ended, in words."""
        return self._process.end()


def serve() -> None:
    """Try the designs that come in, until there are no more; Ctrl-C is for whoever asks."""
    from memtile.explore.survey.survey_attempt import attempt
    from memtile.importers.design_file import functions_of

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # what functions print is no answer
        known: dict[str, Any] = {}
        for line in sys.stdin:
            asked = json.loads(line)
            file = asked["functions"]
            if file and file not in known:
                known[file] = functions_of(Path(file))
            case = SurveyCase.of(asked["case"])
            with chosen_timing(asked["timing"]):
                found = attempt(case, known.get(file, {}), asked["device"], RunOptions(**asked["run"]))
            print(json.dumps(found.as_json()), file=out, flush=True)


SECONDS = 120.0
"""Time for a design, the compilation of the engine included."""


def survey(
    folder: Path,
    *,
    functions: Path | None = None,
    device: str = "",
    options: RunOptions,
    seconds: float = SECONDS,
    timing: Mapping[str, int] | None = None,
    watch: Callable[[Sequence[SurveyCase]], Iterable[SurveyCase]] = iter,
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
        timing: timing constants of all runs, by name; the others are those of each design.
        watch: goes along with the designs, to show how far the survey is.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
        DesignError: what is no timing constant, or outside its range.
    """
    with chosen_timing(timing or {}):  # names and ranges, said once
        pass
    start, found = time.monotonic(), find(folder)
    outcomes, interrupted = list[DesignOutcome](), False
    worker = SurveyWorker(functions, device, options, seconds, timing or {})
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
