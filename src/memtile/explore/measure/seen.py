"""What a trace says about one unit: when each of its events was asserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memtile.arch.devices import Device
from memtile.arch.tiles import TILE_KINDS
from memtile.arch.trace_facts import MODULES, PacketType
from memtile.errors import InputFileError, Problem, raise_if
from memtile.explore.measure.script import Place, Traced
from memtile.io.trace.decoder import UnitTrace

_SOURCE = "the design that was traced"


@dataclass(frozen=True, slots=True)
class Seen:
    """The events of one trace unit, in cycles of its own timer.

    Attributes:
        unit: what was traced.
        name: of the trace, for messages.
        stream_words: that a stream port of its tile moves in a cycle.
        intervals: begin and end (exclusive) by event, in order of time.
    """

    unit: Traced
    name: str
    stream_words: int = 1
    intervals: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, unit: Traced, trace: UnitTrace, name: str, stream_words: int) -> Seen:
        """The intervals of a decoded unit by the names of its events."""
        found = cls(unit, name, stream_words, {event: [] for event in unit.events})
        for interval in trace.intervals():
            if interval.slot < len(unit.events):
                found.intervals[unit.events[interval.slot]].append((interval.begin, interval.end))
        return found

    def begin(self, event: str, number: int = 0) -> int:
        """First cycle of an interval of an event.

        Raises:
            InputFileError: there are not as many.
        """
        return self._interval(event, number)[0]

    def end(self, event: str, number: int = 0) -> int:
        """The cycle after an interval of an event; ``number`` -1 is its last.

        Raises:
            InputFileError: there are not as many.
        """
        return self._interval(event, number)[1]

    def cycles(self, event: str) -> int:
        """Cycles in which an event was asserted."""
        return sum(end - begin for begin, end in self.intervals[event])

    def within(self, event: str, begin: int, end: int) -> int:
        """Cycles from ``begin`` on, before ``end``, in which an event was asserted."""
        return sum(max(0, min(e, end) - max(b, begin)) for b, e in self.intervals[event])

    def after(self, event: str, cycle: int) -> int:
        """First cycle from ``cycle`` on in which an event was asserted.

        Raises:
            InputFileError: there is none.
        """
        found = [max(begin, cycle) for begin, end in self.intervals[event] if end > cycle]
        if not found:
            raise InputFileError(self._missing(event, f"in no cycle from {cycle} on"))
        return found[0]

    def never(self, event: str) -> None:
        """Refuse a trace in which an event was asserted.

        Raises:
            InputFileError: it was.
        """
        if self.intervals[event]:
            raise InputFileError(self._unsteady(event, f"{self.cycles(event)} cycles", "none"))

    def once(self, event: str) -> None:
        """Refuse a trace in which an event was asserted with gaps.

        Raises:
            InputFileError: it was, or never.
        """
        if len(self.intervals[event]) != 1:
            raise InputFileError(self._unsteady(event, f"{len(self.intervals[event])} times", "once"))

    def _unsteady(self, event: str, given: str, allowed: str) -> Problem:
        tile = f"tile {self.unit.place}"
        return Problem(
            f"{event} of {self.unit.module}, {tile}",
            given,
            allowed,
            f"{event} of {self.unit.module}, {tile}, was asserted {given}; it must be {allowed}",
            "The numbers of this design mean something only where its stream moves a word in each "
            "cycle; measure again.",
            reason="measure_unsteady",
            where=self.name,
            source=_SOURCE,
        )

    def _interval(self, event: str, number: int) -> tuple[int, int]:
        found = self.intervals[event]
        if not -len(found) <= number < len(found):
            raise InputFileError(self._missing(event, f"{len(found)} times"))
        return found[number]

    def _missing(self, event: str, given: str) -> Problem:
        tile = f"tile {self.unit.place}"
        return Problem(
            f"{event} of {self.unit.module}, {tile}",
            given,
            "as often as the design raises it",
            f"{event} of {self.unit.module}, {tile}, was asserted {given}",
            "Give the trace of this design, from before its start to after its stop; if it is, "
            "the device does something that the design does not expect.",
            reason="measure_event",
            where=self.name,
            source=_SOURCE,
        )


def _module(packet_type: int) -> str:
    """The module whose packets have a type."""
    known = packet_type in tuple(PacketType)
    return MODULES[PacketType(packet_type)] if known else f"packet type {packet_type}"


def _strangers(units: Sequence[Traced], by_id: Mapping[int, UnitTrace], name: str) -> list[Problem]:
    """Packets with the id of a unit that come from another module or row."""
    problems = []
    for number, unit in enumerate(units, 1):
        sender = by_id[number].sender
        given = f"{_module(sender.packet_type)} of row {sender.row}"
        allowed = f"{unit.module} of row {unit.place[1]}"
        if given != allowed:
            problems.append(
                Problem(
                    f"sender of packet id {number}",
                    given,
                    allowed,
                    next_step="Give the trace of this design and no other.",
                    reason="measure_unit",
                    where=name,
                    source=_SOURCE,
                )
            )
    return problems


def of_units(
    units: Sequence[Traced], traces: Sequence[UnitTrace], name: str, device: Device
) -> dict[Place, Seen]:
    """What each unit of a design saw, by its place in the design.

    Raises:
        InputFileError: a unit of the design is not in the trace, or one of its id is elsewhere; all of them
            at once. Columns do not count: a design's first one is where the driver puts it.
    """
    by_id = {trace.sender.stream_id: trace for trace in traces}
    problems = [
        Problem(
            "trace unit",
            f"ids {', '.join(map(str, sorted(by_id))) or 'none'}",
            f"id {number}, module {unit.module} of tile {unit.place}",
            f"nothing in it is from module {unit.module} of tile {unit.place} (packet id {number})",
            "Give the trace of this design, as 32-bit words from the beginning of its buffer.",
            reason="measure_unit",
            where=name,
            source=_SOURCE,
        )
        for number, unit in enumerate(units, 1)
        if number not in by_id
    ]
    if not problems:
        problems = _strangers(units, by_id, name)
    raise_if(problems, InputFileError)
    wide = {unit.place: TILE_KINDS[device.tile(*unit.place)].stream_words for unit in units}
    return {unit.place: Seen.of(unit, by_id[n], name, wide[unit.place]) for n, unit in enumerate(units, 1)}
