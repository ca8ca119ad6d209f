"""Traces as Chrome's trace event JSON, in the shape that mlir-aie's tools write.

A bare array: a process for each trace unit, a thread for each event slot, begin and end of each interval.
Viewers show ``ts`` as microseconds. mlir-aie writes cycles since the start event there; to lay two traces
over each other ask for that, else ``ts`` is true time and cycles are in ``args``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from memtile.io.trace.names import NamedUnit

Record = dict[str, Any]


def chrome_records(units: Sequence[NamedUnit], clock_mhz: float | None) -> Iterator[Record]:
    """All records of a trace: names of all processes and threads, then the events of each unit by time.

    Args:
        units: from :func:`~memtile.io.trace.names.named`.
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
