"""The interface tile's register map: AM025 modules ``noc`` (DMA, locks) and ``pl`` (switch, events, control).

Names are those of AM025, also where the driver's register header has others (DEV-REG-4). The registers
graded ``driver`` are in that header only (DEV-REG-5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from memtile.arch.dma_registers import ChannelFields, bd_registers, channel_registers, lock_registers
from memtile.arch.event_registers import (
    broadcast_registers,
    combination_registers,
    counter_registers,
    event_numbers,
    group_registers,
    status_registers,
    timer_registers,
    trace_registers,
    value_registers,
)
from memtile.arch.events import EVENT_UNITS
from memtile.arch.grades import Grade
from memtile.arch.memory_tile_registers import ISOLATION
from memtile.arch.ports import DEMUX_BITS, MUX_BITS
from memtile.arch.registers import Access, Acts, Field, Register, Table, array, fields, flags, reserved
from memtile.arch.switch_registers import switch_registers
from memtile.arch.tiles import INTERFACE, WORD_BYTES

MODULE = EVENT_UNITS["pl"]

_COMMON_STATUS = """
    Cur_BD 27:24, Task_Queue_Size 22:20, Channel_Running 19, Task_Queue_Overflow 18 wtc,
    AXI_MM_Slave_Error 17 wtc, AXI_MM_Decode_Error 16 wtc, Error_BD_Invalid 11,
    Stalled_Lock_Rel 3, Stalled_Lock_Acq 2, Status 1:0"""
IRQ_EVENTS = 4  # of the tile, that a first-level interrupt controller takes beside the broadcast channels
LOCK_SELECTION = "Lock_Select 19:16, Lock_Value 5:0"
CHANNELS = ChannelFields(
    control=(
        "FoT_Mode 17:16, Controller_ID 15:8, Enable_Out_of_Order 3, Pause_Stream 2, Pause_Mem 1",
        "Controller_ID 15:8, Pause_Stream 2, Pause_Mem 1",
    ),
    status=(
        f"""{_COMMON_STATUS}, Error_FoT_BDs_per_Task 13, Error_FoT_Length_Exceeded 12,
        Error_BD_Unavailable 10, Stalled_TCT_or_Count_FIFO_Full 5, Stalled_Stream_Starvation 4""",
        f"{_COMMON_STATUS}, Stalled_TCT 5, Stalled_Stream_Backpressure 4",
    ),
    queue="Enable_Token_Issue 31, Repeat_Count 23:16, Start_BD_ID 3:0",
    queue_name="Task_Queue",
    write_count="Current_Write_Count 17:0",
)
_ADDRESS_ALIGNMENT = ((1, Field("Reserved", 1, 0)),)  # below the byte address in BD word 1
_UPSIZER = """
    South4_South5_128_combine 8, South5 7, South4 6, South2_South3_128_combine 5, South3 4, South2 3,
    South0_South1_128_combine 2, South1 1, South0 0"""
_DOWNSIZER = f"South6_South7_128_combine 11, South7 10, South6 9, {_UPSIZER}"
_BYPASS = ("SOUTH0", "SOUTH1", "SOUTH2", "SOUTH4", "SOUTH5", "SOUTH6")
_AXI_MASTER = "DECERR_Block 3, SLVERR_Block 2, Slave_Sel 1, Master_Sel 0"
_CLOCKS = """
    DMA_Adaptive_Clock_Gate 5, Stream_Switch_Adaptive_Clock_Gate 4, CTE_Clock_Enable 3,
    PL_Interface_Clock_Enable 1, Stream_Switch_Clock_Enable 0"""
_RESETS = "CTE_MODULE_RESET 3, PL_INTERFACE_RESET 1, STREAM_SWITCH_RESET 0"


def noc_table() -> Table:
    """All registers of module ``noc``."""
    return (
        *lock_registers(INTERFACE, LOCK_SELECTION),
        *_second_level_interrupts(),
        *bd_registers(INTERFACE, _ADDRESS_ALIGNMENT),
        *channel_registers(INTERFACE, CHANNELS),
        *(
            Register(
                f"NoC_Interface_AIE_to_NoC_South{n}",
                0x1E000 + n * WORD_BYTES,
                fields("Tdest 9:0"),
                acts=Acts.KEEPS,
            )
            for n in range(2, 6)
        ),
        _spare(0x16000),
        Register("AIE_AXIMM_Config", 0x1E020, fields(_AXI_MASTER), acts=Acts.KEEPS),
        Register("Mux_Config", 0x1F000, _attachments(MUX_BITS), acts=Acts.MULTIPLEXER),
        Register("Demux_Config", 0x1F004, _attachments(DEMUX_BITS), acts=Acts.MULTIPLEXER),
    )


def pl_table() -> Table:
    """All registers of module ``pl``; AM025 calls the value field of both counters Counter0."""
    return (
        *counter_registers(MODULE, "Performance_Ctrl{}", "Counter0_Value", "Counter_Event_Value"),
        *_sizers(),
        *timer_registers(MODULE),
        *broadcast_registers(MODULE, "Event_Broadcast{}_A", ("_A", "_B")),
        *trace_registers(MODULE),
        *status_registers(MODULE),
        *reserved(0, 0x34210, 4),
        *combination_registers(MODULE),
        *group_registers("pl"),
        *_first_level_interrupts("A", 0x35000),
        *_first_level_interrupts("B", 0x35030),
        *_repair(),
        Register("Tile_Control", 0x36030, flags(ISOLATION), reset=0xF, acts=Acts.TILE_CONTROL),
        *switch_registers("interface"),
        *_clocks_and_resets(),
    )


def _attachments(bits: Mapping[str, tuple[int, int]]) -> tuple[Field, ...]:
    ports = [Field(port.capitalize(), msb, lsb) for port, (msb, lsb) in bits.items()]
    return tuple(reversed(ports))


def _interrupt_lines(prefix: str, base: int, suffix: str, bits: str, field: str) -> Iterator[Register]:
    yield Register(f"{prefix}_mask{suffix}", base, fields(f"IRQ_Mask{field} {bits}", Access.RO))
    on, off = fields(f"Enable{field} {bits}", Access.WO), fields(f"Disable{field} {bits}", Access.WO)
    yield Register(f"{prefix}_enable{suffix}", base + 0x4, on, acts=Acts.SETS, argument=base)
    yield Register(f"{prefix}_disable{suffix}", base + 0x8, off, acts=Acts.CLEARS, argument=base)
    yield Register(f"{prefix}_status{suffix}", base + 0xC, fields(f"Status{field} {bits}", Access.WTC))


def _second_level_interrupts() -> Iterator[Register]:
    prefix = "Interrupt_controller_2nd_level"
    yield from _interrupt_lines(prefix, 0x15000, "", "15:0", "_A")
    yield Register(f"{prefix}_interrupt", 0x15010, fields("NoC_Interrupt 1:0"))


def _first_level_interrupts(switch: str, base: int) -> Iterator[Register]:
    prefix = "Interrupt_controller_1st_level"
    yield from _interrupt_lines(prefix, base, f"_{switch}", "19:0", f"_{switch}")
    events = event_numbers(MODULE, [f"IRQ_Event{n}" for n in range(IRQ_EVENTS)])
    block = f"{prefix}_block_north_in_{switch}"
    yield Register(f"{prefix}_irq_no_{switch}", base + 0x10, fields(f"Irq_no_{switch} 3:0"))
    yield Register(f"{prefix}_irq_event_{switch}", base + 0x14, events, acts=Acts.EVENT_SETUP)
    yield from value_registers(base + 0x18, (f"{block}_set", f"{block}_clear", f"{block}_value"), "15:0")


def _sizers() -> Iterator[Register]:
    keeps, enable = Acts.KEEPS, flags([f"South{n}" for n in range(8)])
    yield Register("PL_Interface_Upsizer_Config", 0x33000, fields(_UPSIZER), reset=0xDB, acts=keeps)
    yield Register("PL_Interface_Downsizer_Config", 0x33004, fields(_DOWNSIZER), reset=0x6DB, acts=keeps)
    yield Register("PL_Interface_Downsizer_Enable", 0x33008, enable, acts=keeps)
    bypass = flags(_BYPASS)
    yield Register("PL_INTERFACE_DOWNSIZER_BYPASS", 0x3300C, bypass, grade=Grade.DRIVER, acts=keeps)


def _repair() -> Iterator[Register]:
    """Repair of memories at boot (BISR): in the driver's header only."""
    words = (
        ("CACHE_CTRL", 0x36000, "CLEAR 4, TRIGGER 0"),
        ("CACHE_STATUS", 0x36008, "PASS 1 ro, DONE 0 ro"),
    )
    for name, offset, layout in words:
        yield Register(f"BISR_{name}", offset, fields(layout), grade=Grade.DRIVER, acts=Acts.KEEPS)
    for name, offset in (("CACHE", 0x36010), ("TEST", 0x36020)):
        first = Register(f"BISR_{name}_DATA{{}}", offset, fields("DATA 31:0"))
        yield from array(replace(first, grade=Grade.DRIVER, acts=Acts.KEEPS), 4)


