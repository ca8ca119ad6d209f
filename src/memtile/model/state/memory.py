"""State tables of the banks, the memory control of each tile, and the locks; see ``model.state``."""

from __future__ import annotations

from typing import NamedTuple

from memtile.model.state.columns import Ints, Three


class Banks(NamedTuple):
    """Bank arbiters; requesters are the channels, then the parts of each core's accesses."""

    tile: Ints
    turn: Ints  # requester served first next time
    best: Ints
    winner: Ints  # requester granted this cycle
    stamp: Ints  # cycle of ``winner``
    conflict: Ints  # last cycle with more than one request
    free_at: Ints  # AXI master: busy with a burst before this cycle


class Memories(NamedTuple):
    """Memory control of each tile."""

    reach: Three  # tile whose memory and locks its DMA finds to the west, at home, to the east; -1 = none
    shift: Ints  # word address >> shift & mask is the bank, or the bank within its group
    mask: Ints
    group_shift: Ints  # word address >> group_shift & group_mask is the group of banks
    group_mask: Ints
    group_banks: Ints  # banks of a group
    busy_until: Ints  # zeroisation owns the banks before this cycle, -1 = it does not
    control: Ints  # register index of the Memory_Control that asked for it
    watched: Ints  # watchpoints that are set


class Locks(NamedTuple):
    """Semaphore locks and their arbiters; requesters are the channels, then the cores."""

    tile: Ints
    value: Ints
    since: Ints  # cycle of the last change, or from which on the sticky status does not yet tell of the value
    held: Ints  # bit mask of further values of which it does not yet tell
    event: Three  # last cycle of each LockEvent but the last
    overflow: Ints
    underflow: Ints
    turn: Ints
    best: Ints
    winner: Ints
    stamp: Ints
