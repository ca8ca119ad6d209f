"""What a confined process may do: folders, limits and environment, as plain data.

It also has limits that the kernel keeps for each process: address space, processes of the user, core files.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

CONFINED = "MEMTILE_CONFINED"
"""Variable that is set in a sandbox, whose temporary files do not outlive it."""
GIGABYTE = 1 << 30
MEMORY = 4.0
"""Gigabytes that each process may have."""
PROCESSES = 64
"""Processes and their children that may run at a time."""
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu", "/sys/devices/system/node"),
)
"""What the loader, compilers and libraries read; no accounts, no settings, no keys."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_KEPT = (
    *("CC", "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "CXX", "FORCE_COLOR", "HOME", "LANG"),
    *("LANGUAGE", "LD_LIBRARY_PATH", "LINES", "LOGNAME", "NO_COLOR", "PATH", "SOURCE_DATE_EPOCH", "TERM"),
    *("TZ", "USER", "VIRTUAL_ENV", "XDG_CACHE_HOME"),
)
_KEPT_GROUPS = ("LC_", "MEMTILE_", "MKL_", "MPL", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON", "TTY_")
_SECRET = ("AUTH", "COOKIE", "CREDENTIAL", "KEY", "PASS", "SECRET", "SESSION", "SIGNATURE", "TOKEN")


class Policy(NamedTuple):
    """What a process and its children may do.

    Attributes:
        root: folder that may be read and written, with all below.
        reads: further files and folders that may be read.
        protected: folders that stay read-only below it, where the kernel has namespaces.
        copies: files and folders of which it gets copies, with their places in its temporary folder.
        variables: of the environment that name folders in its temporary folder, with these.
        memory: bytes that each process may have.
        processes: that may run at a time.
        parent: process with which it ends, however that ends; 0 = none.
    """

    root: str
    reads: Sequence[str] = ()
    protected: Sequence[str] = ()
    copies: Sequence[tuple[str, str]] = ()
    variables: Sequence[tuple[str, str]] = (("MEMTILE_CACHE", "cache"), ("MPLCONFIGDIR", "matplotlib"))
    memory: int = int(MEMORY * GIGABYTE)
    processes: int = PROCESSES
    parent: int = 0

    def as_text(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(self._asdict())

    @classmethod
    def of_text(cls, text: str) -> Policy:
        """Return what :meth:`as_text` wrote."""
        return cls(**json.loads(text))


def installation() -> tuple[str, ...]:
    """Return the folders of this Python, of its packages and of this package, without broad ones."""
    places = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *filter(None, sys.path)]
    places += [str(Path(sys.executable).resolve().parent), str(Path(__file__).resolve().parents[2])]
    folder = Path.cwd().resolve()
    found = dict.fromkeys(Path(each).resolve() for each in places if os.path.exists(each))
    return tuple(str(each) for each in found if each != folder and not is_broad(each))


def is_broad(path: Path) -> bool:
    """Return whether a folder holds all files of the user, or more."""
    return any(home.is_relative_to(path) for home in _homes())


def _homes() -> Iterator[Path]:
    for name in ("~", f"~{os.environ.get('USER', '')}"):
        try:
            yield Path(name).expanduser().resolve()
        except (RuntimeError, OSError):
            continue


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a confined process gets: known ones, none with the name of a secret."""
    return {name: value for name, value in given.items() if _is_kept(name)}


def _is_kept(name: str) -> bool:
    known = name in _KEPT or name.startswith(_KEPT_GROUPS)
    return known and not any(word in name for word in _SECRET)


def folders_of(inputs: Sequence[str], root: Path) -> tuple[str, ...]:
    """Return what has to be readable for inputs: the folders of files, for what they load beside them.

    A link below the root gives nothing: who wrote the files there decides where it leads. A file in a folder
    that holds all files of its user gives itself alone; such a folder gives nothing.

    Args:
        inputs: files and folders that are named on the command line.
        root: that is readable anyway, resolved.
    """
    found: list[Path] = []
    for name in inputs:
        given = Path(name).absolute()
        folder = given.parent.resolve()
        if folder.is_relative_to(root):
            continue
        if given.is_dir():
            found += [] if is_broad(given.resolve()) else [given.resolve()]
        else:
            found.append(folder / given.name if is_broad(folder) else folder)
    return tuple(dict.fromkeys(str(each) for each in found if not each.is_symlink()))


_FOR_THREADS = 4
"""Threads of a process and of each processor that the limit of processes leaves room for."""


def limit_resources(memory: int, processes: int, *, alone: bool) -> None:
    """Limit this process and its children, as far as present limits are not below.

    Args:
        memory: bytes of address space of each process.
        processes: that may run at a time; the kernel counts threads too, and does not limit root.
        alone: the kernel counts from here on, not all processes of the user.
    """
    running = 0 if alone else _tasks_of_user()
    _lower(resource.RLIMIT_AS, memory)
    _lower(resource.RLIMIT_NPROC, running + _FOR_THREADS * (processes + (os.cpu_count() or 1)))
    _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value))


def _tasks_of_user() -> int:
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if process.stat().st_uid == os.getuid():
                found += sum(1 for _ in (process / "task").iterdir())
    return found
