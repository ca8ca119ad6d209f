"""State of data memory: banks, locks, the interfaces to the neighbours, protection, watchpoints."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.model.state.columns import (
    BOOKS,
    BUILT,
    CLEARED,
    COUNT,
    DUE,
    EQUAL,
    MEMORY_WORDS,
    MOVES,
    MOVES_IF_AHEAD,
    NEVER,
    NONE,
    NOW,
    OWN_PAUSE,
    OWN_RESET,
    PLACE,
    STALE,
    STAMP,
    STAYS,
    TURN,
    WIRED,
    Column,
    Ints,
    Three,
)

INTERFACES = 4  # of a tile to its neighbours' memory: west and east, each for writes and for reads


class Banks(NamedTuple):
    """Bank arbiters; requesters are the channels, then the parts of each core's accesses."""

    tile: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS)]
    turn: Annotated[Ints, Column(EQUAL, 0, TURN, STAYS)]  # requester served first next time
    best: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    winner: Annotated[Ints, Column(EQUAL, NONE, STALE, STAYS)]  # requester granted this cycle
    stamp: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS)]  # cycle of ``winner``
    conflict: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS)]  # last cycle with more than one request
    free_at: Annotated[Ints, Column(DUE, 0, STALE, STAYS)]  # AXI master: busy with a burst before this cycle


class Memories(NamedTuple):
    """Memory control of each tile."""

    # tile whose memory and locks its DMA finds to the west, at home, to the east; -1 = none
    reach: Annotated[Three, Column(EQUAL, BUILT, WIRED, STAYS)]
    # word address >> shift & mask is the bank, or the bank within its group
    shift: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS)]
    mask: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS)]
    # word address >> group_shift & group_mask is the group of banks
    group_shift: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS)]
    group_mask: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS)]
    group_banks: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS)]  # banks of a group
    # zeroisation owns the banks before this cycle, -1 = it does not
    busy_until: Annotated[Ints, Column(DUE, NEVER, OWN_RESET, OWN_PAUSE)]
    # register index of the Memory_Control that asked for it
    control: Annotated[Ints, Column(EQUAL, NONE, STALE, STAYS)]
    watched: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS)]  # watchpoints that are set


class Locks(NamedTuple):
    """Semaphore locks and their arbiters; requesters are the channels, then the cores."""

    tile: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS)]
    value: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]
    # bit mask of further values of which the sticky status does not yet tell
    held: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]
    overflow: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]
    underflow: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]
    turn: Annotated[Ints, Column(EQUAL, 0, TURN, STAYS)]
    best: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    winner: Annotated[Ints, Column(EQUAL, NONE, STALE, STAYS)]
    # cycle of the last change, or from which on the sticky status does not yet tell of the value
    since: Annotated[Ints, Column(STAMP, 0, NOW, STAYS)]
    # last cycle of each LockEvent but the last
    event: Annotated[Three, Column(STAMP, NEVER, CLEARED, MOVES_IF_AHEAD)]
    stamp: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS)]


class Interfaces(NamedTuple):
    """Interfaces of the tiles to their neighbours' memories and their arbiters, see ``neighbours``."""

    turn: Annotated[Ints, Column(EQUAL, 0, TURN, STAYS)]  # channel served first next time
    best: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    winner: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    stamp: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS)]
    served: Annotated[Ints, Column(COUNT, 0, BOOKS, STAYS)]  # accesses so far


class AxiPorts(NamedTuple):
    """Ports of the tiles for memory-mapped accesses to data memory, see ``axi_port``."""

    active: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE)]  # 1 = in State.asking_axi
    at: Annotated[Ints, Column(PLACE, 0, STALE, STAYS)]  # tile-local word in the granule that is accessed
    left: Annotated[Ints, Column(COUNT, 0, CLEARED, STAYS)]  # requests that are still to be served
    bank: Annotated[Ints, Column(EQUAL, NONE, STALE, STAYS)]  # bank asked in this cycle, -1 = none
    served: Annotated[Ints, Column(COUNT, 0, BOOKS, STAYS)]  # requests so far


class Protections(NamedTuple):
    """Fixed facts of each tile kind."""

    ecc_words: Ints  # words from 0 on with ECC; the others have parity
    ecc_event: Ints  # number of the first of four events, see arch.protection
    parity_event: Ints  # number of the event of the first bank with parity
    ecc_failing: Ints  # register index of the failing address, -1 = none
    ecc_valid: Ints  # its bit VALID
    parity_failing: Ints
    parity_valid: Ints


class Guards(NamedTuple):
    """Protection of each tile's data memory, and its scrubber."""

    enabled: Annotated[Ints, Column(EQUAL, 1, WIRED, STAYS)]  # 0 = as if the memory had no check bits
    # not 0 = accesses need a look: the words with flipped cells, one more while ``lanes`` is not 0, and one
    # for each watchpoint that is set
    inspected: Annotated[Ints, Column(EQUAL, 0, MEMORY_WORDS, STAYS)]
    # Checkbit_Error_Generation: lanes whose words are written with a wrong check bit
    lanes: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS)]
    active: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE)]  # 1 = in State.guarding
    at: Annotated[Ints, Column(PLACE, 0, TURN, STAYS)]  # scrubber: first tile-local word of the next granule
    steps: Annotated[Ints, Column(COUNT, 0, BOOKS, STAYS)]  # so far
    # granules of the running step that are still to be scrubbed
    left: Annotated[Ints, Column(COUNT, 0, CLEARED, STAYS)]
    # 1 = the event that starts a step is always there
    always: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS)]
    # 1 = the granule was read and is to be written back
    repairs: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]
    bank: Annotated[Ints, Column(EQUAL, NONE, STALE, STAYS)]  # bank asked in this cycle, -1 = none
    again_at: Annotated[Ints, Column(DUE, 0, STALE, MOVES)]  # cycle in which they are
    # events to be raised once more, from the first ECC event on, one bit each
    again: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS)]


class Origin(IntEnum):
    """Where an access to data memory comes from, as its tile sees it: columns of ``Watches.origin``.

    At the sides of a memory tile are the DMAs of its neighbours. At those of the memory of a compute tile are
    cores, its own one in the west (DEV-WATCH-2).
    """

    AXI = 0
    DMA = 1
    EAST = 2
    WEST = 3
    NORTH = 4
    SOUTH = 5


PerOrigin = Annotated[Ints, (len(Origin),)]


class Watches(NamedTuple):
    """Fixed facts of each tile kind."""

    register: Ints  # register index of the first watchpoint
    points: Ints  # watchpoints of a tile
    event: Ints  # number of the event of the first one
    read: Ints  # mask of the field that lets it look at reads
    write: Ints
    origin: PerOrigin  # and at accesses from there, 0 = there is no such field
    lsb: Ints  # of the address
    granules: Ints  # mask of the address, moved to bit 0: granules of the memory, less 1
    shift: Ints  # log2 of the words of a granule
    lane_lsb: Ints  # of the mask of written words
    lanes: Ints
