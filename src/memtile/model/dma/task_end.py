"""How a BD and its task end: finish-on-TLAST, counts, task-complete tokens (AM020; AM025 DMA_S2MM_n_Ctrl).

A channel keeps one token until the tile takes it; a task that would issue another one waits meanwhile. With
finish-on-TLAST a BD ends at TLAST and its length is only the limit (DEV-FOT-1). In mode 2 the word counts of
a task's BDs follow its token (DEV-FOT-2), in mode 3 software pops them.
"""

from __future__ import annotations

from memtile.arch.dma_registers import FotMode
from memtile.arch.register_map import register_named
from memtile.jit.decorators import inlined, jit
from memtile.model.dma.bd_load import halt
from memtile.model.dma.channel_registers import ERROR_BDS_PER_TASK, ERROR_LENGTH_EXCEEDED, FOT_LSB, FOT_MASK
from memtile.model.events.reports import signal
from memtile.model.roster import wake_control
from memtile.model.state.causes import Cause
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.state import State
from memtile.model.state.streams import COUNT_SLOTS

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
