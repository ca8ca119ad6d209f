"""What mlir-aie refuses of traces, which change nothing here but must be right.

Sources: AIETraceOps.cpp (verifiers), AIEInsertTraceFlows and AIETraceToConfig (passes of aiecc) of mlir-aie
(2026-08-14).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from memtile.arch.devices import Device
from memtile.arch.events import COMBOS, EDGES, EVENTS, PORT_SELECTORS, RENAMED
from memtile.arch.ports import PORTS
from memtile.arch.tiles import Role, TileKind
from memtile.importers.mlir.attributes import Compound, attributes
from memtile.importers.mlir.configure import port_name
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

Found = tuple[Operation, str, str]
"""An operation, what is wrong with it, and what is allowed."""

_EVENTS, _PACKETS = 8, 31  # of a trace unit; ids of packets that traces may have
_GENERATIONS = {"AIE-ML": "AIE2", "AIE2P": "AIE2P"}
_EVENTS_OF: Mapping[Role, Sequence[str]] = {
    "compute": ("CoreEvent", "MemEvent"),
    "memory": ("MemTileEvent",),
    "interface": ("ShimTileEvent",),
}
"""Enumerations of the events of a kind of tile, without the generation."""
_NAMES = {
    name
    for events in (*EVENTS.values(), *(dict.fromkeys(new.values()) for new in RENAMED.values()))
    for name in events
}
_UNITS: tuple[str, ...] = ("core", "mem", "shimtile", "memtile")
_ROUTINGS = ("single",)
_ANGLES = re.compile(r"(?<!= )<([^<>]*)>")
_NAMED = re.compile(r'(\w+) = (<[^<>]*>|"[^"]*"|[^" ]+)')


class _Words:
    """What an operation of a trace says, in either form: values in brackets, and values by name."""

    def __init__(self, operation: Operation) -> None:
        text = " ".join(operation.words)
        self.operation, self.angles = operation, _ANGLES.findall(text)
        self.named: dict[str, str] = {name: _plain(value) for name, value in _NAMED.findall(text)}
        self.named |= {name: _plain(value) for name, value in attributes(operation).items()}

    def at(self, place: int, name: str) -> str:
        """The value in some brackets, or by name; empty without one."""
        found = self.angles[place] if place < len(self.angles) else self.named.get(name, "")
        return _plain(found)

    def number(self, name: str, place: int = -1) -> int | None:
        """The number of a name, or of brackets; None without one."""
        found = self.named.get(name, "") if place < 0 else self.at(place, name)
        return int(found) if re.fullmatch(r"-?\d+", found) else None


def _plain(value: object) -> str:
    if isinstance(value, Compound):
        return str(value.listed[0]) if value.listed else ""
    return str(value).replace(" ", "").strip('<>"')


class _Trace:
    """A trace with its tile.

    Args:
        operation: ``aie.trace``.
        kind: of its tile; None if it is nowhere.
        generation: of the array, as the enumerations name it; empty if they do not.
    """

    def __init__(self, operation: Operation, kind: TileKind | None, generation: str) -> None:
        self.operation, self.kind, self.generation = operation, kind, generation
        inside = [
            each for region in operation.regions for block in region.blocks for each in block.operations
        ]
        self.parts = [(each.name.removeprefix("aie.trace."), _Words(each)) for each in inside]
        self.packet = next((words for name, words in self.parts if name == "packet"), None)

    @property
    def unit(self) -> str:
        """The trace unit: as its packet says, else that of its tile."""
        own = {"memory": "memtile", "interface": "shimtile"}
        said = self.packet.named.get("type", "") if self.packet is not None else ""
        number = int(said) if said.isdecimal() else -1
        said = _UNITS[number] if 0 <= number < len(_UNITS) else said
        return said.lower() or own.get(self.kind.role if self.kind else "", "core")

    def faults(self) -> Iterator[Found]:
        """What is wrong with it alone."""
        events = [words for name, words in self.parts if name == "event"]
        if len(events) > _EVENTS:
            yield self.operation, f"it has {len(events)} events", f"up to {_EVENTS}"
        for part, most in (("combo_event", COMBOS), ("edge_event", EDGES), ("port", PORT_SELECTORS)):
            yield from self._slots(part, most)
        for part, words in self.parts:
            rule = _PARTS.get(part)
            if rule is not None:
                yield from rule(self, words)

    def _slots(self, part: str, most: int) -> Iterator[Found]:
        seen: set[int] = set()
        for words in (words for name, words in self.parts if name == part):
            slot = words.number("slot", 0)
            if slot is None:
                continue
            if not 0 <= slot < most:
                yield words.operation, f"its slot is {slot}", f"0..{most - 1}"
            elif slot in seen:
                yield words.operation, f"slot {slot} is taken in this trace", "a slot of its own"
            seen.add(slot)

    def _event(self, words: _Words, name: str, *, looked_up: bool = True) -> Iterator[Found]:
        """An event is one of the tile's modules; a plain name may be of any."""
        enumeration, _, plain = name.rpartition("::")
        named = [f"{each}{self.generation}" for each in _EVENTS_OF[self.kind.role]] if self.kind else []
        if enumeration and self.generation and named and enumeration not in named:
            yield words.operation, f"its tile has no event {name}", f"events of {' and '.join(named)}"
        elif (looked_up or enumeration) and plain.upper() not in _NAMES and not plain.isdecimal():
            yield words.operation, f"there is no event {plain}", "events of AM025"

    def event(self, words: _Words) -> Iterator[Found]:
        """TraceEventOp."""
        yield from self._event(words, words.at(0, "event"))

    def packed(self, words: _Words) -> Iterator[Found]:
        """TracePacketOp."""
        number = words.number("id")
        if number is not None and not 1 <= number <= _PACKETS:
            yield words.operation, f"its id is {number}", f"1..{_PACKETS}"

    def port(self, words: _Words) -> Iterator[Found]:
        """TracePortOp."""
        bundle, channel = words.named.get("port", ""), words.number("channel")
        if self.kind is None or channel is None or bundle.isdecimal():
            return
        ports, name = PORTS[self.kind.name], port_name(bundle, channel)
        known = ports.masters if words.named.get("direction") in ("S2MM", "0") else ports.slaves
        if name not in known:
            says = f"its tile's switch has no port {bundle} : {channel} in this direction"
            yield words.operation, says, "ports of AM020, chapter 2"

    def begins(self, words: _Words) -> Iterator[Found]:
        """TraceStartEventOp, TraceStopEventOp."""
        given = [name for name in ("broadcast", "event") if name in words.named]
        if len(given) != 1:
            yield words.operation, f"it has {' and '.join(given) or 'neither'}", "a broadcast or an event"
        elif given == ["event"]:
            yield from self._event(words, words.named["event"])

    def combined(self, words: _Words) -> Iterator[Found]:
        """TraceComboEventOp."""
        inputs = [words.at(1, "eventA"), words.at(2, "eventB")]
        plain = [name.rpartition("::")[2] for name in inputs]
        if words.number("slot", 0) == COMBOS - 1:
            if plain != ["COMBO_EVENT_0", "COMBO_EVENT_1"]:
                yield words.operation, f"it combines {' and '.join(plain)}", "COMBO_EVENT_0 and COMBO_EVENT_1"
        elif any("COMBO_EVENT" in name for name in plain):
            yield words.operation, f"it combines {' and '.join(plain)}", "events that are no combo events"
        for name in inputs:
            yield from self._event(words, name, looked_up=False)

    def edge(self, words: _Words) -> Iterator[Found]:
        """TraceEdgeEventOp."""
        name = words.named.get("event", "")
        if "EDGE_DETECTION_EVENT" in name or "COMBO_EVENT" in name:
            yield words.operation, f"its event is {name}", "events that are neither edges nor combo events"
        yield from self._event(words, name, looked_up=False)


