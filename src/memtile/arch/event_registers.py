"""Registers of the event, counter, timer and trace block, in the shape that all modules share.

Source: AM025, modules memory_tile, memory, core and pl. Offsets below are bytes above the block's base in
:mod:`memtile.arch.events`; the names of group bits, which vary most, are in
:mod:`memtile.arch.event_registers`.

It also has event group enable registers: AM025 names of their bits, from bit 0 (Event_Group_*).

Offsets, widths and reset values come from :mod:`memtile.arch.events`; bit ``i`` gates event ``first + i``
even where AM025 prints two names in another order than the event numbers (DEV-EVT-1 to 3). A group resets to
all ones, also where it has a bit without event (DEV-REG-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from memtile.arch.events import BROADCAST_CHANNELS, EVENT_STATUS, GROUPS, PORT_SELECTORS, EventUnitFacts
from memtile.arch.registers import WORD_BITS, Access, Acts, Field, ModuleName, Register, array, fields, flags
from memtile.arch.tiles import COMPUTE, DIRECTIONS, INTERFACE, MEMORY, WORD_BYTES

_ALL_ONES = (1 << WORD_BITS) - 1
_NUMBER_STRIDE = 8  # event numbers sit in bytes, whatever their width
_TRUE_PENDING = 0b10  # the event TRUE has always happened
_SIDES = ("South", "West", "North", "East")
_SIDE_STRIDE = 0x10
_BLOCKED = f"{BROADCAST_CHANNELS - 1}:0"


def event_numbers(unit: EventUnitFacts, names: Sequence[str], first: int = 0) -> tuple[Field, ...]:
    """Fields holding one event number each, one per byte from byte ``first`` up, most significant first."""
    lsbs = range(first * _NUMBER_STRIDE, WORD_BITS, _NUMBER_STRIDE)
    pairs = [Field(name, lsb + unit.number_bits - 1, lsb) for name, lsb in zip(names, lsbs, strict=False)]
    return tuple(reversed(pairs))


def counter_registers(unit: EventUnitFacts, control: str, value: str, threshold: str) -> Iterator[Register]:
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


def timer_registers(unit: EventUnitFacts) -> Iterator[Register]:
    """64-bit timer: control (bit 31 resets it), value that fires TIMER_VALUE_REACHED, value."""
    reset_event = event_numbers(unit, ["Reset_Event"], first=1)
    control = (*fields("Reset 31 wo"), *reset_event)
    yield Register("Timer_Control", unit.base, control, acts=Acts.TIMER_CONTROL)
    for n, half in enumerate(("Low", "High")):
        trigger, now = fields(f"TimerTrig{half} 31:0"), fields(f"Timer{half} 31:0", Access.RO)
        offset, name = unit.base + n * WORD_BYTES, f"Timer_Trig_Event_{half}_Value"
        yield Register(name, offset + 0xF0, trigger, reset=_ALL_ONES, acts=Acts.EVENT_SETUP)
        yield Register(f"Timer_{half}", offset + 0xF8, now, acts=Acts.TIMER, argument=n)


def broadcast_registers(unit: EventUnitFacts, channel: str, switches: Sequence[str]) -> Iterator[Register]:
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


def trace_registers(unit: EventUnitFacts, modes: tuple[Field, ...] = ()) -> Iterator[Register]:
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


def status_registers(unit: EventUnitFacts) -> Iterator[Register]:
    """Sticky status bit of every event; TRUE is pending from the start."""
    for n in range(unit.status_words):
        first = n * WORD_BITS
        bits = fields(f"Event_{first + WORD_BITS - 1}_{first}_Status 31:0", Access.WTC)
        reset, offset = 0 if n else _TRUE_PENDING, unit.base + EVENT_STATUS + n * WORD_BYTES
        yield Register(f"Event_Status{n}", offset, bits, reset, acts=Acts.EVENT_STATUS)


def combination_registers(unit: EventUnitFacts) -> Iterator[Register]:
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


def _each(pattern: str, count: int) -> list[str]:
    return [pattern.format(n) for n in range(count)]


def _per(count: int, *patterns: str) -> list[str]:
    return [pattern.format(n) for n in range(count) for pattern in patterns]


def _basic(counter: str, counters: int) -> list[str]:
    timer = ["Timer_Sync", "Timer_Value_Reached"]
    edges = _each("Edge_Detection_Event_{}", 2)
    return timer + _each(counter, counters) + _each("Combo_Event_{}", 4) + edges


def _dma(channel: str, stalls: Sequence[str]) -> list[str]:
    actions = ("start_task", "finished_BD", "finished_task", "stalled_lock_acquire")
    names = [f"{channel}_{action}".format(side, n) for action in actions for side, n in _CHANNELS]
    return names + [f"DMA_{stall}".format(n) for stall in stalls for n in range(2)]


_CHANNELS = [(side, n) for side in DIRECTIONS for n in range(2)]
_LOCK_BITS = ("Lock_Sel{}_acq_eq", "Lock_Sel{}_acq_ge", "Lock_Sel{}_rel", "Lock_Sel{}_equal_to_value")
_PORTS = _per(PORT_SELECTORS, "Port_Idle_{}", "Port_Running_{}", "Port_Stalled_{}", "Port_TLAST_{}")
_BROADCAST = _each("Broadcast_{}", BROADCAST_CHANNELS)
_BROADCAST_A = _each("Broadcast_A_{}", BROADCAST_CHANNELS)
_DATA_ECC = "DM_ECC_Error_Scrub_Corrected DM_ECC_Error_Scrub_2bit DM_ECC_Error_1bit DM_ECC_Error_2bit"

_MEMORY_TILE_DMA = _dma(
    "DMA_{}_Sel{}",
    [
        *("S2MM_Sel{}_stream_starvation", "MM2S_Sel{}_stream_backpressure"),
        *("S2MM_Sel{}_memory_backpressure", "MM2S_Sel{}_memory_starvation"),
    ],
)
_TWO_CHANNEL_DMA = _dma(  # memory back-pressure first: DEV-EVT-1, DEV-EVT-2
    "DMA_{}_{}",
    [
        *("S2MM_{}_stream_starvation", "S2MM_{}_memory_backpressure"),
        *("MM2S_{}_stream_backpressure", "MM2S_{}_memory_starvation"),
    ],
)
_MEMORY_TILE_ERRORS = f"""{_DATA_ECC}
    DMA_S2MM_Error DMA_MM2S_Error Stream_Switch_Port_Parity_Error Stream_Pkt_Parity_Error Control_Pkt_Error
    AXI_MM_Slave_Error Lock_Error DMA_Task_Token_Stall"""  # Stream_Pkt_Parity_Error: DEV-EVT-5
_MEMORY_ERRORS = f"""{_DATA_ECC}
    DM_Parity_Error_Bank_2 DM_Parity_Error_Bank_3 DM_Parity_Error_Bank_4 DM_Parity_Error_Bank_5
    DM_Parity_Error_Bank_6 DM_Parity_Error_Bank_7 DMA_S2MM_0_Error DMA_S2MM_1_Error DMA_MM2S_0_Error
    DMA_MM2S_1_Error Lock_Error DMA_Task_Token_Stall"""
_INTERFACE_ERRORS = """
    AXI_MM_Slave_Tile_Error Control_Pkt_Error Stream_Switch_Port_Parity_Error AXI_MM_Decode_NSU_Error
    AXI_MM_Slave_NSU_Error AXI_MM_Unsupported_Traffic AXI_MM_Unsecure_Access_in_Secure_Mode
    AXI_MM_Byte_Strobe_Error DMA_S2MM_Error DMA_MM2S_Error Lock_Error DMA_Task_Token_Stall"""
_CORE_STALLS = """
    Memory_Stall Stream_Stall Cascade_Stall Lock_Stall Debug Active Disable
    ECC_Scrubbing_Stall ECC_Error_Stall"""  # scrubbing first: DEV-EVT-3
_CORE_PROGRAM_FLOW = """
    Instr_Event_0 Instr_Event_1 Instr_Call Instr_Return Instr_Vector Instr_Load Instr_Store Instr_Stream_Get
    Instr_Stream_Put Instr_Cascade_Get Instr_Cascade_Put Instr_Lock_Acquire_req Instr_Lock_Release_req"""
_CORE_ERRORS = """
    SRS_Overflow UPS_Overflow FP_Huge Int_FP_Zero FP_Invalid FP_INF Reserved PM_Reg_Access_Failure
    Stream_Pkt_Parity_Error Control_Pkt_Error AXI_MM_Slave_Error Instruction_Decompression_Error
    DM_address_out_of_range PM_ECC_Error_Scrub_Corrected PM_ECC_Error_Scrub_2bit PM_ECC_Error_1bit
    PM_ECC_Error_2bit PM_address_out_of_range DM_access_to_Unavailable Lock_Access_to_Unavailable
    Instr_Warning Instr_Error Decompression_underflow Stream_Switch_Port_Parity_Error Processor_Bus_Error"""

# Register name without Event_Group_ and _Enable -> bit names, in the order of GROUPS.
_BITS: Mapping[ModuleName, Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "memory_tile": {
            "0": _basic("Perf_Cnt{}_Event", 4),
            "Watchpoint": _each("Watchpoint_{}", 4),
            "DMA": _MEMORY_TILE_DMA,
            "Lock": _per(MEMORY.lock_event_selectors, *_LOCK_BITS),
            "Stream_Switch": _PORTS,
            "Memory_Conflict": _each("Conflict_DM_Bank_{}", MEMORY.banks),
            "Error": _MEMORY_TILE_ERRORS.split(),
            "Broadcast": _BROADCAST_A,
            "User_Event": _each("User_Event_{}", 2),
        },
        "memory": {
            "0": _basic("Perf_Cnt{}_Event", 2),
            "Watchpoint": _each("Watchpoint_{}", 2),
            "DMA": _TWO_CHANNEL_DMA,
            "Lock": _per(COMPUTE.lock_event_selectors, *_LOCK_BITS),
            "Memory_Conflict": _each("Conflict_DM_Bank_{}", COMPUTE.banks),
            "Error": _MEMORY_ERRORS.split(),
            "Broadcast": _BROADCAST,
            "User_Event": _each("User_Event_{}", 4),
        },
        "core": {
            "0": _basic("Perf_Cnt{}", 4),
            "PC": [*_each("PC_{}", 4), "PC_Range_0_1", "PC_Range_2_3"],
            "Core_Stall": _CORE_STALLS.split(),
            "Core_Program_Flow": _CORE_PROGRAM_FLOW.split(),
            "Errors0": _CORE_ERRORS.split(),
            "Errors1": _CORE_ERRORS.split(),
            "Stream_Switch": _PORTS,
            "Broadcast": _BROADCAST,
            "User_Event": _each("User_Event_{}", 4),
        },
        "pl": {
            "0": _basic("Perf_Cnt{}", 2),
            "DMA_Activity": _TWO_CHANNEL_DMA,
            "Lock": _per(INTERFACE.lock_event_selectors, *_LOCK_BITS),
            "Errors": _INTERFACE_ERRORS.split(),
            "Stream_Switch": _PORTS,
            "Broadcast_A": _BROADCAST_A,
        },
    }
)


def group_registers(module: ModuleName) -> Iterator[Register]:
    """The group enable registers of a module; all existing bits are set after reset."""
    for group, (name, bits) in zip(GROUPS[module], _BITS[module].items(), strict=True):
        register, enable = group.register, f"Event_Group_{name}_Enable"
        yield Register(enable, register, flags(bits), group.mask, acts=Acts.EVENT_SELECTION)
