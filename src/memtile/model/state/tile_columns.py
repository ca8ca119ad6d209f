"""Facts of tiles, tile kinds and registers, the clock of each tile, and the state of its core and cascade."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.core import CORE
from memtile.arch.tiles import TileName
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
    NONE,
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
    Four,
    Holds,
    Ints,
    Merges,
    Owner,
    Pair,
    Requests,
    Three,
    one_of,
    row_of,
)

OUTSIDE = -1
"""Column of the tiles beside a partition: they lend memory and locks, and have no address and no wires."""


class Placed(NamedTuple):
    """A tile of the model: its kind, the model indices of its neighbours (-1 = none), and its place.

    Two tiles of a model have wires between their stream switches when their places touch, but for those that
    are ``OUTSIDE``.
    """

    name: TileName
    west: int = NONE
    east: int = NONE
    column: int = 0
    row: int = 0
    has_dma: bool = True  # False: an interface tile without DMA (``Device.has_interface_dma``)


class Tiles(NamedTuple):
    """Fixed facts of each tile."""

    kind: Ints  # index into the per-kind tables
    channel_base: Ints
    channels: Ints  # channels of both directions
    lock_base: Ints
    locks: Ints
    bank_base: Ints
    banks: Ints
    memory_base: Ints  # first word in State.memory
    memory_words: Ints
    register_base: Ints  # first entry in State.registers
    registers: Ints
    column: Ints
    row: Ints
    slave_base: Ints  # first slave port in State.switch; the masters follow the slaves
    slaves: Ints
    master_base: Ints
    masters: Ints
    first_unit: Ints  # its first event unit
    units: Ints
    has_dma: Ints  # 0 = interface tile without DMA, locks and multiplexers
    neighbour: Three  # west, own, east tile index; -1 = none
    core: Ints  # index into State.cores, -1 = none
    core_reach: Four


class Kinds(NamedTuple):
    """Fixed facts of each tile kind."""

    bd_words: Ints
    bd_register: Ints  # register index of word 0 of BD 0
    bd_first: Pair  # by channel parity (AM020: 24 of 48 BDs per channel)
    bd_last: Pair
    neighbour_channels: Ints  # channels of each direction that reach the neighbours
    first_window: Ints  # column of Tiles.neighbour that DMA window 0 names
    memory_shift: Ints  # log2 of the words of one memory window
    lock_shift: Ints  # log2 of the locks of one lock window
    master_config: Ints  # register index of the first stream switch master
    slave_config: Ints  # and of the first slave
    slot_config: Ints  # and of the first packet slot
    merge_config: Merges  # and of each deterministic merge
    slave_error_status: Ints  # register index and bit of the sticky status of an access that nothing answers
    slave_error_bit: Ints
    external: Ints  # 1 = the channels work on external memory
    multiplexer: Pair  # register indices of Mux_Config and Demux_Config, -1 = none
    queue_mask: Ints  # bits of the start queue register
    current_bd: Pair  # lowest bit of Cur_BD in the status register, S2MM and MM2S
    reset_mask: Ints  # Reset bit of the channels' control register; 0 = the kind has none
    granule_words: Ints  # words of one memory access
    pad_value: Ints  # register index of the pad value of MM2S channel 0, -1 = padding is zeros
    interleaves: Ints
    compression_known: Ints  # 0 = the format of its compressed streams is not public


class RegisterMap(NamedTuple):
    """Fixed facts of each register, by (kind, register index)."""

    write_mask: Ints  # bits that a write stores
    clear_mask: Ints  # write-1-to-clear bits
    read_mask: Ints  # bits that a read returns
    acts: Ints  # arch.acts.Acts: what it does beyond holding its value
    argument: Ints  # which channel, lock or other thing, as Acts says
    unit: Ints  # event unit of the tile that it is about
    needs_dma: Ints


class Gates(NamedTuple):
    """Clock of each tile."""

    off: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, FLAG)
    ]  # 1 = the tile has no clock; in State.gated
    held: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, FLAG)]  # 1 = the reset of its column is on
    since: Annotated[
        Ints, Column(STAMP, 0, OWN_RESET, OWN_PAUSE, PAST)
    ]  # first cycle that the tile does not have
    # cycles that a zeroisation still needs, -1 = none is under way
    zeroising: Annotated[Ints, Column(DUE, NEVER, CLEARED, OWN_PAUSE, SOON)]


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
    # reasons, 0 = it goes on: bits as in Debug_Status, ``debug.BY_ERROR``, ``debug.BY_DISABLE``
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
