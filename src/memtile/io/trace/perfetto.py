"""Traces and timelines for ui.perfetto.dev: Perfetto's own format (extra ``perfetto``), Chrome's JSON.

Processes, threads and events of a trace have the names that mlir-aie's tools give; a timeline has a process
for each tile, in it a thread for each channel, core and port, and a counter for each lock. Times are those of
a stated clock, rounded; the exact cycles are annotations of each slice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memtile.errors import MemtileError
from memtile.explain.timeline import Timeline, Track, level
from memtile.io.trace.trace_names import NamedUnit
from memtile.model.checking.history_log import Thing
from memtile.plain_text import printable, printable_data

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


# all packets are of one writer


def chrome_lines(timeline: Timeline, clock_mhz: float) -> Iterator[str]:
    """Chrome's trace events, a bare array with one event a line; ``ts`` and ``dur`` are microseconds.

    Args:
        timeline: of the run.
        clock_mhz: the array clock.
    """
    lead = "["
    for record in _chrome(timeline, clock_mhz):
        yield f"{lead}{json.dumps(printable_data(record))}"
        lead = ","
    yield "[]" if lead == "[" else "]"


def _chrome(timeline: Timeline, mhz: float) -> Iterator[dict[str, Any]]:
    for tile in dict.fromkeys(track.tile for track in timeline.tracks):
        name = timeline.tile_name(tile)
        yield {"name": "process_name", "ph": "M", "pid": tile, "args": {"name": name}}
    for tid, track in enumerate(timeline.tracks):
        if track.kind is Thing.LOCK:
            for begin, _, value in timeline.runs(track):
                args = {"value": level(value)}
                yield {"name": track.called, "ph": "C", "ts": begin / mhz, "pid": track.tile, "args": args}
            continue
        names = {"name": "thread_name", "ph": "M", "pid": track.tile, "tid": tid}
        yield names | {"args": {"name": track.called}}
        for begin, end, text in _slices(timeline, track):
            yield {
                "name": text,
                "ph": "X",
                "ts": begin / mhz,
                "dur": (end - begin) / mhz,
                "pid": track.tile,
                "tid": tid,
                "args": {"cycle": begin, "cycles": end - begin},
            }


def _slices(timeline: Timeline, track: Track) -> Iterator[tuple[int, int, str]]:
    texts: dict[int, str] = {}
    for begin, end, value in timeline.runs(track):
        if not timeline.rests(track, value):
            if value not in texts:
                texts[value] = timeline.says(track, value)
            yield begin, end, texts[value]


def perfetto_timeline(timeline: Timeline, clock_mhz: float) -> bytes:
    """A serialised ``perfetto.protos.Trace``.

    Args:
        timeline: of the run.
        clock_mhz: the array clock.

    Raises:
        MemtileError: the ``perfetto`` package is not installed.
    """
    messages = messages_of()
    trace = messages.Trace()
    tiles = dict.fromkeys(track.tile for track in timeline.tracks)
    for tile in tiles:
        descriptor = trace.packet.add().track_descriptor
        descriptor.uuid = 1 + tile  # ids of Perfetto are unique and not 0
        descriptor.process.pid = 1 + tile
        descriptor.process.process_name = printable(timeline.tile_name(tile))
    first = 2 + max(tiles, default=0)
    for number, track in enumerate(timeline.tracks):
        _add_track(trace, timeline, track, first + number, clock_mhz)
    return bytes(trace.SerializeToString())


def _add_track(trace: Any, timeline: Timeline, track: Track, uuid: int, mhz: float) -> None:
    descriptor = trace.packet.add().track_descriptor
    descriptor.uuid, descriptor.parent_uuid = uuid, 1 + track.tile
    if track.kind is Thing.LOCK:
        descriptor.name = printable(track.called)
        descriptor.counter.SetInParent()
        values = ((begin, level(value)) for begin, _, value in timeline.runs(track))
        _add_counter(trace, values, uuid, mhz)
        return
    descriptor.thread.pid, descriptor.thread.tid = 1 + track.tile, uuid
    descriptor.thread.thread_name = printable(track.called)
    for begin, end, text in _slices(timeline, track):
        event = _event(trace, begin, uuid, mhz)
        event.type, event.name = event.TYPE_SLICE_BEGIN, printable(text)
        event.debug_annotations.add(name="cycle", int_value=begin)
        event.debug_annotations.add(name="cycles", int_value=end - begin)
        _event(trace, end, uuid, mhz).type = event.TYPE_SLICE_END


def _add_counter(trace: Any, values: Iterable[tuple[int, int]], uuid: int, mhz: float) -> None:
    for cycle, value in values:
        event = _event(trace, cycle, uuid, mhz)
        event.type, event.counter_value = event.TYPE_COUNTER, value


def _event(trace: Any, cycle: int, uuid: int, mhz: float) -> Any:
    packet = trace.packet.add()
    packet.timestamp = round(cycle * _NS_PER_US / mhz)
    packet.trusted_packet_sequence_id = _SEQUENCE
    packet.track_event.track_uuid = uuid
    return packet.track_event
