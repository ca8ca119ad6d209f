"""Event group enable registers: the AM025 names of their bits, from bit 0 upwards (AM025, Event_Group_*).

Offsets, widths and reset values come from :mod:`memtile.arch.events`; bit ``i`` gates event ``first + i``
even where AM025 prints two names in another order than the event numbers (DEV-EVT-1 to 3). A group resets to
all ones, also where it has a bit without event (DEV-REG-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from memtile.arch.acts import Acts
from memtile.arch.events import BROADCAST_CHANNELS, GROUPS, PORT_SELECTORS
from memtile.arch.registers import ModuleName, Register, flags
from memtile.arch.tiles import COMPUTE, DIRECTIONS, INTERFACE, MEMORY


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
