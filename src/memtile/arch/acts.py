"""What registers do beyond holding their value: the behaviours that rows of the register tables name.

A row says ``acts=Acts.X`` and, where there is more than one of what it is about, which one as ``argument``.
What happens then is the matter of ``model/axi.py``, which has a branch for each behaviour.
"""

from __future__ import annotations

from enum import Flag, IntEnum, auto


class DebugControl(IntEnum):
    """Which register controls the halts of a core."""

    HALT_BIT = 0
    STALLS = 1
    ERROR = 2
    CORE = 3  # Core_Control: its reset


class Shows(Flag):
    """What software learns from a register with a behaviour."""

    NOTHING = 0  # but what was written to it
    HAPPENED = auto()  # what happened, not what was set up
    READABLE = auto()  # a value of the moment, by a read that changes nothing (DEV-DUMP-2)
    STALLS = auto()  # why an array makes no progress
    PROGRESS = auto()  # how far an array has come: equal in two runs that stopped at the same place
    ROUTES = auto()  # a way of words: the model looks at all of the tile's ways when one is written


class Acts(IntEnum):
    """Behaviour of a register, for writes, reads or both; behind each one what ``argument`` stands for.

    Attributes:
        shows: what software learns from the register.
    """

    _value_: int
    shows: Shows

    def __new__(cls, shows: Shows) -> Acts:
        """Return the next behaviour.

        Raises:
            TypeError: it does not say what the register shows.
        """
        if not isinstance(shows, Shows):
            raise TypeError(f"declare a behaviour with what its register shows, not as {shows}")
        acts = int.__new__(cls, len(cls.__members__))
        acts._value_, acts.shows = len(cls.__members__), shows
        return acts

    # what software writes or a hardware block puts there, which looks at it when it needs it
    HOLDS = Shows.NOTHING
    KEEPS = Shows.NOTHING  # what software writes: nothing in the model looks at it

    # DMA and locks (AM025 DMA_*, Lock*)
    START_QUEUE = Shows.NOTHING  # channel of the tile, those of S2MM first
    CHANNEL_CONTROL = Shows.NOTHING  # channel
    CHANNEL_STATUS = Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS  # channel
    WRITE_COUNT = Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS  # S2MM channel
    COUNT_POP = Shows.NOTHING  # S2MM channel: a read pops the finish-on-TLAST count FIFO
    LOCK_VALUE = Shows.READABLE | Shows.STALLS | Shows.PROGRESS  # lock
    LOCK_REQUEST = Shows.NOTHING  # -: the address of a read says which lock
    LOCK_OVERFLOW = Shows.READABLE | Shows.STALLS  # lock of bit 0
    LOCK_UNDERFLOW = Shows.READABLE | Shows.STALLS  # lock of bit 0

    # Memories (AM025 Memory_Control, WatchPoint*; the others DEV-REG-5 and DEV-REG-9)
    MEMORY_CONTROL = Shows.NOTHING
    CHECK_BITS = Shows.NOTHING
    SCRUBBING = Shows.NOTHING
    WATCHPOINT = Shows.NOTHING
    PROGRAM_CONTROL = Shows.NOTHING

    # The core, its debug unit and its cascade (AM025 Core_Status, Debug_*, Error_Halt_Control,
    # Accumulator_Control; DEV-DEBUG-1, DEV-CASC-2)
    CORE_STATUS = Shows.HAPPENED | Shows.READABLE | Shows.STALLS | Shows.PROGRESS
    DEBUG_CONTROL = Shows.NOTHING  # DebugControl
    DEBUG_STATUS = Shows.HAPPENED | Shows.READABLE
    CASCADE = Shows.STALLS | Shows.ROUTES

    # Stream switch and the interface tile's multiplexers (AM025 Stream_Switch_*, Mux_Config, Demux_Config)
    SWITCH_PORT = Shows.STALLS | Shows.PROGRESS | Shows.ROUTES
    MERGE = Shows.NOTHING  # arbiter
    PARITY_INJECTION = Shows.NOTHING
    MULTIPLEXER = Shows.STALLS | Shows.ROUTES

    # The tile and its column (AM025 Tile_Control, Column_Clock_Control, AIE_Tile_Column_Reset)
    TILE_CONTROL = Shows.STALLS | Shows.ROUTES
    COLUMN_CLOCK = Shows.STALLS

    # Another register of the tile (DEV-REG-10)
    SETS = Shows.NOTHING  # byte offset of the register in which a written 1 sets the bit
    CLEARS = Shows.NOTHING  # byte offset of the register in which a written 1 clears the bit

    # Event unit of the module (AM025 Event_*, Combo_event_*, Performance_*, Timer_*, Trace_*)
    EVENT_SETUP = Shows.NOTHING  # what the unit does each cycle depends on it
    # what some events are about: a channel, lock or port, or the members of a group
    EVENT_SELECTION = Shows.NOTHING
    EVENT_STATUS = Shows.HAPPENED | Shows.READABLE
    EVENT_GENERATE = Shows.HAPPENED
    TIMER_CONTROL = Shows.NOTHING
    TIMER = Shows.HAPPENED | Shows.READABLE  # half of the value: 0 low, 1 high
    TRACE_STATUS = Shows.HAPPENED | Shows.READABLE
