"""What trace units were set up to trace: event numbers by tile and module, from register writes or flags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from types import MappingProxyType

from memtile.arch.devices import DEVICES
from memtile.arch.events import EVENT_MODULES, EVENT_UNITS, EVENTS
from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.registers import ModuleName
from memtile.arch.trace_facts import EVENT_REGISTERS, MODULES, SLOTS
from memtile.errors import InputFileError, Problem
from memtile.io.trace.trace_packets import Sender
from memtile.runs.operations import ArrayShape, Operation, locate, words_written

_CONTROL = "Trace_Control1"
_MOST_TYPES = 7  # the field has three bits (AM025 Trace_Control1)
_flag = partial(Problem, reason="trace_events", where="traced events", source="AM020, events")
ALIASES: Mapping[str, ModuleName] = MappingProxyType(
    {"core": "core", "mem": "memory", "shim": "pl", "memtile": "memory_tile"}
)
"""mlir-aie's names of the traced modules."""
CONVENTION: Mapping[int, ModuleName] = MappingProxyType({int(kind): name for kind, name in MODULES.items()})
"""mlir-aie's packet types of the traced modules."""
_NUMBERS: Mapping[ModuleName, Mapping[int, str]] = MappingProxyType(
    {module: MappingProxyType({n: name for name, n in events.items()}) for module, events in EVENTS.items()}
)


