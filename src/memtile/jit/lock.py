"""One process at a time does what others would only do again; the others wait, and take what it made."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_AGAIN_SECONDS = 0.2  # where the system has no lock that can be waited for


@contextmanager
def alone(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Context that one process at a time is in; the system gives the lock back when its process ends.

    Args:
        path: file of the lock, made if it is not there. Where it cannot be locked, nobody waits.
        waiting: called once if another process is in the context.
    """
    try:
        file = path.open("ab")
    except OSError:
        yield
        return
    with file:
        if not take(file):
            waiting()
            while not take(file):
                time.sleep(_AGAIN_SECONDS)
        yield


def take(file: IO[Any]) -> bool:
    """Whether this process has the lock of an open file now; also where the file system has no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
