"""A decoded trace as a table for people: how long each event was asserted, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from memtile.io.trace.decoder import Trace
from memtile.io.trace.trace_names import NamedUnit
from memtile.sheet import unclipped

_NS_PER_US = 1000
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
