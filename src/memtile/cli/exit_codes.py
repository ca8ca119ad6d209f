"""Exit codes of every command, in one place."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import NoReturn

from memtile.errors import MemtileError, SimulationError


class ExitCode(IntEnum):
    """What the shell sees."""

    OK = 0
    BAD_RESULT = 1  # it ran, but not everything came out well: a refused case, a deadlock, a mismatch
    BAD_INPUT = 2  # the command line or a file is not what the command expects
    INTERRUPTED = 130  # Ctrl-C


HELP = "Exit codes: 0 all well, 1 it ran but a result is bad, 2 bad input or usage, 130 interrupted."


INTERRUPTED = "interrupted before there was anything to show"


def leave_interrupted() -> NoReturn:
    """Leave a process that Ctrl-C met before there was a command."""
    print(INTERRUPTED, file=sys.stderr)
    raise SystemExit(ExitCode.INTERRUPTED)


def exit_code_of(error: MemtileError) -> ExitCode:
    """Errors of a run that did start are bad results; all others are bad input."""
    return ExitCode.BAD_RESULT if isinstance(error, SimulationError) else ExitCode.BAD_INPUT
