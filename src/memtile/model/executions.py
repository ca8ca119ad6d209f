"""Whole BD executions: the control of all channels when every transfer takes no time (untimed run).

A round is a cycle of the clock loop in which a BD moves all of its words where a word would move: tasks
start, locks are asked for and released by the very functions of the cycle engine, in its order. The words
themselves are moved by whoever calls, between two rounds.
"""

from __future__ import annotations

from memtile.arch.tiles import S2MM
from memtile.model import control_packets
from memtile.model.dma_registers import FOT_MASK
from memtile.model.jit import jit
from memtile.model.lock_port import post_release, serve
from memtile.model.locks import resolve
from memtile.model.memory_control import finish_zeroisation
from memtile.model.roster import OFF
from memtile.model.state import ACTIVITY, LOCKS, NOW, Ints, Spec, State
from memtile.model.states import Phase
from memtile.model.task_end import token_blocked
from memtile.model.task_queue import bd_done, wake
from memtile.model.timing_index import TASK_START
from memtile.model.windows import memory_owner

NOTHING, MOVED, BARRED = -1, -2, -3  # orders; others are the tile whose memory the BD begins in

_RUN = int(Phase.RUN)


@jit
def finish(spec: Spec, st: State, ch: int) -> None:
    """All words of the channel's BD have moved."""
    st.channels.moved[ch] = st.channels.length[ch]
    st.walks.left[ch] = 0
    post_release(spec, st, ch)
    bd_done(spec, st, ch)


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
def order(spec: Spec, st: State, ch: int, room: int) -> int:
    """The tile whose memory the channel's BD begins in, if all of it can be moved now, else ``NOTHING``."""
    c = st.channels
    if c.control[ch] & FOT_MASK or token_blocked(st, ch):
        return NOTHING  # ends where a TLAST is, or cannot end yet
    if c.external[ch] >= 0:
        return NOTHING  # external memory is left to the clock loop
    if st.channels.active[ch] == OFF:
        return NOTHING
    if c.phase[ch] != _RUN or c.moved[ch] != 0 or st.walks.left[ch] != c.length[ch]:
        return NOTHING
    tile, number = c.tile[ch], c.number[ch]
    if c.release_value[ch] != 0 and resolve(spec, st, tile, number, c.release_lock[ch]) < 0:
        return NOTHING
    owner = memory_owner(spec, st, tile, number, st.walks.origin[ch])
    reached = owner >= 0 and st.gates.off[owner] == 0 and supplied(st, ch, room)
    return owner if reached else NOTHING


@jit
def advance(spec: Spec, st: State, orders: Ints, room: Ints) -> bool:
    """One round; False when nothing happened.

    Args:
        spec: fixed tables.
        st: state; its clock runs ahead, and is the caller's to put back.
        orders: int64[channels], in: ``MOVED`` where the caller has moved the BD, ``BARRED`` where it never
            will; out: the BDs to move before the next round, see :func:`order`.
        room: int64[channels], words that the host can give to or take from each stream port.
    """
    st.clock[ACTIVITY] = 0
    st.clock[NOW] += spec.timing[TASK_START]
    finish_zeroisation(st)
    for ch in range(orders.shape[0]):
        if st.channels.active[ch] == OFF:
            continue
        wake(spec, st, ch)
        if orders[ch] == MOVED:
            finish(spec, st, ch)
    st.clock[LOCKS] = 1
    serve(spec, st)
    control_packets.step(spec, st)
    for ch in range(orders.shape[0]):
        if orders[ch] != BARRED:
            orders[ch] = order(spec, st, ch, room[ch])
    return bool(st.clock[ACTIVITY] > 0)
