"""Decoded traces with names of modules and events, as rows, as JSON, and as a table for people.

Chrome's trace event JSON has the shape that mlir-aie's tools write: a process for each trace unit, a thread
for each event slot, begin and end of each interval. Viewers show ``ts`` as microseconds. mlir-aie writes
cycles since the start event there; to lay two traces over each other ask for that, else ``ts`` is true time
and cycles are in ``args``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from memtile.arch.registers import ModuleName
from memtile.arch.trace_facts import SLOTS
from memtile.errors import Problem
from memtile.io.trace.decoder import Interval, SegmentOrigin, Trace, TraceSegment, UnitTrace
from memtile.io.trace.trace_setup import ALIASES, CONVENTION, TracedUnit, module_of
from memtile.sheet import unclipped

_PREFIX = {module: alias for alias, module in ALIASES.items()}


@dataclass(frozen=True, slots=True)
class NamedUnit:
    """A unit's trace and the names in it.

    Attributes:
        trace: what it recorded.
        module: whose unit it is; None if neither registers nor the packet type say.
        events: name of the event in each slot.
        known: whether the names come from registers or flags.
    """

    trace: UnitTrace
    module: ModuleName | None
    events: tuple[str, ...]
    known: bool

    @property
    def kind(self) -> str:
        """mlir-aie's name of the module: core, mem, shim or memtile."""
        packet_type = self.trace.sender.packet_type
        return _PREFIX[self.module] if self.module is not None else f"type{packet_type}"

    @property
    def process(self) -> str:
        """The process name that mlir-aie's tools give: ``memtile_trace for tile1,2``, row before column."""
        sender = self.trace.sender
        return f"{self.kind}_trace for tile{sender.row},{sender.column}"

    def intervals(self) -> Iterator[tuple[Interval, bool]]:
        """When each slot was asserted, and whether its cycles are exact."""
        for segment in self.trace.segments:
            part = UnitTrace(self.trace.sender, 0, [segment])
            yield from ((interval, segment.exact) for interval in part.intervals())

    @property
    def origin(self) -> int:
        """Cycle of the start event; 0 if the trace does not say it."""
        segments = self.trace.segments
        return segments[0].start if segments and segments[0].origin is SegmentOrigin.START else 0


def named(
    trace: Trace,
    setup: Sequence[TracedUnit],
    column_shift: int = 0,
    types: Mapping[int, ModuleName] = CONVENTION,
) -> list[NamedUnit]:
    """The units of ``trace`` by packet type, as mlir-aie orders them, with what ``setup`` knows about them.

    Args:
        trace: as decoded.
        setup: what units were set up to trace; the first that fits counts, one of a tile before one of any.
        column_shift: is added to columns of ``setup``: a design is loaded as many columns further right.
        types: module by packet type, where ``setup`` does not say which packets a unit sends.
    """
    fixed_first = sorted(setup, key=lambda unit: unit.tile is None)
    units = sorted(trace.units, key=lambda unit: unit.sender.packet_type)
    return [_named(unit, fixed_first, column_shift, types) for unit in units]


def _named(
    unit: UnitTrace, setup: Sequence[TracedUnit], column_shift: int, types: Mapping[int, ModuleName]
) -> NamedUnit:
    for unit_setup in setup:
        if unit_setup.sent(unit.sender, column_shift, types):
            return NamedUnit(unit, unit_setup.module, unit_setup.names, True)
    slots = tuple(f"slot {n}" for n in range(SLOTS))
    return NamedUnit(unit, module_of(unit.sender, types), slots, False)


def unnamed(units: Sequence[NamedUnit], setup: Sequence[TracedUnit], name: str) -> list[Problem]:
    """Return the units of a trace that a given setup does not describe, and those that it describes."""
    tiles = [f"{unit.module} of ({unit.tile[0]}, {unit.tile[1]})" for unit in setup if unit.tile]
    traced = ", ".join(tiles) or ", ".join(unit.module for unit in setup) or "no trace unit"
    return [
        Problem(
            "trace unit",
            f"{unit.kind} of tile ({unit.trace.sender.column}, {unit.trace.sender.row}), "
            f"packet type {unit.trace.sender.packet_type}, id {unit.trace.sender.stream_id}",
            f"those set up: {traced}",
            f"the setup does not have the {unit.kind} of tile "
            f"({unit.trace.sender.column}, {unit.trace.sender.row}), packet type "
            f"{unit.trace.sender.packet_type}, id {unit.trace.sender.stream_id}; it has {traced}",
            "Its events are shown by slot. If the design was loaded some columns further right, "
            "say so with --column-shift.",
            reason="trace_unit",
            where=name,
            source="Trace_Event0, Trace_Event1 and Trace_Control1, AM025",
        )
        for unit in units
        if not unit.known
    ]


def unplaced(units: Sequence[NamedUnit], name: str) -> list[Problem]:
    """Units of a trace whose packet type is of no module that their tile can have."""
    convention = ", ".join(f"{_PREFIX[module]}={number}" for number, module in CONVENTION.items())
    return [
        Problem(
            "packet type",
            str(unit.trace.sender.packet_type),
            "a packet type of a module that the tile has",
            f"packet type {unit.trace.sender.packet_type} of tile ({unit.trace.sender.column}, "
            f"{unit.trace.sender.row}) is of no module that the tile can have",
            "Say with --types MODULE=TYPE which module sends it, or give --program.",
            reason="trace_module",
            where=name,
            source=f"convention of mlir-aie: {convention}",
        )
        for unit in units
        if unit.module is None
    ]


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
    """Return everything decoded as plain data."""
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


_RIGHT = ("slot", "times", "cycles", "first", "last", "ns asserted")


def trace_title(trace: Trace, clock_mhz: float) -> str:
    """The file and its size in a line."""
    packets = f"{trace.packets} packet{'' if trace.packets == 1 else 's'}"
    return f"{trace.name}: {trace.words} words, {packets}; ns at {clock_mhz:g} MHz"


def trace_table(units: Sequence[NamedUnit], clock_mhz: float) -> Table:
    """One row for each event that was asserted; first and last are cycles since the unit's start event."""
    table = Table(box=None, pad_edge=False)
    for name in ("unit", "slot", "event", "times", "cycles", "ns asserted", "first", "last"):
        table.add_column(name, justify="right" if name in _RIGHT else "left", no_wrap=True)
    for unit in units:
        for row in _rows(unit, clock_mhz):
            table.add_row(*row)
    return unclipped(table)


def _rows(unit: NamedUnit, clock_mhz: float) -> Iterator[tuple[str, ...]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for interval, _ in unit.intervals():
        found.setdefault(interval.slot, []).append((interval.begin, interval.end))
    sender = unit.trace.sender
    head = f"{unit.kind} ({sender.column}, {sender.row})"
    for slot, spans in sorted(found.items()):
        cycles = sum(end - begin for begin, end in spans)
        first, last = spans[0][0] - unit.origin, spans[-1][1] - 1 - unit.origin
        numbers = (
            str(len(spans)),
            str(cycles),
            f"{cycles * _NS_PER_US / clock_mhz:g}",
            str(first),
            str(last),
        )
        yield (head, str(slot), unit.events[slot], *numbers)
        head = ""
    if not found:
        yield (head, "", "no event", *[""] * 5)
