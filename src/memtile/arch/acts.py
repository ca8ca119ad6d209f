"""What registers do beyond holding their value: the behaviours that rows of the register tables name.

A row says ``acts=Acts.X`` and, where there is more than one of what it is about, which one as ``argument``.
What happens then is the matter of ``model/axi.py``, which has a branch for each behaviour.
"""

from __future__ import annotations

from enum import IntEnum, auto


class DebugControl(IntEnum):
    """Which register controls the halts of a core."""

    HALT_BIT = 0
    STALLS = 1
    ERROR = 2
    CORE = 3  # Core_Control: its reset


class Acts(IntEnum):
    """Behaviour of a register, for writes, reads or both; behind each one what ``argument`` stands for."""

    HOLDS = 0  # what software writes or a hardware block puts there, which looks at it when it needs it
    KEEPS = auto()  # what software writes: nothing in the model looks at it

    # DMA and locks (AM025 DMA_*, Lock*)
    START_QUEUE = auto()  # channel of the tile, those of S2MM first
    CHANNEL_CONTROL = auto()  # channel
    CHANNEL_STATUS = auto()  # channel
    WRITE_COUNT = auto()  # S2MM channel
    COUNT_POP = auto()  # S2MM channel: a read pops the finish-on-TLAST count FIFO
    LOCK_VALUE = auto()  # lock
    LOCK_REQUEST = auto()  # -: the address of a read says which lock
    LOCK_OVERFLOW = auto()  # lock of bit 0
    LOCK_UNDERFLOW = auto()  # lock of bit 0

    # Memories (AM025 Memory_Control, WatchPoint*; the others DEV-REG-5 and DEV-REG-9)
    MEMORY_CONTROL = auto()
    CHECK_BITS = auto()
    SCRUBBING = auto()
    WATCHPOINT = auto()
    PROGRAM_CONTROL = auto()

    # The core, its debug unit and its cascade (AM025 Core_Status, Debug_*, Error_Halt_Control,
    # Accumulator_Control; DEV-DEBUG-1, DEV-CASC-2)
    CORE_STATUS = auto()
    DEBUG_CONTROL = auto()  # DebugControl
    DEBUG_STATUS = auto()
    CASCADE = auto()

    # Stream switch and the interface tile's multiplexers (AM025 Stream_Switch_*, Mux_Config, Demux_Config)
    SWITCH_PORT = auto()
    MERGE = auto()  # arbiter
    PARITY_INJECTION = auto()
    MULTIPLEXER = auto()

    # The tile and its column (AM025 Tile_Control, Column_Clock_Control, AIE_Tile_Column_Reset)
    TILE_CONTROL = auto()
    COLUMN_CLOCK = auto()

    # Another register of the tile (DEV-REG-10)
    SETS = auto()  # byte offset of the register in which a written 1 sets the bit
    CLEARS = auto()  # byte offset of the register in which a written 1 clears the bit

    # Event unit of the module (AM025 Event_*, Combo_event_*, Performance_*, Timer_*, Trace_*)
    EVENT_SETUP = auto()  # what the unit does each cycle depends on it
    EVENT_SELECTION = auto()  # what some events are about: a channel, lock or port, or a group's members
    EVENT_STATUS = auto()
    EVENT_GENERATE = auto()
    TIMER_CONTROL = auto()
    TIMER = auto()  # half of the value: 0 low, 1 high
    TRACE_STATUS = auto()
