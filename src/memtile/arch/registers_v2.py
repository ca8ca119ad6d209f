"""The register maps of AIE-ML v2, told as what AM029 changes in those of AIE-ML.

Reset values that our source of AM029 does not give are those of AIE-ML (DEV-V2-1). Registers of AIE-ML that
only the driver's header knows are not taken over (DEV-V2-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtile.arch import compute_registers, interface_registers, memory_tile_registers
from memtile.arch.acts import Acts
from memtile.arch.dma_registers import bd_registers, channel_registers, lock_registers
from memtile.arch.event_registers import event_numbers
from memtile.arch.events import EVENT_UNITS, MORE_COUNTERS_V2, EventUnit
from memtile.arch.grades import Grade
from memtile.arch.registers import Access, Field, Register, Table, array, fields, flags
from memtile.arch.tiles import COMPUTE_V2, INTERFACE_V2, MEMORY_V2, WORD_BYTES, TileKind

_MEMORY_TILE_WATCHPOINT = """
    Read_Access 29, Write_Access 28, AXI_Access 27, DMA_Access 26, East_Access 25, West_Access 24,
    WriteStrobeMask 23:16, Address 13:0"""
_MEMORY_WATCHPOINT = """
    Read_Access 31, Write_Access 30, AXI_Access 29, DMA_Access 28, East_Access 27, North_Access 26,
    West_Access 25, South_Access 24, WriteStrobeMask 23:16, Address 10:0"""
_CLOCKS = """
    DMA_Adaptive_Clock_Gate 5, Ctrl_Pkt_Tlast_Error_Enable 4,
    Memory_Module_Clock_Enable 1, Stream_Switch_Clock_Enable 0"""
_MUX = "South7 15:14, South5 13:12, South3 11:10, South1 9:8"
_DEMUX = "South5 11:10, South3 7:6, South2 5:4, South1 3:2"
_UPPER_WORD = 16  # bits above those of a port's lower word in Parity_Injection
_GATE = "Stream_Switch_Adaptive_Clock_Gate"
_MM2S_STATUS = """
    Cur_BD 28:25, Task_Queue_Size 24:20, Channel_Running 19, Task_Queue_Overflow 18 wtc,
    AXI_MM_Slave_Error 17 wtc, AXI_MM_Decode_Error 16 wtc, Error_BD_Invalid 11, Stalled_TCT 5,
    Stalled_Stream_Backpressure 4, Stalled_Lock_Rel 3, Stalled_Lock_Acq 2, Status 1:0"""
_NOC_CHANNELS = replace(
    interface_registers.CHANNELS,
    control=(
        "FoT_Mode 17:16, Controller_ID 15:8, Enable_Out_of_Order 3, Pause_Stream 2",
        "Controller_ID 15:8, Pause_Stream 2",
    ),
    status=(interface_registers.CHANNELS.status[0], _MM2S_STATUS),
)


def memory_tile_table() -> Table:
    """All registers of the memory tile."""
    unit, kind = EVENT_UNITS["memory_tile"], MEMORY_V2
    before = {r.name: r for r in memory_tile_registers.table()}
    conflicts = before["Event_Group_Memory_Conflict_Enable"]
    pad = Register("DMA_MM2S_{}_Constant_Pad_Value", kind.pad_value_base, fields("Constant_Pad_Value 31:0"))
    return _changed(
        before.values(),
        _data_memory(kind),
        _more_counters(unit),
        array(replace(before["WatchPoint0"], name="WatchPoint{}", fields=fields(_MEMORY_TILE_WATCHPOINT)), 4),
        [replace(conflicts, fields=conflicts.fields[-kind.banks :], reset=(1 << kind.banks) - 1)],
        bd_registers(kind),
        array(pad, kind.channels),
        [_both_words(before["Stream_Switch_Parity_Injection"])],
        [replace(before["Module_Clock_Control"], fields=fields(_CLOCKS))],
        [replace(before["Tile_Control"], offset=0xFFF20)],
        without=(f"{_GATE}_Status", f"{_GATE}_Abort_Period"),
    )


def memory_table() -> Table:
    """All registers of the compute tile's module ``memory``."""
    before = {r.name: r for r in compute_registers.memory_table()}
    return _changed(
        before.values(),
        _data_memory(COMPUTE_V2),
        _more_counters(EVENT_UNITS["memory"]),
        array(replace(before["WatchPoint0"], name="WatchPoint{}", fields=fields(_MEMORY_WATCHPOINT)), 2),
    )