@dataclass(frozen=True, slots=True)
class TracedUnit:
    """A trace unit as registers or flags describe it.

    Attributes:
        module: whose unit it is.
        events: number of the event in each slot.
        tile: column and row; None = in any tile.
        packet: packet type and stream id that it was set up to send; None = not known.
    """

    module: ModuleName
    events: tuple[int, ...]
    tile: tuple[int, int] | None = None
    packet: tuple[int, int] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the event in each slot."""
        return tuple(_NUMBERS[self.module].get(n, f"EVENT_{n}") for n in self.events)

    def sent(self, sender: Sender, column_shift: int, types: Mapping[int, ModuleName] = CONVENTION) -> bool:
        """Whether packets of ``sender`` can be those of this unit: its tile and type are the same.

        Args:
            sender: as the packets name it.
            column_shift: columns that the design was loaded further right.
            types: module by packet type, where it is not known which packets the unit sends.
        """
        if self.tile is not None and (self.tile[0] + column_shift, self.tile[1]) != sender[:2]:
            return False
        if self.packet is not None:
            return self.packet == (sender.packet_type, sender.stream_id)
        return module_of(sender, types) == self.module


def module_of(sender: Sender, types: Mapping[int, ModuleName] = CONVENTION) -> ModuleName | None:
    """The module that sends packets: the only one in its row of any device, or else by packet type.

    Args:
        sender: as the packets name it.
        types: module by packet type; software may choose others than mlir-aie's.

    Returns:
        None where no module of the row has this type.
    """
    possible = _traced_in_row(sender.row)
    found = types.get(sender.packet_type)
    if len(possible) == 1:
        return next(iter(possible))
    return found if found in possible else None


@cache
def _traced_in_row(row: int) -> frozenset[ModuleName]:
    """The modules with a trace unit that devices have in a row."""
    kinds = {device.tile(0, row) for device in DEVICES.values() if row < device.rows}
    modules = (module for kind in kinds for module in TILE_MODULES[kind] if module in EVENT_MODULES)
    return frozenset(EVENT_MODULES[module] for module in modules)


def types_of(text: str) -> dict[int, ModuleName]:
    """Module by packet type, of a flag ``MODULE=TYPE,...``; mlir-aie's types for the other modules.

    Raises:
        InputFileError: what is wrong with it.
    """
    found: dict[int, ModuleName] = {}
    for item in text.split(",") if text else ():
        alias, _, number = item.partition("=")
        module = ALIASES.get(alias.strip())
        if module is None or not number.strip().isdecimal() or int(number) > _MOST_TYPES:
            allowed = f"MODULE=TYPE, a module of {', '.join(ALIASES)} and a type of 0..{_MOST_TYPES}"
            raise InputFileError(_flag("packet type", repr(item), allowed))
        found[int(number)] = module
    named = set(found.values())
    return {number: module for number, module in CONVENTION.items() if module not in named} | found


def traced_by(operations: Iterable[Operation], shape: ArrayShape) -> list[TracedUnit]:
    """The trace units that a program sets up, from its writes of Trace_Event0, Trace_Event1, Trace_Control1.

    The last value of each register counts. Other writes, and writes to tiles outside ``shape``, are ignored.
    """
    registers = {tile: _trace_registers(modules) for tile, modules in TILE_MODULES.items()}
    values: dict[tuple[int, int, ModuleName], dict[str, int]] = {}
    for operation in operations:
        for word in words_written(operation):
            column, row, offset = locate(word.address)
            tile = shape.tile(column, row)
            if tile is not None and offset in registers[tile]:
                module, name = registers[tile][offset]
                unit = values.setdefault((column, row, module), {})
                unit[name] = (unit.get(name, 0) & ~word.mask) | (word.value & word.mask)
    traced = {where: written for where, written in values.items() if written.keys() & set(EVENT_REGISTERS)}
    return [_traced(*where, written) for where, written in traced.items()]


def _trace_registers(modules: Iterable[ModuleName]) -> dict[int, tuple[ModuleName, str]]:
    names = (*EVENT_REGISTERS, _CONTROL)
    traced = [module for module in modules if module in EVENT_MODULES]
    return {register_named(m, name).offset: (EVENT_MODULES[m], name) for m in traced for name in names}


def _traced(column: int, row: int, module: ModuleName, written: Mapping[str, int]) -> TracedUnit:
    events = [
        field.get(written.get(name, 0))
        for name in EVENT_REGISTERS
        for field in reversed(register_named(module, name).fields)
    ]
    packet = None
    if _CONTROL in written:
        fields = register_named(module, _CONTROL).unpack(written[_CONTROL])
        packet = (fields["Packet_Type"], fields["ID"])
    return TracedUnit(module, tuple(events), (column, row), packet)


def traced_as(text: str) -> list[TracedUnit]:
    """The trace units of a flag: ``[COLUMN,ROW:]MODULE=EVENT,EVENT,...``, or the events alone.

    Events are names or numbers, from slot 0 on, at most eight; ``-`` leaves a slot out. Without a module they
    are looked up in each, and units are given for those that know them all.

    Raises:
        InputFileError: the flag is wrong; all problems at once.
    """
    head, equals, listed = text.rpartition("=")
    events = [item.strip() for item in listed.split(",")]
    if not equals:
        known = [m for m in ALIASES.values() if not any(_event_problems(m, events))]
        if not known:
            raise InputFileError(list(_no_module(events)))
        return [TracedUnit(module, _events(module, events)) for module in known]
    place, colon, alias = head.rpartition(":")
    module = ALIASES.get(alias.strip())
    coordinates = [item.strip() for item in place.split(",")] if colon else []
    problems = []
    if colon and not (len(coordinates) == 2 and all(item.isdecimal() for item in coordinates)):
        problems.append(_flag("tile", repr(place), "COLUMN,ROW"))
    if module is None:
        problems.append(_flag("module", repr(alias.strip()), f"one of {', '.join(ALIASES)}"))
    else:
        problems += _event_problems(module, events)
    if module is None or problems:
        raise InputFileError(problems)
    tile = (int(coordinates[0]), int(coordinates[1])) if colon else None
    return [TracedUnit(module, _events(module, events), tile)]


def _events(module: ModuleName, events: list[str]) -> tuple[int, ...]:
    numbers = [0 if e == "-" else int(e) if e.isdecimal() else EVENTS[module][e] for e in events]
    return (*numbers, *[0] * (SLOTS - len(numbers)))


def _no_module(events: list[str]) -> Iterator[Problem]:
    """Why no module has all of ``events``."""
    modules = ALIASES.values()
    for event in events:
        if all(any(_event_problems(module, [event])) for module in modules):
            everything = {name for module in modules for name in EVENTS[module]}
            yield _unknown(event, "an event of core, mem, shim or memtile", everything)
    allowed, says = f"at most {SLOTS}, all of one module", f"no module has all of {', '.join(events)}"
    says += f" in at most {SLOTS} slots" if len(events) > SLOTS else ""
    step = "Give --events MODULE=... once for each module."
    yield _flag("events", ",".join(events), allowed, says, step)


def _event_problems(module: ModuleName, events: list[str]) -> Iterator[Problem]:
    if len(events) > SLOTS:
        says = f"there are {len(events)} events; a module can trace at most {SLOTS}"
        yield _flag("events", f"{len(events)} events", f"at most {SLOTS}", says=says)
    most = (1 << EVENT_UNITS[module].number_bits) - 1
    for event in events:
        if event.isdecimal():
            if int(event) > most:
                yield _flag("event", event, f"0..{most} in module {module}")
        elif event != "-" and event not in EVENTS[module]:
            yield _unknown(event, f"an event of module {module}", EVENTS[module])


def _unknown(event: str, allowed: str, names: Iterable[str]) -> Problem:
    near = get_close_matches(event.upper(), sorted(names), 3)
    step = f"Did you mean {' or '.join(near)}?" if near else ""
    return _flag("event", repr(event), allowed, next_step=step)
