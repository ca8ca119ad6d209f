"""A front panel for the event unit of a module: its registers by their AM025 names, its events by theirs.

For scripts that set events up by hand; everything goes through the tile's door. What is set up or looked at
takes no time; events that are generated are as far apart as a host's accesses are.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Protocol

from memtile.arch.events import EVENT_MODULES, EVENT_UNITS, MORE_COUNTERS_V2, events_of
from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS, ModuleName, Register
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.trace_facts import EVENT_REGISTERS, SLOTS
from memtile.errors import RegisterError
from memtile.model.build.event_tables import named_registers

_SOURCE = "AM020, events; names of AMD's driver"
_SHOWN = 3
_SLOTS_PER_REGISTER = SLOTS // len(EVENT_REGISTERS)


class Registers(Protocol):
    """What takes accesses to the registers of a tile, such as its door."""

    def at_once(self) -> Registers:
        """These registers without host time."""

    def write32(self, offset: int, value: int, /) -> None:
        """Write one 32-bit word at byte ``offset``."""

    def read32(self, offset: int, /) -> int:
        """Read one 32-bit word at byte ``offset``."""


class EventUnit:
    """The event unit of one module.

    Args:
        door: the door of its tile.
        module: which unit; compute tiles have ``core`` and ``memory``.

    Raises:
        RegisterError: no such module, or one without events.
    """

    def __init__(self, door: Registers, module: ModuleName = "memory_tile") -> None:
        self.door, self._panel = door, door.at_once()
        self.module = module
        if module not in EVENT_MODULES:
            raise RegisterError.of(
                "module",
                module,
                f"one of {', '.join(EVENT_MODULES)}",
                reason="event_module",
                where="event unit",
                source=_SOURCE,
            )
        found = EVENT_UNITS[EVENT_MODULES[module]]
        self.events = events_of(module)
        self.counters = found.counters + (MORE_COUNTERS_V2 if module.endswith("_v2") else 0)

    def register(self, name: str) -> Register:
        """The register called ``name``, as in a memory tile where interface tiles call it otherwise.

        Raises:
            RegisterError: there is none.
        """
        return named_registers(self.module).get(name) or register_named(self.module, name)

    def write(self, name: str, **fields: int | str) -> None:
        """Set fields of a register, the others stay; an event may be given by its name."""
        register = self.register(name)
        word = self._panel.read32(register.offset)
        numbers = {field: self.number(value) for field, value in fields.items()}
        kept = {field.name: field.get(word) for field in register.fields if not field.reserved}
        self._panel.write32(register.offset, register.pack(**(kept | numbers)))

    def read(self, name: str) -> int:
        """The whole register."""
        return self._panel.read32(self.register(name).offset)

    def number(self, event: int | str) -> int:
        """The number of an event; numbers stay.

        Raises:
            RegisterError: the module has no event of that name.
        """
        if not isinstance(event, str):
            return event
        if event not in self.events:
            near = get_close_matches(event.upper(), self.events, _SHOWN)
            raise RegisterError.of(
                "event",
                event,
                f"one of {len(self.events)} events",
                next_step=f"Did you mean {' or '.join(near)}?" if near else "",
                reason="event",
                where=f"module {self.module}",
                source=_SOURCE,
            )
        return self.events[event]

    def generate(self, event: int | str) -> None:
        """Raise an event for one cycle, the next one."""
        self.door.write32(self.register("Event_Generate").offset, self.number(event))

    def status(self, event: int | str) -> bool:
        """The sticky status of an event."""
        word, bit = divmod(self.number(event), WORD_BITS)
        return bool(self._panel.read32(self.register("Event_Status0").offset + word * WORD_BYTES) >> bit & 1)

    def clear(self, event: int | str) -> None:
        """Write 1 to the sticky status of an event."""
        word, bit = divmod(self.number(event), WORD_BITS)
        self._panel.write32(self.register("Event_Status0").offset + word * WORD_BYTES, 1 << bit)

    def count(self, counter: int, start: int | str, stop: int | str, reset: int | str = 0) -> None:
        """Set a performance counter; start and stop alike count the cycles in which the event is asserted.

        Args:
            counter: its number, from 0.
            start: event that starts it, by name or number.
            stop: event that stops it.
            reset: event that sets it to 0; 0 = none.

        Raises:
            RegisterError: no such counter, or an event that the module does not have.
        """
        if not 0 <= counter < self.counters:
            raise RegisterError.of(
                "counter",
                str(counter),
                f"0..{self.counters - 1}",
                reason="counter",
                where=f"module {self.module}",
                source=_SOURCE,
            )
        for what, event in (("Start", start), ("Stop", stop), ("Reset", reset)):
            field = f"Cnt{counter}_{what}_Event"
            self.write(self._holding(field), **{field: event})

    def _holding(self, field: str) -> str:
        """Name of the register that has the field."""
        registers = named_registers(self.module).items()
        return next(name for name, register in registers if field in [f.name for f in register.fields])

    def counted(self, counter: int) -> int:
        """Value of a performance counter."""
        return self.read(f"Performance_Counter{counter}")

    def timer(self) -> int:
        """The 64-bit timer."""
        return self.read("Timer_Low") | self.read("Timer_High") << WORD_BITS

    def trace(
        self,
        events: Sequence[int | str],
        start: int | str,
        stop: int | str,
        packet_type: int = 0,
        ident: int = 0,
    ) -> None:
        """Trace up to eight events from after ``start`` to before ``stop``.

        Args:
            events: up to eight, by name or number, slot 0 first.
            start: event that starts the trace.
            stop: event that ends it.
            packet_type: of the packets, 0..7.
            ident: stream id of the packets, 0..31.

        Raises:
            RegisterError: more than eight, or an event that the module does not have.
        """
        if len(events) > SLOTS:
            raise RegisterError.of(
                "traced events",
                str(len(events)),
                f"at most {SLOTS}",
                f"there are {len(events)} events; a module can trace at most {SLOTS}",
                reason="trace",
                where=f"module {self.module}",
                source=_SOURCE,
            )
        for n, event in enumerate(events):
            self.write(EVENT_REGISTERS[n // _SLOTS_PER_REGISTER], **{f"Trace_Event{n}": event})
        self.write("Trace_Control1", Packet_Type=packet_type, ID=ident)
        self.write("Trace_Control0", Trace_Start_Event=start, Trace_Stop_Event=stop)
