"""Tables at the end of a simulation: throughput of ports as aiesimulator prints it, latency, work of kernels.

The form of the first is that of printed outputs in XD100 (AI Engine tutorials, Multicast). Names are logical
ones, the argument of ``create``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memtile.model.state.causes import CoreCause

if TYPE_CHECKING:
    from memtile.adf.graph_result import GraphResult

_RULE = "-" * 98
_WIDTHS = (20, 18)
_STALLS = {
    CoreCause.LOCK_STALL: "locks",
    CoreCause.STREAM_STALL: "streams",
    CoreCause.CASCADE_STALL: "cascades",
}


def throughput_table(found: GraphResult) -> list[str]:
    """Average throughput of each PLIO that data have passed, inputs first."""
    ports = [(each, "IN") for each in found.input_times] + [(each, "OUT") for each in found.times]
    rows = [(port.label or port.name, way, f"{port.throughput:.6f} MBps  ") for port, way in ports]
    return _table(("Port Name", "Type", "Average Throughput"), rows)


def latency_table(found: GraphResult) -> list[str]:
    """First and last latency of each pair of PLIOs (UG1076, Latency and Throughput Estimates)."""
    labels = {each.name: each.label or each.name for each in (*found.input_times, *found.times)}
    mhz = found.result.clock_mhz
    rows = [
        (
            labels[each.source],
            labels[each.target],
            f"{each.first * 1000 / mhz:.1f} ns first, {each.last * 1000 / mhz:.1f} ns last",
        )
        for each in found.latencies
    ]
    return _table(("Input", "Output", "Latency"), rows)


def profile_table(found: GraphResult) -> list[str]:
    """Calls of each kernel, the cycles of its core in them, and what it waited for."""
    rows = [
        (each.name, f"{each.calls:,}", f"{each.computing:,}, {_waits(each.spent)}") for each in found.kernels
    ]
    return _table(("Kernel", "Calls", "Total Function Time (cycles), stalls"), rows)


def _waits(spent: Mapping[CoreCause, int]) -> str:
    return ", ".join(f"{spent.get(cause, 0):,} {name}" for cause, name in _STALLS.items())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_RULE, _row(head), _RULE, *map(_row, rows), _RULE] if rows else []


def _row(cells: Sequence[str]) -> str:
    return "| ".join(_padded(cells))


def _padded(cells: Sequence[str]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        yield cell.ljust(_WIDTHS[number]) if number < len(_WIDTHS) else cell
