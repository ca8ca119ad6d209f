"""Registers of the event, counter, timer and trace block, in the shape that all modules share.

Source: AM025, modules memory_tile, memory, core and pl. Offsets below are bytes above the block's base in
:mod:`memtile.arch.events`; the names of group bits, which vary most, are in
:mod:`memtile.arch.group_registers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.arch.acts import Acts
from memtile.arch.events import BROADCAST_CHANNELS, EVENT_STATUS, EventUnit
from memtile.arch.registers import WORD_BITS, Access, Field, Register, array, fields
from memtile.arch.tiles import WORD_BYTES

_ALL_ONES = (1 << WORD_BITS) - 1
_NUMBER_STRIDE = 8  # event numbers sit in bytes, whatever their width
_TRUE_PENDING = 0b10  # the event TRUE has always happened
_SIDES = ("South", "West", "North", "East")
_SIDE_STRIDE = 0x10
_BLOCKED = f"{BROADCAST_CHANNELS - 1}:0"


def event_numbers(unit: EventUnit, names: Sequence[str], first: int = 0) -> tuple[Field, ...]:
    """Fields holding one event number each, one per byte from byte ``first`` up, most significant first."""
    lsbs = range(first * _NUMBER_STRIDE, WORD_BITS, _NUMBER_STRIDE)
    pairs = [Field(name, lsb + unit.number_bits - 1, lsb) for name, lsb in zip(names, lsbs, strict=False)]
    return tuple(reversed(pairs))


def counter_registers(unit: EventUnit, control: str, value: str, threshold: str) -> Iterator[Register]:
    """Performance counters; ``control``, ``value`` and ``threshold`` are AM025's patterns of the names.

    One control register selects start and stop events of two counters, the last one their reset events.
    """
    base, pairs = unit.counter_base, range(0, unit.counters, 2)
    for k, n in enumerate(pairs):
        names = [f"Cnt{n + i}_{what}_Event" for i in range(2) for what in ("Start", "Stop")]
        numbers = event_numbers(unit, names)
        yield Register(control.format(k), base + k * WORD_BYTES, numbers, acts=Acts.EVENT_SETUP)
    resets = event_numbers(unit, [f"Cnt{n}_Reset_Event" for n in range(unit.counters)])
    yield Register(control.format(len(pairs)), base + 0x08, resets, acts=Acts.EVENT_SETUP)
    counted, limit = fields(f"{value} 31:0"), fields(f"{threshold} 31:0")
    counter = Register("Performance_Counter{}", base + 0x20, counted)  # the unit counts in it
    yield from array(counter, unit.counters)
    reached = Register("Performance_Counter{}_Event_Value", base + 0x80, limit, acts=Acts.EVENT_SETUP)
    yield from array(reached, unit.counters)


def timer_registers(unit: EventUnit) -> Iterator[Register]:
    """64-bit timer: control (bit 31 resets it), value that fires TIMER_VALUE_REACHED, value."""
    reset_event = event_numbers(unit, ["Reset_Event"], first=1)
    control = (*fields("Reset 31 wo"), *reset_event)
    yield Register("Timer_Control", unit.base, control, acts=Acts.TIMER_CONTROL)
    for n, half in enumerate(("Low", "High")):
        trigger, now = fields(f"TimerTrig{half} 31:0"), fields(f"Timer{half} 31:0", Access.RO)
        offset, name = unit.base + n * WORD_BYTES, f"Timer_Trig_Event_{half}_Value"
        yield Register(name, offset + 0xF0, trigger, reset=_ALL_ONES, acts=Acts.EVENT_SETUP)
        yield Register(f"Timer_{half}", offset + 0xF8, now, acts=Acts.TIMER, argument=n)


def broadcast_registers(unit: EventUnit, channel: str, switches: Sequence[str]) -> Iterator[Register]:
    """Event generation, broadcast sources and the blocking masks of each broadcast switch and side.

    ``channel`` is the pattern of a source register, ``switches`` the infixes of the switches.
    """
    generated = fields(f"Event {unit.number_bits - 1}:0", Access.WO)
    yield Register("Event_Generate", unit.base + 0x08, generated, acts=Acts.EVENT_GENERATE)
    source = Register(channel, unit.base + 0x10, event_numbers(unit, ["Event"]), acts=Acts.EVENT_SETUP)
    yield from array(source, BROADCAST_CHANNELS)
    sides = [f"Event_Broadcast{switch}_Block_{side}" for switch in switches for side in _SIDES]
    for n, side in enumerate(sides):
        base = unit.base + 0x50 + n * _SIDE_STRIDE
        yield from value_registers(base, (f"{side}_Set", f"{side}_Clr", f"{side}_Value"), _BLOCKED)


def value_registers(base: int, names: tuple[str, str, str], bits: str) -> Iterator[Register]:
    """A register that sets ``bits`` of a value, one that clears them, and the value (DEV-REG-10)."""
    value = base + 2 * WORD_BYTES
    sets, clears, shows = names
    yield Register(sets, base, fields(f"Set {bits}", Access.WO), acts=Acts.SETS, argument=value)
    cleared = fields(f"Clear {bits}", Access.WO)
    yield Register(clears, base + WORD_BYTES, cleared, acts=Acts.CLEARS, argument=value)
    yield Register(shows, value, fields(f"Value {bits}", Access.RO))


def trace_registers(unit: EventUnit, modes: tuple[Field, ...] = ()) -> Iterator[Register]:
    """Trace control, status and the eight traced events; ``modes`` is the core's choice of trace mode."""
    limits = event_numbers(unit, ["Trace_Start_Event", "Trace_Stop_Event"], first=2)
    packets, state = fields("Packet_Type 14:12, ID 4:0"), fields("State 9:8, Mode 2:0", Access.RO)
    yield Register("Trace_Control0", unit.base + 0xD0, (*limits, *modes), acts=Acts.EVENT_SETUP)
    yield Register("Trace_Control1", unit.base + 0xD4, packets)  # looked at when a packet begins
    yield Register("Trace_Status", unit.base + 0xD8, state, acts=Acts.TRACE_STATUS)
    for n in range(2):
        slots = event_numbers(unit, [f"Trace_Event{4 * n + i}" for i in range(4)])
        offset = unit.base + 0xE0 + n * WORD_BYTES
        yield Register(f"Trace_Event{n}", offset, slots, acts=Acts.EVENT_SETUP)


