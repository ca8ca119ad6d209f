"""Sweeps that are simulated: here, in processes, on a cluster, and two for one log."""
# ruff: noqa: ARG001, ARG002, PT008 - what stands for an interface of others takes its arguments

from __future__ import annotations

import json
import queue
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from adversary.undertaking import Undertaking, source_file
from adversary.world import Faults, Killed, Process
from memtile.errors import MemtileError
from memtile.explore.line_process import NoAnswerError
from memtile.explore.sweep import cluster, processes, sources
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.sweep import Sweep, SweepPlan

_EVENTS = ("fine", "fine", "kill", "lost", "twice", "late", "full")
DESIGN = "def design(a: int = 1, b: int = 1):\n    raise AssertionError\n"


class Sweeps(Undertaking):
    """A sweep with a log in this process, and what all sweeps promise."""

    vary: Mapping[str, str] = {"a": "1..4", "b": "1..3"}
    in_flight = 1

    def prepare(self) -> None:
        self.ran: Counter[str] = Counter()
        self.when: dict[str, float] = {}
        self.excused: Counter[str] = Counter()
        self.unwritten: dict[str, str] = {}  # what each process ran last, unless the log has it
        self.crashed: set[str] = set()
        self.log = self.root / "design.sweep.parquet"

    def plan(self) -> SweepPlan:
        return SweepPlan(vary=self.vary, workers=0, budget=self.world.chance.choice([None, None, 1800.0]))

    def command(self, number: int) -> None:
        self.run(self.plan())

    def run(self, plan: SweepPlan) -> None:
        """The real sweep."""
        Sweep(str(source_file("design.py", DESIGN)), plan).run(self.log, self.noted)

    def noted(self, row: SweepRow, *_: object) -> None:
        """The log has a row."""
        self.unwritten.pop(self.world.current.name, None)
        self.when.setdefault(row.key, self.world.now)

    @contextmanager
    def around(self) -> Iterator[None]:
        with (
            mock.patch.object(processes, "attempt", self.attempt),
            mock.patch.object(sources, "own_hash", lambda: "simulated"),  # seeds do the same for any memtile
        ):
            yield

    def attempt(self, subject: Any, task: Variant, rivals: Any) -> SweepRow:
        """The work on a variant: it takes some time, and what comes of it hangs on the variant alone."""
        self.world.step("work", task.key)
        self.world.now += self.world.chance.choice([0.01, 0.3, 2.0])
        self.ran[task.key] += 1
        self.when.pop(task.key, None)
        self.unwritten[self.world.current.name] = task.key
        number = int(task.key, 16)
        state = VariantState.GOOD if number % 3 else VariantState.INFEASIBLE
        figures = {"cycles": float(number % 1000)} if number % 3 else {}
        return SweepRow(task.key, task.sources, task.point, state, "" if number % 3 else "no", "", figures)

    def known(self) -> dict[str, SweepRow]:
        """The rows that the next command finds."""
        return Log(self.log).rows

    def check(self, faults: Faults) -> None:
        known = self.known()
        lost = [key for key in self.ran if key not in known and self.ran[key] > self.excused[key]]
        written = sorted(self.when[key] for key in lost if key in self.when)
        seconds = written[-1] - written[0] if faults.power and written else 0.0
        assert seconds <= 1.1, f"rows of {seconds:.1f} seconds are lost: {lost}"
        assert faults.power or len(lost) <= self.in_flight, f"{len(lost)} variants ran and are lost: {lost}"
        for key in lost:
            self.excused[key] = self.ran[key]
        self.excused.update(self.unwritten.values())
        self.unwritten.clear()
        twice = [key for key, count in self.ran.items() if count > 1 + self.excused[key]]
        assert not twice, f"ran twice: {twice}"

    def outcome(self) -> object:
        with_seconds = {key: row.as_json() for key, row in Log(self.log).rows.items()}
        return {
            key: {name: value for name, value in row.items() if name != "seconds"}
            for key, row in sorted(with_seconds.items())
            if key not in self.crashed
        }


