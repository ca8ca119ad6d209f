"""Event numbers of all modules and the groups that gather them (driver event headers; AM025 group registers).

Names are the driver's without prefix and module suffix. Bit ``i`` of a group's enable register gates event
``first + i``: this holds also where AM025 prints the bits of two events in another order (DEV-EVT-1 to 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from memtile.arch.registers import WORD_BITS, ModuleName
from memtile.arch.tiles import COMPUTE, DIRECTIONS, INTERFACE, MEMORY, TILE_KINDS, WORD_BYTES, Role, TileName

BROADCAST_CHANNELS = 16  # in interface tiles too (DEV-EVT-4)
PORT_SELECTORS = 8  # stream switch ports that a module can watch at once
COMBO_INPUTS, COMBOS, EDGES = 4, 3, 2  # combo events that can be set (DEV-OBS-5), and edge detectors (AM025)
MORE_COUNTERS_V2 = 2  # performance counters of a memory module above those of AIE-ML (AM029)
NO_EVENT = "-"
EVENT_STATUS = 0x200  # first sticky status register, bytes above the event block
GROUP_ENABLE = 0x500  # first group enable register, likewise


class ComboOperation(IntEnum):
    """How a combo event joins its two inputs (AM025 Combo_event_control)."""

    AND = 0
    AND_NOT = 1
    OR = 2
    OR_NOT = 3


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Consecutive events that one group event stands for.

    Attributes:
        name: the group event.
        event: its number.
        first: number of the event that bit 0 gates.
        members: event names by bit; ``NO_EVENT`` where no event has the number.
        register: byte offset of the enable register; all bits of ``mask`` are set after reset.
    """

    name: str
    event: int
    first: int
    members: tuple[str, ...]
    register: int

    @property
    def mask(self) -> int:
        """The enable bits that exist; also the reset value of the register."""
        return (1 << len(self.members)) - 1


@dataclass(frozen=True, slots=True)
class EventUnitFacts:
    """The event, counter, timer and trace block of a module.

    Attributes:
        base: byte offset of the block in the tile.
        number_bits: width of an event number in the registers.
        counters: performance counters.
        counter_base: byte offset of their registers.
        groups: the groups in the order of their enable registers.
        events: event name -> number.
    """

    base: int
    number_bits: int
    counters: int
    counter_base: int
    groups: tuple[EventGroup, ...]
    events: Mapping[str, int]

    @property
    def status_words(self) -> int:
        """Number of event status registers."""
        return max(self.events.values()) // WORD_BITS + 1

    def sticky_status(self, event: str) -> tuple[int, int]:
        """Byte offset in the tile and bit of the sticky status of an event."""
        word, bit = divmod(self.events[event], WORD_BITS)
        return self.base + EVENT_STATUS + word * WORD_BYTES, bit


_Row = tuple[str, int, int, Sequence[str]]  # group, its number, number of the first member, members


def _unit(
    base: int,
    number_bits: int,
    counters: int,
    counter_base: int,
    rows: Sequence[_Row],
    lone: Mapping[str, int] = MappingProxyType({}),
) -> EventUnitFacts:
    groups = tuple(
        EventGroup(name, event, first, tuple(members), base + GROUP_ENABLE + k * WORD_BYTES)
        for k, (name, event, first, members) in enumerate(rows)
    )
    events = {"NONE": 0, "TRUE": 1, **lone}
    for group in groups:
        events[group.name] = group.event
        events |= {name: n for n, name in enumerate(group.members, group.first) if name != NO_EVENT}
    return EventUnitFacts(base, number_bits, counters, counter_base, groups, MappingProxyType(events))


def _each(pattern: str, count: int) -> tuple[str, ...]:
    return tuple(pattern.format(n) for n in range(count))


def _per(count: int, *patterns: str) -> tuple[str, ...]:
    return tuple(pattern.format(n) for n in range(count) for pattern in patterns)


