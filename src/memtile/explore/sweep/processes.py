"""Variants tried in processes of this machine: one that crashes or never ends ends its process alone.

Requests and answers are lines of JSON: a task and its rivals in, a row out.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from typing import Any

from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.explore.sweep.attempt import Rivals, attempt
from memtile.explore.sweep.row import Row, State, Task

Request = tuple[Task, Rivals]
_CODE = "from memtile.explore.sweep.processes import serve; serve()"
_GARBAGE = 100_000, 20, 20  # a variant leaves rings of objects: looking for them often costs more than they
_AHEAD = 2  # tasks that wait for each process, so that none waits for us


class HereRunner:
    """Tries variants in this process, one after another.

    Args:
        file: of the design.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def rows(self, requests: Iterable[Request]) -> Iterator[Row]:
        """The row of each request, as they come."""
        yield from (attempt(self._file, *request) for request in requests)

    def close(self) -> None:
        """End what was begun."""


class ProcessRunner:
    """Tries variants in processes.

    Args:
        file: of the design.
        workers: how many processes.
        seconds: for each variant; what takes longer ends its process.
    """

    def __init__(self, file: str, workers: int, seconds: float) -> None:
        self._file, self._workers, self._seconds = file, workers, seconds
        self._pool = ThreadPoolExecutor(workers)
        self._own = threading.local()
        self._all: list[LineProcess] = []

    def rows(self, requests: Iterable[Request]) -> Iterator[Row]:
        """The row of each request, as they come."""
        waiting, running = iter(requests), set[Future[Row]]()
        try:
            while True:
                for request in waiting:
                    running.add(self._pool.submit(self._attempt, request))
                    if len(running) >= self._workers * _AHEAD:
                        break
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in running:
                future.cancel()

    def _attempt(self, request: Request) -> Row:
        process: LineProcess | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = LineProcess(_CODE)
            self._all.append(process)
        task, rivals = request
        line = json.dumps({"file": self._file, "task": asdict(task), "rivals": asdict(rivals)})
        try:
            return Row.of(json.loads(process.ask(line, self._seconds)))
        except NoAnswerError as lost:
            return _lost(task, str(lost), "seconds" if lost.late else "crashed")

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in self._all:
            process.end()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.end()


def _lost(task: Task, why: str, kind: str) -> Row:
    return Row(task.key, task.sources, task.point, State.INFEASIBLE, why, kind)


def request_of(data: dict[str, Any]) -> Request:
    """A request that went through JSON."""
    rivals = data["rivals"]
    return Task(**data["task"]), Rivals(rivals["objectives"], [tuple(costs) for costs in rivals["costs"]])


def serve() -> None:
    """Try the variants that come in, until there are no more; Ctrl-C is for whoever asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*_GARBAGE)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # what designs print is no answer
        for line in sys.stdin:
            asked = json.loads(line)
            found = attempt(asked["file"], *request_of(asked))
            print(json.dumps(found.as_json()), file=out, flush=True)
