"""Watchpoints: an event when a chosen granule of data memory is accessed (AM025, AM029 WatchPoint).

A watchpoint looks at reads, writes or both, from the origins that it names, and raises its event in the cycle
in which the access is made (DEV-WATCH-1). Those that are set count in ``guards.inspected`` of their tile, so
that an access needs one test to learn that there is nothing to look at.
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.events.reports import raise_event
from memtile.model.memory.neighbours import WEST
from memtile.model.state.memory import AccessOrigin
from memtile.model.state.state import Spec, State


@jit
def configure(st: State, tile: int) -> None:
    """A watchpoint was written: count those that look at anything."""
    kind, watches = st.spec.tiles.kind[tile], st.spec.watches
    first, origins, watched = st.spec.tiles.register_base[tile] + watches.register[kind], 0, 0
    for n in range(watches.origin.shape[1]):
        origins |= watches.origin[kind, n]
    for n in range(watches.points[kind]):
        word = st.registers[first + n]
        if word & origins and word & (watches.read[kind] | watches.write[kind]):
            watched += 1
    st.guards.inspected[tile] += watched - st.memories.watched[tile]
    st.memories.watched[tile] = watched


@jit
def covers(spec: Spec, kind: int, watchpoint: int, first: int, words: int, writes: bool) -> bool:
    """Whether the granule has any of the words; of those written, one whose lane is chosen (DEV-WATCH-3)."""
    watches = spec.watches
    size = 1 << watches.shift[kind]
    granule = ((watchpoint >> watches.lsb[kind]) & watches.granules[kind]) * size
    begin, end = max(granule, first), min(granule + size, first + words)
    if begin >= end:
        return False
    if not writes or watches.lanes[kind] == 0:
        return True
    written = ((1 << (end - begin)) - 1) << (begin - granule)
    return bool((watchpoint >> watches.lane_lsb[kind]) & watches.lanes[kind] & written)


@jit
def see(st: State, tile: int, first: int, words: int, origin: int, writes: bool) -> None:
    """An access to tile-local words ``first``, ... is made in this cycle."""
    if st.memories.watched[tile] == 0:
        return
    kind, watches = st.spec.tiles.kind[tile], st.spec.watches
    at = st.spec.tiles.register_base[tile] + watches.register[kind]
    access = watches.write[kind] if writes else watches.read[kind]
    for n in range(watches.points[kind]):
        watchpoint = st.registers[at + n]
        if watchpoint & access == 0 or watchpoint & watches.origin[kind, origin] == 0:
            continue
        if covers(st.spec, kind, watchpoint, first, words, writes):
            raise_event(st, tile, watches.event[kind] + n)


@jit
def see_channel(st: State, ch: int, owner: int, target: int, words: int, writes: bool) -> None:
    """A channel accesses words of ``State.memory``, which are in tile ``owner``."""
    tile, origin = st.channels.tile[ch], AccessOrigin.DMA
    if tile != owner:
        origin = AccessOrigin.WEST if st.spec.tiles.neighbour[owner, WEST] == tile else AccessOrigin.EAST
    see(st, owner, target - st.spec.tiles.memory_base[owner], words, origin, writes)
