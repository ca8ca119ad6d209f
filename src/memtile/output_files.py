"""The one way to write a file: whoever reads it later finds the old content or the new one, never half.

The content goes into a temporary file of the same folder, which takes the place of the old file when all of
it is on the disk. Whatever stops that (a full disk, a signal, an error of the caller) leaves the old file as
it was and removes the temporary one; that of a process that was killed is removed when the file is written
again. Pipes, terminals, devices and files that a shell has opened for us are written directly.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, TextIO

from memtile.errors import InputFileError, cannot_write
from memtile.plain_text import printable
from memtile.system import changes_always, is_at, locked_longer, system

STANDARD_OUTPUT = "-"
"""Name of standard output among output files."""

_LINKS = 40  # behind one another: as many as Linux follows
_WRITERS = 8  # of one file at the same time, whose temporary files are removed after they were killed
_ATTEMPTS = 100  # to make a temporary file that others remove meanwhile
_parts: dict[BinaryIO, tuple[str, os.stat_result]] = {}  # temporary files of this process, as they were made


@contextmanager
def output_file(path: Path | str, *, durable: bool = True) -> Generator[BinaryIO]:
    """A context with a binary file for the content of ``path``, which appears complete at the end.

    A file that is replaced keeps its permissions, and its owner where we may set it. Of a symbolic link the
    file behind it is replaced, whether or not it is there yet.

    Args:
        path: of the file; ``-`` is standard output.
        durable: the content is on the disk before it takes the place of the old one, so that a loss of power
            leaves one or the other. False for what can be made again, such as a cache.

    Raises:
        InputFileError: the system refuses it; the old file is as it was, unless the error says otherwise.
        BrokenPipeError: ``path`` is a pipe that nobody reads any more.
    """
    try:
        opened = _opened_for_us(name := _name(path))
        if opened is not None:
            with _written_directly(opened) as file:
                yield file
            return
        target = _target(name)
        with _replacing(target, durable) if _is_replaceable(target) else open(target, "wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from None


@contextmanager
def output_text(path: Path | str, encoding: str = "utf-8") -> Generator[TextIO]:
    """A context with a text file, otherwise as :func:`output_file`.

    Raises:
        InputFileError: the system refuses it; the old file is as it was.
        BrokenPipeError: ``path`` is a pipe that nobody reads any more.
    """
    with output_file(path) as file:
        text = io.TextIOWrapper(file, encoding)
        try:
            yield text
            text.flush()
        finally:
            with suppress(OSError):  # what is left of a failed write is not wanted
                text.detach()


def write_output(path: Path | str, content: str | bytes | Iterable[bytes], *, durable: bool = True) -> None:
    """Write a file from its content: text (as UTF-8), bytes, or pieces of bytes as they are made.

    Args:
        path: of the file; ``-`` is standard output.
        content: of the file.
        durable: as of :func:`output_file`.

    Raises:
        InputFileError: the system refuses it; the old file is as it was.
        BrokenPipeError: ``path`` is a pipe that nobody reads any more.
    """
    # A lone surrogate, which UTF-8 does not have, is for whoever reads the file to refuse.
    pieces = [content.encode(errors="surrogatepass")] if isinstance(content, str) else content
    with output_file(path, durable=durable) as file:
        file.writelines([pieces] if isinstance(pieces, bytes) else pieces)


def check_writable(path: Path | str) -> None:
    """Refuse a file that could not be written, before the work that makes its content.

    Raises:
        InputFileError: it is a folder, its folder is missing, or one of them refuses us.
    """
    try:
        if _opened_for_us(name := _name(path)) is not None:
            return
        target = os.path.realpath(name)
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not os.path.isdir(os.path.dirname(name) or os.curdir):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder")
        _refuse_read_only(_target(name))
    except OSError as error:
        raise cannot_write(path, error) from None


def make_folder(folder: Path) -> None:
    """Make a folder for output files, with all above it, unless it is there.

    Raises:
        InputFileError: the system refuses it.
    """
    try:
        system().make_folder(folder)
    except OSError as error:
        raise cannot_write(folder, error, "folder") from None


def discard_parts() -> None:
    """Remove the temporary files of this process, which ends now without leaving its contexts."""
    for file in list(_parts):
        _discard(file)


def _name(path: Path | str) -> str:
    """A path as text, if a file can have that name."""
    name = os.fspath(path)
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise OSError(errno.EINVAL, "no file can have this name")
    return name


def _opened_for_us(path: str) -> int | None:
    """The descriptor that a path is a name of, such as ``-`` or ``/dev/fd/3``; None of others."""
    if path == STANDARD_OUTPUT:
        return 1
    opened = os.path.realpath("/dev/fd")
    for _ in range(_LINKS):
        folder, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(folder) == opened:
            return int(name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


@contextmanager
def _written_directly(descriptor: int) -> Generator[BinaryIO]:
    """A descriptor as a file, written behind what was printed to it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        yield file


