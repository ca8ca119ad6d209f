"""Frames of one trace unit: from the payload words of its packets, with the word that each one is in."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace import FRAMES, START_PC, FrameFormat
from memtile.errors import Problem
from memtile.io.trace.packets import Gap, TracePacket

_SOURCE = "AM020, trace; frames as decoded by mlir-aie"
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
            source=_SOURCE,
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
            source=_SOURCE,
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
        source=_SOURCE,
    )


def _not_event_time(where: str) -> Problem:
    return Problem(
        "trace mode",
        "event-PC",
        "event-time",
        next_step="Nothing of this unit is decoded from here on. Set mode 0 in Trace_Control0.",
        reason="trace_mode",
        where=where,
        source=_SOURCE,
    )
