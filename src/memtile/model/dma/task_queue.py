"""Task queues and chains: what a channel runs next (AM020 task queue; AM025 DMA_*_Start_Queue).

A task is a start BD and the chain that follows it, run Repeat_Count times. Four tasks wait in the queue
beside the one that runs or is about to start (DEV-QUEUE-1); a push to a full queue is dropped and sets
Task_Queue_Overflow.

It also has out-of-order S2MM: the header of each packet chooses the BD that receives it (AM020; DEV-OOO-1).
"""

from __future__ import annotations

from memtile.arch.tiles import MEMORY
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.dma.bd_load import load_bd
from memtile.model.dma.channel_registers import (
    ERROR_QUEUE_OVERFLOW,
    OUT_OF_ORDER_MASK,
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.dma.fifo import drop, empty
from memtile.model.dma.task_end import issue_token
from memtile.model.roster import wake_channel
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State
from memtile.model.streams.packet_flow import out_of_order_bd


@jit
def turn_to(st: State, ch: int, bd: int) -> None:
    """Make ``bd`` the channel's descriptor; an out-of-order channel waits for a header instead."""
    if st.channels.control[ch] & OUT_OF_ORDER_MASK:
        st.channels.phase[ch] = Phase.HEADER
        st.channels.moved[ch] = 0
        st.clock.activity[0] += 1
    else:
        load_bd(st, ch, bd)


@jit
def take_header(st: State, ch: int) -> None:
    """Take a header from the ingress buffer and load the BD that it names."""
    c = st.channels
    if empty(st, ch):
        c.why[ch] = Cause.STREAM_STARVED
        return
    bd = out_of_order_bd(st.fifos.words[ch, st.fifos.head[ch]])
    drop(st.fifos, ch)
    c.why[ch] = Cause.BD_SWITCH
    load_bd(st, ch, bd)
    c.next_bd[ch] = -1  # the next packet chooses


NO_BD = -1
_DEPTH = MEMORY.queue_depth


@jit
def push(st: State, ch: int, word: int) -> None:
    """A write to the channel's start queue register."""
    c = st.channels
    room = _DEPTH + 1 if c.phase[ch] == Phase.IDLE or c.phase[ch] == Phase.STARTING else _DEPTH
    if c.queue_count[ch] >= room:
        c.errors[ch] |= 1 << ERROR_QUEUE_OVERFLOW
        c.pushes_lost[ch] += 1
        st.clock.alarms[0] += 1
        c.lost_push[ch] = word
        st.seen[ch, ChannelEvent.ERROR] = st.clock.now[0]
        return
    c.queue[ch, c.queue_count[ch]] = word
    c.queue_count[ch] += 1
    notes.started(st, ch)
    wake_channel(st, ch)


@jit
def pop(st: State, ch: int) -> int:
    """Take the oldest queue word."""
    c = st.channels
    word = c.queue[ch, 0]
    c.queue_count[ch] -= 1
    for slot in range(c.queue_count[ch]):
        c.queue[ch, slot] = c.queue[ch, slot + 1]
    return int(word)


@jit
def start_task(st: State, ch: int) -> int:
    """Make the oldest queued task the running one; return its first BD."""
    word = pop(st, ch)
    st.seen[ch, ChannelEvent.START_TASK] = st.clock.now[0]
    st.channels.task_bd[ch] = word & QUEUE_START_BD_MASK
    st.channels.task_token[ch] = (word >> QUEUE_TOKEN_LSB) & 1
    st.channels.runs_left[ch] = (word >> QUEUE_REPEAT_LSB) & QUEUE_REPEAT_MASK
    return int(st.channels.task_bd[ch])


@inlined
def in_reset(st: State, ch: int) -> bool:
    """Whether the channel is held in reset; interface channels have none, their bit there means a pause."""
    kind = st.spec.tiles.kind[st.channels.tile[ch]]
    return bool(st.channels.control[ch] & st.spec.kinds.reset_mask[kind])


@inlined
def wake(st: State, ch: int) -> None:
    """Let an idle channel with a queued task start it, ``task_start`` cycles later."""
    c = st.channels
    if c.phase[ch] == Phase.IDLE:
        if c.queue_count[ch] == 0 or in_reset(st, ch):
            return
        c.phase[ch] = Phase.STARTING
        c.until[ch] = st.clock.now[0] + st.spec.timing.task_start[0]
        st.clock.activity[0] += 1
    elif c.phase[ch] == Phase.STARTING and st.clock.now[0] >= c.until[ch]:
        turn_to(st, ch, start_task(st, ch))


@jit
def following(st: State, ch: int) -> int:
    """The BD to run after the current one: of the chain, of the next repeat, of the next task, or none."""
    c = st.channels
    if c.next_bd[ch] >= 0:
        return int(c.next_bd[ch])
    if c.runs_left[ch] > 0:
        c.runs_left[ch] -= 1
        return int(c.task_bd[ch])
    c.tasks_done[ch] += 1
    st.seen[ch, ChannelEvent.FINISHED_TASK] = st.clock.now[0]
    issue_token(st, ch)
    c.task_bd[ch] = NO_BD
    return start_task(st, ch) if c.queue_count[ch] > 0 else NO_BD


@jit
def bd_done(st: State, ch: int) -> None:
    """The channel's BD has moved its last word: go on to what follows, or fall idle."""
    st.channels.bds_done[ch] += 1
    st.clock.activity[0] += 1
    bd = following(st, ch)
    if bd == NO_BD:
        st.channels.phase[ch] = Phase.IDLE
    else:
        turn_to(st, ch, bd)