class SharedSweeps(Sweeps):
    """Two sweeps of overlapping variants for one log."""

    several = True
    refused = ("another sweep writes this log",)
    in_flight = 2

    def command(self, number: int) -> None:
        vary = [{"a": "1..3", "b": "1..2"}, {"a": "2..4", "b": "1..2"}, {"a": "1..4", "b": "1..2"}][number]
        Sweep(str(source_file("design.py", DESIGN)), SweepPlan(vary=vary, workers=0)).run(
            self.log, self.noted
        )

    def outcome(self) -> object:
        found = super().outcome()
        assert isinstance(found, dict)
        return {
            key: {name: each for name, each in row.items() if name != "number"} for key, row in found.items()
        }


class _Future:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.work, self.found, self.cancelled = work, None, False

    def result(self, timeout: float = 0) -> Any:
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found

    def cancel(self) -> None:
        self.cancelled = True


class ProcessSweeps(Sweeps):
    """A sweep with two processes of this machine, which crash or answer in any order."""

    in_flight = 4

    def plan(self) -> SweepPlan:
        return SweepPlan(vary=self.vary, workers=2)

    @contextmanager
    def around(self) -> Iterator[None]:
        under = self

        class Line:
            def __init__(self, code: str) -> None:
                self.code = code

            def ask(self, asked: dict[str, Any], seconds: float) -> dict[str, Any]:
                task, rivals = processes.request_of(asked)
                if under.world.chance.random() < under.crashing:
                    under.crashed.add(task.key)
                    raise NoAnswerError("the process ended with signal 9", late=False)
                return json.loads(json.dumps(under.attempt(asked["subject"], task, rivals).as_json()))

            def kill(self) -> None:
                pass

            def end(self) -> str:
                return "nothing"

        class Pool:
            def __init__(self, _: int) -> None:
                self.queue: list[_Future] = []

            def submit(self, work: Callable[..., Any], *args: Any) -> _Future:
                self.queue.append(made := _Future(lambda: work(*args)))
                made.pool = self  # type: ignore[attr-defined]
                return made

            def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
                self.queue.clear()

        def wait(running: Mapping[Any, int], return_when: str) -> tuple[set[Any], set[Any]]:
            first = [each for each in running if each.pool.queue[0] is each]
            done = under.world.chance.choice(first)
            done.pool.queue.pop(0)
            done.found = done.work()
            return {done}, set(running) - {done}

        with (
            super().around(),
            mock.patch.object(processes, "LineProcess", Line),
            mock.patch.object(processes, "ThreadPoolExecutor", Pool),
            mock.patch.object(processes, "wait", wait),
        ):
            yield

    crashing = 0.0


class _Task:
    """A future of Dask."""

    def __init__(self, work: Callable[[], Any], key: str) -> None:
        self.work, self.key = work, key
        self.found: Any = None
        self.error: BaseException | None = None
        self.status, self.late, self.killed = "pending", 0, 0
        self.call: Callable[[Any], None] = lambda _: None

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        self.call = call

    def exception(self, timeout: float) -> BaseException | None:
        if self.late:
            self.late -= 1
            raise TimeoutError
        return self.error

    def result(self, timeout: float) -> Any:
        return self.found


class _KilledWorkerError(Exception):
    """What Dask raises if a task has killed several workers."""


class _Client:
    """A client of the simulated cluster."""

    def __init__(self, under: ClusterSweeps) -> None:
        self.under = under
        under.world.step("message", "hello")

    @property
    def status(self) -> str:
        return self.under.status

    def nthreads(self) -> dict[str, int]:
        return {f"worker {self.under.workers}": 1, "worker": 1}

    def submit(self, function: Any, asked: Any, *, key: str, pure: bool) -> _Task:
        text = json.dumps(asked)
        self.under.tasks.append(task := _Task(lambda: function(json.loads(text)), key))
        return task

    def run(self, function: Any, *args: Any) -> None:
        self.under.world.step("message", "forget")
        function(*args)

    def close(self, timeout: float) -> None:
        """The cluster goes on."""


