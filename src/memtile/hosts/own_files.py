"""Files of a running server: its user's alone, one server's at a time, and removed when it ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memtile.errors import InputFileError, cannot_write
from memtile.system import locked_file, remove_open, system

PRIVATE = 0o600
"""Mode of a file that its user alone reads and writes."""

_FOLDER = 0o700
_HELD = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_NOFOLLOW", 0)
"""How a file or link is kept open, so that no other file gets its inode meanwhile."""
_SOURCE = "the files by which clients find a server"


def write_private(path: Path, text: str) -> None:
    """Write a new file that its user alone reads and writes.

    Raises:
        OSError: there is one already, or it cannot be written.
    """
    with system().open(path, "xb", buffered=True, opener=_private) as file:
        file.write(text.encode("ascii"))


@contextmanager
def placed(path: Path, make: Callable[[Path], object]) -> Iterator[None]:
    """A context with a file; it appears complete, and only that file is removed at the end.

    Args:
        path: of the file; its folder is made, for its user alone, where there is none.
        make: makes the file at the path that it gets.

    Raises:
        InputFileError: it cannot be made.
    """
    draft = path.with_name(f"{path.name}.draft")
    try:
        system().make_folder(path.parent, _FOLDER)
        with suppress(FileNotFoundError):
            system().unlink(draft)
        make(draft)
        system().replace(draft, path)
        own = os.open(path, _HELD)
    except (OSError, OverflowError, ValueError) as error:
        with suppress(OSError):
            system().unlink(draft)
        raise cannot_write(path, error) from None
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            if os.path.samestat(path.lstat(), os.fstat(own)):  # the folder may be another server's now
                system().unlink(path)
        os.close(own)


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """A context in which no other server has this file; a server that was killed has none.

    Args:
        path: the file, whether it is there or not; ``.lock`` beside it holds the server's process number.

    Raises:
        InputFileError: a running server has it, or it cannot be claimed.
    """
    lock = path.with_name(f"{path.name}.lock")
    try:
        system().make_folder(path.parent, _FOLDER)
        file = locked_file(lock, _private)
    except OSError as error:
        raise cannot_write(path, error) from None
    if file is None:
        raise _claimed_by(path, lock)
    with file:
        try:
            _sign(file, path)
            yield
        finally:
            with suppress(FileNotFoundError):
                remove_open(file, lock)


def _sign(file: BinaryIO, path: Path) -> None:
    try:
        system().truncate(file)
        file.write(str(os.getpid()).encode())
    except OSError as error:
        raise cannot_write(path, error) from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), PRIVATE)


def _claimed_by(path: Path, lock: Path) -> InputFileError:
    process = "unknown"
    with suppress(OSError):  # it may just be ending
        process = lock.read_text(encoding="ascii", errors="replace") or process
    return InputFileError.of(
        "file",
        str(path),
        "a file that no other server uses",
        f"{path} is in use by the memtile serve of process {process}, which is running",
        "Stop that server, or start this one in another folder or with another --port-file.",
        reason="serve_folder",
        where="memtile serve",
        source=_SOURCE,
    )
