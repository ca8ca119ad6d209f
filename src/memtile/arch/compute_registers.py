"""The compute tile's register map: AM025 modules ``memory`` (data memory, DMA, locks) and ``core``.

The core's own registers are in :mod:`memtile.arch.core_registers`. Registers graded ``driver`` are in the
driver's register header only; their access is our choice (DEV-REG-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.arch import core_registers
from memtile.arch.dma_registers import ChannelFields, bd_registers, channel_registers, lock_registers
from memtile.arch.event_registers import (
    broadcast_registers,
    combination_registers,
    counter_registers,
    group_registers,
    status_registers,
    timer_registers,
    trace_registers,
)
from memtile.arch.events import EVENT_UNITS
from memtile.arch.grades import Grade
from memtile.arch.memory_tile_registers import CHECKBIT_LANES, ISOLATION
from memtile.arch.registers import Acts, Register, Table, array, fields, flags, reserved
from memtile.arch.switch_registers import switch_registers
from memtile.arch.tiles import COMPUTE

MEMORY_MODULE, CORE_MODULE = EVENT_UNITS["memory"], EVENT_UNITS["core"]

_COMMON_STATUS = """
    Cur_BD 27:24, Task_Queue_Size 22:20, Channel_Running 19, Task_Queue_Overflow 18 wtc, Error_BD_Invalid 11,
    Stalled_Lock_Rel 3, Stalled_Lock_Acq 2, Status 1:0"""
_CHANNELS = ChannelFields(
    control=(
        """FoT_Mode 17:16, Controller_ID 15:8, Decompression_Enable 4, Enable_Out_of_Order 3, Reset 1,
        Reserved 0""",
        "Controller_ID 15:8, Compression_Enable 4, Reset 1, Reserved 0",
    ),
    status=(
        f"""{_COMMON_STATUS}, Error_FoT_BDs_per_Task 13, Error_FoT_Length_Exceeded 12,
        Error_BD_Unavailable 10, Stalled_TCT_or_Count_FIFO_Full 5, Stalled_Stream_Starvation 4""",
        f"{_COMMON_STATUS}, Stalled_TCT 5, Stalled_Stream_Backpressure 4",
    ),
    queue="Enable_Token_Issue 31, Repeat_Count 23:16, Start_BD_ID 3:0",
    queue_name="Start_Queue",
    write_count="Current_Write_Count 13:0",
)
_WATCHPOINT = """
    Read_Access 31, Write_Access 30, AXI_Access 29, DMA_Access 28, East_Access 27, North_Access 26,
    West_Access 25, South_Access 24, WriteStrobes 23:20, Address 15:4"""
_CLOCKS = """
    DMA_Adaptive_Clock_Gate 5, Stream_Switch_Adaptive_Clock_Gate 4, Core_Module_Clock_Enable 2,
    Memory_Module_Clock_Enable 1, Stream_Switch_Clock_Enable 0"""


def memory_table() -> Table:
    """All registers of module ``memory``."""
    return (
        *_memory(),
        *counter_registers(
            MEMORY_MODULE, "Performance_Control{}", "Counter{}_Value", "Counter{}_Event_Value"
        ),
        *timer_registers(MEMORY_MODULE),
        *broadcast_registers(MEMORY_MODULE, "Event_Broadcast{}", ("",)),
        *trace_registers(MEMORY_MODULE),
        *array(Register("WatchPoint{}", 0x14100, fields(_WATCHPOINT), acts=Acts.WATCHPOINT), 2),
        *status_registers(MEMORY_MODULE),
        *reserved(0, 0x14210, 4),
        *combination_registers(MEMORY_MODULE),
        *group_registers("memory"),
        *bd_registers(COMPUTE),
        *channel_registers(COMPUTE, _CHANNELS),
        *lock_registers(COMPUTE, "Lock_Select 19:16, Lock_Value 5:0"),
    )


def core_table(register_file: Iterable[Register] | None = None) -> Table:
    """All registers of module ``core``; every counter's value field is Counter0 (DEV-REG-7).

    ``register_file``: of the core; that of AIE-ML if omitted.
    """
    return (
        *(core_registers.register_file() if register_file is None else register_file),
        *core_registers.control_registers(),
        *core_registers.program_registers(),
        *core_registers.spare_registers(),
        *counter_registers(CORE_MODULE, "Performance_Control{}", "Counter0_Value", "Counter_Event_Value"),
        *timer_registers(CORE_MODULE),
        *broadcast_registers(CORE_MODULE, "Event_Broadcast{}", ("",)),
        *trace_registers(CORE_MODULE, fields("Mode 1:0")),
        *status_registers(CORE_MODULE),
        *combination_registers(CORE_MODULE),
        *group_registers("core"),
        Register("Tile_Control", 0x36030, flags(ISOLATION), reset=0xF, acts=Acts.TILE_CONTROL),
        *switch_registers("compute"),
        Register("Module_Clock_Control", 0x60000, fields(_CLOCKS), reset=0x37, acts=Acts.KEEPS),
    )


def _memory() -> Iterator[Register]:
    ecc = fields("VALID 15, ECC_ERROR_DETECTION_ADDRESS 13:0")
    parity = fields("VALID 16, PARITY_ERROR_DETECTION_ADDRESS 15:0")
    granule_bits = 8 * COMPUTE.granule_bytes
    data, scrubbed = fields(f"Data {granule_bits - 1}:0"), fields("SCRUBBING_EVENT_NUMBER 6:0")
    errors, zeroisation = flags(CHECKBIT_LANES), fields("Memory_Zeroisation 0 rwsc")
    yield Register("DataMemory", 0, data, width=granule_bits, span=COMPUTE.memory_bytes)
    yield Register("CHECKBIT_ERROR_GENERATION", 0x12000, errors, grade=Grade.DRIVER, acts=Acts.CHECK_BITS)
    yield Register("ECC_SCRUBBING_EVENT", 0x12110, scrubbed, grade=Grade.DRIVER, acts=Acts.SCRUBBING)
    yield Register("ECC_FAILING_ADDRESS", 0x12120, ecc, grade=Grade.DRIVER)
    yield Register("PARITY_FAILING_ADDRESS", 0x12124, parity, grade=Grade.DRIVER)
    spare = fields("SPARE_REG 15:0")
    yield Register("SPARE_REG", 0x16000, spare, grade=Grade.DRIVER, acts=Acts.KEEPS)
    yield Register("Memory_Control", 0x16010, zeroisation, acts=Acts.MEMORY_CONTROL)
