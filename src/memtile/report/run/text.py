"""The report of a run as text: its result, its verdict, and a line for everything that each track did."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.record import judged, stored_registers
from memtile.report.run.data import Report
from memtile.report.run.descriptors import used_descriptors


def report_lines(report: Report) -> Iterator[str]:
    """Lines without line ends; those of the timeline are ``first..last cycle TAB track TAB what it did``."""
    verdict, why = judged(report.result, list(stored_registers(report.engine)))
    yield f"{report.title}: {verdict}: {'; '.join(why)}"
    yield from str(report.result).splitlines()
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
