"""Test designs in processes, each of which tests one after another.

Requests and answers are lines of JSON: a test in, an outcome out. A design that crashes or never ends is an
outcome, and the next one gets a new process.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.explore.suite.baseline import write_baseline
from memtile.explore.suite.cases import DesignCase
from memtile.explore.suite.outcome import CaseOutcome, SuiteResult, Verdict
from memtile.runs.options import USUAL, RunOptions

_TO_COMPILE = 1200.0  # seconds until the engine is there, which do not count as those of a design
_CODE = "from memtile.cli.suite_attempt import serve; serve()"


class SuiteProcess:
    """A process that tests designs, begun when there is one, and again after it was lost.

    Args:
        options: of each run.
        timing: timing constants of all runs, by name.
    """

    def __init__(self, options: RunOptions, timing: Mapping[str, int]) -> None:
        self._options = {"run": options.changed(), "timing": dict(timing)}
        self._process = LineProcess(_CODE)
        self._is_ready = False

    def test(self, case: DesignCase) -> CaseOutcome:
        """Test a design in the process."""
        asked = {"case": case.as_json(), **self._options}
        allow = case.settings.allow_unknown
        try:
            if not self._is_ready:
                self._process.ask({"case": None}, _TO_COMPILE)
                self._is_ready = True
            return CaseOutcome.of(self._process.ask(asked, case.settings.seconds), allow_unknown=allow)
        except NoAnswerError as lost:
            self._is_ready = False
            spent = case.settings.seconds if lost.late else 0.0
            file = str(case.design.path)
            return CaseOutcome(case.name, file, Verdict.BROKEN, str(lost), seconds=spent)

    def kill(self) -> None:
        """Have the process end now; its design has no outcome."""
        self._process.kill()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.end()


Watch = Callable[[Sequence["Future[CaseOutcome]"]], Iterable["Future[CaseOutcome]"]]


Ends = Callable[[BaseException], bool]


def _never(_end: BaseException) -> bool:
    return False


def run_suite(
    cases: Sequence[DesignCase],
    *,
    workers: int = 1,
    options: RunOptions = USUAL,
    timing: Mapping[str, int] | None = None,
    watch: Watch = iter,
    ends: Ends = _never,
) -> SuiteResult:
    """Test designs; Ctrl-C keeps what is done, and so does what else is to end it.

    Args:
        cases: the tests.
        workers: how many run at a time.
        options: of each run.
        timing: timing constants of all runs, by name.
        watch: goes along with the tests, to show how far they are.
        ends: says of another exception whether it ends the tests, which then keep what is done.
    """
    start = time.monotonic()
    count = max(1, min(workers, len(cases)))
    processes = [SuiteProcess(options, timing or {}) for _ in range(count)]
    free: queue.Queue[SuiteProcess] = queue.Queue()
    for process in processes:
        free.put(process)

    def one(case: DesignCase) -> CaseOutcome:
        process = free.get()
        try:
            return process.test(case)
        finally:
            free.put(process)

    outcomes, interrupted = list[CaseOutcome](), False
    with ThreadPoolExecutor(count) as pool:
        tests = [pool.submit(one, case) for case in cases]
        try:
            outcomes += [test.result() for test in watch(tests)]
        except BaseException as end:
            if not isinstance(end, KeyboardInterrupt) and not ends(end):
                raise
            interrupted = True
            outcomes = [test.result() for test in tests if test.done()]
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
    for process in processes:
        process.end()
    return SuiteResult(outcomes, len(cases), interrupted, time.monotonic() - start)


def update_baseline(file: Path, known: Mapping[str, int], result: SuiteResult) -> str:
    """Write the cycles of designs that finished with the right data; what was done, in a line.

    Args:
        file: of the baseline.
        known: its cycles so far; those of designs that were not tested stay.
        result: of the tests.
    """
    well = (Verdict.PASSED, Verdict.UNKNOWN, Verdict.SLOW)
    new = {
        each.name: each.cycles for each in result.outcomes if each.verdict in well and each.cycles is not None
    }
    write_baseline(file, {**known, **new})
    added = len(new.keys() - known.keys())
    changed = sum(name in known and known[name] != cycles for name, cycles in new.items())
    return f"{file}: {added} added, {changed} changed"
