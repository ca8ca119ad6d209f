"""A simulated system: processes that are stopped anywhere, disks that are full, refuse, tear and forget.

A :class:`World` stands for :class:`memtile.system.System`. What processes see is in a real folder, so that
all that reads files runs as it is; what a loss of power leaves is known beside it. Everything happens in the
order that a seed chooses: each operation is a step, before which another process may run, the process may be
killed, or the system may refuse.
"""

from __future__ import annotations

import errno
import io
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from memtile.system import Opener, System

MOST_STEPS = 20_000
_STAYS = 0.7  # probability that the same process goes on
_GROWS = ("open", "write", "sync", "make_folder", "symlink", "touch")  # what a full disk refuses
_NEVER_REFUSED = ("lock", "pause", "work", "message", "look")
_KEPT = 0.6  # probability that a name that was not synchronised survives a loss of power


class Killed(BaseException):
    """The process is over: nothing that it does now has an effect."""


class EndlessError(Exception):
    """The processes never come to an end."""


@dataclass
class Faults:
    """What happens to one process.

    Attributes:
        kill: number of the operation at which it is killed; 0 = at none.
        power: the machine loses its power then.
        full: operations, from the first to the last, at which the disk is full.
        broken: numbers of operations that the disk refuses.
        interrupt: number of the operation at which Ctrl-C comes.
        jump: number of the operation at which the clock jumps by an hour.
    """

    kill: int = 0
    power: bool = False
    full: range = range(0)
    broken: Sequence[int] = ()
    interrupt: int = 0
    jump: int = 0

    def __str__(self) -> str:
        said = {
            "power lost at": self.kill if self.power else 0,
            "killed at": 0 if self.power else self.kill,
            "disk full at": f"{self.full.start}..{self.full.stop - 1}" if self.full else 0,
            "refused at": ", ".join(map(str, self.broken)),
            "Ctrl-C at": self.interrupt,
            "clock jumps at": self.jump,
        }
        return "; ".join(f"{name} {value}" for name, value in said.items() if value) or "undisturbed"


@dataclass
class Process:
    """A process of the world.

    Attributes:
        name: for the trace.
        faults: what happens to it.
        steps: operations so far.
        dead: it was killed.
        files: that it has open.
        ended: it is over.
        error: what ended it; None = it came to its end.
    """

    name: str
    faults: Faults = field(default_factory=Faults)
    steps: int = 0
    dead: bool = False
    files: list[io.FileIO] = field(default_factory=list)
    ended: bool = False
    error: BaseException | None = None
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@dataclass(eq=False)
class Node:
    """A file, folder or link on the disk: ``synced`` is what a loss of power leaves of it at least."""

    kind: str
    synced: bytes = b""
    last: bytes = b""


Names = dict[str, Node]


