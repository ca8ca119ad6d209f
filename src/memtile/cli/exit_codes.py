"""Exit codes of every command, in one place."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from typing import NoReturn

from memtile.errors import NO_MEMORY, MemtileError, SimulationError, is_out_of_memory

_LEAST_MEMORY = 224 << 20  # bytes of addresses: what NumPy and Numba take, and more


class ExitCode(IntEnum):
    """What the shell sees."""

    OK = 0
    BAD_RESULT = 1  # it ran, but not everything came out well: a refused case, a deadlock, a mismatch
    BAD_INPUT = 2  # the command line or a file is not what the command expects
    INTERNAL = 70  # memtile itself failed, which is a mistake in it (EX_SOFTWARE of sysexits.h)
    INTERRUPTED = 130  # Ctrl-C
    CLOSED_PIPE = 141  # the reader of the output has closed the pipe, as ``| head -1`` does
    TERMINATED = 143  # SIGTERM; other signals are 128 and their number too


HELP = (
    "Exit codes: 0 all well, 1 it ran but a result is bad, 2 bad input or usage, 70 a mistake in memtile, "
    "130 interrupted, 141 closed pipe, 143 terminated."
)


INTERRUPTED = "interrupted before there was anything to show"


def leave_interrupted() -> NoReturn:
    """Leave a process that Ctrl-C met before there was a command."""
    print(INTERRUPTED, file=sys.stderr)
    raise SystemExit(ExitCode.INTERRUPTED)


def leave_without_memory(error: BaseException) -> NoReturn:
    """Leave a process that cannot load its command for want of memory; raise other errors again."""
    if not is_out_of_memory(error):
        raise error
    _leave_without_memory()


def refuse_small_memory() -> None:
    """Leave a process whose limit of memory is too small for NumPy, which would end it in its own way."""
    if sys.platform == "win32":
        return
    from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

    limit, _ = getrlimit(RLIMIT_AS)
    if limit == RLIM_INFINITY:
        return
    if limit < _LEAST_MEMORY:
        _leave_without_memory()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads would take memory of its own


def _leave_without_memory() -> NoReturn:
    print(f"error: memtile: {NO_MEMORY}.", file=sys.stderr)
    raise SystemExit(ExitCode.BAD_INPUT)


def exit_code_of(error: MemtileError) -> ExitCode:
    """Errors of a run that did start are bad results; all others are bad input."""
    return ExitCode.BAD_RESULT if isinstance(error, SimulationError) else ExitCode.BAD_INPUT
