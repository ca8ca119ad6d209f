"""Decoded traces with names: which module a unit belongs to and what the events of its slots are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtile.arch.registers import ModuleName
from memtile.arch.trace_facts import SLOTS
from memtile.errors import Problem
from memtile.io.trace.decoder import Interval, SegmentOrigin, Trace, UnitTrace
from memtile.io.trace.trace_setup import ALIASES, CONVENTION, TracedUnit, module_of

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
    """Units of a trace about which a setup that was given says nothing, and what it does say."""
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
