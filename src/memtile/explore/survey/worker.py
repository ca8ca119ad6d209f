"""The process that runs designs for a survey, and its two ends: a crash or an endless loop ends it alone.

Requests and answers are lines of JSON: a case in, an outcome out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.explore.survey.cases import Case
from memtile.explore.survey.outcome import Bucket, Outcome
from memtile.runs.options import RunOptions

_CODE = "from memtile.explore.survey.worker import serve; serve()"


class Worker:
    """A process that tries designs, begun when there is one, and again after it was lost.

    Args:
        functions: Python file with functions that cores call; None = none.
        device: for texts that leave it open; empty = none.
        options: of each run.
        seconds: time for each design; who takes longer loses the process.
    """

    def __init__(self, functions: Path | None, device: str, options: RunOptions, seconds: float) -> None:
        file = str(functions.resolve()) if functions else None
        self._options = {"functions": file, "device": device, "run": options.changed()}
        self._seconds = seconds
        self._process = LineProcess(_CODE)

    def attempt(self, case: Case) -> Outcome:
        """Try a design in the process."""
        line = json.dumps({"case": case.as_json(), **self._options})
        try:
            return Outcome.of(json.loads(self._process.ask(line, self._seconds)))
        except NoAnswerError as lost:
            spent = self._seconds if lost.late else 0.0
            return Outcome(case.name, Bucket.BROKEN, str(lost), seconds=spent)

    def end(self) -> str:
        """End the process, whatever it does; how it ended, in words."""
        return self._process.end()


def serve() -> None:
    """Try the designs that come in, until there are no more; Ctrl-C is for whoever asks."""
    from memtile.explore.survey.attempt import attempt
    from memtile.importers.functions import functions_of

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # what functions print is no answer
        known: dict[str, Any] = {}
        for line in sys.stdin:
            asked = json.loads(line)
            file = asked["functions"]
            if file and file not in known:
                known[file] = functions_of(Path(file))
            case = Case.of(asked["case"])
            found = attempt(case, known.get(file, {}), asked["device"], RunOptions(**asked["run"]))
            print(json.dumps(found.as_json()), file=out, flush=True)
