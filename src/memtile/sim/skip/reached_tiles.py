"""Which tiles of a model hang together: by streams, by memory and locks.

Tiles of which none can ever have a say in what another one does, until somebody writes registers, need not
share a clock (``sim.skip.own_clocks``). What a channel may come to is found in the descriptors of its tasks,
as far as these go on. What hangs together by words of external memory that are written, and by kernels,
Python finds out (``sim.skip.connectivity``).
"""

from __future__ import annotations

from typing import NamedTuple

from memtile.arch.tiles import MM2S, WORD_BYTES
from memtile.jit.decorators import jit
from memtile.jit.structs import Struct
from memtile.model.dma import bd_fields as f
from memtile.model.dma.bd_fields import read_field
from memtile.model.dma.channel_registers import OUT_OF_ORDER_MASK, QUEUE_START_BD_MASK
from memtile.model.memory.locks import resolve
from memtile.model.memory.neighbours import reach
from memtile.model.state.causes import Phase
from memtile.model.state.columns import Ints
from memtile.model.state.dma import RegionColumns
from memtile.model.state.state import State
from memtile.model.streams.switch_config import OFF
from memtile.sim.skip.live_parts import busy

# Of a user of external memory: which bytes of this process it may come to, and its walk from a byte that may
# be before these; TURNS are those of its iteration behind the first one, then come steps and wraps.
TILE, FIRST, END, WRITES, AT, LENGTH, TURNS, TURN_STEP, STEPS = range(9)
WRAPS = STEPS + len(f.STEP)
OF_USER = WRAPS + len(f.WRAP)
TOO_MANY = 1  # of row 0: 1 = there are more
LOADED = -1  # as a BD: the one that the channel has loaded


class _TileGroups(NamedTuple):
    parent: Ints
    users: Ints


class Groups(_TileGroups, Struct):
    """Trees of tiles, by the parent of each one, and what uses external memory.

    ``users`` has how many there are, and whether it had no room for more, then a row for each.
    """


@jit
def root(parent: Ints, tile: int) -> int:
    """The tile that stands for all that hang together with this one."""
    while parent[tile] != tile:
        parent[tile] = parent[parent[tile]]
        tile = parent[tile]
    return tile


@jit
def tie(parent: Ints, one: int, other: int) -> None:
    """Let two tiles hang together, if there are two."""
    if one >= 0 and other >= 0:
        one, other = root(parent, one), root(parent, other)
        parent[max(one, other)] = min(one, other)


@jit
def field(st: State, ch: int, bd: int, which: int) -> int:
    """A field of a BD of the channel's tile, or of the one that it has loaded."""
    if bd == LOADED:
        return int(st.fields[ch, which])
    return read_field(st, st.channels.tile[ch], bd, which)


@jit
def turns(st: State, ch: int, bd: int) -> int:
    """How many turns its iteration may make behind the first one."""
    last = max(field(st, ch, bd, f.ITERATION_WRAP) - 1, field(st, ch, bd, f.ITERATION_CURRENT))
    return int(max(last, 0))


@jit
def span(st: State, ch: int, bd: int) -> int:
    """How far behind its base address the walk of a BD may come at most, in words."""
    return turns(st, ch, bd) * field(st, ch, bd, f.ITERATION_STEP) + walk_span(st, ch, bd)


@jit
def walk_span(st: State, ch: int, bd: int) -> int:
    """How far behind its first word the walk of a BD may come without its iteration, in words."""
    left, behind = field(st, ch, bd, f.BUFFER_LENGTH), 0
    for d in range(len(f.STEP)):
        wrap = field(st, ch, bd, f.WRAP[d]) if d < len(f.WRAP) else 0
        count = max(min(wrap, left) if wrap > 0 else left, 1)
        behind += (count - 1) * field(st, ch, bd, f.STEP[d])
        left = (left + count - 1) // count
    return int(behind)


@jit
def tie_memory(st: State, parent: Ints, ch: int, bd: int) -> None:
    """Tie the tile to those whose memory and locks the BD names."""
    tile, number = st.channels.tile[ch], st.channels.number[ch]
    shift, first = st.spec.kinds.memory_shift[st.spec.tiles.kind[tile]], field(st, ch, bd, f.BASE_ADDRESS)
    for window in range(first >> shift, ((first + span(st, ch, bd)) >> shift) + 1):
        tie(parent, tile, reach(st, tile, number, window))
    if field(st, ch, bd, f.ACQUIRE_ENABLE) != 0:
        tie_lock(st, parent, ch, field(st, ch, bd, f.ACQUIRE_ID))
    if field(st, ch, bd, f.RELEASE_VALUE) != 0:
        tie_lock(st, parent, ch, field(st, ch, bd, f.RELEASE_ID))


