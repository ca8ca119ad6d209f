"""The numbers of those who compete for a bank or a lock: the arbiters know them by these alone.

Banks: the channels, then the parts of each core's accesses, the scrubber of each tile, the interfaces of each
tile to its neighbours' banks, and its port of memory-mapped accesses. What reaches a bank from another tile
has the number of its interface, whichever channel uses it. Locks: the channels, then the cores. Numbers are
array-wide, like the rows of the tables.
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
def interface_of(st: State, interface: int) -> int:
    """Requester of an interface to a neighbour, at the banks of that neighbour."""
    return int(scrubber_of(st, st.guards.at.shape[0]) + interface)


@inlined
def axi_port_of(st: State, tile: int) -> int:
    """Requester of a tile's port for memory-mapped accesses, at its banks."""
    return int(interface_of(st, st.interfaces.turn.shape[0]) + tile)


@inlined
def core_lock(st: State, core: int) -> int:
    """Requester of a core, at the locks."""
    return int(st.channels.phase.shape[0] + core)


@inlined
def core_of_lock(st: State, requester: int) -> int:
    """The core of a requester at the locks, negative if it is a channel."""
    return int(requester - st.channels.phase.shape[0])
