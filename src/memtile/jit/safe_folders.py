"""Whether a place belongs to us alone: what lies there is run, so nobody else may have put it there.

A directory is safe if it, and every directory above it, belongs to the user, to the system or to whoever
installed memtile, and neither its group nor others can write it. In a directory with the sticky bit, as
``/tmp``, others cannot replace what is ours, so that the way up ends there. Links are followed first.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

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
            each.mkdir(mode=0o700, exist_ok=True)
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
