"""Traces: what ``memtile trace decode`` writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from memtile.documents import Count, one_of
from memtile.io.trace.decoder import SegmentOrigin
from memtile.schemas.common import Problem

_False = Annotated[bool, Meta(extra_json_schema={"const": False})]


class Segment(TypedDict):
    """A part of a trace without loss.

    Attributes:
        exact: False where the absolute time is not known.
    """

    origin: SegmentOrigin
    word: Count
    start_cycle: Count
    end_cycle: Count
    exact: bool
    stopped: bool


class Interval(TypedDict):
    """Cycles in which an event was asserted; the end is not included."""

    slot: Annotated[int, Meta(ge=0, le=7)]
    event: str
    begin_cycle: Count
    end_cycle: Count
    begin_ns: float
    end_ns: float
    exact: bool


class Unit(TypedDict):
    """A unit that traced.

    Attributes:
        events: Name by slot.
    """

    column: Count
    row: Count
    packet_type: Count
    stream_id: Count
    module: str
    events: list[str]
    packets: Count
    segments: list[Segment]
    intervals: list[Interval]


class TraceOutput(TypedDict):
    """The intervals in which the events of a trace were asserted. Cycles are those of the unit's timer; an
    end is not included.

    Attributes:
        words: Words of the file.
    """

    file: str
    words: Count
    packets: Count
    clock_mhz: float
    units: list[Unit]
    problems: list[Problem]


class Name(TypedDict):
    """The name of a process or thread."""

    name: str


class ProcessName(TypedDict):
    """A process, which is a unit."""

    name: Literal["process_name"]
    ph: Literal["M"]
    pid: Count
    args: Name


class ThreadName(TypedDict):
    """A thread, which is a slot of a unit."""

    name: Literal["thread_name"]
    ph: Literal["M"]
    pid: Count
    tid: Count
    args: Name


class EventTime(TypedDict):
    """The cycle of an event; whether that is not exact."""

    cycle: NotRequired[Count]
    exact: NotRequired[_False]


class TraceEvent(TypedDict):
    """The begin or the end of an interval.

    Attributes:
        ts: True time in microseconds; with --time cycles an integer number of cycles since the start event.
    """

    name: str
    ts: float
    ph: Literal["B", "E"]
    pid: Count
    tid: Count
    args: EventTime


ChromeOutput = list[Annotated[Any, one_of(ProcessName, ThreadName, TraceEvent)]]
