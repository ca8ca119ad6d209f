"""Tracing a run of the model: set trace units up, lead their packets out, decode them with names.

In an array the packets go through the stream switches, as on silicon, to a port that leaves the array below
an interface tile. They are those of :mod:`memtile.io.trace.decoder`, whether the model or a board sent them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from memtile.arch.events import EVENT_MODULES
from memtile.arch.ports import DMA_MASTERS
from memtile.arch.registers import ModuleName
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.arch.trace_facts import MODULES, SLOTS
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.circuits import End
from memtile.design.events import Event, SwitchEnd
from memtile.design.memory_tile import MemoryTile
from memtile.design.tile import Tile
from memtile.errors import DesignError, Problem, raise_if
from memtile.io.trace.decoder import Trace, decode
from memtile.io.trace.perfetto import perfetto_bytes
from memtile.io.trace.trace_names import NamedUnit, chrome_json, named
from memtile.io.trace.trace_setup import TracedUnit
from memtile.output_files import write_output
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.loop.clock import Stop

START, STOP = "TRUE", "USER_EVENT_1"
_SOURCE = "AM020 chapter 2: trace"
_LEAVING = 1000  # cycles after which no more packets come when none has come in them
_PACKET_TYPES = {module: kind for kind, module in MODULES.items()}
_refused = partial(Problem, reason="tracing", where="tracing", source=_SOURCE)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A trace unit in use."""

    tile: Tile
    panel: EventUnit
    events: tuple[Event, ...]
    number: int  # stream id

    @property
    def port(self) -> str:
        """Where its packets enter the stream switch: compute tiles have the memory module's second."""
        return f"TRACE{list(self.tile.events.units).index(self.panel.module)}"

    @property
    def as_traced(self) -> TracedUnit:
        """As the decoder wants to know it."""
        kind = _PACKET_TYPES[self.base]
        slots = tuple(event.number for event in self.events)
        return TracedUnit(
            self.base, (*slots, *[0] * (SLOTS - len(slots))), self.tile.place, (kind, self.number)
        )

    @property
    def base(self) -> ModuleName:
        """Its module, or the one of AIE-ML whose events it has."""
        return EVENT_MODULES[self.panel.module]