def _basic(counter: str, counters: int) -> tuple[str, ...]:
    return (
        "TIMER_SYNC",
        "TIMER_VALUE_REACHED",
        *_each(counter, counters),
        *_each("COMBO_EVENT_{}", 4),
        *_each("EDGE_DETECTION_EVENT_{}", 2),
    )


def _dma(channel: str) -> tuple[str, ...]:
    s2mm, mm2s = (tuple(channel.format(side, n) for n in range(2)) for side in DIRECTIONS)
    kinds = (
        ("START_TASK", s2mm + mm2s),
        ("FINISHED_BD", s2mm + mm2s),
        ("FINISHED_TASK", s2mm + mm2s),
        ("STALLED_LOCK", s2mm + mm2s),
        ("STREAM_STARVATION", s2mm),
        ("STREAM_BACKPRESSURE", mm2s),
        ("MEMORY_BACKPRESSURE", s2mm),
        ("MEMORY_STARVATION", mm2s),
    )
    return tuple(f"DMA_{name}_{kind}" for kind, names in kinds for name in names)


_PORTS = _per(PORT_SELECTORS, "PORT_IDLE_{}", "PORT_RUNNING_{}", "PORT_STALLED_{}", "PORT_TLAST_{}")
_BROADCAST = _each("BROADCAST_{}", BROADCAST_CHANNELS)
_DATA_ECC = "DM_ECC_ERROR_SCRUB_CORRECTED DM_ECC_ERROR_SCRUB_2BIT DM_ECC_ERROR_1BIT DM_ECC_ERROR_2BIT"

_MEMORY_TILE_LOCKS = _per(
    MEMORY.lock_event_selectors,
    *("LOCK_SEL{}_ACQ_EQ", "LOCK_SEL{}_ACQ_GE", "LOCK_SEL{}_REL", "LOCK_SEL{}_EQUAL_TO_VALUE"),
)
_MEMORY_TILE_ERRORS = f"""{_DATA_ECC}
    DMA_S2MM_ERROR DMA_MM2S_ERROR STREAM_SWITCH_PARITY_ERROR STREAM_PKT_ERROR CONTROL_PKT_ERROR
    AXI_MM_SLAVE_ERROR LOCK_ERROR DMA_TASK_TOKEN_STALL"""
_MEMORY_TILE = _unit(
    base=0x94000,
    number_bits=8,
    counters=4,
    counter_base=0x91000,
    rows=(
        ("GROUP_0", 2, 3, _basic("PERF_CNT{}_EVENT", 4)),
        ("GROUP_WATCHPOINT", 15, 16, _each("WATCHPOINT_{}", 4)),
        ("GROUP_DMA_ACTIVITY", 20, 21, _dma("{}_SEL{}")),
        ("GROUP_LOCK", 45, 46, _MEMORY_TILE_LOCKS),
        ("GROUP_STREAM_SWITCH", 78, 79, _PORTS),
        ("GROUP_MEMORY_CONFLICT", 111, 112, _each("CONFLICT_DM_BANK_{}", MEMORY.banks)),
        ("GROUP_ERRORS", 128, 129, _MEMORY_TILE_ERRORS.split()),
        ("GROUP_BROADCAST", 141, 142, _BROADCAST),
        ("GROUP_USER_EVENT", 158, 159, _each("USER_EVENT_{}", 2)),
    ),
)

_MEMORY_LOCKS = _per(
    COMPUTE.lock_event_selectors,
    *("LOCK_SEL{}_ACQ_EQ", "LOCK_SEL{}_ACQ_GE", "LOCK_{}_REL", "LOCK_SEL{}_EQUAL_TO_VALUE"),
)
_MEMORY_ERRORS = f"""{_DATA_ECC}
    DM_PARITY_ERROR_BANK_2 DM_PARITY_ERROR_BANK_3 DM_PARITY_ERROR_BANK_4 DM_PARITY_ERROR_BANK_5
    DM_PARITY_ERROR_BANK_6 DM_PARITY_ERROR_BANK_7 DMA_S2MM_0_ERROR DMA_S2MM_1_ERROR DMA_MM2S_0_ERROR
    DMA_MM2S_1_ERROR LOCK_ERROR DMA_TASK_TOKEN_STALL"""
