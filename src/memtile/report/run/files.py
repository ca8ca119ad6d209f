"""A run as files: the page, the same as text, and its timeline for ui.perfetto.dev."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memtile.errors import InputFileError
from memtile.explain.results import Result
from memtile.explain.timeline import Timeline
from memtile.output_files import write_output
from memtile.plain_text import printable
from memtile.report.run.data import Report, report_data
from memtile.report.run.html import report_page
from memtile.report.run.text import report_lines
from memtile.sim.engine import Engine
from memtile.sim.history import History

SUFFIXES = (".html", ".txt")
_TAB = "\t"  # between the columns of a timeline
CHROME = ".json"
"""Suffix of a timeline in Chrome's form; any other one is Perfetto's own."""


def check_names(page: Path | None, timeline: Path | None) -> None:
    """Refuse names that say of no form, before the work.

    Raises:
        InputFileError: a suffix that is none of a report.
        MemtileError: the ``perfetto`` package is missing for a timeline that is not ``.json``.
    """
    if page is not None and page.suffix not in SUFFIXES:
        allowed = " or ".join(SUFFIXES)
        raise InputFileError(f"{page}: the name of a report must end in {allowed}.")
    if timeline is not None and timeline.suffix != CHROME:
        from memtile.io.trace.perfetto import messages_of

        messages_of()


def report_pieces(report: Report, suffix: str) -> Iterator[bytes]:
    """The report as a page, ``.html``, or as text."""
    if suffix == ".html":
        yield report_page(report_data(report)).encode()
    else:
        yield from (f"{printable(line, _TAB)}\n".encode() for line in report_lines(report))


def timeline_pieces(timeline: Timeline, mhz: float, suffix: str) -> Iterator[bytes]:
    """The timeline in Chrome's form, ``.json``, or in Perfetto's own; ``mhz``: of the clock."""
    from memtile.io.trace.timeline_export import chrome_lines, perfetto_timeline

    if suffix == CHROME:
        yield from (f"{line}\n".encode() for line in chrome_lines(timeline, mhz))
    else:
        yield perfetto_timeline(timeline, mhz)


def save_report(
    engine: Engine, history: History, result: Result, path: Path, title: str = "", command: str = ""
) -> None:
    """Write the report of a run.

    Args:
        engine: that it ran on, as the run has left it.
        history: of the run.
        result: of the run.
        path: of the file, ``.html`` or ``.txt``.
        title: of the design; the name of the file if empty.
        command: that made it; empty if none did.

    Raises:
        InputFileError: another suffix, or the file cannot be written.
    """
    check_names(path, None)
    timeline = Timeline(engine, history, result)
    report = Report(engine, result, timeline, title or path.stem, command=command)
    write_output(path, report_pieces(report, path.suffix))


def save_timeline(engine: Engine, history: History, result: Result, path: Path) -> None:
    """Write the timeline of a run for ui.perfetto.dev; arguments as of :func:`save_report`.

    Raises:
        InputFileError: the file cannot be written.
        MemtileError: the ``perfetto`` package is missing for a file that is not ``.json``.
    """
    check_names(None, path)
    write_output(path, timeline_pieces(Timeline(engine, history, result), result.clock_mhz, path.suffix))
