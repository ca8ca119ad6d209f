"""Writers of files that are simulated; ``simulated_sweeps`` has those of sweeps."""
# ruff: noqa: ARG001, ARG002, PT008 - what stands for an interface of others takes its arguments

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from adversary.simulated_sweeps import ClusterSweeps, ProcessSweeps, SharedSweeps, Sweeps
from adversary.undertaking import Undertaking, source_file
from adversary.world import Faults
from memtile import Array
from memtile.cpp import build
from memtile.cpp.compilers import Compiler
from memtile.explore.sweep import sources
from memtile.explore.sweep.sources import DesignSources
from memtile.hosts.external_memory import MemoryRequest, served_memory
from memtile.jit import cache as jit_cache
from memtile.jit import decorators, native
from memtile.output_files import write_output


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
            assert (self.root / name).read_bytes() in (self.old, self._new(name)), (
                f"{name} is neither old nor new"
            )

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


class SentSources(Undertaking):
    """Sources of a design that several workers put into one folder."""

    several = True

    @contextmanager
    def around(self) -> Iterator[None]:
        with mock.patch.object(sources, "own_hash", lambda: "simulated"):
            yield

    def prepare(self) -> None:
        self.sources = DesignSources(
            "d.py", {"d.py": "import m\n" * 400, "m.py": "x = 1\n", "p/__init__.py": ""}
        )
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
    powerless = (".lock", ".part")  # two may write the code then; what stays goes with the folder
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
            redirect_stderr(io.StringIO()),  # a note where the disk is full
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
        self.torn |= faults.power or bool(self.world.injected)
        if faults == Faults() and not self.torn:  # after a bad disk "complete" may be there, and no code
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
    powerless = (".lock", ".new")  # a header that lost its name: who needs it next begins anew

    def prepare(self) -> None:
        self.source = source_file("kernel.cc", "int kernel;\n")
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
        assert made.read_bytes() == self._of(self.source) + self._of(build.RUNTIME), (
            "half a library is loaded"
        )

    def check(self, faults: Faults) -> None:
        if faults == Faults():
            assert self.linked <= 1, f"linked {self.linked} times"
        self.linked = 0

    def outcome(self) -> object:
        return sorted(
            path.relative_to(self.root).parts[0] for path in self.root.glob("*/*/*") if path.is_file()
        )


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
        requests = [
            MemoryRequest(0x1_0000_0000 + n * 0x1000, 256, self.root / name)
            for n, name in enumerate(self.names)
        ]
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
