"""What is simulated: each writer of files of memtile, as the real code, in a world of its own.

An :class:`Undertaking` is a command that is given again until it comes to its end. It knows what must hold
after each end, whatever the end was, and what there is when all is over.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import queue
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from adversary.world import Faults, Killed, Process, World
from memtile import Array
from memtile.cpp import build
from memtile.cpp.compilers import Compiler
from memtile.errors import MemtileError
from memtile.explore.line_process import NoAnswerError
from memtile.explore.sweep import cluster, processes, sources
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.sources import DesignSources
from memtile.explore.sweep.sweep import Sweep, SweepPlan
from memtile.hosts.external_memory import MemoryRequest, served_memory
from memtile.jit import cache as jit_cache
from memtile.jit import decorators, native
from memtile.output_files import write_output

Commands = list[tuple[str, Callable[[], object]]]
_LEFT = (".part", ".lock", ".draft", ".new", ".old", ".journal")


class Undertaking:
    """See the module.

    Attributes:
        several: it may be given by several processes at the same time.
        refused: texts of errors that several of them give each other.
    """

    several = False
    refused: tuple[str, ...] = ()

    def __init__(self, world: World) -> None:
        self.world, self.root = world, world.root
        self.prepare()

    def prepare(self) -> None:
        """Make what is there before the first command."""

    def command(self, number: int) -> object:
        """The command, as process ``number`` gives it."""
        raise NotImplementedError

    def check(self, faults: Faults) -> None:
        """What must hold after the end of all processes."""

    def outcome(self) -> object:
        """What there is at last."""
        return None

    def left(self) -> list[str]:
        """Temporary files that nobody will remove."""
        return sorted(
            str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.name.endswith(_LEFT)
        )

    @contextmanager
    def around(self) -> Iterator[None]:
        """A context with what stands for the work itself."""
        yield


class Reports(Undertaking):
    """Files that are written again: each is the old one or a new one."""

    several = True
    names = ("a.txt", "b.json", "folder/c.bin")
    old = b"old" * 50

    def prepare(self) -> None:
        (self.root / "folder").mkdir()
        for name in self.names:
            (self.root / name).write_bytes(self.old)
        self.world.adopt()

    def _new(self, name: str) -> bytes:
        return f"new {name} ".encode() * 3000

    def command(self, number: int) -> None:
        for name in self.names:
            content = self._new(name)
            write_output(self.root / name, [content[:9000], content[9000:]])

    def check(self, faults: Faults) -> None:
        for name in self.names:
            assert (self.root / name).read_bytes() in (self.old, self._new(name)), f"{name} is neither old nor new"

    def outcome(self) -> object:
        return [(self.root / name).read_bytes() == self._new(name) for name in self.names]


@cache
def _array() -> Array:
    array = Array("npu1", columns=1)
    array.memory_tile(0).buffer("a", 64, data=np.arange(64))
    return array


class SavedArrays(Undertaking):
    """An array saved twice in a place."""

    def command(self, number: int) -> None:
        for name in ("one.npz", "two.npz"):
            _array().save(self.root / name)

    def check(self, faults: Faults) -> None:
        for path in self.root.glob("*.npz"):
            with np.load(path) as found:
                assert found.files, f"{path.name} has nothing"

    def outcome(self) -> object:
        return sorted(path.name for path in self.root.iterdir())


DESIGN = "def design(a: int = 1, b: int = 1):\n    raise AssertionError\n"
_FOLDER = tempfile.TemporaryDirectory(prefix="memtile-simulate-")


@cache
def _design() -> str:
    path = Path(_FOLDER.name, "design.py")
    path.write_text(DESIGN, "utf-8")
    return str(path)


class Sweeps(Undertaking):
    """A sweep with a log in this process, and what all sweeps promise."""

    vary: Mapping[str, str] = {"a": "1..4", "b": "1..3"}
    in_flight = 1

    def prepare(self) -> None:
        self.ran: Counter[str] = Counter()
        self.when: dict[str, float] = {}
        self.excused: Counter[str] = Counter()
        self.crashed: set[str] = set()
        self.log = self.root / "design.sweep.parquet"

    def plan(self) -> SweepPlan:
        return SweepPlan(vary=self.vary, workers=0, budget=self.world.chance.choice([None, None, 1800.0]))

    def command(self, number: int) -> None:
        Sweep(_design(), self.plan()).run(self.log, None)

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
        self.when[task.key] = self.world.now
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
        written = sorted(when for key in lost if (when := self.when[key]) < math.inf)
        written = written[: len(written) - self.in_flight]
        seconds = written[-1] - written[0] if faults.power and written else 0.0
        assert seconds <= 1.1, f"rows of {seconds:.1f} seconds are lost: {lost}"
        assert faults.power or len(lost) <= self.in_flight, f"{len(lost)} variants ran and are lost: {lost}"
        for key in lost:
            self.excused[key] = self.ran[key]
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
        Sweep(_design(), SweepPlan(vary=vary, workers=0)).run(self.log, None)

    def outcome(self) -> object:
        found = super().outcome()
        assert isinstance(found, dict)
        return {key: {name: each for name, each in row.items() if name != "number"} for key, row in found.items()}


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

            def ask(self, line: str, seconds: float) -> str:
                asked = json.loads(line)
                task, rivals = processes.request_of(asked)
                if under.world.chance.random() < under.crashing:
                    under.crashed.add(task.key)
                    raise NoAnswerError("the process ended with signal 9", late=False)
                return json.dumps(under.attempt(asked["subject"], task, rivals).as_json())

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


class ClusterSweeps(Sweeps):
    """A sweep on a cluster whose workers are killed, and whose messages are lost and repeated."""

    in_flight = 0

    def prepare(self) -> None:
        super().prepare()
        self.tasks: list[_Task] = []
        self.workers = 0
        self.environment = {"MEMTILE_CACHE": str(self.root / "cache")}
        self.disturbed = True

    def command(self, number: int) -> None:
        self.tasks, self.status = [], "running"
        Sweep(_design(), SweepPlan(vary=self.vary, scheduler="tcp://simulated")).run(self.log, None)

    def attempt(self, subject: Any, task: Variant, rivals: Any) -> SweepRow:
        row = super().attempt(subject, task, rivals)
        self.when[task.key] = math.inf
        return row

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
        under = self

        class Client:
            def __init__(self, address: str, timeout: float, set_as_default: bool) -> None:
                under.world.step("message", "hello")

            @property
            def status(self) -> str:
                return under.status

            def nthreads(self) -> dict[str, int]:
                return {f"worker {under.workers}": 1, "worker": 1}

            def submit(self, function: Any, asked: Any, *, key: str, pure: bool) -> _Task:
                text = json.dumps(asked)
                under.tasks.append(task := _Task(lambda: function(json.loads(text)), key))
                return task

            def run(self, function: Any, *args: Any) -> None:
                under.world.step("message", "forget")
                function(*args)

            def close(self, timeout: float) -> None:
                pass

        class Waiting:
            def __class_getitem__(cls, _: object) -> type:
                return cls

            def __init__(self) -> None:
                self.ready: list[_Task] = []

            def put(self, task: _Task) -> None:
                self.ready.append(task)

            def get(self, timeout: float) -> _Task:
                under.world.step("message")
                if not self.ready:
                    under.advance()
                if not self.ready:
                    under.world.now += timeout
                    raise queue.Empty
                return self.ready.pop(0)

        class KilledWorker(Exception):
            pass

        known = cluster.extra
        distributed = SimpleNamespace(Client=Client, KilledWorker=KilledWorker)
        with (
            super().around(),
            mock.patch.object(
                cluster, "extra", lambda name: distributed if name == "distributed" else known(name)
            ),
            mock.patch.object(cluster, "queue", SimpleNamespace(Queue=Waiting, Empty=queue.Empty)),
            mock.patch.object(cluster, "attempt", self.attempt),
            mock.patch.object(cluster, "_hush", lambda: None),
            mock.patch.object(
                cluster, "_place", lambda sources, *_: Path(self.environment["MEMTILE_CACHE"], "sweeps", sources)
            ),
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
        event = chance.choice(["fine", "fine", "kill", "lost", "twice", "late", "full"]) if self.disturbed else ""
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
        if task.error is None:
            self.when[task.found["key"]] = self.world.now  # now the log has it
        task.call(task)

    def _excuse(self, before: Counter[str]) -> None:
        """What the worker had begun runs again."""
        known = self.known()
        for key in self.ran - before:
            if key not in known:
                self.excused[key] = self.ran[key]


class SentSources(Undertaking):
    """Sources of a design that several workers put into one folder."""

    several = True

    @contextmanager
    def around(self) -> Iterator[None]:
        with mock.patch.object(sources, "own_hash", lambda: "simulated"):
            yield

    def prepare(self) -> None:
        self.sources = DesignSources("d.py", {"d.py": "import m\n" * 400, "m.py": "x = 1\n", "p/__init__.py": ""})
        (self.root / "sweeps").mkdir()
        if self.world.chance.random() < 0.5:
            with self.around():
                stale = self.root / "sweeps" / self.sources.hash
            stale.mkdir()
            (stale / "other.py").write_text("stale")
        self.world.adopt()

    def command(self, number: int) -> None:
        made = Path(self.sources.put(self.root / "sweeps"))
        found = {name: (made.parent / name).read_text() for name in self.sources.files}
        assert found == dict(self.sources.files), "a worker runs other sources"

    def left(self) -> list[str]:
        """Without the lock, which has no content: the folder is removed when the sweep ends."""
        return [each for each in super().left() if not each.endswith(".lock")]

    def outcome(self) -> object:
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob("sweeps/[!.]*/**/*"))


class CompiledEngine(Undertaking):
    """The engine that several processes want compiled: ``warmup`` and first runs."""

    several = True
    content = b"machine code " * 900

    def prepare(self) -> None:
        self.compiled = 0
        self.folder = self.root / "jit" / "now"
        for n in range(jit_cache._STAY + 2):
            (self.root / "jit" / f"old{n}").mkdir(parents=True)
            (self.root / "jit" / f"old{n}" / "step.object").write_bytes(b"x")
            os.utime(self.root / "jit" / f"old{n}", (n, n))
        self.folder.mkdir()
        self.world.adopt()
        self.torn = False

    @contextmanager
    def around(self) -> Iterator[None]:
        with (
            mock.patch.object(decorators, "cache_directory", lambda _: self.folder),
            mock.patch.object(decorators, "shown", ExitStack),
            mock.patch.object(native, "machine", lambda: "simulated"),
        ):
            yield

    def command(self, number: int) -> None:
        wanted: Any = SimpleNamespace(
            kept=lambda: native.kept(self.folder, "step", "about"),
            in_package=lambda: SimpleNamespace(bitcode=b"bitcode", refused=""),
        )
        with decorators.compiling(lambda _: None, (), wanted):
            code = wanted.kept()
            if code is None:
                self.world.step("work", "compile")
                self.compiled += 1
                code = native.MachineCode("step", "about", self.content)
                native.keep(self.folder, "step", code)
        assert code.content == self.content, "damaged code is run"

    def check(self, faults: Faults) -> None:
        self.torn |= faults.power
        if faults == Faults() and not self.torn:  # "complete" may be there, and the code lost
            assert self.compiled <= 1, f"compiled {self.compiled} times at once"
        self.compiled = 0
        found = native.kept(self.folder, "step", "about") if self.folder.is_dir() else None
        assert found is None or found.content == self.content, "half of the code is read as whole"

    def outcome(self) -> object:
        found = native.kept(self.folder, "step", "about")
        return found is not None

    def left(self) -> list[str]:
        return [each for each in super().left() if not each.endswith(".lock")]


class _Compiling:
    """A compiler that is running."""

    returncode = 0

    def __init__(self, file: Path, target: Path, content: bytes) -> None:
        self.file, self.target, self.content = file, target, content

    def communicate(self) -> tuple[str, str]:
        self.target.write_bytes(self.content)
        Path(f"{self.target}.d").write_text(f"{self.target}: {self.file}\n")
        return "", ""


class CompiledKernels(Undertaking):
    """Kernels in C++ that several processes want compiled."""

    several = True

    def prepare(self) -> None:
        self.source = Path(_design()).with_name("kernel.cc")
        self.source.write_text("int kernel;\n")
        self.linked = 0

    @contextmanager
    def around(self) -> Iterator[None]:
        def room(name: str = "cpp") -> Path:
            folder = self.root / name
            self.world.make_folder(folder, 0o700)
            return folder

        def begun(used: Compiler, file: Path, target: Path, options: Any) -> Any:
            self.world.step("work", f"compile {file.name}")
            return _Compiling(file, target, self._of(file))

        with (
            mock.patch.object(build, "cache_folder", room),
            mock.patch.object(build, "compiler", lambda: Compiler(("g++",), "simulated", False)),
            mock.patch.object(build, "_begun", begun),
            mock.patch.object(build, "_key", lambda *_: "kernels"),  # it has the path of the checkout in it
        ):
            yield

    def _of(self, file: Path) -> bytes:
        return hashlib.sha256(file.name.encode()).digest() * 200

    def _link(self, sources: Any, used: Any, objects: Any, library: Path) -> None:
        self.world.step("work", "link")
        self.linked += 1
        library.write_bytes(b"".join(each.read_bytes() for each in objects))

    def command(self, number: int) -> None:
        product = build.Product("kernels.so", (build.RUNTIME,), self._link, "kernel")
        made = build.built(build.Sources((self.source,)), product)
        assert made.read_bytes() == self._of(self.source) + self._of(build.RUNTIME), "half a library is loaded"

    def check(self, faults: Faults) -> None:
        if faults == Faults():
            assert self.linked <= 1, f"linked {self.linked} times"
        self.linked = 0

    def outcome(self) -> object:
        return sorted(path.relative_to(self.root).parts[0] for path in self.root.glob("*/*/*") if path.is_file())


class ServedMemories(Undertaking):
    """A server that writes its memories at its end."""

    several = True
    refused = ("is in use by the memtile serve",)
    names = ("one.npy", "two.npy")

    def prepare(self) -> None:
        for number, name in enumerate(self.names):
            np.save(self.root / name, np.full(64, number, np.uint32))
        self.served = 0
        self.ended = 0
        self.values: set[int] = {0, 1}
        self.world.adopt()

    def command(self, number: int) -> None:
        requests = [MemoryRequest(0x1_0000_0000 + n * 0x1000, 256, self.root / name) for n, name in enumerate(self.names)]
        with served_memory(requests, self.root / "serve", lambda _: None, keep=True) as memory:
            self.served += 1
            self.values.add(value := 100 + self.served)
            assert (self.root / "serve" / "external_memory.txt").read_text().count("\n") == 2
            self.world.step("work", "serve")
            memory.words[:] = value

    def check(self, faults: Faults) -> None:
        for name in self.names:
            found = np.load(self.root / name)
            assert found.shape == (64,), f"{name} has another shape"
            assert len(set(found.tolist())) == 1, f"{name} is half of two"
            assert found[0] in self.values

    def outcome(self) -> object:
        found = [int(np.load(self.root / name)[0]) - 100 - self.served for name in self.names]
        return found, sorted(path.name for path in self.root.rglob("*"))


UNDERTAKINGS: dict[str, type[Undertaking]] = {
    "reports": Reports,
    "arrays": SavedArrays,
    "sweep": Sweeps,
    "shared": SharedSweeps,
    "processes": ProcessSweeps,
    "cluster": ClusterSweeps,
    "sources": SentSources,
    "engine": CompiledEngine,
    "kernels": CompiledKernels,
    "serve": ServedMemories,
}
