"""A run as files: the page, the same as text, and its timeline for ui.perfetto.dev.

It also has the report of a run as one HTML file: style, script and data are in it, nothing is fetched.

It has the report of a run as text: its result, its verdict, and a line for everything that each track did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError
from memtile.explain.findings import Severity
from memtile.explain.record import judged, stored_registers
from memtile.explain.results import Result, Status
from memtile.explain.timeline import Timeline
from memtile.output_files import write_output
from memtile.plain_text import markup_text, printable, script_json
from memtile.report.run.data import Report, report_data
from memtile.report.run.descriptor_panel import used_descriptors
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.run_history import History


def report_lines(report: Report) -> Iterator[str]:
    """Lines without line ends; those of the timeline are ``first..last cycle TAB track TAB what it did``."""
    verdict, why = judged(report.result, list(stored_registers(report.engine)))
    yield f"{report.title}: {verdict}: {'; '.join(why)}"
    yield from report.text.splitlines()
    yield from _provenance(report)
    yield ""
    yield "descriptors, as they stand at the end"
    for used in used_descriptors(report.engine, report.timeline):
        users = ", ".join(track.called for track in used.users)
        place = f" ({used.place})" if used.place else ""
        yield f"{report.timeline.tile_name(used.tile)} BD {used.bd}{place}: {users}"
        yield from (f"  {topic}: {text}" for topic, text in used.lines)
    yield ""
    yield "timeline: cycles, track, what it did"
    for track in report.timeline.tracks:
        for begin, end, value in report.timeline.runs(track):
            cycles = f"{begin}..{max(end - 1, begin)}"
            yield f"{cycles}\t{track.called}\t{report.timeline.says(track, value)}"


def _provenance(report: Report) -> Iterator[str]:
    if report.command:
        yield f"command: {report.command}"
    for name, digest in sorted(report.inputs.items()):
        yield f"SHA-256 of {name}: {digest}"
    for line in report.ignored:
        yield f"ignored: {line}"


SCRIPTS = ("model.js", "timeline.js", "panels.js", "waits.js", "main.js")


def report_page(data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        data: from :func:`~memtile.report.run.data.report_data`.
    """
    findings, link, bound = _file("findings.html"), '<a href="#findings">findings</a>', _BOUND
    if _is_wrong(data["record"]["result"]):
        order = {"$FINDINGS_FIRST": findings + bound, "$LINK_FIRST": link}
    else:
        order = {"$BOUND": bound, "$FINDINGS_LAST": findings, "$LINK_LAST": link}
    places = ("$BOUND", "$FINDINGS_FIRST", "$FINDINGS_LAST", "$LINK_FIRST", "$LINK_LAST")
    parts = {
        **dict.fromkeys(places, ""),
        **order,
        "$TITLE": markup_text(f"{data['title']}: a run of memtile"),
        "$STYLE": _file("page.css"),
        "$DATA": script_json(data),
        "$SCRIPT": "\n".join(map(_file, SCRIPTS)),
    }
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], _file("page.html"))


_BOUND = '<p id="bound" class="bound"></p>\n'


def _is_wrong(result: Mapping[str, Any]) -> bool:
    """Whether what is wrong stands first on the page: the run is stuck, or has errors."""
    errors = [found for found in result["findings"] if found["severity"] == Severity.ERROR]
    finished = result["status"] == Status.FINISHED
    return not finished or result["bit_exact"] is False or bool(errors or result["errors"])


def _file(name: str) -> str:
    return resources.files("memtile").joinpath("report", "run", "page", name).read_text(encoding="utf-8")


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
    from memtile.io.trace.perfetto import chrome_lines, perfetto_timeline

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