class Tracing:
    """Trace events of one or more tiles from the next cycle on.

    Args:
        design: a tile alone, or the array.
        events: events to trace, from ``tile.events.event(...)``; at most eight for each module.
        start: event that starts the units, of each one's module.
        stop: event that stops them; :meth:`stop` raises it.
        out: master port of the interface tile in the column of the first tile, where packets leave the array.
        into: S2MM channel and buffer of its tile, or of external memory, that shall have the packets instead.

    Raises:
        DesignError: no events, more than eight of a module, or a port that is not free.
        RegisterError: a module without event ``start`` or ``stop``.
    """

    def __init__(
        self,
        design: Array | MemoryTile,
        events: Sequence[Event],
        *,
        start: str = START,
        stop: str = STOP,
        out: str = "SOUTH0",
        into: tuple[Channel, Buffer] | None = None,
    ) -> None:
        self._design, self._stop = design, stop
        self._units = list(_units(design, events))
        self._out: SwitchEnd | None = None
        self._into = into
        bounds = [(unit.panel.number(start), unit.panel.number(stop)) for unit in self._units]
        if isinstance(design, Array):
            self._lead(design, self._channel(design, *into) if into else self._port(design, out))
        elif into:
            raise DesignError(_refused("into", into[0].name, "a channel of an array"))
        for unit, (begin, end) in zip(self._units, bounds, strict=True):
            numbers = [event.number for event in unit.events]
            unit.panel.trace(numbers, begin, end, _PACKET_TYPES[unit.base], unit.number)

    def stop(self) -> None:
        """Stop the units and send their last packets; takes some cycles, more while a kernel runs."""
        for unit in self._units:
            unit.panel.generate(self._stop)
        engine = self._design.engine
        engine.run(engine.now + 1)  # the stop event is seen although nothing moves
        there: list[int] = []
        while engine.run(engine.now + _LEAVING) is not Stop.QUIET and there != (there := self.words()):
            pass

    def words(self) -> list[int]:
        """Return the packets sent so far, of eight words each; for a buffer, as many as fit."""
        engine = self._design.engine
        if self._into is not None:
            channel, buffer = self._into
            outside = engine.external.buffers.get(buffer.name) if buffer.place is None else None
            array = channel.tile.load(buffer) if outside is None else outside.array
            found: list[int] = np.ascontiguousarray(array).reshape(-1).view(np.uint32).tolist()
            return found
        if self._out is not None:
            return [word for word, _ in engine.left_port(self._out.tile.index, self._out.port)]
        return engine.traced(self._units[0].tile.index)

    def decode(self) -> Trace:
        """The packets that have left so far, decoded; complete after :meth:`stop`."""
        return decode(self.words(), "trace")

    def units(self) -> list[NamedUnit]:
        """Return the records of each unit, with the names of the events."""
        return named(self.decode(), [unit.as_traced for unit in self._units])

    def save_perfetto(self, path: Path | str, clock_mhz: float = ARRAY_CLOCK_MHZ) -> None:
        """Write a file for ui.perfetto.dev: Chrome's JSON to ``.json``, else Perfetto's own format.

        Raises:
            MemtileError: Perfetto's own format, and the ``perfetto`` extra is not installed.
            InputFileError: the file cannot be written.
        """
        units, own = self.units(), Path(path).suffix != ".json"
        content = perfetto_bytes(units, clock_mhz) if own else chrome_json(units, clock_mhz)
        write_output(path, content)

    def _channel(self, array: Array, channel: Channel, buffer: Buffer) -> Channel:
        """Let a channel write what comes into a buffer; the design need not wait for it."""
        channel.start(channel.tile.write(buffer))
        array.listening.add(channel.index)
        return channel

    def _port(self, array: Array, port: str) -> SwitchEnd:
        """Let words leave the array below the first tile."""
        place = self._units[0].tile.place
        below = array.interface_tile(place[0] if place else 0)
        if port in DMA_MASTERS:
            raise DesignError.of(
                "out",
                port,
                "a South port that is not one of the DMA",
                reason="trace_port",
                where="tracing",
                source=_SOURCE,
            )
        self._out = SwitchEnd(below, port, receives=True)
        array.engine.catch_port(below.index, port)
        return self._out

    def _lead(self, array: Array, end: End) -> None:
        """Packets of all units share a way to the end."""
        ways = [(SwitchEnd(unit.tile, unit.port), [end]) for unit in self._units]
        ids = [unit.number for unit in self._units]
        array.packet_bus(f"trace {len(array.buses)} to {end.name}", *ways, keep_headers=True, ids=ids)
        array.route()


def _untraceable(foreign: Sequence[str], groups: Sequence[Sequence[Event]]) -> Iterator[Problem]:
    """No events, events of other designs, and more events of a module than it can trace."""
    if not groups:
        yield _refused("events", "none", "1 or more", "there are no events to trace")
    for name in foreign:
        says = f"{name} is an event of another design"
        yield _refused(name, "of another design", "events of this design", says)
    for group in groups:
        if len(group) > SLOTS:
            what = f"events of module {group[0].unit.module}"
            says = f"there are {len(group)} {what}; a module can trace at most {SLOTS}"
            yield _refused(what, str(len(group)), f"at most {SLOTS} of a module", says)


def _units(design: Array | MemoryTile, events: Sequence[Event]) -> Iterator[_Unit]:
    """The events by the unit that traces them."""
    tiles = design.tiles if isinstance(design, Array) else (design,)
    owners = {id(panel): tile for tile in tiles for panel in tile.events.units.values()}
    foreign = [event.name for event in events if id(event.unit) not in owners]
    groups = [
        list(group)
        for _, group in groupby(sorted(events, key=lambda e: id(e.unit)), key=lambda e: id(e.unit))
    ]
    raise_if(list(_untraceable(foreign, groups)), DesignError)
    order = [id(event.unit) for event in events]
    for number, group in enumerate(sorted(groups, key=lambda group: order.index(id(group[0].unit)))):
        yield _Unit(owners[id(group[0].unit)], group[0].unit, tuple(group), number)
