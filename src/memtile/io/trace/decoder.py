"""Recorded traces in event-time mode: words -> for each trace unit, which event was asserted in which cycle.

Time is the unit's 64-bit timer, whose value a Start frame carries. Each frame says in which one cycle its
events were asserted (``arch.trace_facts``); what is asserted in adjacent cycles becomes one :class:`Run`.

It also has frames of one trace unit: from the payload words of its packets, each with its word.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace_facts import (
    FILLER,
    FRAMES,
    REPEATS,
    SLOTS,
    START,
    START_PC,
    STOP,
    SYNC,
    SYNC_CYCLES,
    FrameFormat,
)
from memtile.errors import InputFileError, Problem
from memtile.io.trace.trace_packets import Gap, Sender, TracePacket, Words, packets, senders

_FRAMES_SOURCE = "AM020, trace; frames as decoded by mlir-aie"
_LATER = "The rest of the word is skipped; times after it are lower bounds."


def _beginning(byte: int) -> FrameFormat | None:
    return next((f for f in FRAMES if byte >> (8 - f.opcode_bits) == f.opcode), None)


_FORMATS = tuple(_beginning(byte) for byte in range(1 << 8))


class Frame(NamedTuple):
    """One frame: its format, raw operand and number, and the word of the stream where it begins."""

    format: FrameFormat
    operand: int
    number: int
    at: int

    @property
    def slots(self) -> int:
        """The events that it names, one bit each."""
        return self.operand if self.format.operand == "mask" else 1 << self.operand


class Loss(NamedTuple):
    """Something between two frames could not be read: word of the stream."""

    at: int


def frames(items: Iterable[TracePacket | Gap], name: str, problems: list[Problem]) -> Iterator[Frame | Loss]:
    """The frames of one unit's packets, fillers too, and where frames may be missing.

    Frames lie within a word, but for Start which takes two (AM020): what cannot be read is skipped up to the
    next word. Nothing is read after the Start frame of another mode. ``name`` is the stream's, for messages;
    what is wrong is appended to ``problems``.
    """
    data, places = bytearray(), list[int]()
    for item in items:
        if isinstance(item, TracePacket):
            data += b"".join(word.to_bytes(WORD_BYTES, "big") for word in item.payload)
            places += range(item.at + 1, item.at + 1 + len(item.payload))
            continue
        if not (yield from _unpack(data, places, name, problems)):
            return
        data, places = bytearray(), []
        yield Loss(item.at)
    yield from _unpack(data, places, name, problems)


def _unpack(
    data: bytearray, places: list[int], name: str, problems: list[Problem]
) -> Generator[Frame | Loss, None, bool]:
    """Frames of words that follow each other; returns whether they are of event-time mode to the end."""
    at = 0
    while at < len(data):
        place = places[at // WORD_BYTES]
        format = _FORMATS[data[at]]
        if format is START_PC:
            problems.append(_not_event_time(f"{name}, word {place}"))
            return False
        if format is None or not _fits(format, len(data), at):
            problems.append(_unreadable(format, data, at, f"{name}, word {place}"))
            yield Loss(place)
            at += WORD_BYTES - at % WORD_BYTES
            continue
        value = int.from_bytes(data[at : at + format.bytes], "big") - format.base
        yield Frame(format, value >> format.number_bits, value & format.most, place)
        at += format.bytes
    return True


def _fits(format: FrameFormat, end: int, at: int) -> bool:
    """Whether the frame lies within its word; one that takes more must be whole."""
    if format.bytes > WORD_BYTES:
        return at + format.bytes <= end
    return at % WORD_BYTES + format.bytes <= WORD_BYTES


def _unreadable(format: FrameFormat | None, data: bytearray, at: int, where: str) -> Problem:
    if format is None:
        return Problem(
            "frame",
            f"byte {data[at]:#04x}",
            "a frame of event-time mode",
            f"no frame of event-time mode begins with byte {data[at]:#04x}",
            _LATER,
            reason="trace_frame",
            where=where,
            source=_FRAMES_SOURCE,
        )
    if format.bytes > WORD_BYTES:
        return Problem(
            "frame",
            f"{len(data) - at} of {format.bytes} bytes of {format.name}",
            "the whole frame",
            f"the trace ends within a {format.name} frame: "
            f"{len(data) - at} of its {format.bytes} bytes are there",
            reason="trace_frame_cut",
            where=where,
            source=_FRAMES_SOURCE,
        )
    left = WORD_BYTES - at % WORD_BYTES
    return Problem(
        "frame",
        f"{format.name} of {format.bytes} bytes",
        f"{left} bytes to the end of the word",
        f"a {format.name} frame of {format.bytes} bytes crosses the end of its word, "
        f"which is {left} byte{'s' * (left != 1)} away",
        _LATER,
        reason="trace_frame_crosses",
        where=where,
        source=_FRAMES_SOURCE,
    )


def _not_event_time(where: str) -> Problem:
    return Problem(
        "trace mode",
        "event-PC",
        "event-time",
        next_step="Nothing of this unit is decoded from here on. Set mode 0 in Trace_Control0.",
        reason="trace_mode",
        where=where,
        source=_FRAMES_SOURCE,
    )


_SOURCE = "mlir-aie's decoder"


class Run(NamedTuple):
    """The events of ``slots``, one bit each, and no others were asserted for ``cycles`` from ``begin`` on."""

    begin: int
    cycles: int
    slots: int

    @property
    def end(self) -> int:
        """First cycle after it."""
        return self.begin + self.cycles


class Interval(NamedTuple):
    """Event slot ``slot`` was asserted from cycle ``begin`` up to, not in, cycle ``end``."""

    slot: int
    begin: int
    end: int


class SegmentOrigin(StrEnum):
    """Why a segment begins."""

    START = "start"  # the start event
    OVERRUN = "overrun"  # the unit lost frames and began anew (DEV-TRACE-2)
    LOSS = "loss"  # words of the file could not be read
    MIDDLE = "middle"  # the file begins after the trace did


@dataclass(slots=True)
class TraceSegment:
    """A part of a trace in which nothing is missing.

    Attributes:
        origin: why it begins.
        start: cycle in which it begins, itself not recorded; a lower bound if not ``exact``.
        exact: whether cycles are those of the unit's timer.
        at: word of the stream where it begins.
        runs: what was asserted, in order of time.
        stopped: whether the unit said that it stopped.
    """

    origin: SegmentOrigin
    start: int
    exact: bool
    at: int
    runs: list[Run] = field(default_factory=list)
    stopped: bool = False

    @property
    def end(self) -> int:
        """First cycle after the last recorded one."""
        return self.runs[-1].end if self.runs else self.start + 1


@dataclass(slots=True)
class UnitTrace:
    """What one trace unit recorded: its segments in order of the stream, and the words of its packets."""

    sender: Sender
    packets: int
    segments: list[TraceSegment]

    def intervals(self) -> Iterator[Interval]:
        """When each slot was asserted, by begin, then slot; no interval goes beyond its segment."""
        for segment in self.segments:
            yield from sorted(_intervals(segment.runs), key=lambda found: (found.begin, found.slot))

    def events(self) -> Iterator[tuple[int, int]]:
        """(cycle, slot) of each cycle in which a slot was asserted."""
        for segment in self.segments:
            for run in segment.runs:
                for cycle in range(run.begin, run.end):
                    yield from ((cycle, slot) for slot in range(SLOTS) if run.slots >> slot & 1)


@dataclass(frozen=True, slots=True)
class Trace:
    """A decoded trace file.

    Attributes:
        name: of the file.
        units: one for each sender, in order of first appearance.
        problems: everything that could not be read or says that something is missing, in order of the stream.
        words: of the file.
        packets: how many.
    """

    name: str
    units: tuple[UnitTrace, ...]
    problems: tuple[Problem, ...]
    words: int
    packets: int


def decode(words: Words | Sequence[int], name: str = "trace") -> Trace:
    """Decode a stream of trace packets, of the model or of silicon.

    Args:
        words: 32-bit words in order, packets of any number of units interleaved.
        name: of the stream, for messages.

    Raises:
        InputFileError: there is no trace packet in it. All lesser faults are ``problems`` of the result, and
            everything else is decoded.
    """
    problems: list[Problem] = []
    plain = np.asarray(words, dtype=np.uint32).tolist()
    found = list(packets(plain, name, problems))
    by_sender = senders(found)
    if not by_sender:
        raise InputFileError(_empty(name, plain))
    units = tuple(_unit(sender, items, name, problems) for sender, items in by_sender.items())
    ordered = sorted(problems, key=lambda problem: int(problem.where.rpartition(" ")[2]))
    return Trace(
        name, units, tuple(ordered), len(plain), sum(isinstance(item, TracePacket) for item in found)
    )


def _empty(name: str, words: Sequence[int]) -> Problem:
    written = [word for word in words if word]
    return Problem(
        "trace",
        f"{len(words)} words, {len(written) or 'none'} of them not 0",
        "at least one trace packet",
        f"nothing was traced: in {len(words)} word{'s' * (len(words) != 1)}, "
        f"{len(written) or 'none'} of them not 0, there is no trace packet",
        "Check the start event, the route of the packets and the trace buffer.",
        reason="trace_empty",
        where=name,
        source=_SOURCE,
    )


def _unit(sender: Sender, items: list[TracePacket | Gap], name: str, problems: list[Problem]) -> UnitTrace:
    reader = _UnitClock(name, problems)
    for frame in frames(items, name, problems):
        reader.read(frame)
    return UnitTrace(sender, sum(isinstance(item, TracePacket) for item in items), reader.segments)


class _UnitClock:
    """Follows the clock of one unit through its frames."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.segments: list[TraceSegment] = []
        self._name = name
        self._problems = problems
        self._now = 0  # the last cycle that is known
        self._last: tuple[int, int] | None = None  # delta and slots of the last frame

    def read(self, frame: Frame | Loss) -> None:
        """Take the next frame, or the news that some are missing."""
        if isinstance(frame, Loss):
            self._lose(frame.at)
        elif frame.format is START:
            self._start(frame)
        elif frame.format is STOP:
            self._stop(frame)
        elif frame.format is SYNC:
            self._segment(frame.at)
            self._now += SYNC_CYCLES
        elif frame.format in REPEATS:
            self._repeat(frame)
        elif frame.format is not FILLER:
            self._segment(frame.at)
            self._last = frame.number, frame.slots
            self._record(1)

    def _start(self, frame: Frame) -> None:
        overrun = bool(self.segments) and not self.segments[-1].stopped and self.segments[-1].exact
        if overrun:
            says = f"events were lost between cycles {self._now} and {frame.number}"
            given = f"events lost between cycles {self._now} and {frame.number}"
            self._report("trace_overrun", frame.at, "trace", given, "no gap", says)
        self._begin(SegmentOrigin.OVERRUN if overrun else SegmentOrigin.START, frame.number, True, frame.at)

    def _stop(self, frame: Frame) -> None:
        self._segment(frame.at).stopped = True
        if frame.number:
            given, allowed = f"{frame.number:#x} in the bits after its opcode", "0, as in all known traces"
            says = f"a Stop frame has {given}, where all known traces have 0x0, see DEV-TRACE-1"
            self._report("trace_stop", frame.at, "Stop frame", given, allowed, says)

    def _repeat(self, frame: Frame) -> None:
        self._segment(frame.at)
        if self._last is None:
            given, says = (
                f"{frame.number} times",
                "a Repeat frame has no frame before it that it could repeat",
            )
            self._report("trace_repeat", frame.at, "Repeat frame", given, "after a frame with events", says)
            self._lose(frame.at)
            return
        self._record(frame.number)

    def _record(self, times: int) -> None:
        """The last frame ``times`` times, as a whole (DEV-TRACE-4)."""
        assert self._last is not None
        delta, slots = self._last
        runs = self.segments[-1].runs
        first = self._now + 1
        self._now += times * (1 + delta)
        if not slots:  # it only lets time pass
            return
        if delta:
            runs += [Run(begin, 1, slots) for begin in range(first + delta, self._now + 1, 1 + delta)]
        elif times:
            held = runs.pop() if runs and (runs[-1].end, runs[-1].slots) == (first, slots) else None
            runs.append(Run(held.begin if held else first, (held.cycles if held else 0) + times, slots))

    def _lose(self, at: int) -> None:
        now = self.segments[-1] if self.segments else None
        if now and not now.stopped and (now.runs or now.origin is not SegmentOrigin.LOSS):
            self._begin(SegmentOrigin.LOSS, self._now, False, at)

    def _segment(self, at: int) -> TraceSegment:
        if not self.segments or self.segments[-1].stopped:
            given, says = "frames without a Start frame", "there are frames with no Start frame before them"
            self._report("trace_no_start", at, "trace", given, "a Start frame first", says)
            self._begin(SegmentOrigin.MIDDLE, self._now, False, at)
        return self.segments[-1]

    def _begin(self, origin: SegmentOrigin, start: int, exact: bool, at: int) -> None:
        self.segments.append(TraceSegment(origin, start, exact, at))
        self._now, self._last = start, None

    def _report(self, reason: str, at: int, field: str, given: str, allowed: str, says: str) -> None:
        self._problems.append(
            Problem(
                field,
                given,
                allowed,
                says,
                {
                    "trace_overrun": "Trace fewer events, or give the packets a faster route.",
                    "trace_no_start": "Times are counted from 0 on and are lower bounds.",
                    "trace_repeat": "Times after it are lower bounds.",
                }.get(reason, ""),
                reason=reason,
                where=f"{self._name}, word {at}",
                source=_SOURCE,
            )
        )


def _intervals(runs: Sequence[Run]) -> Iterator[Interval]:
    """Adjacent runs with a slot in common make one interval of it."""
    begun: dict[int, int] = {}
    now = 0
    for run in [*runs, Run(-1, 0, 0)]:
        for slot in list(begun):
            if run.begin != now or not run.slots >> slot & 1:
                yield Interval(slot, begun.pop(slot), now)
        for slot in range(SLOTS):
            if run.slots >> slot & 1:
                begun.setdefault(slot, run.begin)
        now = run.end
