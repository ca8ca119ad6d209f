"""The timeline of a run for ui.perfetto.dev, without trace units: Chrome's JSON, and Perfetto's own format.

A process for each tile; in it a thread for each channel, core and port, with a slice for everything but rest,
and a counter for each lock. Times are those of a stated clock; the exact cycles are arguments of each slice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from memtile.explain.timeline import Timeline, Track, level
from memtile.io.trace.perfetto import messages_of
from memtile.model.checking.history_log import Thing
from memtile.plain_text import printable, printable_data

_SEQUENCE = 1  # all packets are of one writer
_NS_PER_US = 1000


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