def _target(path: str) -> str:
    """The file behind symbolic links, with its complete path."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return target


def _is_replaceable(target: str) -> bool:
    """Whether a file is a plain one, or not there yet."""
    return not os.path.exists(target) or stat.S_ISREG(os.stat(target).st_mode)


def _refuse_read_only(target: str) -> None:
    """Refuse a file that this user may not write, and one whose folder takes no file beside it."""
    folder = os.path.dirname(target)
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only for this user")
    if _is_replaceable(target) and os.path.isdir(folder) and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder takes no new file from this user")


@contextmanager
def _replacing(target: str, durable: bool) -> Generator[BinaryIO]:
    """A temporary file beside ``target`` that replaces it at the end."""
    _refuse_read_only(target)  # to replace a read-only file its folder alone would do
    part, file = _opened_part(target)
    try:
        _take_over(target, file.fileno())
        yield file
        file.flush()
        if durable:
            system().sync(file)
        with locked_longer(file):
            file.close()  # a network file system may report a quota here
            system().replace(part, target)
        if durable:
            _sync_name(target)
    finally:
        _discard(file)
        with suppress(OSError):  # closing writes what is left, and the disk may be full
            file.close()


def _sync_name(target: str) -> None:
    try:
        system().sync_folder(os.path.dirname(target))
    except OSError as error:
        raise InputFileError(
            f"{printable(target)}: the file is written, but a loss of power may undo that: {error.strerror}."
        ) from None


def _opened_part(target: str) -> tuple[str, BinaryIO]:
    """A new temporary file beside ``target``, locked; those of writers that were killed are removed."""
    folder, name = os.path.split(target)
    failed = 0
    stem = os.path.join(folder, f".memtile-{sha256(os.fsencode(name)).hexdigest()[:16]}")
    for number in itertools.count():
        part = f"{stem}-{number}.part"
        _remove_abandoned(part)
        if os.path.lexists(part):
            continue
        file = _new_part(part)
        if file is not None:
            for other in range(number + 1, _WRITERS):
                _remove_abandoned(f"{stem}-{other}.part")
            return part, file
        if (failed := failed + 1) == _ATTEMPTS:
            raise changes_always()
    raise AssertionError


def _new_part(part: str) -> BinaryIO | None:
    """A temporary file, made and locked; None if another process was faster."""
    try:
        file = system().open(part, "x+b", buffered=True)
    except FileExistsError:
        return None
    _parts[file] = part, os.fstat(file.fileno())
    with suppress(OSError):  # of a file system without locks
        if not system().lock(file) or not is_at(file, part):
            del _parts[file]
            file.close()
            return None
    return file


def _discard(file: BinaryIO) -> None:
    """Remove a temporary file of this process, unless it has got its name."""
    part, made = _parts.pop(file, ("", None))
    with suppress(OSError):
        if made is not None and os.path.samestat(made, os.lstat(part)):  # the file may be closed
            system().unlink(part)


def _remove_abandoned(part: str) -> None:
    """Remove a temporary file that no process writes any more: its writer keeps it locked."""
    if not os.path.lexists(part):
        return
    with suppress(OSError), _opened_to_lock(part) as file:
        if system().lock(file) and is_at(file, part):
            system().unlink(part)


def _opened_to_lock(part: str) -> BinaryIO:
    """A file open for writing, as the locks of NFS need it; if we may not, for reading."""
    try:
        return system().open(part, "r+b", buffered=False, opener=_unfollowed)
    except PermissionError:
        return system().open(part, "rb", buffered=False, opener=_unfollowed)


def _unfollowed(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _take_over(target: str, descriptor: int) -> None:
    """Give a new file the owner and the permissions of the one that it replaces, if there is one."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return
    with suppress(PermissionError):  # of others' files only root is able to keep the owner
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
