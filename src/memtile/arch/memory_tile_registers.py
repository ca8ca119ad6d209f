"""The memory tile's register map (AM025 module ``memory_tile``).

Tile_Control resets to isolated on all sides and Memory_Control to interleaved (AM025, DEV-REG-1). The
registers graded ``driver`` are in the driver's register header only; their access is our choice (DEV-REG-5).
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch import event_registers
from memtile.arch.dma_registers import ChannelFields, bd_registers, channel_registers, lock_registers
from memtile.arch.event_registers import group_registers
from memtile.arch.events import EVENT_UNITS
from memtile.arch.grades import Grade
from memtile.arch.protection import LANES
from memtile.arch.registers import Acts, Register, Table, array, fields, flags, reserved
from memtile.arch.switch_registers import switch_registers
from memtile.arch.tiles import MEMORY

MODULE = EVENT_UNITS["memory_tile"]
ISOLATION = ("Isolate_From_South", "Isolate_From_West", "Isolate_From_North", "Isolate_From_East")
CHECKBIT_LANES = tuple(f"LANE{n}" for n in range(LANES))

_COMMON_STATUS = """
    Cur_BD 29:24, Task_Queue_Size 22:20, Channel_Running 19, Task_Queue_Overflow 18 wtc, Error_BD_Invalid 11,
    Error_BD_Unavailable 10, Error_DM_Access_to_Unavailable 9, Error_Lock_Access_to_Unavailable 8,
    Stalled_Lock_Rel 3, Stalled_Lock_Acq 2, Status 1:0"""
_CHANNELS = ChannelFields(
    control=(
        "FoT_Mode 17:16, Controller_ID 15:8, Decompression_Enable 4, Enable_Out_of_Order 3, Reset 1",
        "Controller_ID 15:8, Compression_Enable 4, Reset 1",
    ),
    status=(
        f"""{_COMMON_STATUS}, Error_FoT_BDs_per_Task 13, Error_FoT_Length_Exceeded 12,
        Stalled_TCT_or_Count_FIFO_Full 5, Stalled_Stream_Starvation 4""",
        f"{_COMMON_STATUS}, Stalled_TCT 5, Stalled_Stream_Backpressure 4",
    ),
    queue="Enable_Token_Issue 31, Repeat_Count 23:16, Start_BD_ID 5:0",
    queue_name="Start_Queue",
    write_count="Current_Write_Count 16:0",
)
_EVENT_CHANNELS = """
    MM2S_Sel1_Channel 26:24, MM2S_Sel0_Channel 18:16, S2MM_Sel1_Channel 10:8, S2MM_Sel0_Channel 2:0"""
_WATCHPOINT = """
    Read_Access 29, Write_Access 28, AXI_Access 27, DMA_Access 26, East_Access 25, West_Access 24,
    WriteStrobes 23:20, Address 18:4"""
_CLOCKS = """
    DMA_Adaptive_Clock_Gate 5, Stream_Switch_Adaptive_Clock_Gate 4,
    Memory_Module_Clock_Enable 1, Stream_Switch_Clock_Enable 0"""


def table() -> Table:
    """All registers of the module."""
    return (
        *_memory(),
        *_events(),
        *bd_registers(MEMORY),
        *channel_registers(MEMORY, _CHANNELS),
        Register("DMA_Event_Channel_Selection", 0xA06A0, fields(_EVENT_CHANNELS), acts=Acts.EVENT_SELECTION),
        *switch_registers("memory"),
        *lock_registers(MEMORY, "Lock_Select 21:16, Lock_Value 5:0"),
        Register("Module_Clock_Control", 0xFFF00, fields(_CLOCKS), reset=0x33, acts=Acts.KEEPS),
        Register(
            "MODULE_RESET_CONTROL",
            0xFFF10,
            fields("MEMORY_RESET 1, STREAM_SWITCH_RESET 0"),
            grade=Grade.DRIVER,
            acts=Acts.KEEPS,
        ),
    )


def _memory() -> Iterator[Register]:
    failing = fields("VALID 19, ECC_ERROR_DETECTION_ADDRESS 18:0")
    errors, scrubbed = flags(CHECKBIT_LANES), fields("SCRUBBING_EVENT_NUMBER 7:0")
    control = fields("Memory_Interleaving 1, Memory_Zeroisation 0 rwsc")
    granule_bits = 8 * MEMORY.granule_bytes
    data = fields(f"Data {granule_bits - 1}:0")
    yield Register("DataMemory", 0, data, width=granule_bits, span=MEMORY.memory_bytes)
    yield Register("CHECKBIT_ERROR_GENERATION", 0x92000, errors, grade=Grade.DRIVER, acts=Acts.CHECK_BITS)
    yield Register("ECC_SCRUBBING_EVENT", 0x92110, scrubbed, grade=Grade.DRIVER, acts=Acts.SCRUBBING)
    yield Register("ECC_FAILING_ADDRESS", 0x92120, failing, grade=Grade.DRIVER)
    spare, trigger = fields("SPARE_REG 15:0"), fields("TRIGGER 0")
    yield Register("SPARE_REG", 0x96000, spare, grade=Grade.DRIVER, acts=Acts.KEEPS)
    yield Register("CSSD_TRIGGER", 0x96040, trigger, grade=Grade.DRIVER, acts=Acts.KEEPS)
    yield Register("Tile_Control", 0x96030, flags(ISOLATION), reset=0xF, acts=Acts.TILE_CONTROL)
    yield Register("Memory_Control", 0x96048, control, reset=0x2, acts=Acts.MEMORY_CONTROL)


def _events() -> Iterator[Register]:
    yield from event_registers.counter_registers(
        MODULE, "Performance_Control{}", "Counter{}_Value", "Counter{}_Event_Value"
    )
    yield from event_registers.timer_registers(MODULE)
    yield from event_registers.broadcast_registers(MODULE, "Event_Broadcast{}", ("_A", "_B"))
    yield from event_registers.trace_registers(MODULE)
    yield from array(Register("WatchPoint{}", 0x94100, fields(_WATCHPOINT), acts=Acts.WATCHPOINT), 4)
    yield from event_registers.status_registers(MODULE)
    yield from reserved(0, 0x94220, 4)
    yield from event_registers.combination_registers(MODULE)
    yield from group_registers("memory_tile")