class World(System):
    """See the module.

    Attributes:
        root: folder with all files.
        trace: what happened, a line each.
        now: seconds of the clock.
        injected: errors that the world made.
        current: the process that does something.
    """

    def __init__(self, root: Path, seed: object) -> None:
        self.root, self.chance = root, random.Random(f"{seed}")
        self.trace: list[str] = []
        self.now, self.steps = 1000.0, 0
        self.injected: list[BaseException] = []
        self._processes: list[Process] = []
        self.current = Process("main")
        self._by_turns, self._back = False, threading.Semaphore(0)
        self._names: Names = {}
        self._disk: Names = {}
        self._pending: list[tuple[str, str, str, Node | None]] = []
        self.adopt()

    def adopt(self) -> None:
        """Take all files that are there as they are on the disk."""
        self._names = {}
        self._rescan()
        for path, node in self._names.items():
            node.synced = node.last = self._content(path)
        self._disk = dict(self._names)
        self._pending.clear()

    # Processes.

    def run(self, work: Sequence[tuple[Process, Callable[[], object]]]) -> None:
        """Run processes until all have ended; a loss of power ends them all."""
        self._processes = [process for process, _ in work]
        if len(work) == 1:
            self.current = work[0][0]
            self._live(*work[0])
        else:
            self._run_by_turns(work)
        for process in self._processes:
            self.die(process)
        if any(process.faults.power for process in self._processes):
            self._lose_power()
        self.current = Process("afterwards")

    def _run_by_turns(self, work: Sequence[tuple[Process, Callable[[], object]]]) -> None:
        self._by_turns = True
        threads = []
        for process, body in work:
            thread = threading.Thread(target=self._wait_and_live, args=(process, body))
            thread.start()
            threads.append(thread)
        open_ends = {process.name: process for process, _ in work}
        self.current = work[0][0]
        while open_ends:
            if self.current.name not in open_ends or self.chance.random() > _STAYS:
                self.current = self.chance.choice([*open_ends.values()])
            running = self.current
            running.turn.release()
            self._back.acquire()
            if running.ended:
                del open_ends[running.name]
                if running.dead and running.faults.power:
                    for each in open_ends.values():
                        self.die(each)
        for thread in threads:
            thread.join()
        self._by_turns = False

    def _wait_and_live(self, process: Process, body: Callable[[], object]) -> None:
        process.turn.acquire()
        self._live(process, body)
        process.ended = True
        self._back.release()

    def _live(self, process: Process, body: Callable[[], object]) -> None:
        try:
            body()
        except BaseException as error:
            process.error = Killed() if process.dead else error
            said = "killed" if process.dead else f"ended by {type(error).__name__}: {error}"
            self.trace.append(f"{process.name}: {said}".replace(str(self.root), ""))

    @contextmanager
    def within(self, process: Process) -> Iterator[None]:
        """A context that another process is in, such as a worker that got a task; one thread is all."""
        before, self.current = self.current, process
        try:
            yield
        finally:
            self.current = before

    def die(self, process: Process) -> None:
        """Kill a process: its files are closed, and what it has not handed over is lost."""
        process.dead = True
        for file in process.files:
            io.FileIO.close(file)
        process.files.clear()

    def step(self, what: str, path: object = "", process: Process | None = None) -> Process:
        """An operation of the current process."""
        process = process or self.current
        self._let_others_run(process)
        process.steps += 1
        self.steps += 1
        self.now += 1e-3
        shown = str(path).replace(f"{self.root}/", "").replace(str(self.root), ".")
        self.trace.append(f"{process.name} {process.steps}: {what} {shown}")
        if self.steps > MOST_STEPS:
            raise EndlessError(f"{MOST_STEPS:,} operations, and no end")
        if process.steps == process.faults.jump:
            self.now += 3600
        if not what.startswith("write"):  # which may be done in part
            self._disturb(process, what)
        elif process.steps == process.faults.interrupt:
            raise KeyboardInterrupt
        return process

    def _let_others_run(self, process: Process) -> None:
        if process.dead:
            raise Killed
        if self._by_turns:
            self._back.release()
            process.turn.acquire()
            if process.dead:
                raise Killed

    def _disturb(self, process: Process, what: str) -> None:
        """Kill the process, interrupt it, or refuse what it does."""
        faults, number = process.faults, process.steps
        if number == faults.kill:
            self.die(process)
            raise Killed
        if number == faults.interrupt:
            raise KeyboardInterrupt
        if what not in _NEVER_REFUSED:
            if number in faults.full and what in _GROWS:
                raise self._error(errno.ENOSPC)
            if number in faults.broken:
                raise self._error(errno.EIO)

    def _error(self, number: int) -> OSError:
        error = OSError(number, os.strerror(number))
        self.injected.append(error)
        self.trace.append(f"  refused: {error.strerror}")
        return error

    # Operations.

    def open(self, path: Path | str, mode: str, *, buffered: bool, opener: Opener | None = None) -> BinaryIO:
        process = self.step("look" if mode in ("rb", "r+b") else "open", path)
        raw = SimulatedFile(self, process, path, mode, opener)
        self._rescan()
        process.files.append(raw)
        if not buffered:
            return cast(BinaryIO, raw)
        return cast(BinaryIO, io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw))

    def sync(self, file: Any) -> None:
        raw = cast(SimulatedFile, getattr(file, "raw", file))
        self.step("sync", raw.path, raw.process)
        path = self._relative(raw.path)
        self._rescan()
        if path in self._names and os.path.samestat(os.stat(raw.path), os.fstat(raw.fileno())):
            node = self._names[path]
            node.synced = node.last = self._content(path)

    def sync_folder(self, folder: Path | str) -> None:
        self.step("sync names in", folder)
        self._rescan()
        place, left = self._relative(folder), []
        for change in self._pending:
            paths = [each for each in change[1:3] if each]
            if any(os.path.dirname(each) == place or f"{place}/".startswith(f"{each}/") for each in paths):
                self._apply(self._disk, change)
            else:
                left.append(change)
        self._pending = left

    def lock(self, file: Any) -> bool:
        raw = cast(SimulatedFile, getattr(file, "raw", file))
        self.step("lock", raw.path, raw.process)
        return super().lock(file)

    def truncate(self, file: Any) -> None:
        self.step("truncate", file.path, file.process)
        file.truncate(0)

    def replace(self, old: Path | str, new: Path | str) -> None:
        self.step("rename", f"{old} to {new}")
        self._rescan()
        self._remember(self._relative(new))
        os.replace(old, new)
        self._change("move", self._relative(old), self._relative(new))

    def unlink(self, path: Path | str) -> None:
        self.step("unlink", path)
        self._rescan()
        self._remember(self._relative(path))
        os.unlink(path)
        self._rescan()

    def symlink(self, target: str, path: Path) -> None:
        self.step("symlink", path)
        os.symlink(target, path)
        self._rescan()

    def make_folder(self, folder: Path, mode: int = 0o777) -> None:
        if not folder.is_dir():
            self.step("make_folder", folder)
        super().make_folder(folder, mode)
        self._rescan()

    def remove_folder(self, folder: Path) -> None:
        if folder.is_symlink():
            self.unlink(folder)
        for place, folders, files in sorted(os.walk(folder), reverse=True):
            for each in sorted(files):
                with suppress(FileNotFoundError, IsADirectoryError):
                    self._try(lambda each=each, place=place: self.unlink(os.path.join(place, each)))  # type: ignore[misc]
            for each in [*sorted(folders), *([""] if place == str(folder) else [])]:
                target = os.path.join(place, each).rstrip("/")
                self._try(lambda target=target: self._remove_empty(target))  # type: ignore[misc]

    def _remove_empty(self, folder: str) -> None:
        self.step("rmdir", folder)
        os.rmdir(folder)
        self._rescan()

    def _try(self, act: Callable[[], object]) -> None:
        with suppress(OSError):
            act()

    def touch(self, path: Path) -> None:
        self.step("touch", path)
        super().touch(path)
        self._rescan()

    def mark_used(self, path: Path) -> None:
        self.step("mark used", path)
        at = self.now + self.chance.choice([0, 0, 0, -7200])  # the clock of the day may be set back
        os.utime(path, (at, at))

    def pause(self, seconds: float) -> None:
        self.step("pause")
        self.now += seconds

    def monotonic(self) -> float:
        return self.now

    # The disk.

    def _relative(self, path: Path | str) -> str:
        found = os.path.relpath(os.path.abspath(path), self.root)
        return "" if found == os.curdir else found

    def _content(self, path: str) -> bytes:
        """What is in a file or link now, as far as any process sees it."""
        full = self.root / path
        if full.is_symlink():
            return os.fsencode(os.readlink(full))
        return full.read_bytes() if full.is_file() else b""

    def _remember(self, path: str) -> None:
        for name, node in self._names.items():
            if name == path or name.startswith(f"{path}/"):
                node.last = self._content(name)

    def _rescan(self) -> None:
        """Know of what others have made or removed, such as a compiler."""
        found: dict[str, str] = {}
        for place, folders, files in sorted(os.walk(self.root)):
            for each in (*sorted(folders), *sorted(files)):
                full = os.path.join(place, each)
                kind = "link" if os.path.islink(full) else "folder" if os.path.isdir(full) else "file"
                found[os.path.relpath(full, self.root)] = kind
        for path in [path for path in self._names if path not in found]:
            self._change("remove", path)
        for path, kind in found.items():
            if path not in self._names:
                self._change("add", path, node=Node(kind))

    def _change(self, what: str, path: str, new: str = "", node: Node | None = None) -> None:
        change = (what, path, new, node or self._names.get(path))
        self._apply(self._names, change)
        self._pending.append(change)

    def _apply(self, names: Names, change: tuple[str, str, str, Node | None]) -> None:
        what, path, new, node = change
        if what == "add" and node is not None:
            self._with_parents(names, path)
            names[path] = node
        elif what == "remove":
            for each in [each for each in names if each == path or each.startswith(f"{path}/")]:
                del names[each]
        elif node is not None:
            moved = {each: names[each] for each in names if each.startswith(f"{path}/")} | {path: node}
            for each in [each for each in names if each == new or each.startswith(f"{new}/")]:
                del names[each]
            for each, what_moves in moved.items():
                names.pop(each, None)
                names[new + each.removeprefix(path)] = what_moves
            self._with_parents(names, new)

    def _with_parents(self, names: Names, path: str) -> None:
        while path := os.path.dirname(path):
            names.setdefault(path, self._names.get(path) or Node("folder"))

    def _lose_power(self) -> None:
        """Leave what was synchronised, and of the rest whatever a file system may leave."""
        self._rescan()
        for path, node in self._names.items():
            node.last = self._content(path)
        for change in self._surviving():
            self._apply(self._disk, change)
        shutil.rmtree(self.root)
        self.root.mkdir()
        for path, node in sorted(self._disk.items()):
            full = self.root / path
            full.parent.mkdir(parents=True, exist_ok=True)
            if node.kind == "folder":
                full.mkdir(exist_ok=True)
            elif node.kind == "link":
                full.symlink_to(os.fsdecode(node.last))
            else:
                node.synced = node.last = self._torn(path, node)
                full.write_bytes(node.last)
        self.adopt()

    def _surviving(self) -> list[tuple[str, str, str, Node | None]]:
        """Changes of names that are on the disk: all, those up to one, or any that do not need another."""
        way = self.chance.choice(["all", "first", "any"])
        if way == "all":
            return self._pending
        if way == "first":
            return self._pending[: int(self.chance.random() * (len(self._pending) + 1))]
        kept, dropped = [], list[str]()
        for change in self._pending:
            paths = [path for path in change[1:3] if path]
            needs = any(
                path == each or path.startswith(f"{each}/") or each.startswith(f"{path}/")
                for path in paths
                for each in dropped
            )
            if needs or self.chance.random() > _KEPT:
                dropped += paths
            else:
                kept.append(change)
        lost = [change[:3] for change in self._pending if change not in kept]
        self.trace += [f"  lost: {' '.join(change)}" for change in lost]
        return kept

    def _torn(self, path: str, node: Node) -> bytes:
        """The content of a file after a loss of power."""
        if node.last == node.synced:
            return node.last
        least = len(node.synced) if node.last.startswith(node.synced) else 0
        cut = least + int(self.chance.random() * (len(node.last) + 1 - least))
        zeros = node.last[:cut] + bytes(len(node.last) - cut)
        found = self.chance.choice([node.synced, node.last, node.last[:cut], zeros])
        self.trace.append(f"  torn: {path}, {len(found)} of {len(node.last)} bytes, {cut} written")
        return found


class SimulatedFile(io.FileIO):
    """An open file of a process."""

    def __init__(
        self, world: World, process: Process, path: Path | str, mode: str, opener: Opener | None
    ) -> None:
        super().__init__(path, mode.replace("b", ""), opener=opener)
        self.world, self.process, self.path = world, process, path

    def write(self, data: Any) -> int:
        """Write, or a part of it: the disk is full, or the process is killed meanwhile."""
        if self.process.dead:
            return len(data)
        process, chance = self.process, self.world.chance
        self.world.step(f"write {len(data)} bytes", self.path, process)
        faults = process.faults
        if process.steps == faults.kill:
            super().write(bytes(data)[: int(chance.random() * (len(data) + 1))])
            self.world.die(process)
            raise Killed
        if process.steps in faults.full or process.steps in faults.broken:
            count = int(chance.random() * len(data)) if process.steps in faults.full else 0
            if count:
                return super().write(bytes(data)[:count]) or 0
            raise self.world._error(errno.ENOSPC if process.steps in faults.full else errno.EIO)
        return super().write(data) or 0
