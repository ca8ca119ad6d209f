"""Traces as rows and as JSON: one row for each interval in which an event was asserted.

It also has traces as Chrome's trace event JSON, in the shape that mlir-aie's tools write.

A bare array: a process for each trace unit, a thread for each event slot, begin and end of each interval.
Viewers show ``ts`` as microseconds. mlir-aie writes cycles since the start event there; to lay two traces
over each other ask for that, else ``ts`` is true time and cycles are in ``args``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from memtile.io.trace.decoder import Trace, TraceSegment
from memtile.io.trace.trace_names import NamedUnit

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


def _segment(segment: TraceSegment) -> dict[str, Any]:
    return {
        "origin": segment.origin.value,
        "word": segment.at,
        "start_cycle": segment.start,
        "end_cycle": segment.end,
        "exact": segment.exact,
        "stopped": segment.stopped,
    }


Record = dict[str, Any]


def chrome_records(units: Sequence[NamedUnit], clock_mhz: float | None) -> Iterator[Record]:
    """All records of a trace: names of all processes and threads, then the events of each unit by time.

    Args:
        units: from :func:`~memtile.io.trace.trace_names.named`.
        clock_mhz: the array clock: ``ts`` is the timer's time in microseconds. None: ``ts`` is in cycles
            since the unit's start event, an integer, as mlir-aie writes.
    """
    for pid, unit in enumerate(units):
        yield {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": unit.process}}
        for tid, event in enumerate(unit.events):
            yield {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": event}}
    for pid, unit in enumerate(units):
        yield from _events(pid, unit, clock_mhz)


def chrome_json(units: Sequence[NamedUnit], clock_mhz: float | None) -> str:
    """:func:`chrome_records` as text, a record a line."""
    return "[" + ",\n".join(map(json.dumps, chrome_records(units, clock_mhz))) + "]\n"


def _events(pid: int, unit: NamedUnit, clock_mhz: float | None) -> Iterator[Record]:
    edges = []
    for found, exact in unit.intervals():
        edges += [(found.end, 0, found.slot, exact), (found.begin, 1, found.slot, exact)]
    for cycle, begins, slot, exact in sorted(edges):  # what ends in a cycle comes before what begins in it
        args: Record = {}
        if clock_mhz is not None:
            args = {"cycle": cycle} if exact else {"cycle": cycle, "exact": False}
        yield {
            "name": unit.events[slot],
            "ts": cycle - unit.origin if clock_mhz is None else cycle / clock_mhz,
            "ph": "B" if begins else "E",
            "pid": pid,
            "tid": slot,
            "args": args,
        }
