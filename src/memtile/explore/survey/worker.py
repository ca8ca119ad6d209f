"""The process that runs designs for a survey, and its two ends: a crash or an endless loop ends it alone.

Requests and answers are lines of JSON: a case in, an outcome out.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from memtile.explore.survey.cases import Case
from memtile.explore.survey.outcome import Bucket, Outcome

_CODE = "from memtile.explore.survey.worker import serve; serve()"


class Worker:
    """A process that tries designs, begun when there is one, and again after it was lost.

    Args:
        functions: Python file with functions that cores call; None = none.
        device: for texts that leave it open; empty = none.
        max_cycles: limit of each run.
        seconds: time for each design; who takes longer loses the process.
    """

    def __init__(self, functions: Path | None, device: str, max_cycles: int, seconds: float) -> None:
        file = str(functions.resolve()) if functions else None
        self._options = {"functions": file, "device": device, "max_cycles": max_cycles}
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def attempt(self, case: Case) -> Outcome:
        """Try a design in the process."""
        process = self._process or self._begin()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps({"case": case.as_json(), **self._options}) + "\n")
            process.stdin.flush()
            answer = self._answers.get(timeout=self._seconds)
        except queue.Empty:
            self.end()
            why = f"the limit of {self._seconds:g} s is over"
            return Outcome(case.name, Bucket.BROKEN, why, seconds=self._seconds)
        except OSError:
            answer = ""
        if not answer:
            return Outcome(case.name, Bucket.BROKEN, f"the process ended with {self.end()}")
        return Outcome.of(json.loads(answer))

    def end(self) -> str:
        """End the process, whatever it does; how it ended, in words."""
        process, self._process = self._process, None
        if process is None:
            return "nothing"
        try:
            code = process.wait(timeout=1.0 if process.stdout and process.stdout.closed else 0.2)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if process.stdin:
            process.stdin.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _begin(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", _CODE], stdin=pipe, stdout=pipe, text=True)
        self._answers = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process.stdout, self._answers), daemon=True).start()
        return self._process


def _pass_on(lines: IO[str], answers: queue.Queue[str]) -> None:
    """Hand over what the process says, and an empty text when it is gone."""
    with lines:
        for line in lines:
            answers.put(line)
    answers.put("")


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
            found = attempt(case, known.get(file, {}), asked["device"], asked["max_cycles"])
            print(json.dumps(found.as_json()), file=out, flush=True)