def noc_table() -> Table:
    """All registers of the interface tile's module ``noc``; AM029 gives every one a new place."""
    injection = Register(
        "DMA_MM2S_{}_Response_FIFO_Parity_Error_Injection", 0x9340, fields("Parity_Injection 3:0")
    )
    return (
        *lock_registers(INTERFACE_V2, interface_registers.LOCK_SELECTION),
        *_second_level_interrupts(),
        Register("AIE_AXIMM_Config", 0x2100, fields("DECERR_Block 3, SLVERR_Block 2")),
        Register("Mux_Config", 0x2104, fields(_MUX)),  # leads to a DMA that no model has (DEV-V2-9)
        Register("Demux_Config", 0x2108, fields(_DEMUX)),
        Register("AXI_MM_Outstanding_Transactions", 0x2120, fields("NoC_Module_To_NMU 0", Access.RO)),
        Register("SMID", 0x3000, fields("SMID 9:0")),
        *bd_registers(INTERFACE_V2),
        *channel_registers(INTERFACE_V2, _NOC_CHANNELS),
        *array(injection, INTERFACE_V2.channels),
        Register("DMA_Pause", 0x9348, flags(["S2MM_0", "S2MM_1", "MM2S_0", "MM2S_1"])),
    )


def _changed(before: Iterable[Register], *after: Iterable[Register], without: tuple[str, ...] = ()) -> Table:
    """The registers of AIE-ML, those of the same name replaced, others added, and those ``without`` left out.

    AM029 names no bits Reserved.
    """
    kept = {
        r.name: _without_reserved(r) for r in before if r.grade is not Grade.DRIVER and r.name not in without
    }
    return tuple((kept | {r.name: r for group in after for r in group}).values())


def _without_reserved(register: Register) -> Register:
    return replace(register, fields=tuple(field for field in register.fields if not field.reserved))


def _data_memory(kind: TileKind) -> Iterator[Register]:
    bits = 8 * kind.granule_bytes
    yield Register("DataMemory", 0, fields(f"Data {bits - 1}:0"), width=bits, span=kind.memory_bytes)


def _more_counters(unit: EventUnit) -> Iterator[Register]:
    """Two performance counters above those of AIE-ML; they have no threshold and so no event."""
    first, control = unit.counters, unit.counters // 2 + 1  # the last control of AIE-ML holds reset events
    names = [f"Cnt{first + n}_{what}_Event" for n in range(MORE_COUNTERS_V2) for what in ("Start", "Stop")]
    resets = [f"Cnt{first + n}_Reset_Event" for n in range(MORE_COUNTERS_V2)]
    for n, numbers in enumerate((names, resets)):
        offset = unit.counter_base + 0x0C + n * WORD_BYTES
        fields_of_events = event_numbers(unit, numbers)
        yield Register(f"Performance_Control{control + n}", offset, fields_of_events, acts=Acts.EVENT_SETUP)
    for n in range(first, first + MORE_COUNTERS_V2):
        offset = unit.counter_base + 0x20 + n * WORD_BYTES
        counted = fields(f"Counter{n}_Value 31:0")
        yield Register(f"Performance_Counter{n}", offset, counted)


def _both_words(injection: Register) -> Register:
    """Parity injection for the lower and the upper word of each 64-bit port."""
    lower = [replace(f, name=f"{f.name}_lower") for f in injection.fields]
    upper = [
        Field(f"{f.name}_upper", f.msb + _UPPER_WORD, f.lsb + _UPPER_WORD, f.access) for f in injection.fields
    ]
    return replace(injection, fields=(*upper, *lower))


def _second_level_interrupts() -> Iterator[Register]:
    prefix = "Interrupt_controller_2nd_level"
    mask, rows = (
        0x1000,
        (
            ("mask", "IRQ_Mask", Access.RO, Acts.HOLDS),
            ("enable", "Enable", Access.WO, Acts.SETS),
            ("disable", "Disable", Access.WO, Acts.CLEARS),
            ("status", "Status", Access.WTC, Acts.HOLDS),
        ),
    )
    for n, (name, field, access, acts) in enumerate(rows):
        layout, other = fields(f"{field}_uC_Core 16, {field}_A 15:0", access), mask if acts else 0
        yield Register(f"{prefix}_{name}", mask + n * WORD_BYTES, layout, acts=acts, argument=other)
    yield Register(f"{prefix}_interrupt", 0x1010, fields("NoC_Interrupt 1:0"))
