"""Waiting for a debugger: the command that attaches one to this process, before a core calls C++ first."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from memtile.plain_text import printable

_PR_SET_PTRACER, _ANY = int.from_bytes(b"Yama", "big"), -1  # prctl(2): any process of the user may attach
_LOOK_SECONDS = 0.1


def wait_for_debugger(function: str, place: tuple[int, int]) -> None:
    """Print the command line of a debugger and wait until one is attached; Ctrl-C ends that.

    Args:
        function: that is about to be called.
        place: column and row of the core.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANY & (2**64 - 1)), 0, 0, 0)
    command = f"gdb -p {os.getpid()} -ex 'break {function}' -ex continue"
    says = f"core {place} is about to call {function}. Attach a debugger:\n  {command}"
    print(printable(says, "\n"), file=sys.stderr, flush=True)
    while not _is_traced():
        time.sleep(_LOOK_SECONDS)


def _is_traced() -> bool:
    status = Path("/proc/self/status").read_text("utf-8")
    return next(
        (line.split()[1] != "0" for line in status.splitlines() if line.startswith("TracerPid")), True
    )
