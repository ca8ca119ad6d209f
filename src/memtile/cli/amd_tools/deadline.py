"""The end of a simulator after some seconds of wall-clock time, whatever it does then (``--timeout``)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from memtile.cli.amd_tools.report import Report
from memtile.cli.exit_codes import ExitCode
from memtile.output_files import discard_parts


class Deadline:
    """A time limit, as a context: the process ends when it is not left in time.

    Args:
        seconds: of wall-clock time; 0 = no limit.
        report: gets the reason, and is closed.
        leave: ends the process with an exit code.
    """

    def __init__(self, seconds: float, report: Report, leave: Callable[[int], object] = os._exit) -> None:
        self._seconds, self._report, self._leave = seconds, report, leave
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._seconds:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self._report.line(
            f"ERROR: the run did not end within {self._seconds:g} s of wall-clock time (--timeout). "
            "Its outputs are not written. Give it more time, or leave the option out."
        )
        self._report.close()
        discard_parts()
        self._leave(ExitCode.BAD_RESULT)
