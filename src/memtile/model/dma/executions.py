"""Whole BD executions: the control of all channels when every transfer takes no time (untimed run).

A round is a cycle of the clock loop in which a BD moves all of its words where a word would move: tasks
start, locks are asked for and released by the very functions of the cycle engine, in its order. The words
themselves are moved by whoever calls, in the order of the log, which has a row for each BD execution; rounds
follow one another without that as long as no word can tell how they go on. Only the caller of ``advance``
knows how to move what a row with ``ASKS`` describes, or whether it can.
"""

from __future__ import annotations

from memtile.arch.tiles import MAX_DIMENSIONS, S2MM
from memtile.jit.decorators import jit
from memtile.model.dma.channel_registers import FOT_MASK
from memtile.model.dma.mm2s import pad_value
from memtile.model.dma.task_queue import bd_done, token_blocked, wake
from memtile.model.memory.lock_port import granted, post_release, serve
from memtile.model.memory.locks import resolve
from memtile.model.memory.memory_control import finish_zeroisation
from memtile.model.memory.neighbours import memory_owner
from memtile.model.roster import OFF
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.model.streams import control_packets

ROWS = 0  # entry of the log that counts its rows
FIRST = 1  # entry with which the first row begins
_INNER = MAX_DIMENSIONS - 1  # the last dimension has no wrap and no padding
CH, TILE, ASKS, TLAST_SUPPRESS, PAD, ORIGIN, LENGTH, STEP = range(8)  # columns; TILE: where the BD begins
WRAP = STEP + MAX_DIMENSIONS
BEFORE = WRAP + _INNER
AFTER = BEFORE + _INNER
COLUMNS = AFTER + _INNER


