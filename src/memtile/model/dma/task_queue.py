"""Tasks of a channel, from queue to token: what runs next, and how a BD and its task end (AM020; AM025).

A task is a start BD and the chain that follows it, run Repeat_Count times. Four tasks wait in the queue, the
one that runs or is about to start among them or beside them (DEV-QUEUE-1); a push to a full queue is dropped
and sets Task_Queue_Overflow. Out-of-order S2MM: the header of each packet chooses the BD that receives it
(DEV-OOO-1).

A channel keeps one token until the tile takes it; a task that would issue another one waits meanwhile. With
finish-on-TLAST a BD ends at TLAST and its length is only the limit (DEV-FOT-1). In mode 2 the word counts of
a task's BDs follow its token (DEV-FOT-2), in mode 3 software pops them.
"""

from __future__ import annotations

from memtile.arch.dma_registers import FotMode
from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.dma.bd_load import halt, load_bd
from memtile.model.dma.channel_registers import (
    ERROR_BDS_PER_TASK,
    ERROR_LENGTH_EXCEEDED,
    ERROR_QUEUE_OVERFLOW,
    FOT_LSB,
    FOT_MASK,
    OUT_OF_ORDER_MASK,
    QUEUE_REPEAT_LSB,
    QUEUE_REPEAT_MASK,
    QUEUE_START_BD_MASK,
    QUEUE_TOKEN_LSB,
)
from memtile.model.dma.fifo import drop, empty
from memtile.model.events.reports import signal
from memtile.model.roster import wake_channel, wake_control
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent, TileSignal
from memtile.model.state.state import State
from memtile.model.state.streams import COUNT_SLOTS
from memtile.model.streams.packet_flow import out_of_order_bd

_POP = register_named("memory_tile", "DMA_S2MM_FoT_Count_FIFO_Pop_0")
_VALID, LAST_IN_TASK, _BD = _POP.field("Valid").mask, _POP.field("Last_in_Task").mask, _POP.field("BD_ID").lsb


@inlined
def last_of_task(st: State, ch: int) -> bool:
    """Whether no BD of the running task follows the current one."""
    return bool(st.channels.next_bd[ch] < 0 and st.channels.runs_left[ch] == 0)


@inlined
def token_blocked(st: State, ch: int) -> bool:
    """Whether the task cannot end because the channel's last token has not been taken."""
    c = st.channels
    if c.token_due[ch] == 1 and c.task_token[ch] == 1 and last_of_task(st, ch):
        signal(st, c.tile[ch], TileSignal.TOKEN_STALL)
        return True
    return False


@jit
def issue_token(st: State, ch: int) -> None:
    """Leave the token of the task that has ended for the tile to take, if it asked for one."""
    c = st.channels
    if c.task_token[ch] == 0:
        return
    tile = c.tile[ch]
    c.token_due[ch] = 1
    c.token_counts[ch] = 1 if (c.control[ch] & FOT_MASK) >> FOT_LSB == FotMode.WITH_TOKEN else 0
    st.controls.due[tile] += 1
    wake_control(st, tile)


@inlined
def finish_on_tlast(st: State, ch: int, last: int) -> None:
    """After a word of an S2MM BD: end the BD at TLAST, halt when its length is reached without."""
    c = st.channels
    if last:
        c.length[ch] = c.moved[ch]
        st.walks.left[ch] = 0
    elif c.moved[ch] == c.length[ch]:
        halt(st, ch, ERROR_LENGTH_EXCEEDED)


@jit
def count(st: State, ch: int) -> None:
    """Note the words of the BD that ends, as the pop register shows them."""
    counts, c = st.counts, st.channels
    slot = (counts.head[ch] + counts.held[ch]) % COUNT_SLOTS
    word = _VALID | (c.bd[ch] << _BD) | c.moved[ch]
    counts.words[ch, slot] = word | LAST_IN_TASK if last_of_task(st, ch) else word
    counts.held[ch] += 1


@jit
def pop_count(st: State, ch: int) -> int:
    """The oldest count, which is then gone; 0 when there is none."""
    counts = st.counts
    if counts.held[ch] == 0:
        return 0
    word = counts.words[ch, counts.head[ch]]
    counts.head[ch] = (counts.head[ch] + 1) % COUNT_SLOTS
    counts.held[ch] -= 1
    return int(word)


@jit
def pop_by_register(st: State, ch: int) -> int:
    """Take what a read of the pop register pops: nothing in mode 2 or from a token's report (DEV-FOT-2)."""
    c = st.channels
    reporting = c.token_due[ch] == 1 and c.token_counts[ch] == 1
    if reporting or (c.control[ch] & FOT_MASK) >> FOT_LSB == FotMode.WITH_TOKEN:
        return 0
    return pop_count(st, ch)


@jit
def may_end(st: State, ch: int) -> bool:
    """Whether the S2MM BD whose words are all written may end now; counts it if so."""
    c = st.channels
    mode = (c.control[ch] & FOT_MASK) >> FOT_LSB
    counting = mode == FotMode.BY_REGISTER or (mode == FotMode.WITH_TOKEN and c.task_token[ch] == 1)
    full = st.counts.held[ch] >= st.spec.timing.count_fifo_words[0]
    if counting and full and mode == FotMode.WITH_TOKEN and c.token_due[ch] == 0:
        halt(st, ch, ERROR_BDS_PER_TASK)
        return False
    if (counting and full) or token_blocked(st, ch):
        c.fetch_why[ch] = Cause.TOKEN_BLOCKED
        c.why[ch] = Cause.TOKEN_BLOCKED
        return False
    if counting:
        count(st, ch)
    return True


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
def room(st: State, ch: int) -> int:
    """How many more tasks the queue takes now (DEV-QUEUE-1)."""
    c = st.channels
    begins = c.phase[ch] == Phase.IDLE or c.phase[ch] == Phase.STARTING
    beside = 1 - st.spec.timing.queue_running[0]
    return int(max(_DEPTH + beside - (0 if begins else 1) - c.queue_count[ch], 0))


@jit
def push(st: State, ch: int, word: int) -> None:
    """A write to the channel's start queue register."""
    c = st.channels
    if room(st, ch) == 0:
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
    """Let an idle channel with a queued task start it ``task_start`` cycles later, and load its first BD."""
    c = st.channels
    if c.phase[ch] == Phase.IDLE:
        if c.queue_count[ch] == 0 or in_reset(st, ch):
            return
        c.phase[ch] = Phase.STARTING
        c.until[ch] = st.clock.now[0] + st.spec.timing.task_start[0]
        st.clock.activity[0] += 1
    elif c.phase[ch] == Phase.STARTING and st.clock.now[0] >= c.until[ch]:
        start_task(st, ch)
        c.phase[ch] = Phase.LOADING
        c.until[ch] = st.clock.now[0] + st.spec.timing.task_load[0]
        st.clock.activity[0] += 1
    if c.phase[ch] == Phase.LOADING and st.clock.now[0] >= c.until[ch]:
        turn_to(st, ch, c.task_bd[ch])


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