_PARTS: Mapping[str, Callable[[_Trace, _Words], Iterator[Found]]] = {
    "combo_event": _Trace.combined,
    "edge_event": _Trace.edge,
    "event": _Trace.event,
    "packet": _Trace.packed,
    "port": _Trace.port,
    "start": _Trace.begins,
    "stop": _Trace.begins,
}


def trace_faults(
    device: DeviceDescription, chip: Device, kind: Callable[[str], TileKind | None]
) -> Iterator[Found]:
    """What is wrong with the traces of a device and the host's buffer for them.

    Args:
        device: as its text has it.
        chip: that it is for.
        kind: of a tile by the name of its value; None if it is nowhere.
    """
    generation = _GENERATIONS.get(chip.generation, "")
    found = [each for each in device.operation.walk() if each.name == "aie.trace"]
    traces = [_Trace(each, kind((OperationForm(each).values or [""])[0]), generation) for each in found]
    for trace in traces:
        yield from trace.faults()
    hosts = [
        _Words(each)
        for sequence in device.sequences.values()
        for each in sequence.walk()
        if each.name == "aie.trace.host_config"
    ]
    for words in hosts:
        yield from _host(device, chip, words, traced=bool(found))
    if not hosts:  # texts before it had no pass that asks for these
        return
    yield from _together(traces)
    for trace in traces:
        for name in ("start", "stop"):
            if all(part != name for part, _ in trace.parts):
                yield trace.operation, f"it has no aie.trace.{name}", "aie.trace.start and aie.trace.stop"


def _together(traces: Sequence[_Trace]) -> Iterator[Found]:
    """Units and ids of packets are those of one trace."""
    units: set[tuple[str, str]] = set()
    ids: set[int] = set()
    automatic = 0
    for trace in traces:
        tile = (OperationForm(trace.operation).values or [""])[0]
        if (tile, trace.unit) in units:
            yield trace.operation, f"the {trace.unit} unit of its tile is traced already", "one trace a unit"
        units.add((tile, trace.unit))
        number = trace.packet.number("id") if trace.packet is not None else None
        automatic += number is None
        if number is not None and number in ids:
            yield trace.operation, f"another trace has packets of id {number} too", "an id of its own"
        ids |= {number} if number is not None else set()
    if automatic and automatic + len(ids) > _PACKETS:
        yield traces[-1].operation, f"{automatic + len(ids)} traces need ids of packets", f"1..{_PACKETS}"


def _host(device: DeviceDescription, chip: Device, words: _Words, *, traced: bool) -> Iterator[Found]:
    """TraceHostConfigOp, and the channel by which traces leave the array."""
    size, column = words.number("buffer_size"), words.number("egress_shim_col") or 0
    routing = words.named.get("routing", "single")
    if size is not None and size <= 0:
        yield words.operation, f"its buffer_size is {size}", "1 or more"
    if routing not in _ROUTINGS and not routing.isdecimal():
        yield words.operation, f"its routing is {routing}", " or ".join(_ROUTINGS)
    if not 0 <= column < chip.columns:
        yield words.operation, f"its egress_shim_col is {column}", f"0..{chip.columns - 1}"
    elif traced:
        ends = {end for flow in device.flows for end in flow.targets if end.bundle == "DMA"}
        places = {name: tile.place for name, tile in device.tiles.items()}
        taken = {end.channel for end in ends if places.get(end.tile) == (column, 0)}
        channels = chip.kind("interface").channels
        if len(taken) >= channels:
            says = f"flows use all {channels} S2MM channels of the interface tile in column {column}"
            yield words.operation, says, "a column with a channel left for traces"
