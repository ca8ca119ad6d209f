"""``python alone.py SECONDS COMMAND...``: the command, and the end of all that it began, wherever that is.

Exit code 124 = it took longer than SECONDS (0: as long as it likes); otherwise that of the command.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LATE = 124
SUMMARY = re.compile(r"\W*\d+ \w+.* in \d+\.\d+s")  # "1 failed, 3 passed in 0.78s"
_ADOPT = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


def main() -> int:
    """Run what the command line says; its exit code."""
    seconds, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    adopt()
    try:
        process = subprocess.Popen(command, start_new_session=True)
        return process.wait(float(seconds) or None)
    except subprocess.TimeoutExpired:
        return LATE
    finally:
        end_all(process.pid)


def outcome(code: int, said: str) -> str:
    """Whether tests passed, failed, hung or did not run, by the exit code and the output of pytest.

    After the summary Python may still warn about files that a failed test left open.
    """
    summary = next(filter(SUMMARY.match, reversed(said.splitlines())), "")
    if code == LATE:
        return "hangs"
    if code == 0:
        return "passed"
    if code == 1 and re.search(r"\bfailed\b", summary) and not re.search(r"\berrors?\b", summary):
        return "failed"
    return "did not run"


def adopt() -> None:
    """Who has lost its parent becomes a child of this process from now on, not of the first one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)


def end_all(group: int) -> None:
    """End a group of processes, then children until there are none: with each its own become ours."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for child in _children():
                os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> Iterator[int]:
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(each.read_text(errors="replace").rpartition(")")[2].split()[1]) == os.getpid():
                yield int(each.parent.name)


if __name__ == "__main__":
    sys.exit(main())
