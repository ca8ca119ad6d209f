"""Variants tried on the workers of a Dask cluster that somebody else has started.

A worker gets the sources with each task, so that it needs the same memtile and nothing else of ours. What it
has found it writes down in its own cache before it answers: an answer that is lost on its way, with a worker,
the scheduler or us, is found there by the next one who asks, and nothing runs twice.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import queue
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memtile.documents import plain
from memtile.errors import DesignError, InputFileError, MemtileError, Problem, SimulationError, cannot_write
from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.processes import Request, request_of
from memtile.explore.sweep.row import SweepRow, Variant, VariantState, checked_row
from memtile.explore.sweep.sources import DesignSources, same_text
from memtile.explore.sweep.sweep_attempt import attempt
from memtile.io.json_text import parse_json
from memtile.jit.cache import make_own, why_unsafe, why_unsafe_inside
from memtile.output_files import write_output
from memtile.system import system

_AHEAD = 3  # tasks for each thread of the cluster, so that none waits for us
_SECONDS = 10.0  # for the scheduler to answer
_LOOK = 1.0  # seconds between two looks whether it is still there
_LEVELS = 2  # directories that are made below the cache
_RUNNING = "running"  # how Dask calls a client with a scheduler


def _hush() -> None:
    """Silence tracebacks that Dask logs whenever a connection ends: what matters is an error here."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


class ClusterRunner:
    """Tries variants on a Dask cluster.

    Attributes:
        lost_workers: workers that were there and went; others took over what they had begun.

    Args:
        address: of its scheduler, ``tcp://HOST:PORT``.
        file: of the design, where a worker sees the same files.
        sources: of the design, for others.

    Raises:
        InputFileError: ``distributed`` is not installed.
        SimulationError: nobody answers at the address.
    """

    def __init__(self, address: str, file: str, sources: DesignSources) -> None:
        self._address = address
        self._common = {"path": str(Path(file).resolve()), "sources": plain(sources)}
        self._hash = sources.hash
        distributed = extra("distributed")
        _hush()
        self.lost_workers, self._workers = 0, set[str]()
        self._threads, self._seen = 0, 0.0
        try:
            self._client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SimulationError(self._problem("there was no answer", str(error))) from None

    def rows(self, requests: Iterable[Request]) -> Iterator[SweepRow]:
        """The row of each request, as they come.

        Raises:
            SimulationError: the scheduler is lost.
            DesignError: a worker has another memtile.
        """
        waiting, running = iter(requests), dict[Any, Variant]()
        session, done = uuid.uuid4().hex, queue.Queue[Any]()
        while True:
            for request in itertools.islice(waiting, max(self._room() - len(running), 0)):
                future = self._submit(request, session)
                running[future] = request[0]
                future.add_done_callback(done.put)
            if not running:
                return
            try:
                future = done.get(timeout=_LOOK)
            except queue.Empty:
                if self._client.status != _RUNNING:
                    raise self._lost() from None
                continue
            row = self._row(future, running[future])
            if row is None:
                done.put(future)
                continue
            del running[future]
            yield row

    def _room(self) -> int:
        """How many tasks may be under way; workers come and go."""
        now = system().monotonic()
        if now > self._seen + _LOOK or not self._threads:
            self._threads, self._seen = self._count(), now
        return _AHEAD * max(self._threads, 1)

    def _count(self) -> int:
        """Threads of all workers."""
        try:
            threads = self._client.nthreads() if self._client.status == _RUNNING else {}
        except OSError:
            raise self._lost() from None
        self.lost_workers += len(self._workers - threads.keys())
        self._workers = {*threads}
        return sum(threads.values())

    def _submit(self, request: Request, session: str) -> Any:
        task, rivals = request
        asked = {**self._common, "task": asdict(task), "rivals": asdict(rivals)}
        return self._client.submit(attempt_there, asked, key=f"memtile-{task.key}-{session}", pure=False)

    def _row(self, future: Any, task: Variant) -> SweepRow | None:
        """The row of what has ended; None if it was lost on its way, with a worker that others replace."""
        try:
            error = future.exception(timeout=_SECONDS)
            if error is None:
                return SweepRow.of(future.result(timeout=_SECONDS))
        except Exception as problem:
            if future.status == "cancelled" or self._client.status != _RUNNING:
                raise self._lost() from None
            if isinstance(problem, (TimeoutError, OSError)):
                return None
            raise
        if isinstance(error, MemtileError):
            raise error
        killed = isinstance(error, extra("distributed").KilledWorker)
        why = "the worker process ended" if killed else f"{type(error).__name__}: {error}"
        return SweepRow(task.key, task.sources, task.point, VariantState.INFEASIBLE, why, "crashed")

    def _lost(self) -> SimulationError:
        return SimulationError(self._problem("the connection was lost"))

    def _problem(self, what: str, given: str = "") -> Problem:
        return Problem(
            "--scheduler",
            given or what,
            "a Dask scheduler that runs",
            f"{what}: {given}" if given else what,
            "Start the scheduler and its workers, then give the same command again.",
            reason="scheduler",
            where=f"scheduler {self._address}",
            source="variants that finished are in the log",
        )

    def forget(self) -> None:
        """Have the workers remove what they wrote down: it is in the log."""
        self._client.run(forget_there, self._hash)

    def close(self) -> None:
        """Leave the cluster; it goes on."""
        self._client.close(timeout=1)


