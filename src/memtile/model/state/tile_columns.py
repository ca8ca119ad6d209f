"""Facts of tiles, tile kinds and registers, and the clock of each tile."""

from typing import Annotated, NamedTuple

from memtile.arch.tiles import TileName
from memtile.model.state.columns import (
    CLEARED,
    DUE,
    EQUAL,
    FLAG,
    NEVER,
    NONE,
    OWN_PAUSE,
    OWN_RESET,
    PAST,
    SOON,
    STAMP,
    Column,
    Four,
    Ints,
    Merges,
    Pair,
    Three,
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
