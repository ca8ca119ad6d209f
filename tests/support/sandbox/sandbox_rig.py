"""Processes of users in sandboxes: folders for them, and a Python that each may start."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import memtile
from left_out import PYTHON, path_of
from memtile.sandbox.policy import Policy
from memtile.sandbox.start import confined, layers, missing

HERE = Path(__file__).parent
Done = subprocess.CompletedProcess[str]
DESIGN = """
import numpy as np
from memtile import MemoryTile

def design(words: int = 64):
    tile = MemoryTile("npu1")
    data = tile.buffer("data", words, np.int32)
    full = tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(data).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(data).guarded(full.acquire(), None))
    tile.s2mm[0].feed(np.arange(words, dtype=np.int32))
    tile.mm2s[0].expect(np.arange(words, dtype=np.int32))
    return tile
"""


class Rig:
    """A user's folder: ``project`` is the root of sandboxes, ``outside`` and ``home`` are not.

    Args:
        folder: of all.
        user: its name; empty = the present one.
    """

    def __init__(self, folder: Path, user: str) -> None:
        self.folder, self.user = folder, user
        self.python, libraries = _python(user)
        self.project, self.outside = folder / "project", folder / "outside"
        for each in (self.project, self.outside, folder / "home", folder / "cache"):
            each.mkdir()
        (self.outside / "secret.txt").write_text("a secret")
        (self.project / "link").symlink_to(self.outside / "secret.txt")
        (self.project / "sandbox_design.py").write_text(DESIGN)
        shutil.copy(HERE / "sandbox_runner.py", folder)
        shutil.copy(HERE / "sandbox_attacks.py", self.project / "hostile.py")
        paths = [str(Path(memtile.__file__).parents[1]), *libraries]
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join(paths),
            "MEMTILE_CACHE": str(folder / "cache"),
            "MEMTILE_JIT": "0",
        }
        self.started: list[subprocess.Popen[str]] = []
        self.own()

    def own(self) -> None:
        """Give all files to the user."""
        if self.user:
            entry = pwd.getpwnam(self.user)
            for each in (self.folder, *self.folder.rglob("*")):
                os.chown(each, entry.pw_uid, entry.pw_gid, follow_symlinks=False)

    def write(self, name: str, text: str) -> Path:
        """A file of the project."""
        file = self.project / name
        file.write_text(text)
        self.own()
        return file

    def start(self, *arguments: str, jit: bool = False) -> subprocess.Popen[str]:
        """``memtile`` in the project."""
        return self._popen((self.python, "-m", "memtile", *arguments), jit)

    def run(self, *arguments: str, jit: bool = False, seconds: float = 300) -> Done:
        """``memtile`` in the project, until it ends."""
        return self._finished(self.start(*arguments, jit=jit), seconds)

    def attack(self, *arguments: str, nested: bool = False) -> Done:
        """``memtile`` in the project, beside what a hostile design attacks; nested = without namespaces."""
        command: Sequence[str] = (
            self.python,
            str(self.folder / "sandbox_runner.py"),
            str(self.folder),
            *arguments,
        )
        if nested:
            reads = self.environment["PYTHONPATH"].split(os.pathsep)
            policy = Policy(root=str(self.folder), reads=reads, variables=())
            launch = confined(policy, command).command
            command = (self.python, *launch[1:])
        return self._finished(self._popen(command, jit=False), 300)

    def _popen(self, command: Sequence[str], jit: bool) -> subprocess.Popen[str]:
        entry = pwd.getpwnam(self.user) if self.user else None
        environment = {
            key: value for key, value in self.environment.items() if not jit or key != "MEMTILE_JIT"
        }
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            user=entry and entry.pw_uid,
            group=entry and entry.pw_gid,
            extra_groups=[] if entry else None,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what still runs."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    @staticmethod
    def _finished(process: subprocess.Popen[str], seconds: float) -> Done:
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _python(user: str) -> tuple[str, list[str]]:
    """A Python of this version that a user may start, and the folders with its packages."""
    if not user or _may_start(user, sys.executable):
        return sys.executable, []
    found = path_of(PYTHON)
    libraries = [each for each in sys.path if each.endswith("site-packages")]
    if found is None or not _may_start(user, found):
        raise NoUserError(f"{user} may start no {PYTHON} here")
    return found, libraries


class NoUserError(Exception):
    """There is no second user for a test."""


def _may_start(user: str, python: str) -> bool:
    entry = pwd.getpwnam(user)
    try:
        command = [python, "-c", "import ctypes"]
        done = subprocess.run(
            command, user=entry.pw_uid, group=entry.pw_gid, check=False, capture_output=True
        )
    except OSError:
        return False
    return done.returncode == 0


@contextmanager
def rig(user: str = "") -> Iterator[Rig]:
    """Folders of a user, gone at the end.

    Raises:
        NoUserError: a second user cannot be had.
    """
    if user and os.getuid() != 0:
        raise NoUserError("only root can start processes of another user")
    with tempfile.TemporaryDirectory(prefix="rig-", dir="/tmp") as folder:
        made = Rig(Path(folder).resolve(), user)
        try:
            yield made
        finally:
            made.end()


def why_not() -> str:
    """Why sandboxes cannot be tested here; empty = they can. A build server must have one layer of them."""
    return missing()


def has_namespaces() -> bool:
    """Whether sandboxes have namespaces here."""
    return bool(layers().get("namespaces"))