def attempt_there(asked: dict[str, Any]) -> dict[str, Any]:
    """On a worker: the row of a request, as data; what is known there is not run again.

    Raises:
        DesignError: this memtile is not that of the one who asks.
    """
    task, rivals = request_of(asked)
    sources = DesignSources(**asked["sources"])
    if sources.hash != task.sources:
        raise DesignError(_OTHER)
    folder = _kept(task.sources)
    answer = folder / f"{task.key}.json"
    row = _answer_in(answer)
    if row is not None and rivals.spare(row):
        return row.as_json()
    found = attempt(_file(asked["path"], sources, folder), task, rivals).as_json()
    with suppress(InputFileError):  # on a full disk the answer is given all the same
        write_output(answer, json.dumps(found), durable=False)
    return found


def _answer_in(file: Path) -> SweepRow | None:
    """The row that a file has; None if there is none, or it is damaged, as after a loss of power."""
    try:
        return SweepRow.of(checked_row(parse_json(file.read_text(encoding="utf-8"), str(file)), file, 1))
    except (OSError, UnicodeDecodeError, InputFileError):
        return None


def forget_there(sources: str) -> None:
    """On a worker: remove the answers of a sweep; other workers of the machine may do so at the same time."""
    system().remove_folder(_place(sources))


def _file(path: str, sources: DesignSources, folder: Path) -> str:
    """The design here: where it was, if its sources are the same, else what was sent."""
    if all(same_text(Path(path).parent / name, text) for name, text in sources.files.items()):
        return path
    return sources.put(folder)


def _place(sources: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Where a worker writes down what it has found."""
    caches = Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "memtile"
    return Path(environment.get("MEMTILE_CACHE") or caches) / "sweeps" / sources


def _kept(sources: str, environment: Mapping[str, str] = os.environ) -> Path:
    """That place, made if it is not there.

    Raises:
        DesignError: others can write there, and could have put there what is run.
        InputFileError: it cannot be made.
    """
    folder = _place(sources, environment)
    try:
        make_own(folder, _LEVELS)
    except OSError as error:
        raise cannot_write(folder, error, "folder") from None
    if why := why_unsafe(folder) or why_unsafe_inside(folder):
        raise DesignError(_open_to_others(folder, why))
    return folder


def _open_to_others(folder: Path, why: str) -> Problem:
    return Problem(
        "MEMTILE_CACHE",
        str(folder),
        "a directory of its own",
        f"{folder} is no place for the sources of a sweep: {why}",
        "Set MEMTILE_CACHE to a directory that only the user of the worker can write.",
        reason="cache",
        where="worker of the cluster",
        source="what lies there is run",
    )


_OTHER = Problem(
    "memtile",
    "other sources",
    "the sources that the sweep has here",
    "a worker of the cluster has another memtile than the sweep",
    "Install the same memtile on all workers, and start them again.",
    reason="other_memtile",
    where="worker of the cluster",
    source="another memtile may count other cycles",
)
