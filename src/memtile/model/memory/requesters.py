"""The numbers of those who compete for a bank or a lock: the arbiters know them by these alone.

Banks: the channels, then the parts of each core's accesses, then the scrubber of each tile. Locks: the
channels, then the cores. Numbers are array-wide, like the rows of the tables.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.state.columns import CORE_REQUESTS
from memtile.model.state.state import State


@inlined
def core_access(st: State, core: int) -> int:
    """Requester of the first of the ``CORE_REQUESTS`` parts of a core's accesses, at the banks."""
    return int(st.channels.phase.shape[0] + core * CORE_REQUESTS)


@inlined
def scrubber_of(st: State, tile: int) -> int:
    """Requester of the scrubber of a tile, at the banks."""
    return int(st.channels.phase.shape[0] + st.cores.tile.shape[0] * CORE_REQUESTS + tile)


@inlined
def core_lock(st: State, core: int) -> int:
    """Requester of a core, at the locks."""
    return int(st.channels.phase.shape[0] + core)


@inlined
def core_of_lock(st: State, requester: int) -> int:
    """The core of a requester at the locks, negative if it is a channel."""
    return int(requester - st.channels.phase.shape[0])