class _Waiting:
    """The queue of tasks that have ended: who waits for one lets something happen."""

    def __init__(self, under: ClusterSweeps) -> None:
        self.under, self.ready = under, list[_Task]()

    def put(self, task: _Task) -> None:
        self.ready.append(task)

    def get(self, timeout: float) -> _Task:
        self.under.world.step("message")
        if not self.ready:
            self.under.advance()
        if not self.ready:
            self.under.world.now += timeout
            raise queue.Empty
        return self.ready.pop(0)


class ClusterSweeps(Sweeps):
    """A sweep on a cluster whose workers are killed, and whose messages are lost and repeated."""

    in_flight = 0

    def prepare(self) -> None:
        super().prepare()
        self.tasks: list[_Task] = []
        self.workers = 0
        self.environment = {"MEMTILE_CACHE": str(self.root / "cache")}

    def command(self, number: int) -> None:
        self.tasks, self.status = [], "running"
        Sweep(
            str(source_file("design.py", DESIGN)), SweepPlan(vary=self.vary, scheduler="tcp://simulated")
        ).run(self.log, self.noted)

    def known(self) -> dict[str, SweepRow]:
        found = super().known()
        for path in self.root.rglob("*.json"):
            if (row := cluster._answer_in(path)) is not None:
                found.setdefault(row.key, row)
        return found

    def check(self, faults: Faults) -> None:
        for task in self.tasks:  # workers go on when the one who asked is gone
            if self.world.chance.random() < 0.5 and task.status == "pending" and not faults.power:
                self._work(task)
        super().check(faults)

    @contextmanager
    def around(self) -> Iterator[None]:
        known = cluster.extra
        distributed = SimpleNamespace(Client=lambda *_, **__: _Client(self), KilledWorker=_KilledWorkerError)
        waiting = SimpleNamespace(Queue={Any: lambda: _Waiting(self)}, Empty=queue.Empty)
        place = Path(self.environment["MEMTILE_CACHE"], "sweeps")
        with (
            super().around(),
            mock.patch.object(
                cluster, "extra", lambda name: distributed if name == "distributed" else known(name)
            ),
            mock.patch.object(cluster, "queue", waiting),
            mock.patch.object(cluster, "attempt", self.attempt),
            mock.patch.object(cluster, "_hush", lambda: None),
            mock.patch.object(cluster, "_place", lambda sources, *_: place / sources),
        ):
            yield

    def advance(self) -> None:
        """Something happens on the cluster."""
        waiting = [task for task in self.tasks if task.status == "pending"]
        if self.disturbed and self.world.chance.random() < 0.02:
            self.status = "closed"
            self.world.trace.append("  the scheduler is lost")
        elif waiting:
            self._work(self.world.chance.choice(waiting))

    def _work(self, task: _Task) -> None:
        """A worker gets a task, and perhaps is killed, or its answer is lost, late or repeated."""
        chance, faults = self.world.chance, Faults()
        event = chance.choice(_EVENTS) if self.disturbed else "fine"
        if event == "kill" and task.killed < 2:
            faults = Faults(kill=chance.randint(1, 12))
        elif event == "full":
            faults = Faults(full=range(chance.randint(1, 8), 99))
        self.workers += 1
        worker = Process(f"worker {self.workers}", faults)
        before = Counter(self.ran)
        with self.world.within(worker):
            try:
                task.found = task.work()
                if event == "twice":
                    task.found = task.work()
            except (Killed, ValueError, MemtileError) as error:  # ValueError: its files are closed
                self._excuse(before)
                if worker.dead:
                    task.killed += 1
                    return
                task.error = error
            finally:
                self.world.die(worker)
        if event == "full":
            self._excuse(before)
        if event == "lost":
            self.world.trace.append("  its answer is lost")
            return
        task.late = event == "late"
        task.status = "finished"
        task.call(task)

    def _excuse(self, before: Counter[str]) -> None:
        """What the worker had begun runs again."""
        known = self.known()
        for key in self.ran - before:
            if key not in known:
                self.excused[key] = self.ran[key]