@jit
def stays(st: State, ch: int, tile: int) -> bool:
    """Whether the channel's walk surely stays in the memory of ``tile``, where it begins.

    Every counter counts as if it reached its highest value together with the others.
    """
    walks, words = st.walks, st.channels.length[ch]
    shift = st.spec.kinds.memory_shift[st.spec.tiles.kind[st.channels.tile[ch]]]
    highest, unit = walks.origin[ch] - (walks.origin[ch] >> shift << shift), 1
    for d in range(MAX_DIMENSIONS):
        turns = max((words + unit - 1) // unit, 1)
        wrap = walks.wrap[ch, d] if d < _INNER else 0
        if wrap > 0:
            turns = min(turns, wrap)
            unit *= walks.before[ch, d] + wrap + walks.after[ch, d]
        highest += (turns - 1) * walks.step[ch, d]
        if wrap == 0:
            break
    return bool(highest < st.spec.tiles.memory_words[tile])


@jit
def surely_moves(st: State, ch: int, tile: int) -> bool:
    """Whether nothing in the words of the channel's BD, or in the memory, tells how the control goes on."""
    if st.channels.packed[ch] == 1 or st.fifos.held[ch] > 0 or st.guards.inspected[tile] > 0:
        return False
    return stays(st, ch, tile)


@jit
def note(st: State, log: Ints, ch: int, tile: int, asks: int) -> None:
    """Append the execution that the channel has begun."""
    walks = st.walks
    row = FIRST + log[ROWS] * COLUMNS
    log[ROWS] += 1
    log[row + CH], log[row + TILE], log[row + ASKS] = ch, tile, asks
    log[row + TLAST_SUPPRESS] = st.channels.tlast_suppress[ch]
    log[row + PAD] = pad_value(st, ch) if walks.padded[ch] == 1 else 0
    log[row + ORIGIN], log[row + LENGTH] = walks.origin[ch], st.channels.length[ch]
    for d in range(MAX_DIMENSIONS):
        log[row + STEP + d] = walks.step[ch, d]
    for d in range(_INNER):
        log[row + WRAP + d] = walks.wrap[ch, d]
        log[row + BEFORE + d] = walks.before[ch, d]
        log[row + AFTER + d] = walks.after[ch, d]


@jit
def full(log: Ints, channels: int) -> bool:
    """Whether the log may be too short for another round of ``channels`` channels."""
    return bool(FIRST + (log[ROWS] + channels) * COLUMNS > log.shape[0])


NOTHING, MOVED, BARRED = -1, -2, -3  # orders; others are the tile whose memory the BD begins in
LEAST = 1 << 10  # words that count for any execution, since it takes as long as moving so many


@jit
def finish(st: State, ch: int) -> None:
    """All words of the channel's BD have moved."""
    st.channels.moved[ch] = st.channels.length[ch]
    st.walks.left[ch] = 0
    post_release(st, ch)
    bd_done(st, ch)


@jit
def supplied(st: State, ch: int, room: int) -> bool:
    """Whether ingress buffer and stream port can give, or the port take, all words of the BD at once."""
    held = st.fifos.held[ch]
    if st.channels.packed[ch] == 1 and st.channels.direction[ch] == S2MM:
        return True  # only the words themselves tell how many the BD takes
    if st.channels.direction[ch] == S2MM:
        return bool(st.channels.length[ch] <= held + room)
    return bool(st.channels.length[ch] <= room and held == 0)


@jit
def order(st: State, ch: int, room: int) -> int:
    """The tile whose memory the channel's BD begins in, if all of it can be moved now, else ``NOTHING``."""
    c = st.channels
    if c.control[ch] & FOT_MASK or token_blocked(st, ch):
        return NOTHING  # ends where a TLAST is, or cannot end yet
    if c.external[ch] >= 0:
        return NOTHING  # external memory is left to the clock loop
    if st.channels.active[ch] == OFF:
        return NOTHING
    if c.phase[ch] != Phase.RUN or c.moved[ch] != 0 or st.walks.left[ch] != c.length[ch]:
        return NOTHING
    tile, number = c.tile[ch], c.number[ch]
    if c.release_value[ch] != 0 and resolve(st, tile, number, c.release_lock[ch]) < 0:
        return NOTHING
    owner = memory_owner(st, tile, number, st.walks.origin[ch])
    reached = owner >= 0 and st.gates.off[owner] == 0 and supplied(st, ch, room)
    return owner if reached else NOTHING


@jit
def go_on(st: State, orders: Ints) -> bool:
    """Begin a round: all that happens before BDs can move; False when nothing did."""
    st.clock.activity[0] = 0
    st.clock.now[0] += st.spec.timing.task_start[0] + st.spec.timing.task_load[0]
    finish_zeroisation(st)
    for ch in range(orders.shape[0]):
        if st.channels.active[ch] == OFF:
            continue
        wake(st, ch)
        if st.channels.phase[ch] == Phase.TAKEN:
            granted(st, ch)
        if orders[ch] == MOVED:
            finish(st, ch)
    st.clock.locks_changed[0] = 1
    serve(st)
    control_packets.step(st)
    return bool(st.clock.activity[0] > 0)


@jit
def count_moved(st: State, ch: int, room: Ints) -> int:
    """The channel's BD surely moves: book its words; what they count."""
    words = st.channels.length[ch]
    st.spent[ch, Cause.MOVING] += words
    if st.channels.direction[ch] == S2MM:
        room[ch] -= words
    return max(int(words), LEAST)


@jit
def advance(st: State, orders: Ints, room: Ints, log: Ints, limit: int) -> bool:
    """Rounds, until the caller must move their words; False when nothing happened in the last one.

    Args:
        st: state; its clock runs ahead, and is the caller's to put back.
        orders: int64[channels], in: ``MOVED`` where the BD has moved, ``BARRED`` where it never will; out:
            ``MOVED``, or the tile where a row of the log asks the caller which of the two it is.
        room: int64[channels], words that the host can give to or take from each stream port; counted down
            for what surely moves.
        log: int64, out: the BDs to move, see ``execution_log``.
        limit: words to count at most, but for the last round; negative: BDs that have moved end, none begins.
    """
    log[ROWS] = 0
    counted, asks = 0, False
    while go_on(st, orders):
        if limit < 0:
            return True
        for ch in range(orders.shape[0]):
            tile = BARRED if orders[ch] == BARRED else order(st, ch, room[ch])
            orders[ch] = tile
            if tile < 0:
                continue
            sure = surely_moves(st, ch, tile)
            note(st, log, ch, tile, 0 if sure else 1)
            if sure:
                counted += count_moved(st, ch, room)
                orders[ch] = MOVED
            else:
                asks = True
        if asks or counted >= limit or full(log, orders.shape[0]):
            return True
        if st.active_controls[0] > 0 or st.clock.columns_written[0] > 0:
            return True  # control packets read and write memory
    return False
