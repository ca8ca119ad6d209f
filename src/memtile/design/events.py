"""Events of a tile as a design names them: of this channel, of that lock, of a port of the switch.

What a module can watch of many is chosen by selector registers; they are given out as events are asked for.

It also has ports of a stream switch beside those of DMA channels, as ends of flows: trace units, the outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from memtile.arch.ports import PORTS
from memtile.arch.register_map import event_modules, tile_register
from memtile.arch.registers import ModuleName
from memtile.design.channels import Channel
from memtile.design.locks import Lock
from memtile.errors import DesignError
from memtile.sim.doors.event_panel import EventUnit

if TYPE_CHECKING:
    from memtile.design.tile import Tile


@dataclass(frozen=True)
class SwitchEnd:
    """A port of a tile's stream switch, where a flow of an array may begin or end like at a DMA channel.

    Attributes:
        tile: whose switch.
        port: name as in ``arch.ports``: ``TRACE0``, ``SOUTH1``, ...
        receives: True for a master, through which words leave the switch.

    Raises:
        DesignError: the switch has no such port.
    """

    tile: Tile
    port: str
    receives: bool = False

    def __post_init__(self) -> None:
        names = PORTS[self.tile.kind.name].masters if self.receives else PORTS[self.tile.kind.name].slaves
        if self.port not in names:
            raise DesignError.of(
                self.side,
                repr(self.port),
                f"one of {', '.join(names)}",
                reason="port",
                where=f"{self.tile.title}, stream switch",
                source="AM020 chapter 2",
            )

    @property
    def is_logic(self) -> bool:
        """Whether the port is one of an interface tile that leads to the programmable logic."""
        return False

    @property
    def side(self) -> str:
        """``master`` or ``slave``."""
        return "master" if self.receives else "slave"

    @property
    def name(self) -> str:
        """For messages: ``memory(0,1) slave TRACE0``."""
        return f"{self.tile.label}{self.side} {self.port}"

    @property
    def number(self) -> int:
        """Number of the port among those of its side."""
        ports = PORTS[self.tile.kind.name]
        return ports.master(self.port) if self.receives else ports.slave(self.port)

    @property
    def packets(self) -> frozenset[int | None]:
        """Further packet ids to send: none."""
        return frozenset()


Subject = Channel | Lock | SwitchEnd
_SOURCE = "AM020, events; names of AMD's driver"
_LOCK_SELECTION = "Locks_Event_Selection_"
_FIELDS_PER_REGISTER = 4  # selections of ports in one register
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Event:
    """An event of one module of a tile.

    Attributes:
        unit: the event unit of the module.
        name: as in the driver's tables, with the assigned selector.
    """

    unit: EventUnit
    name: str

    @property
    def number(self) -> int:
        """The number of the event in registers."""
        return self.unit.events[self.name]

    @property
    def happened(self) -> bool:
        """The sticky status: whether the event was asserted since the status was cleared."""
        return self.unit.status(self.name)


@dataclass(frozen=True, slots=True)
class Counter:
    """A performance counter of a tile.

    Attributes:
        event: what it counts, or what starts it.
        index: number within the module.
    """

    event: Event
    index: int

    @property
    def value(self) -> int:
        """What it has counted so far."""
        return self.event.unit.counted(self.index)


class TileEvents:
    """The events of one tile; made by its tile as ``tile.events``.

    Args:
        tile: the tile.
    """

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self.units = {module: EventUnit(tile.own_door, module) for module, _ in event_modules(tile.kind.name)}
        self._chosen: dict[str, list[tuple[object, ...]]] = {}

    def __repr__(self) -> str:
        numbers = ", ".join(f"{len(unit.events)} of {module}" for module, unit in self.units.items())
        return f"TileEvents({self._tile.title}: {numbers})"

    def event(
        self, name: str, of: Subject | None = None, *, value: int = 0, module: ModuleName | None = None
    ) -> Event:
        """An event by its name; of a channel, lock or port by the last part of its name.

        Args:
            name: ``"CONFLICT_DM_BANK_3"``; with ``of``: ``"STALLED_LOCK"`` of a channel, ``"REL"`` of a lock,
                ``"RUNNING"`` of a port.
            of: what is to be watched; takes a selector unless one watches it already.
            value: of a lock, for ``EQUAL_TO_VALUE``.
            module: for a name that both modules of a compute tile have, such as ``"USER_EVENT_0"``; if
                omitted the core's.

        Raises:
            DesignError: no such event or module, something of another tile, a value no lock has, or no
                selector left.
        """
        if of is None:
            return self._plain(name, module)
        self._must_own(of, name)
        if isinstance(of, Channel):
            return self._of_channel(name, of)
        return self._of_lock(name, of, value) if isinstance(of, Lock) else self._of_port(name, of)

    def count(
        self,
        name: str,
        of: Subject | None = None,
        *,
        value: int = 0,
        module: ModuleName | None = None,
        until: Event | str | None = None,
    ) -> Counter:
        """Count the cycles in which an event is asserted, or the cycles from it to another one.

        Args:
            name: as in :meth:`event`.
            of: as in :meth:`event`.
            value: as in :meth:`event`.
            module: as in :meth:`event`.
            until: event of the same module that stops the counter; a name is looked up there.

        Raises:
            DesignError: as :meth:`event`; no counter left, or events of two modules.
        """
        event = self.event(name, of, value=value, module=module)
        stop = self._beside(event, until) if isinstance(until, str) else until or event
        if stop.unit is not event.unit:
            raise DesignError.of(
                stop.name,
                f"of module {stop.unit.module}",
                f"an event of module {event.unit.module}",
                f"{stop.name} is an event of module {stop.unit.module}; it cannot stop a counter of "
                f"module {event.unit.module}",
                reason="event_module",
                where=self._tile.title,
                source=_SOURCE,
            )
        unit = event.unit
        pool = f"counters of module {unit.module}"
        index = self._claim(pool, (len(self._chosen.get(pool, ())),), unit.counters)
        unit.count(index, event.number, stop.number)
        return Counter(event, index)

    def _beside(self, event: Event, name: str) -> Event:
        """The event of that name, of the same module as ``event`` if that has one."""
        return self._plain(name, event.unit.module if name in event.unit.events else None)

    def _plain(self, name: str, module: ModuleName | None) -> Event:
        if module is not None and module not in self.units:
            raise DesignError.of(
                "module",
                module,
                f"one of {', '.join(self.units)}",
                reason="event_module",
                where=self._tile.title,
                source=_SOURCE,
            )
        units = list(self.units.values()) if module is None else [self.units[module]]
        for unit in units:
            if name in unit.events:
                return Event(unit, name)
        names = [event for unit in units for event in unit.events]
        raise self._unknown(name, f"one of {len(set(names))} events", names)

    def _of_channel(self, name: str, channel: Channel) -> Event:
        side, _, number = channel.port.partition(" ")
        unit, names = self._names(rf"DMA_{side}_(?:SEL)?(?P<n>\d)_(?P<part>.+)", name)
        if f"DMA_{side}_{number}_{name}" in unit.events:
            return Event(unit, f"DMA_{side}_{number}_{name}")
        selector = self._claim(f"{side} channel selectors", (number,), len(names))
        self._set("DMA_Event_Channel_Selection", **{f"{side}_Sel{selector}_Channel": int(number)})
        return Event(unit, names[selector])

    def _of_lock(self, name: str, lock: Lock, value: int) -> Event:
        unit, names = self._names(r"LOCK_(?:SEL)?(?P<n>\d)_(?P<part>.+)", name)
        values = tile_register(self._tile.kind.name, _LOCK_SELECTION + "0").field("Lock_Value")
        if not 0 <= value <= values.maximum:
            raise DesignError.of(
                f"event {name}: value",
                str(value),
                f"0..{values.maximum}",
                f"the value of event {name} is {value}, allowed are 0..{values.maximum}",
                reason="event_value",
                where=self._tile.title,
                source=_SOURCE,
            )
        selector = self._claim("lock selectors", (lock.id, value), len(names))
        self._set(f"{_LOCK_SELECTION}{selector}", Lock_Select=lock.id, Lock_Value=value)
        return Event(unit, names[selector])

    def _of_port(self, name: str, port: SwitchEnd) -> Event:
        unit, names = self._names(r"PORT_(?P<part>[A-Z]+)_(?P<n>\d)", name)
        selector = self._claim("port selectors", (port.port, port.receives), len(names))
        register = f"Stream_Switch_Event_Port_Selection_{selector // _FIELDS_PER_REGISTER}"
        choice = {f"Port_{selector}_ID": port.number, f"Port_{selector}_Master_Slave": int(port.receives)}
        self._set(register, **choice)
        return Event(unit, names[selector])

    def _names(self, pattern: str, part: str) -> tuple[EventUnit, Mapping[int, str]]:
        """The unit with such events, and those of them that are called ``part``, by selector."""
        for unit in self.units.values():
            found = [match for event in unit.events if (match := re.fullmatch(pattern, event))]
            names = {int(match["n"]): match[0] for match in found if match["part"] == part}
            if names:
                return unit, names
            if found:
                parts = list(dict.fromkeys(match["part"] for match in found))
                raise self._unknown(part, f"one of {', '.join(parts)}", parts)
        raise self._unknown(part, "an event of this tile kind", ())

    def _claim(self, what: str, key: tuple[object, ...], most: int) -> int:
        """Number of the selector or counter that has ``key``, or of the next free one."""
        taken = self._chosen.setdefault(what, [])
        if key not in taken:
            if len(taken) == most:
                raise DesignError.of(
                    what,
                    "one more",
                    f"{most}, all in use",
                    f"all {most} {what} are in use",
                    reason="selectors",
                    where=self._tile.title,
                    source=_SOURCE,
                )
            taken.append(key)
        return taken.index(key)

    def _set(self, name: str, **values: int) -> None:
        register = tile_register(self._tile.kind.name, name)
        for field, value in values.items():
            bits = register.field(field)
            self._tile.own_door.mask_write32(register.offset, bits.mask, value << bits.lsb)

    def _must_own(self, thing: Subject, name: str) -> None:
        tile = self._tile
        own = tile.owns(thing) if isinstance(thing, Lock) else thing.tile is tile
        if not own:
            raise DesignError.of(
                f"event {name}",
                thing.name,
                "a channel, lock or port of the same tile",
                f"event {name} cannot be of {thing.name}, which belongs to another tile",
                reason="owner",
                where=tile.title,
                source=_SOURCE,
            )

    def _unknown(self, name: str, allowed: str, names: Sequence[str]) -> DesignError:
        near = get_close_matches(name.upper(), names, _SHOWN)
        return DesignError.of(
            "event",
            name,
            allowed,
            next_step=f"Did you mean {' or '.join(near)}?" if near else "",
            reason="event",
            where=self._tile.title,
            source=_SOURCE,
        )
