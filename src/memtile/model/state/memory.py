"""State of data memory: banks, locks, the interfaces to the neighbours, protection, watchpoints."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.tiles import MEMORY
from memtile.model.state import columns as c
from memtile.model.state.columns import Column, Ints, Owner

INTERFACES = 4  # of a tile to its neighbours' memory: west and east, each for writes and for reads


class Banks(NamedTuple):
    """Bank arbiters; requesters are the channels, then the parts of each core's accesses."""

    tile: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    turn: Annotated[Ints, Column(c.EQUAL, 0, c.TURN, c.STAYS, c.COUNTED)]  # requester served first next time
    best: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    winner: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.REQUESTER)
    ]  # requester granted this cycle
    stamp: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)]  # cycle of ``winner``
    conflict: Annotated[
        Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)
    ]  # last cycle with more than one request
    free_at: Annotated[
        Ints, Column(c.DUE, 0, c.STALE, c.STAYS, c.SOON)
    ]  # AXI master: busy with a burst before this cycle
    accesses: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # while a history is noted
    clashes: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # cycles with a conflict, then


class Memories(NamedTuple):
    """Memory control of each tile."""

    # tile whose memory and locks its DMA finds to the west, at home, to the east; -1 = none
    reach: Annotated[c.Three, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.row_or_none(Owner.TILE))]
    # word address >> shift & mask is the bank, or the bank within its group
    shift: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.Holds(0, 62))]
    mask: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.AS_BUILT)]
    # word address >> group_shift & group_mask is the group of banks
    group_shift: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.AS_BUILT)]
    group_mask: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.AS_BUILT)]
    group_banks: Annotated[
        Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.AS_BUILT)
    ]  # banks of a group
    # zeroisation owns the banks before this cycle, -1 = it does not
    busy_until: Annotated[Ints, Column(c.DUE, c.NEVER, c.OWN_RESET, c.OWN_PAUSE, c.Holds(c.NEVER, c.FOREVER))]
    # register index of the Memory_Control that asked for it
    control: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.REGISTER))]
    watched: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.Holds(0, 4))
    ]  # watchpoints that are set


class Locks(NamedTuple):
    """Semaphore locks and their arbiters; requesters are the channels, then the cores."""

    tile: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    value: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, MEMORY.lock_value_max))]
    # bit mask of further values of which the sticky status does not yet tell
    held: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.ANY)]
    overflow: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    underflow: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    turn: Annotated[Ints, Column(c.EQUAL, 0, c.TURN, c.STAYS, c.COUNTED)]
    best: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    winner: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.REQUESTER)]
    # cycle of the last change, or from which on the sticky status does not yet tell of the value
    since: Annotated[Ints, Column(c.STAMP, 0, c.NOW, c.STAYS, c.PAST)]
    # last cycle of each LockEvent but the last
    event: Annotated[c.Three, Column(c.STAMP, c.NEVER, c.CLEARED, c.MOVES_IF_AHEAD, c.PAST)]
    stamp: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)]


class Interfaces(NamedTuple):
    """Interfaces of the tiles to their neighbours' memories and their arbiters, see ``neighbours``."""

    turn: Annotated[Ints, Column(c.EQUAL, 0, c.TURN, c.STAYS, c.COUNTED)]  # channel served first next time
    best: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    winner: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.CHANNEL))]
    stamp: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)]
    served: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # accesses so far


class AxiPorts(NamedTuple):
    """Ports of the tiles for memory-mapped accesses to data memory, see ``axi_port``."""

    active: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)]  # 1 = in State.asking_axi
    at: Annotated[
        Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.COUNTED)
    ]  # tile-local word in the granule that is accessed
    left: Annotated[
        Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.COUNTED)
    ]  # requests that are still to be served
    bank: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.BANK))
    ]  # bank asked in this cycle, -1 = none
    served: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # requests so far


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

    enabled: Annotated[
        Ints, Column(c.EQUAL, 1, c.WIRED, c.STAYS, c.FLAG)
    ]  # 0 = as if the memory had no check bits
    # not 0 = accesses need a look: the words with flipped cells, one more while ``lanes`` is not 0, and one
    # for each watchpoint that is set
    inspected: Annotated[Ints, Column(c.EQUAL, 0, c.MEMORY_WORDS, c.STAYS, c.COUNTED)]
    # Checkbit_Error_Generation: lanes whose words are written with a wrong check bit
    lanes: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.BYTE)]
    active: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)]  # 1 = in State.guarding
    at: Annotated[
        Ints, Column(c.PLACE, 0, c.TURN, c.STAYS, c.COUNTED)
    ]  # scrubber: first tile-local word of the next granule
    steps: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # so far
    # granules of the running step that are still to be scrubbed
    left: Annotated[Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.COUNTED)]
    # 1 = the event that starts a step is always there
    always: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.FLAG)]
    # 1 = the granule was read and is to be written back
    repairs: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    bank: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.BANK))
    ]  # bank asked in this cycle, -1 = none
    again_at: Annotated[Ints, Column(c.DUE, 0, c.STALE, c.MOVES, c.SOON)]  # cycle in which they are
    # events to be raised once more, from the first ECC event on, one bit each
    again: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.COUNTED)]


class AccessOrigin(IntEnum):
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


PerOrigin = Annotated[Ints, (len(AccessOrigin),)]


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
