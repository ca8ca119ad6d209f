"""The register maps of AIE-ML v2, told as what AM029 changes in those of AIE-ML; AIE2P shares some.

Reset values that our source of AM029 does not give are those of AIE-ML (DEV-V2-1). Registers of AIE-ML that
only the driver's header knows are not taken over (DEV-V2-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtile.arch import compute_registers, interface_registers, memory_tile_registers
from memtile.arch.dma_registers import bd_registers, channel_registers, lock_registers
from memtile.arch.event_registers import event_numbers
from memtile.arch.events import EVENT_UNITS, MORE_COUNTERS_V2, EventUnitFacts
from memtile.arch.grades import Grade
from memtile.arch.registers import Access, Acts, Register, Table, array, fields, flags
from memtile.arch.registers_2p import by_name, changed, wide_memory, wide_memory_tile
from memtile.arch.tiles import COMPUTE_V2, INTERFACE_V2, MEMORY_V2, WORD_BYTES

_CLOCKS = """
    DMA_Adaptive_Clock_Gate 5, Ctrl_Pkt_Tlast_Error_Enable 4,
    Memory_Module_Clock_Enable 1, Stream_Switch_Clock_Enable 0"""
_MUX = "South7 15:14, South5 13:12, South3 11:10, South1 9:8"
_DEMUX = "South5 11:10, South3 7:6, South2 5:4, South1 3:2"
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
    before = by_name(memory_tile_registers.table())
    return _changed(
        before,
        wide_memory_tile(before, MEMORY_V2),
        _more_counters(EVENT_UNITS["memory_tile"]),
        bd_registers(MEMORY_V2),
        [replace(before["Module_Clock_Control"], fields=fields(_CLOCKS))],
        without=(f"{_GATE}_Status", f"{_GATE}_Abort_Period"),
    )


def memory_table() -> Table:
    """All registers of the compute tile's module ``memory``."""
    before = by_name(compute_registers.memory_table())
    return _changed(before, wide_memory(before, COMPUTE_V2), _more_counters(EVENT_UNITS["memory"]))


def noc_table() -> Table:
    """All registers of the interface tile's module ``noc``; AM029 gives every one a new place."""
    injection = Register(
        "DMA_MM2S_{}_Response_FIFO_Parity_Error_Injection", 0x9340, fields("Parity_Injection 3:0")
    )
    return (
        *lock_registers(INTERFACE_V2, interface_registers.LOCK_SELECTION),
        *_second_level_interrupts(),
        Register("AIE_AXIMM_Config", 0x2100, fields("DECERR_Block 3, SLVERR_Block 2")),
        Register("Mux_Config", 0x2104, fields(_MUX), acts=Acts.MULTIPLEXER),
        Register("Demux_Config", 0x2108, fields(_DEMUX), acts=Acts.MULTIPLEXER),
        Register("AXI_MM_Outstanding_Transactions", 0x2120, fields("NoC_Module_To_NMU 0", Access.RO)),
        Register("SMID", 0x3000, fields("SMID 9:0")),
        *bd_registers(INTERFACE_V2),
        *channel_registers(INTERFACE_V2, _NOC_CHANNELS),
        *array(injection, INTERFACE_V2.channels),
        Register("DMA_Pause", 0x9348, flags(["S2MM_0", "S2MM_1", "MM2S_0", "MM2S_1"])),
    )


def _changed(before: dict[str, Register], *after: Iterable[Register], without: tuple[str, ...] = ()) -> Table:
    """The registers of AIE-ML, those of the same name replaced, others added, and those ``without`` left out.

    AM029 names no bits Reserved.
    """
    kept = {
        name: _without_reserved(r)
        for name, r in before.items()
        if r.grade is not Grade.DRIVER and name not in without
    }
    return changed(kept, *after)


def _without_reserved(register: Register) -> Register:
    return replace(register, fields=tuple(field for field in register.fields if not field.reserved))


def _more_counters(unit: EventUnitFacts) -> Iterator[Register]:
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
