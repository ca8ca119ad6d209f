"""Traces as rows and as JSON: one row for each interval in which an event was asserted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from memtile.io.trace.decoder import Segment, Trace
from memtile.io.trace.names import NamedUnit

_NS_PER_US = 1000
COLUMNS = (
    *("column", "row", "module", "packet_type", "stream_id", "slot", "event"),
    *("begin_cycle", "end_cycle", "begin_ns", "end_ns", "exact"),
)


def rows(units: Sequence[NamedUnit], clock_mhz: float) -> Iterator[tuple[object, ...]]:
    """A row of :data:`COLUMNS` for each interval: cycles of the unit's timer, the end not included."""
    for unit in units:
        sender = unit.trace.sender
        head = (sender.column, sender.row, unit.kind, sender.packet_type, sender.stream_id)
        for found, exact in unit.intervals():
            times = [cycle * _NS_PER_US / clock_mhz for cycle in (found.begin, found.end)]
            event = unit.events[found.slot]
            yield (*head, found.slot, event, found.begin, found.end, *times, exact)


def trace_csv(units: Sequence[NamedUnit], clock_mhz: float) -> str:
    """The rows as CSV with a line of column names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(units, clock_mhz))
    return text.getvalue()


def trace_json(trace: Trace, units: Sequence[NamedUnit], clock_mhz: float) -> dict[str, Any]:
    """Everything that was decoded as plain data."""
    return {
        "file": trace.name,
        "words": trace.words,
        "packets": trace.packets,
        "clock_mhz": clock_mhz,
        "units": [_unit(unit, clock_mhz) for unit in units],
        "problems": [problem.as_json() for problem in trace.problems],
    }


def _unit(unit: NamedUnit, clock_mhz: float) -> dict[str, Any]:
    return {
        **unit.trace.sender._asdict(),
        "module": unit.kind,
        "events": list(unit.events),
        "packets": unit.trace.packets,
        "segments": [_segment(segment) for segment in unit.trace.segments],
        "intervals": [dict(zip(COLUMNS[5:], row[5:], strict=True)) for row in rows([unit], clock_mhz)],
    }


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "origin": segment.origin.value,
        "word": segment.at,
        "start_cycle": segment.start,
        "end_cycle": segment.end,
        "exact": segment.exact,
        "stopped": segment.stopped,
    }
