"""Exit codes of every command, in one place."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import NoReturn

from memtile.errors import MemtileError, SimulationError

_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread", "out of memory")


class ExitCode(IntEnum):
    """What the shell sees."""

    OK = 0
    BAD_RESULT = 1  # it ran, but not everything came out well: a refused case, a deadlock, a mismatch
    BAD_INPUT = 2  # the command line or a file is not what the command expects
    INTERNAL = 70  # memtile itself failed, which is a mistake in it (EX_SOFTWARE of sysexits.h)
    INTERRUPTED = 130  # Ctrl-C
    CLOSED_PIPE = 141  # nobody reads what is printed, as after ``| head -1``
    TERMINATED = 143  # SIGTERM; other signals are 128 and their number too


HELP = (
    "Exit codes: 0 all well, 1 it ran but a result is bad, 2 bad input or usage, 70 a mistake in memtile, "
    "130 interrupted, 141 closed pipe, 143 terminated."
)


INTERRUPTED = "interrupted before there was anything to show"
NO_MEMORY = (
    "more memory is needed than is allowed. Raise the limit (ulimit -v), or run less at a time"
)


def leave_interrupted() -> NoReturn:
    """Leave a process that Ctrl-C met before there was a command."""
    print(INTERRUPTED, file=sys.stderr)
    raise SystemExit(ExitCode.INTERRUPTED)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the system, or a limit, gives no more memory."""
    return isinstance(error, MemoryError) or any(text in str(error).lower() for text in _NO_MEMORY)


def leave_without_memory(error: BaseException) -> NoReturn:
    """Leave a process that cannot load its command for want of memory; raise other errors again."""
    if not is_out_of_memory(error):
        raise error
    print(f"error: memtile: {NO_MEMORY}.", file=sys.stderr)
    raise SystemExit(ExitCode.BAD_INPUT)


def exit_code_of(error: MemtileError) -> ExitCode:
    """Errors of a run that did start are bad results; all others are bad input."""
    return ExitCode.BAD_RESULT if isinstance(error, SimulationError) else ExitCode.BAD_INPUT
