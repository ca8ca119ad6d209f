"""Variants tried in processes of this machine: one that crashes or never ends ends its process alone.

Requests and answers are lines of JSON: a task and its rivals in, a row out.
"""

from __future__ import annotations

import gc
import itertools
import json
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from typing import Any

from memtile.explore.line_answers import answer_lines
from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.space import TIMING
from memtile.explore.sweep.sweep_attempt import Rivals, Subject, attempt

Request = tuple[Variant, Rivals]
_CODE = "from memtile.explore.sweep.processes import serve; serve()"
_GARBAGE = 100_000, 20, 20  # a variant leaves rings of objects: looking for them often costs more than they
_AHEAD = 2  # tasks that each process has or that wait for it, so that none waits for us
_MOST_AHEAD = 64  # tasks that are looked at to find one for a process
_LONG, _SHORT = 1.0, 1e-3  # seconds that all of them may take, about, and that a variant takes at least
_AVERAGED = 8  # variants


class HereRunner:
    """Tries variants in this process, one after another.

    Args:
        subject: file of a design, or a graph.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def rows(self, requests: Iterable[Request]) -> Iterator[SweepRow]:
        """The row of each request, as they come."""
        yield from (attempt(self._subject, *request) for request in requests)

    def close(self) -> None:
        """End what was begun."""


class ProcessRunner:
    """Tries variants in processes: those that differ in timing constants alone in one, if there are others.

    Args:
        subject: file of a design, or a graph.
        workers: how many processes.
        seconds: for each variant; what takes longer ends its process.
    """

    def __init__(self, subject: Subject, workers: int, seconds: float) -> None:
        self._subject, self._seconds = _subject_data(subject), seconds
        self._pools = [ThreadPoolExecutor(1) for _ in range(workers)]
        self._all = [LineProcess(_CODE) for _ in range(workers)]
        self._designs: list[str] = [""] * workers  # that each process was given last
        self._took = _LONG  # seconds for a variant, about

    def rows(self, requests: Iterable[Request]) -> Iterator[SweepRow]:
        """The row of each request, as they come."""
        waiting, ahead = iter(requests), list[tuple[str, Request]]()
        running: dict[Future[SweepRow], int] = {}
        try:
            while True:
                room = max(min(_MOST_AHEAD, int(_LONG / self._took)), 1) - len(ahead)
                ahead += [(_design(request), request) for request in itertools.islice(waiting, max(room, 0))]
                self._hand_out(ahead, running)
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    del running[future]
                    row = future.result()
                    self._took += (max(row.seconds, _SHORT) - self._took) / _AVERAGED
                    yield row
        finally:
            for future in running:
                future.cancel()

    def _hand_out(self, ahead: list[tuple[str, Request]], running: dict[Future[SweepRow], int]) -> None:
        """Give each process what it has room for."""
        for _ in range(_AHEAD):
            for worker, pool in enumerate(self._pools):
                if ahead and list(running.values()).count(worker) < _AHEAD:
                    self._designs[worker], request = ahead.pop(self._next(worker, ahead))
                    running[pool.submit(self._attempt, worker, request)] = worker

    def _next(self, worker: int, ahead: list[tuple[str, Request]]) -> int:
        """What of the requests is for a process: its own design, one that nobody has, or any."""
        own = self._designs[worker]
        mine = (n for n, (design, _) in enumerate(ahead) if design == own)
        new = (n for n, (design, _) in enumerate(ahead) if design not in self._designs)
        return next(itertools.chain(mine, new), 0)

    def _attempt(self, worker: int, request: Request) -> SweepRow:
        task, rivals = request
        asked = {"subject": self._subject, "task": asdict(task), "rivals": asdict(rivals)}
        try:
            return SweepRow.of(self._all[worker].ask(asked, self._seconds))
        except NoAnswerError as lost:
            return _lost(task, str(lost), "seconds" if lost.late else "crashed")

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in self._all:
            process.kill()
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.end()


def _design(request: Request) -> str:
    """What a variant is but for its timing constants: equal ones are one design."""
    values = {name: value for name, value in request[0].point.items() if not name.startswith(TIMING)}
    return json.dumps(values, sort_keys=True)


def _lost(task: Variant, why: str, kind: str) -> SweepRow:
    return SweepRow(task.key, task.sources, task.point, VariantState.INFEASIBLE, why, kind)


def request_of(data: dict[str, Any]) -> Request:
    """A request that went through JSON."""
    rivals = data["rivals"]
    return Variant(**data["task"]), Rivals(rivals["objectives"], [tuple(costs) for costs in rivals["costs"]])


def _subject_data(subject: Subject) -> Any:
    """A subject that goes through JSON."""
    if isinstance(subject, str):
        return subject
    from memtile.explore.sweep.graph_variants import as_data

    return as_data(subject)


def _subject_of(data: Any) -> Subject:
    """A subject that went through JSON."""
    if isinstance(data, str):
        return data
    from memtile.explore.sweep.graph_variants import graph_of

    return graph_of(data)


def serve() -> None:
    """Try the variants that come in, until there are no more; Ctrl-C is for whoever asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*_GARBAGE)
    answer_lines(lambda asked: attempt(_subject_of(asked["subject"]), *request_of(asked)).as_json())
