"""State of the cores: the action that each one's kernel asked for.

It also has state of the cascades: the registers between neighbouring cores (AM020 chapter 4).
"""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.core import CORE
from memtile.model.state.causes import CoreCause, CorePhase
from memtile.model.state.columns import (
    ACTIVE,
    ANY,
    AS_BUILT,
    BUILT,
    CLEARED,
    CORE_STEPS,
    COUNTED,
    DATA,
    DUE,
    EQUAL,
    EVENT,
    FLAG,
    MOVES,
    NEVER,
    OWN_PAUSE,
    OWN_RESET,
    PAST,
    SIGNED,
    SOON,
    STALE,
    STAMP,
    STAYS,
    WIRED,
    Column,
    Holds,
    Ints,
    Owner,
    Requests,
    one_of,
    row_of,
)


class Trigger(IntEnum):
    """What events can do to a core: columns of ``Cores.triggers`` (AM025 Debug_Control1, Enable_Events)."""

    HALT_0 = 0
    HALT_1 = 1
    STEP = 2
    RESUME = 3
    ERROR = 4
    ENABLE = 5
    DISABLE = 6
    RESET = 7


TRIGGERS = len(Trigger)
Triggers = Annotated[Ints, (TRIGGERS,)]


class Cores(NamedTuple):
    """Cores of the compute tiles: the action that each one's kernel asked for."""

    tile: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    # ports of its tile's stream switch: the master that it gets words from, the slave that it puts them into
    stream_in: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    stream_out: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    active: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, ACTIVE)]  # 1 = in State.active_cores
    phase: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, STAYS, Holds(CorePhase.IDLE, CorePhase.DONE))
    ]  # CorePhase
    why: Annotated[
        Ints, Column(EQUAL, CoreCause.IDLE, OWN_RESET, OWN_PAUSE, one_of(CoreCause))
    ]  # CoreCause of the current cycle
    # WAIT: last cycle of it; lock operations: first cycle in which it is decided
    until: Annotated[Ints, Column(DUE, 0, STALE, MOVES, SOON)]
    lock: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, COUNTED)]  # lock id as the core sees it
    target: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, row_of(Owner.LOCK))]  # that lock in State.locks
    value: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, SIGNED)]  # operand of the lock operation
    # position in State.accesses; lock operations: 1 = begun
    step: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, Holds(0, CORE_STEPS))]
    # 1 = ``bank`` and ``wanted`` are those of the step
    begun: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, FLAG)]
    steps: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, Holds(0, CORE_STEPS))]
    # of each part of each address generator's access
    bank: Annotated[Requests, Column(EQUAL, 0, STALE, STAYS, row_of(Owner.BANK))]
    # grants that the part still needs in this step
    wanted: Annotated[Requests, Column(EQUAL, 0, STALE, STAYS, Holds(0, 2))]
    # reasons, 0 = it goes on: bits as in Debug_Status, and ``debug.BY_ERROR``
    halted: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, COUNTED)]
    single: Annotated[
        Ints, Column(EQUAL, 0, CLEARED, STAYS, COUNTED)
    ]  # cycles without a stall up to the next halt
    halting_stalls: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]  # as in Debug_Control2
    triggers: Annotated[
        Triggers, Column(EQUAL, 0, CLEARED, STAYS, EVENT)
    ]  # the event of each Trigger, 0 = none
    held: Annotated[Ints, Column(EQUAL, 1, CLEARED, STAYS, FLAG)]  # Core_Control.Reset, as it was last seen
    enabled: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]  # and its Enable
    # 1 = that has come on; 2 = its kernel was taken away and begins anew when it is off
    reset: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, Holds(0, 2))]
    ended: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]  # 1 = its last kernel has come to its end


Deep = Annotated[Ints, (CORE.cascade_depth,)]
Values = Annotated[Ints, (CORE.cascade_depth * CORE.cascade_words,)]


class Cascades(NamedTuple):
    """The cascade output and input of each core: two values each, the oldest first."""

    # cores beside it, -1 = none
    north: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    west: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    south: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    east: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    # as Accumulator_Control says: 1 = its input is the western core's output, its output goes to the east
    from_west: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]
    to_east: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]
    out_held: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, STAYS, Holds(0, CORE.cascade_depth))
    ]  # values in the output
    out_words: Annotated[Values, Column(DATA, 0, STALE, STAYS, ANY)]
    out_entered: Annotated[Deep, Column(STAMP, NEVER, STALE, MOVES, PAST)]  # cycle in which each one was put
    in_held: Annotated[
        Ints, Column(EQUAL, 0, CLEARED, STAYS, Holds(0, CORE.cascade_depth))
    ]  # values in the input
    in_words: Annotated[Values, Column(DATA, 0, STALE, STAYS, ANY)]
    in_entered: Annotated[Deep, Column(STAMP, NEVER, STALE, MOVES, PAST)]  # cycle in which each one came
    in_taken: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS, PAST)]  # last cycle in which it took one