def status_registers(unit: EventUnit) -> Iterator[Register]:
    """Sticky status bit of every event; TRUE is pending from the start."""
    for n in range(unit.status_words):
        first = n * WORD_BITS
        bits = fields(f"Event_{first + WORD_BITS - 1}_{first}_Status 31:0", Access.WTC)
        reset, offset = 0 if n else _TRUE_PENDING, unit.base + EVENT_STATUS + n * WORD_BYTES
        yield Register(f"Event_Status{n}", offset, bits, reset, acts=Acts.EVENT_STATUS)


def combination_registers(unit: EventUnit) -> Iterator[Register]:
    """Combo events (inputs A to D, one operation each) and the two edge detectors."""
    inputs = event_numbers(unit, ["eventA", "eventB", "eventC", "eventD"])
    yield Register("Combo_event_inputs", unit.base + 0x400, inputs, acts=Acts.EVENT_SETUP)
    operations = fields("combo2 17:16, combo1 9:8, combo0 1:0")
    yield Register("Combo_event_control", unit.base + 0x404, operations, acts=Acts.EVENT_SETUP)
    edges = (
        *fields("Edge_Detection_1_Trigger_Falling 26, Edge_Detection_1_Trigger_Rising 25"),
        *event_numbers(unit, ["Edge_Detection_Event_1"], first=2),
        *fields("Edge_Detection_0_Trigger_Falling 10, Edge_Detection_0_Trigger_Rising 9"),
        *event_numbers(unit, ["Edge_Detection_Event_0"]),
    )
    yield Register("Edge_Detection_event_control", unit.base + 0x408, edges, acts=Acts.EVENT_SETUP)
