"""``--report`` and ``--perfetto`` of ``memtile run``: the run as a page, as text, and for ui.perfetto.dev."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.output_file import check_writable
from memtile.errors import InputFileError, cannot_write

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.explain.timeline import Timeline
    from memtile.report.run.data import Report
    from memtile.sim.engine import Engine
    from memtile.sim.history import History

SUFFIXES = (".html", ".txt")


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is to be written of the history of a run.

    Attributes:
        page: file of the report, ``.html`` or ``.txt``; None = none.
        perfetto: file for ui.perfetto.dev; None = none.
    """

    page: Path | None = None
    perfetto: Path | None = None
    _found: list[History] = field(default_factory=list)

    @property
    def wanted(self) -> bool:
        """Whether there is any."""
        return self.page is not None or self.perfetto is not None

    def check(self) -> None:
        """Refuse what cannot be written, before the run.

        Raises:
            InputFileError: a suffix that is none of a report, or a file that cannot be written.
            MemtileError: the ``perfetto`` package is missing for a file that is not ``.json``.
        """
        if self.page is not None and self.page.suffix not in SUFFIXES:
            allowed = " or ".join(SUFFIXES)
            raise InputFileError(f"{self.page}: the name of a report must end in {allowed}.")
        for path in self._paths():
            check_writable(path)
        if self.perfetto is not None and self.perfetto.suffix != ".json":
            from memtile.io.trace.perfetto import messages_of

            messages_of()

    @contextmanager
    def recorded(self, engine: Engine) -> Iterator[None]:
        """Context in which the engine runs; its history is noted if a file wants it."""
        if not self.wanted:
            yield
            return
        with engine.checks.recorded() as found:
            yield
        self._found[:] = found

    def write(
        self, result: Result, engine: Engine, title: str, inputs: Mapping[str, str], ignored: Sequence[str]
    ) -> None:
        """Write the files.

        Args:
            result: of the run.
            engine: that it ran on.
            title: of the design.
            inputs: SHA-256 of the files that went in, by name.
            ignored: operations that were read and change nothing.

        Raises:
            InputFileError: a file cannot be written.
        """
        if not self._found:
            return
        from memtile.explain.timeline import Timeline
        from memtile.report.run.data import Report

        timeline = Timeline(engine, self._found[0], result)
        if self.page is not None:
            report = Report(engine, result, timeline, title, inputs, ignored, _command())
            _save(self.page, _report_pieces(report, self.page))
        if self.perfetto is not None:
            _save(self.perfetto, _trace_pieces(timeline, result.clock_mhz, self.perfetto))

    def _paths(self) -> Iterator[Path]:
        return (path for path in (self.page, self.perfetto) if path is not None)


def _report_pieces(report: Report, path: Path) -> Iterator[bytes]:
    from memtile.report.run.data import report_data
    from memtile.report.run.html import report_page
    from memtile.report.run.text import report_lines

    if path.suffix == ".html":
        yield report_page(report_data(report)).encode()
    else:
        yield from (f"{line}\n".encode() for line in report_lines(report))


def _trace_pieces(timeline: Timeline, mhz: float, path: Path) -> Iterator[bytes]:
    from memtile.io.trace.timeline_export import chrome_lines, perfetto_timeline

    if path.suffix == ".json":
        yield from (f"{line}\n".encode() for line in chrome_lines(timeline, mhz))
    else:
        yield perfetto_timeline(timeline, mhz)


def _command() -> str:
    """How it was called, for who wants to do it again."""
    return shlex.join(["memtile", *sys.argv[1:]])


def _save(path: Path, pieces: Iterable[bytes]) -> None:
    try:
        with path.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise cannot_write(path, error) from None