@jit
def tie_lock(st: State, parent: Ints, ch: int, lock_id: int) -> None:
    """Tie the tile to that of a lock."""
    lock = resolve(st, st.channels.tile[ch], st.channels.number[ch], lock_id)
    if lock >= 0:
        tie(parent, st.channels.tile[ch], st.locks.tile[lock])


@jit
def note_user(st: State, users: Ints, ch: int, bd: int) -> None:
    """Note the bytes of external memory that the BD may come to."""
    first = field(st, ch, bd, f.BASE_ADDRESS)
    end = first + span(st, ch, bd) + 1
    for region in range(st.regions.shape[0]):
        begin, words = st.regions[region, RegionColumns.FIRST], st.regions[region, RegionColumns.WORDS]
        low, high = max(first, begin), min(end, begin + words)
        if low < high and users[0, 0] + 1 == users.shape[0]:
            users[0, TOO_MANY] = 1
        elif low < high:
            users[0, 0] += 1
            row, home = users[0, 0], st.region_homes[region]
            users[row, TILE] = st.channels.tile[ch]
            users[row, FIRST] = home + (low - begin) * WORD_BYTES
            users[row, END] = home + (high - begin) * WORD_BYTES
            users[row, WRITES] = 0 if st.channels.direction[ch] == MM2S else 1
            users[row, AT] = home + (first - begin) * WORD_BYTES
            note_walk(st, users, row, ch, bd)


@jit
def note_walk(st: State, users: Ints, row: int, ch: int, bd: int) -> None:
    """Note the walk of the BD."""
    users[row, LENGTH] = field(st, ch, bd, f.BUFFER_LENGTH)
    users[row, TURNS] = turns(st, ch, bd)
    users[row, TURN_STEP] = field(st, ch, bd, f.ITERATION_STEP)
    for d in range(len(f.STEP)):
        users[row, STEPS + d] = field(st, ch, bd, f.STEP[d])
    for d in range(len(f.WRAP)):
        users[row, WRAPS + d] = field(st, ch, bd, f.WRAP[d])


@jit
def follow_bd(st: State, groups: Groups, ch: int, bd: int) -> None:
    """Tie the tile to what the BD comes to."""
    if st.channels.external[ch] >= 0:
        note_user(st, groups.users, ch, bd)
    else:
        tie_memory(st, groups.parent, ch, bd)


@jit
def follow_chain(st: State, groups: Groups, ch: int, bd: int, seen: int) -> int:
    """Follow the BDs of a chain; which BDs of the tile were followed so far, a bit each."""
    while bd >= 0 and (seen >> bd) & 1 == 0:
        seen |= 1 << bd
        follow_bd(st, groups, ch, bd)
        bd = field(st, ch, bd, f.NEXT_BD) if field(st, ch, bd, f.USE_NEXT_BD) != 0 else -1
    return seen


@jit
def follow_channel(st: State, groups: Groups, ch: int) -> None:
    """Tie the channel's tile to all that its tasks come to."""
    c, kind = st.channels, st.spec.tiles.kind[st.channels.tile[ch]]
    seen = 0
    if c.control[ch] & OUT_OF_ORDER_MASK:
        for half in range(2):
            for bd in range(st.spec.kinds.bd_first[kind, half], st.spec.kinds.bd_last[kind, half] + 1):
                seen = follow_chain(st, groups, ch, bd, seen)
    if c.phase[ch] == Phase.RUN or c.phase[ch] == Phase.ACQUIRE:
        follow_bd(st, groups, ch, LOADED)
        seen = follow_chain(st, groups, ch, c.next_bd[ch], seen)
    if st.granules.port_count[ch] > 0 and c.external[ch] < 0:
        tie(groups.parent, c.tile[ch], st.granules.port_owner[ch])
    seen = follow_chain(st, groups, ch, c.task_bd[ch], seen)
    for slot in range(c.queue_count[ch]):
        seen = follow_chain(st, groups, ch, c.queue[ch, slot] & QUEUE_START_BD_MASK, seen)


@jit
def find_groups(st: State, groups: Groups) -> int:
    """Find which tiles hang together; 1 = control packets may come, and write whatever they like."""
    parent, controlled = groups.parent, 0
    for tile in range(parent.shape[0]):
        parent[tile] = tile
    groups.users[0, 0] = groups.users[0, TOO_MANY] = 0
    for tile in range(parent.shape[0]):
        first = st.spec.tiles.master_base[tile]
        for port in range(first, first + st.spec.tiles.masters[tile]):
            if st.switch.mode[port] == OFF and st.switch.held[port] == 0:
                continue
            if st.switch.control[port] >= 0:
                controlled = 1
            if st.switch.link[port] >= 0:
                tie(parent, tile, st.switch.tile[st.switch.link[port]])
    for ch in range(st.channels.phase.shape[0]):
        if busy(st, ch):
            follow_channel(st, groups, ch)
    return controlled
