"""The register tables of ``arch`` as flat arrays that the AXI port looks things up in."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.arch.mirrors import mirrors
from memtile.arch.ports import MERGE_ARBITERS, PORTS
from memtile.arch.register_map import BEYOND, TILE_MODULES, event_modules, register_map
from memtile.arch.registers import WORD_BITS, Register
from memtile.arch.switch_registers import MERGE_OFFSET, MERGE_STRIDE, SLAVE_CONFIG_OFFSET
from memtile.arch.tiles import MM2S, S2MM, TILE_BYTES, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.model.axi import Block
from memtile.model.events.registers import UNITS, EventBlock
from memtile.model.state.columns import Ints, Shorts

_UNMAPPED = -1

Bools = npt.NDArray[np.bool_]


@cache
def registers_of(name: TileName) -> tuple[Register, ...]:
    """Every 32-bit register of a tile kind in address order, windows included, data memory not."""
    described = [r for module in TILE_MODULES[name] for r in register_map(module).values()]
    found = [r for r in (*described, *BEYOND[TILE_KINDS[name].role]()) if r.width == WORD_BITS]
    return tuple(sorted(found, key=lambda r: r.offset))


@cache
def reset_values(name: TileName) -> Ints:
    """Value of each register after reset; int64, in the order of :func:`registers_of`."""
    return np.array([r.reset for r in registers_of(name)], dtype=np.int64)


def index_map(name: TileName) -> Shorts:
    """Register index of every 32-bit word of the tile's address space; -1 where nothing answers."""
    table = np.full(TILE_BYTES // WORD_BYTES, _UNMAPPED, dtype=np.int16)
    for index, register in enumerate(registers_of(name)):
        first = register.offset // WORD_BYTES
        table[first : first + register.span // WORD_BYTES] = index
    return table


def _channel_blocks(kind: TileKind) -> dict[int, tuple[IntEnum, int]]:
    blocks: dict[int, tuple[IntEnum, int]] = {}
    for direction in (S2MM, MM2S):
        for number in range(kind.channels):
            ch = direction * kind.channels + number
            blocks[kind.queue_base + ch * kind.channel_stride] = (Block.QUEUE, ch)
            blocks[kind.control_base + ch * kind.channel_stride] = (Block.CONTROL, ch)
            blocks[kind.status_base[direction] + number * WORD_BYTES] = (Block.STATUS, ch)
    for number in range(kind.channels):
        blocks[kind.count_pop_base + number * WORD_BYTES] = (Block.COUNT_POP, number)
        blocks[kind.write_count_base + number * WORD_BYTES] = (Block.WRITE_COUNT, number)
    return blocks


def _lock_blocks(kind: TileKind) -> dict[int, tuple[IntEnum, int]]:
    blocks: dict[int, tuple[IntEnum, int]] = {kind.lock_request_base: (Block.LOCK_REQUEST, 0)}
    for lock in range(kind.locks):
        blocks[kind.lock_value_base + lock * kind.lock_value_stride] = (Block.LOCK_VALUE, lock)
    for word, first in enumerate(range(0, kind.locks, WORD_BITS)):
        blocks[kind.lock_overflow_base + word * WORD_BYTES] = (Block.LOCK_OVERFLOW, first)
        blocks[kind.lock_underflow_base + word * WORD_BYTES] = (Block.LOCK_UNDERFLOW, first)
    return blocks


def _switch_blocks(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    ports = PORTS[name]
    masters = range(ports.base, ports.base + len(ports.masters) * WORD_BYTES, WORD_BYTES)
    first = ports.base + SLAVE_CONFIG_OFFSET
    slaves = range(first, first + len(ports.slaves) * WORD_BYTES, WORD_BYTES)
    merges = {
        ports.base + MERGE_OFFSET + arbiter * MERGE_STRIDE + byte: (Block.MERGE, arbiter)
        for arbiter in range(MERGE_ARBITERS)
        for byte in range(0, MERGE_STRIDE, WORD_BYTES)
    }
    return merges | dict.fromkeys((*masters, *slaves), (Block.SWITCH, 0))


def _mirror_blocks(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    """Module by module: the two of a compute tile use the same names."""
    place = {register.offset: index for index, register in enumerate(registers_of(name))}
    found = [mirror for module in TILE_MODULES[name] for mirror in mirrors(register_map(module).values())]
    return {m.register.offset: (Block.SETS if m.sets else Block.CLEARS, place[m.value.offset]) for m in found}


def _mux_blocks(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    found = [r for r in registers_of(name) if r.name in ("Mux_Config", "Demux_Config")]
    return {register.offset: (Block.MUX, 0) for register in found}


def _core_blocks(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    """The core's control register, whose bits its status shows (DEV-REG-9)."""
    places = {register.name: index for index, register in enumerate(registers_of(name))}
    found = [r for r in registers_of(name) if r.name == "Core_Control"]
    return {register.offset: (Block.SHOWN, places["Core_Status"]) for register in found}


def _selects(name: str) -> bool:
    selections = (
        "DMA_Event_Channel_Selection",
        "Stream_Switch_Event_Port_Selection",
        "Locks_Event_Selection",
    )
    return name.startswith(("Event_Group_", *selections))


def _event_block(name: str) -> tuple[EventBlock, int] | None:
    """How a register of an event unit behaves, and which half of the timer it is; None = not one of them."""
    exact = {
        "Event_Generate": (EventBlock.GENERATE, 0),
        "Timer_Control": (EventBlock.TIMER_CONTROL, 0),
        "Timer_Low": (EventBlock.TIMER, 0),
        "Timer_High": (EventBlock.TIMER, 1),
        "Trace_Status": (EventBlock.TRACE_STATUS, 0),
    }
    if name in exact:
        return exact[name]
    if name.startswith("Event_Status"):
        return EventBlock.STATUS, 0
    if _selects(name):
        return EventBlock.SELECTION, 0
    configured = (
        "Combo_event_",
        "Edge_Detection_event",
        "Trace_",
        "Performance_",
        "Timer_Trig_",
        "Event_Broadcast",
    )
    return (EventBlock.CONFIG, 0) if name.startswith(configured) and "Block" not in name else None


def _event_blocks(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    """The registers of the tile's event units; the core module's is the first of a compute tile."""
    blocks: dict[int, tuple[IntEnum, int]] = {}
    for unit, (module, _) in enumerate(event_modules(name)):
        for register in register_map(module).values():
            found = _event_block(register.name)
            if found is not None:
                blocks[register.offset] = (found[0], found[1] * UNITS + unit)
    return blocks


def noc_offsets(name: TileName) -> frozenset[int]:
    """Byte offsets of the registers that only interface tiles with a DMA have."""
    return frozenset(r.offset for r in register_map("noc").values()) if name == "interface" else frozenset()


@cache
def answering(name: TileName, has_dma: bool) -> Bools:
    """Where an access is answered, by data memory, a register or program memory.

    Args:
        name: the tile kind.
        has_dma: whether the tile has a DMA; all but some interface tiles do.

    Returns:
        A bool for each 32-bit word of the tile's address space.
    """
    found, kind = index_map(name), TILE_KINDS[name]
    lacking = [not has_dma and register.offset in noc_offsets(name) for register in registers_of(name)]
    answered: Bools = (found != _UNMAPPED) & ~np.array(lacking)[found]
    answered[: kind.memory_words] = True
    if kind.role == "compute":
        first = CORE.program_base // WORD_BYTES
        answered[first : first + CORE.program_words] = True
    return answered


def blocks_of(name: TileName) -> dict[int, tuple[IntEnum, int]]:
    """Byte offset -> (hardware block, instance) of the registers that do more than hold a value."""
    kind = TILE_KINDS[name]
    named = {
        "Memory_Control": Block.MEMORY_CONTROL,
        "Tile_Control": Block.TILE_CONTROL,
        "CHECKBIT_ERROR_GENERATION": Block.CHECK_BITS,
        "ECC_SCRUBBING_EVENT": Block.SCRUBBING,
        "Column_Clock_Control": Block.COLUMN_CLOCK,
        "AIE_Tile_Column_Reset": Block.COLUMN_CLOCK,
        "Core_Memory_Control": Block.PROGRAM_CONTROL,
        "Stream_Switch_Parity_Injection": Block.PARITY_INJECTION,
    }
    controls = {r.offset: (named[r.name], 0) for r in registers_of(name) if r.name in named}
    watched = {r.offset: (Block.WATCHPOINT, 0) for r in registers_of(name) if r.name.startswith("WatchPoint")}
    own = (
        _core_blocks(name)
        | _channel_blocks(kind)
        | _lock_blocks(kind)
        | _switch_blocks(name)
        | _mux_blocks(name)
    )
    return own | _mirror_blocks(name) | _event_blocks(name) | controls | watched
