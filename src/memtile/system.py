"""The system under memtile: changes of files that outlive a process, their locks, and the clock.

Writers go through :func:`system`, so that one place decides what is written in which order. What a process
makes in a folder of its own, before the folder gets its name, need not. A simulation
puts another object there, which stops a process between two operations, refuses them, or loses what was not
synchronised (``tests/adversary/simulate.py``).
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

try:
    import fcntl
except ImportError:  # in a browser, and of Windows
    fcntl = None  # type: ignore[assignment]

Opener = Callable[[str, int], int]
_AGAIN_SECONDS = 0.05  # between two attempts to get a lock
_ATTEMPTS = 100  # to lock a file that others remove meanwhile
_UNSYNCABLE = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)  # what file systems without fsync answer


class System:
    """The operating system."""

    def open(self, path: Path | str, mode: str, *, buffered: bool, opener: Opener | None = None) -> BinaryIO:
        """Open a file to write it; ``mode`` is binary."""
        return cast(BinaryIO, open(path, mode, -1 if buffered else 0, opener=opener))

    def sync(self, file: BinaryIO | io.FileIO) -> None:
        """Wait until the content of a file is on the disk: quotas and full disks are reported here."""
        _sync(file.fileno())

    def sync_folder(self, folder: Path | str) -> None:
        """Wait until the names in a folder are on the disk."""
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except PermissionError:  # names may be made in it, and not listed
            return
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, file: BinaryIO | io.FileIO) -> bool:
        """Lock an open file until it is closed, unless another process has locked it.

        Raises:
            OSError: the file system has no locks.
        """
        if fcntl is None:
            raise OSError(errno.ENOSYS, "no file can be locked")
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def truncate(self, file: io.FileIO | BinaryIO) -> None:
        """Empty an open file."""
        file.truncate(0)

    def replace(self, old: Path | str, new: Path | str) -> None:
        """Give a file or folder another name; a file of that name is replaced."""
        os.replace(old, new)

    def unlink(self, path: Path | str) -> None:
        """Remove a file."""
        os.unlink(path)

    def symlink(self, target: str, path: Path) -> None:
        """Make a symbolic link at ``path``."""
        os.symlink(target, path)

    def make_folder(self, folder: Path, mode: int = 0o777) -> None:
        """Make a folder, with all above it, unless it is there."""
        folder.mkdir(mode, parents=True, exist_ok=True)

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder and what is in it, as far as that is possible: others may be doing so too.

        Of a symbolic link the link is removed.
        """
        if folder.is_symlink():
            folder.unlink(missing_ok=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)

    def touch(self, path: Path) -> None:
        """Make an empty file, unless it is there."""
        path.touch()

    def mark_used(self, path: Path) -> None:
        """Set the time of the last use of a file or folder to now."""
        os.utime(path)

    def pause(self, seconds: float) -> None:
        """Let other processes run."""
        time.sleep(seconds)

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()


_used = System()


def system() -> System:
    """The system in use."""
    return _used


@contextmanager
def using(other: System) -> Generator[None]:
    """A context in which another system is used, by all threads."""
    global _used
    before, _used = _used, other
    try:
        yield
    finally:
        _used = before


def locked_file(path: Path | str, opener: Opener | None = None) -> BinaryIO | None:
    """A lock file, open and locked; None if another process has locked it.

    Without locks in the file system, no process waits. The holder may remove the file before closing it.

    Raises:
        OSError: the file cannot be opened.
    """
    return _attempt(path, opener)[0]


def _attempt(path: Path | str, opener: Opener | None = None) -> tuple[BinaryIO | None, bool]:
    """As :func:`locked_file`, and whether the file system has locks."""
    for _ in range(_ATTEMPTS):
        file = system().open(path, "ab", buffered=False, opener=opener)
        has_locks = False
        with suppress(OSError):  # of a file system without locks
            if not system().lock(file):
                file.close()
                return None, True
            has_locks = True
        if is_at(file, path):
            return file, has_locks
        file.close()  # whoever had it has just removed it
    raise changes_always()


def wait_for_lock(path: Path | str, waiting: Callable[[], None] = lambda: None) -> BinaryIO:
    """A lock file, open and locked, once no other process has it.

    Args:
        path: of the lock file.
        waiting: called once if another process has it.

    Raises:
        OSError: the file cannot be opened.
    """
    return _waited(path, waiting)[0]


def _waited(path: Path | str, waiting: Callable[[], None] = lambda: None) -> tuple[BinaryIO, bool]:
    """As :func:`wait_for_lock`, and whether the file system has locks."""
    file, has_locks = _attempt(path)
    if file is None:
        waiting()
    while file is None:
        system().pause(_AGAIN_SECONDS)
        file, has_locks = _attempt(path)
    return file, has_locks


@contextmanager
def alone(path: Path | str) -> Generator[str]:
    """A context that one process at a time is in, with a text for the names of its temporary files.

    The text is empty, so that the next process finds what a killed one left. Where the file system has no
    locks, several processes may be in the context: then each has a text of its own.

    Args:
        path: of a lock file, which is removed at the end.

    Raises:
        OSError: the lock file cannot be made.
    """
    file, has_locks = _waited(path)
    with file:
        try:
            yield "" if has_locks else f".{os.getpid()}-{secrets.token_hex(4)}"
        finally:
            if not has_locks:
                with suppress(OSError):  # others remove it too
                    remove_open(file, path)
            elif is_at(file, path):
                remove_open(file, path)


def remove_open(file: BinaryIO, path: Path | str) -> None:
    """Remove a file and close it, in the order that keeps its lock as long as there are locks."""
    if fcntl is None:
        file.close()  # Windows removes no open file
    system().unlink(path)
    file.close()


@contextmanager
def locked_longer(file: BinaryIO) -> Generator[None]:
    """A context in which a locked file stays locked although it is closed."""
    if fcntl is None:  # there are no locks, and Windows replaces no open file
        yield
        return
    descriptor = os.dup(file.fileno())
    try:
        yield
    finally:
        with suppress(OSError):  # nothing was written by way of it
            os.close(descriptor)


def is_at(file: BinaryIO | io.FileIO, path: Path | str) -> bool:
    """Whether an open file is the one of this name, which another process may have removed or replaced."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def changes_always() -> OSError:
    """The error of a file that is never the one of its name, so that it cannot be locked."""
    return OSError(errno.ESTALE, "its name is always that of another file")


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSYNCABLE:
            raise