_MEMORY = _unit(
    base=0x14000,
    number_bits=7,
    counters=2,
    counter_base=0x11000,
    rows=(
        ("GROUP_0", 2, 3, _basic("PERF_CNT_{}", 2)),
        ("GROUP_WATCHPOINT", 15, 16, _each("WATCHPOINT_{}", 2)),
        ("GROUP_DMA_ACTIVITY", 18, 19, _dma("{}_{}")),
        ("GROUP_LOCK", 43, 44, _MEMORY_LOCKS),
        ("GROUP_MEMORY_CONFLICT", 76, 77, _each("CONFLICT_DM_BANK_{}", COMPUTE.banks)),
        ("GROUP_ERRORS", 86, 87, _MEMORY_ERRORS.split()),
        ("GROUP_BROADCAST", 106, 107, _BROADCAST),
        ("GROUP_USER_EVENT", 123, 124, _each("USER_EVENT_{}", 4)),
    ),
)

_INTERFACE_LOCKS = _per(
    INTERFACE.lock_event_selectors,
    *("LOCK_{}_ACQ_EQ", "LOCK_{}_ACQ_GE", "LOCK_{}_REL", "LOCK_{}_EQUAL_TO_VALUE"),
)
_INTERFACE_ERRORS = """
    AXI_MM_SLAVE_ERROR CONTROL_PKT_ERROR STREAM_SWITCH_PARITY_ERROR AXI_MM_DECODE_NSU_ERROR
    AXI_MM_SLAVE_NSU_ERROR AXI_MM_UNSUPPORTED_TRAFFIC AXI_MM_UNSECURE_ACCESS_IN_SECURE_MODE
    AXI_MM_BYTE_STROBE_ERROR DMA_S2MM_ERROR DMA_MM2S_ERROR LOCK_ERROR DMA_TASK_TOKEN_STALL"""
_INTERFACE = _unit(
    base=0x34000,
    number_bits=7,
    counters=2,
    counter_base=0x31000,
    rows=(
        ("GROUP_0", 2, 3, _basic("PERF_CNT_{}", 2)),
        ("GROUP_DMA_ACTIVITY", 13, 14, _dma("{}_{}")),
        ("GROUP_LOCK", 38, 39, _INTERFACE_LOCKS),
        ("GROUP_ERRORS", 63, 64, _INTERFACE_ERRORS.split()),
        ("GROUP_STREAM_SWITCH", 76, 77, _PORTS),
        ("GROUP_BROADCAST_A", 109, 110, _each("BROADCAST_A_{}", BROADCAST_CHANNELS)),
    ),
    lone={"USER_EVENT_0": 126, "USER_EVENT_1": 127},
)

_CORE_STALLS = """
    MEMORY_STALL STREAM_STALL CASCADE_STALL LOCK_STALL DEBUG_HALTED ACTIVE DISABLED
    ECC_ERROR_STALL ECC_SCRUBBING_STALL"""
_CORE_PROGRAM_FLOW = """
    INSTR_EVENT_0 INSTR_EVENT_1 INSTR_CALL INSTR_RETURN INSTR_VECTOR INSTR_LOAD INSTR_STORE INSTR_STREAM_GET
    INSTR_STREAM_PUT INSTR_CASCADE_GET INSTR_CASCADE_PUT INSTR_LOCK_ACQUIRE_REQ INSTR_LOCK_RELEASE_REQ"""