def _spare(offset: int) -> Register:
    return Register("SPARE_REG", offset, fields("SPARE_REG 15:0"), grade=Grade.DRIVER, acts=Acts.KEEPS)


def _clocks_and_resets() -> Iterator[Register]:
    keeps, clock, reset = Acts.KEEPS, fields("NoC_Module_Clock_Enable 0"), fields("NoC_Module_Reset 0")
    trigger = fields("TRIGGER 0")
    yield Register("Module_Clock_Control_0", 0xFFF00, fields(_CLOCKS), reset=0x3B, acts=keeps)
    yield Register("Module_Clock_Control_1", 0xFFF04, clock, reset=1, acts=keeps)
    yield Register("MODULE_RESET_CONTROL_0", 0xFFF10, fields(_RESETS), grade=Grade.DRIVER, acts=keeps)
    yield Register("Module_Reset_Control_1", 0xFFF14, reset, acts=keeps)
    yield Register("CSSD_TRIGGER", 0xFFF24, trigger, grade=Grade.DRIVER, acts=keeps)
    yield _spare(0xFFF30)
    yield Register("Column_Clock_Control", 0xFFF20, fields("Clock_Buffer_Enable 0"), acts=Acts.COLUMN_CLOCK)
    yield Register("AIE_Tile_Column_Reset", 0xFFF28, fields("Reset 0"), acts=Acts.COLUMN_CLOCK)
