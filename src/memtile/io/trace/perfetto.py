"""Traces as Perfetto's own protobuf format (needs the ``perfetto`` extra).

Processes, threads and events have the names that mlir-aie's tools give. Timestamps are nanoseconds of the
units' timers at a stated clock, rounded; the exact cycles are annotations of each slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile.errors import MemtileError
from memtile.io.trace.trace_names import NamedUnit

_SEQUENCE = 1  # all packets are of one writer
_NS_PER_US = 1000


def perfetto_bytes(units: Sequence[NamedUnit], clock_mhz: float) -> bytes:
    """A serialised ``perfetto.protos.Trace``.

    Args:
        units: from :func:`~memtile.io.trace.trace_names.named`.
        clock_mhz: the array clock.

    Raises:
        MemtileError: the ``perfetto`` package is not installed.
    """
    messages = messages_of()
    trace = messages.Trace()
    for number, unit in enumerate(units):
        process = 1 + number * (1 + len(unit.events))  # ids of Perfetto are unique and not 0
        _describe(trace, process, unit)
        edges: list[tuple[int, int, int, bool]] = []
        for found, exact in unit.intervals():
            edges += [(found.begin, 1, found.slot, exact), (found.end, 0, found.slot, exact)]
        for cycle, begins, slot, exact in sorted(edges):
            packet = trace.packet.add()
            packet.timestamp = round(cycle * _NS_PER_US / clock_mhz)
            packet.trusted_packet_sequence_id = _SEQUENCE
            event = packet.track_event
            event.track_uuid = process + 1 + slot
            event.type = event.TYPE_SLICE_BEGIN if begins else event.TYPE_SLICE_END
            if begins:
                event.name = unit.events[slot]
                event.debug_annotations.add(name="cycle", int_value=cycle)
                event.debug_annotations.add(name="exact", bool_value=exact)
            else:
                event.debug_annotations.add(name="end cycle", int_value=cycle)
    return bytes(trace.SerializeToString())


def _describe(trace: Any, process: int, unit: NamedUnit) -> None:
    """A track for the process and one for each slot."""
    descriptor = trace.packet.add().track_descriptor
    descriptor.uuid = process
    descriptor.process.pid = process
    descriptor.process.process_name = unit.process
    for slot, name in enumerate(unit.events):
        descriptor = trace.packet.add().track_descriptor
        descriptor.uuid = process + 1 + slot
        descriptor.parent_uuid = process
        descriptor.thread.pid = process
        descriptor.thread.tid = process + 1 + slot
        descriptor.thread.thread_name = name


def messages_of() -> Any:
    """The message classes of the ``perfetto`` package.

    Raises:
        MemtileError: it is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ModuleNotFoundError:
        raise MemtileError(
            "Perfetto's format needs the perfetto package, which is not installed: "
            'pip install "perfetto". '
            "A file that ends in .json does not need it and opens in the same viewer."
        ) from None
    return perfetto_trace_pb2
