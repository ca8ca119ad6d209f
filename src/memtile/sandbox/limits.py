"""Limits that the kernel keeps for each process: address space, processes of the user, core files."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

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
