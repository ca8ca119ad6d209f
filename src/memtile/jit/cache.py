"""Where compiled code, and ends of runs, are kept: a directory for each state of the sources that take part.

Numba does not notice a change in a function called from another module, so the directory is named by a hash
of them all; who has an entry compiled says which they are. Only the directories used last stay, so that the
cache does not grow with every change. What is kept are pickles, which run code when they are loaded: a place
that somebody else can write is not used. A directory is safe if it, and every directory above it, belongs to
the user, to the system or to whoever installed memtile, and neither its group nor others can write it. In a
directory with the sticky bit, as ``/tmp``, others cannot replace what is ours, so that the way up ends there.
Links are followed first.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from memtile.errors import MemtileError
from memtile.jit.settings import BOUNDS
from memtile.system import system, wait_for_lock

_ROOT = 0  # the user who can do anything anyway
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def why_unsafe(directory: Path) -> str:
    """The others that can write a directory or replace it; empty = none, as far as the system reports."""
    place = directory.resolve()
    for each in (place, *place.parents):
        found = each.stat()
        if why := _owned_by_others(each, found):
            return why
        if found.st_mode & _OTHERS and (each == place or not found.st_mode & stat.S_ISVTX):
            who = "everybody" if found.st_mode & stat.S_IWOTH else "its group"
            return f"{each} can be written by {who}"
        if found.st_mode & stat.S_ISVTX:
            break
    return ""


def why_unsafe_inside(directory: Path) -> str:
    """Which file in a directory, at any depth, belongs to another user; empty = none does."""
    for path in _all_in(directory):
        with suppress(FileNotFoundError):  # another process has just removed or renamed it
            if why := _owned_by_others(path, path.lstat()):
                return why
    return ""


def make_own(directory: Path, levels: int) -> None:
    """Make a directory that only the user can write, and those above it that are not there.

    One of ours that its group can write, as some systems make all, is closed to it; and emptied, if it is the
    last one.

    Args:
        directory: to be made.
        levels: how many of the last directories of the path are ours to close.

    Raises:
        OSError: it cannot be made.
    """
    for each in reversed((directory, *directory.parents)):
        if not each.exists():
            system().make_folder(each, 0o700)
    for each in (directory, *directory.parents)[:levels]:
        mode = each.stat().st_mode
        if mode & _OTHERS == stat.S_IWGRP and _is_ours(each):
            if each == directory:
                shutil.rmtree(each)
                each.mkdir(mode=0o700)
            else:
                each.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def _all_in(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        yield from (Path(folder, name) for name in (*folders, *files))


def _is_ours(path: Path) -> bool:
    return hasattr(os, "getuid") and path.stat().st_uid == os.getuid()


def _owned_by_others(path: Path, found: os.stat_result) -> str:
    if not hasattr(os, "getuid"):
        return ""
    known = (os.getuid(), _ROOT, Path(__file__).stat().st_uid)
    return "" if found.st_uid in known else f"{path} belongs to another user"


Sources = tuple[str, ...]
"""Files and directories of this package that compiled code is made of, relative to it; ``jit`` always is."""

_PACKAGE = Path(__file__).resolve().parents[1]
_OURS = Path(__file__).parent.name
COMPLETE = "complete"  # file that says that all of an engine is there
_STAY = 8  # directories of a kind; of compiled code two for each state of the sources
_VARIABLE = "MEMTILE_CACHE"
_VERSION = re.compile(r'"version": "([^"]+)"')  # as versioneer writes it
_CANNOT = "it cannot be written"
_LEVELS = 2  # directories below the place of the cache


def files_of(sources: Sources) -> Iterator[Path]:
    """All files that the compiled code depends on."""
    for name in (_OURS, *sources):
        path = _PACKAGE / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@cache
def source_hash(sources: Sources) -> str:
    """Hash of all files in ``sources``; 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in files_of(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _roots() -> Iterator[Path]:
    """Places in order of preference; the last one is new for every process, and can always be written."""
    checkout = _PACKAGE.parents[1]
    if (checkout / "pyproject.toml").exists():
        yield checkout / ".cache"
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "memtile"
    yield Path(tempfile.gettempdir()) / f"memtile-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    own = Path(tempfile.mkdtemp(prefix="memtile-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    yield own


def _refused(directory: Path, ours: int) -> str:
    """Why a directory is no place for the cache, made if it is not there; empty = it is one.

    Args:
        directory: of the cache.
        ours: how many of the last directories of its path memtile makes.
    """
    try:
        make_own(directory, ours)
        return (
            why_unsafe(directory)
            or why_unsafe_inside(directory)
            or ("" if os.access(directory, os.W_OK) else _CANNOT)
        )
    except OSError:
        return _CANNOT


def numba_version() -> str:
    """Version of Numba, found without importing it, which takes longer than a short run."""
    loaded, found = sys.modules.get("numba"), find_spec("numba")
    if loaded is None and found is not None and found.origin is not None:
        written = Path(found.origin).with_name("_version.py")
        match = _VERSION.search(written.read_text("utf-8")) if written.exists() else None
        if match:
            return match[1]
    from numba import __version__

    return str(__version__)


@cache
def cache_directory(sources: Sources) -> Path:
    """Directory for what is compiled from exactly these sources by this Numba; made if it is not there.

    ``MEMTILE_CACHE`` names the place; else it is ``.cache`` of a checkout or the user's cache directory.

    Raises:
        MemtileError: ``MEMTILE_CACHE`` names a place that cannot be written, or that others can write.
    """
    bounds = "-bounds" if BOUNDS else ""
    return own_place("jit", f"{source_hash(sources)}-{numba_version()}{bounds}")


def own_place(folder: str, build: str) -> Path:
    """A directory of the cache that no other user can write; made if it is not there.

    Args:
        folder: what is kept there.
        build: name of the state of the sources that it is of.

    Raises:
        MemtileError: as :func:`cache_directory`.
    """
    override, refused = os.environ.get(_VARIABLE), ""
    for root in [Path(override)] if override else _roots():
        directory = root.resolve() / folder / build
        refused = _refused(directory, _LEVELS if override else _LEVELS + 1)
        if not refused:
            return directory
    raise MemtileError.of(
        _VARIABLE,
        str(override),
        "a directory that can be written" if refused == _CANNOT else "a directory of your own",
        "" if refused == _CANNOT else f"{_VARIABLE} is {override}, and {refused}",
        reason="cache",
        where="environment",
        source="the compiled engine and ends of runs are kept there",
    )


@contextmanager
def made_once(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Context in which what is not in the directory yet is compiled, by one process at a time.

    Args:
        directory: of the cache.
        waiting: called if another process compiles.
    """
    complete = directory / COMPLETE
    if complete.exists():
        yield
        return
    with _alone(directory / "lock", waiting):
        yield
    if directory.is_dir():  # another process may have removed it as old
        system().touch(complete)


@contextmanager
def _alone(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Context that one process at a time is in; the system releases the lock when its process ends.

    Args:
        path: file of the lock, made if it is not there. Where it cannot be locked, nobody waits.
        waiting: called if another process is in the context.
    """
    with ExitStack() as opened:
        with suppress(OSError):
            opened.enter_context(wait_for_lock(path, waiting))
        yield


def forget_old(mine: Path) -> None:
    """Remove all directories beside ``mine`` but those used last."""
    others = [d for d in mine.parent.iterdir() if d.is_dir() and d != mine]
    for directory in sorted(others, key=last_use, reverse=True)[_STAY - 1 :]:
        system().remove_folder(directory)


def last_use(path: Path) -> float:
    """When a file or directory of the cache was used last; 0 where another process has removed it."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
