"""S2MM: stream to memory, through an ingress buffer and a write port as wide as a bank.

Per cycle: a pending access may be written if its bank is granted, then one beat moves from the ingress buffer
into the access being formed, then one beat may enter from the stream. An access is complete when the next
word does not continue it; it asks for its bank from the next cycle on, while a second one is formed behind
it. The BD is done when its last access is written (docs/timing.md, GT-6, DEV-INGRESS-1).
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.dma.access_log import note
from memtile.model.dma.address_generator import advance, aim, joins
from memtile.model.dma.bd_load import halt
from memtile.model.dma.channel_registers import ERROR_MEMORY_UNAVAILABLE, FOT_MASK
from memtile.model.dma.fifo import drop, empty
from memtile.model.dma.task_queue import bd_done, finish_on_tlast, may_end, take_header
from memtile.model.memory import banks, ecc, neighbours, watchpoints
from memtile.model.memory.lock_port import begin_at_once, post_release
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State


@inlined
def ask(st: State, ch: int) -> None:
    """Enter the pending write into this cycle's bank arbitration."""
    g = st.granules
    g.port_bank[ch] = -1
    st.channels.fetch_why[ch] = Cause.BD_SWITCH
    if g.port_count[ch] == 0:
        return
    if banks.busy(st, g.pending_bank[ch]):
        st.channels.fetch_why[ch] = Cause.MEMORY_BUSY
        return
    if g.port_owner[ch] != st.channels.tile[ch]:
        neighbours.ask(st, ch, g.port_owner[ch], g.pending_bank[ch])
        return
    g.port_bank[ch] = g.pending_bank[ch]
    banks.request(st, ch)


@inlined
def write(st: State, ch: int) -> None:
    """Write the pending access if its bank was granted; the last one of a BD completes it."""
    g = st.granules
    if g.port_bank[ch] >= 0:
        if banks.granted(st, ch):
            note(st, ch, g.port_target[ch], g.port_count[ch], 0)
            if st.clock.wordless[0] == 0:
                for i in range(g.port_count[ch]):
                    st.memory[g.port_target[ch] + i] = g.port_words[ch, i]
            if st.guards.inspected[g.port_owner[ch]] > 0:
                ecc.overwritten(st, g.port_owner[ch], g.port_target[ch], g.port_count[ch])
                watchpoints.see_channel(st, ch, g.port_owner[ch], g.port_target[ch], g.port_count[ch], True)
                notes.channel_writes(st, ch, g.port_target[ch], g.port_count[ch])
            g.port_count[ch] = 0
        else:
            st.channels.fetch_why[ch] = Cause.BANK_CONFLICT
    if complete(st, ch) and may_end(st, ch):
        post_release(st, ch)
        bd_done(st, ch)
        begin_at_once(st, ch)


@inlined
def complete(st: State, ch: int) -> bool:
    """Whether every word of the BD is in memory."""
    c = st.channels
    g = st.granules
    if c.phase[ch] != Phase.RUN or c.moved[ch] != c.length[ch]:
        return False
    return bool(g.formed[ch] == 0 and g.port_count[ch] == 0)


@inlined
def hand_over(st: State, ch: int) -> None:
    """Move a complete access to the memory port, if the port is free."""
    g = st.granules
    if g.closed[ch] == 0 or g.port_count[ch] > 0:
        return
    g.port_target[ch] = g.target[ch]
    g.port_count[ch] = g.formed[ch]
    g.pending_bank[ch] = g.bank[ch]
    g.port_owner[ch] = g.owner[ch]
    g.since[ch] = st.clock.now[0] + 1  # phase 2a of this cycle is over
    if st.clock.wordless[0] == 0:
        for i in range(g.formed[ch]):
            g.port_words[ch, i] = g.words[ch, i]
    g.formed[ch] = 0
    g.closed[ch] = 0
    st.clock.activity[0] = 1


@inlined
def consume(st: State, ch: int) -> None:
    """Take one beat from the ingress buffer into the access being formed, or say why not."""
    hand_over(st, ch)
    c = st.channels
    if c.phase[ch] != Phase.RUN:
        if c.phase[ch] == Phase.HEADER:
            take_header(st, ch)
        return
    if c.moved[ch] == c.length[ch] or st.granules.closed[ch] == 1:
        c.why[ch] = c.fetch_why[ch]
    elif empty(st, ch):
        c.why[ch] = Cause.STREAM_STARVED
        st.seen[ch, ChannelEvent.STREAM] = st.clock.now[0]
    else:
        collect(st, ch)
        if st.walks.stream_words[ch] > 1:
            collect_rest(st, ch)


@jit
def collect_rest(st: State, ch: int) -> None:
    """Take the other words of the beat, as far as the access being formed and the write port allow."""
    c = st.channels
    for _ in range(1, st.walks.stream_words[ch]):
        if c.phase[ch] != Phase.RUN or c.moved[ch] == c.length[ch]:
            return
        if st.granules.closed[ch] == 0 and st.fifos.held[ch] > 0:
            collect(st, ch)


@inlined
def collect(st: State, ch: int) -> None:
    """Put the oldest ingress word into the channel's access."""
    head, address = st.fifos.head[ch], st.walks.address[ch]
    if not place(st, ch, st.fifos.words[ch, head]):
        return
    drop(st.fifos, ch)
    st.channels.why[ch] = Cause.MOVING
    if st.channels.control[ch] & FOT_MASK:
        finish_on_tlast(st, ch, st.fifos.last[ch, head])
    close(st, ch, address)


@inlined
def place(st: State, ch: int, word: int) -> bool:
    """Put a word into the channel's access; False and a halt when its address is out of reach."""
    g, walks = st.granules, st.walks
    if g.formed[ch] == 0 and not aim(st, ch, walks.address[ch]):
        halt(st, ch, ERROR_MEMORY_UNAVAILABLE)
        return False
    g.words[ch, g.formed[ch]] = word
    g.formed[ch] += 1
    st.channels.moved[ch] += 1
    st.clock.activity[0] = 1
    advance(walks, ch)
    return True


@inlined
def close(st: State, ch: int, address: int) -> bool:
    """Whether the access is complete with the word at ``address``; then the memory port takes it, if free."""
    if joins(st.walks, ch, address):
        return False
    st.granules.closed[ch] = 1
    hand_over(st, ch)
    return True