_CORE_ERRORS = f"""
    SRS_OVERFLOW UPS_OVERFLOW FP_HUGE INT_FP_0 FP_INVALID FP_INF {NO_EVENT} PM_REG_ACCESS_FAILURE
    STREAM_PKT_PARITY_ERROR CONTROL_PKT_ERROR AXI_MM_SLAVE_ERROR INSTR_DECOMPRSN_ERROR DM_ADDRESS_OUT_OF_RANGE
    PM_ECC_ERROR_SCRUB_CORRECTED PM_ECC_ERROR_SCRUB_2BIT PM_ECC_ERROR_1BIT PM_ECC_ERROR_2BIT
    PM_ADDRESS_OUT_OF_RANGE DM_ACCESS_TO_UNAVAILABLE LOCK_ACCESS_TO_UNAVAILABLE INSTR_WARNING INSTR_ERROR
    DECOMPRESSION_UNDERFLOW STREAM_SWITCH_PORT_PARITY_ERROR PROCESSOR_BUS_ERROR"""
_CORE = _unit(
    base=0x34000,
    number_bits=7,
    counters=4,
    counter_base=0x31500,
    rows=(
        ("GROUP_0", 2, 3, _basic("PERF_CNT_{}", 4)),
        ("GROUP_PC_EVENT", 15, 16, (*_each("PC_{}", 4), "PC_RANGE_0_1", "PC_RANGE_2_3")),
        ("GROUP_STALL", 22, 23, _CORE_STALLS.split()),
        ("GROUP_PROGRAM_FLOW", 32, 33, _CORE_PROGRAM_FLOW.split()),
        ("GROUP_ERRORS_0", 46, 48, _CORE_ERRORS.split()),
        ("GROUP_ERRORS_1", 47, 48, _CORE_ERRORS.split()),
        ("GROUP_STREAM_SWITCH", 73, 74, _PORTS),
        ("GROUP_BROADCAST", 106, 107, _BROADCAST),
        ("GROUP_USER_EVENT", 123, 124, _each("USER_EVENT_{}", 4)),
    ),
)

EVENT_UNITS: Mapping[ModuleName, EventUnitFacts] = MappingProxyType(
    {"memory_tile": _MEMORY_TILE, "memory": _MEMORY, "core": _CORE, "pl": _INTERFACE}
)
EVENT_MODULES: Mapping[ModuleName, ModuleName] = MappingProxyType(
    {
        **{module: module for module in EVENT_UNITS},
        "memory_tile_2p": "memory_tile",
        "memory_2p": "memory",
        "core_2p": "core",
        "pl_2p": "pl",
        "memory_tile_v2": "memory_tile",
        "memory_v2": "memory",
    }
)
"""Each module that has an event unit -> the one of AIE-ML with the same numbers (driver; v2: DEV-V2-2)."""

RENAMED: Mapping[ModuleName, Mapping[str, str]] = MappingProxyType(
    {"core_2p": MappingProxyType({"DECOMPRESSION_UNDERFLOW": "SPARSITY_OVERFLOW"})}
)
"""Events of AIE-ML that have another meaning and so another name elsewhere (driver event headers)."""


def events_of(module: ModuleName) -> Mapping[str, int]:
    """Event name -> number of a module that has an event unit."""
    other = RENAMED.get(module, {})
    return {other.get(name, name): n for name, n in EVENT_UNITS[EVENT_MODULES[module]].events.items()}


EVENTS: Mapping[ModuleName, Mapping[str, int]] = MappingProxyType(
    {module: unit.events for module, unit in EVENT_UNITS.items()}
)
GROUPS: Mapping[ModuleName, tuple[EventGroup, ...]] = MappingProxyType(
    {module: unit.groups for module, unit in EVENT_UNITS.items()}
)

_SLAVE_ERROR = "AXI_MM_SLAVE_ERROR"
_SLAVE_ERROR_MODULE: Mapping[Role, ModuleName] = MappingProxyType(
    {"memory": "memory_tile", "compute": "core", "interface": "pl"}
)


def slave_error_status(tile: TileName) -> tuple[int, int]:
    """Byte offset and bit of the sticky status of an access that nothing in the tile answers."""
    return EVENT_UNITS[_SLAVE_ERROR_MODULE[TILE_KINDS[tile].role]].sticky_status(_SLAVE_ERROR)
