"""MM2S: memory to stream, through an egress buffer that runs ahead only in whole memory accesses.

Per cycle: one beat may leave to the stream, then one access may be asked of a bank, or a beat of padding be
made. The BD counts as finished (lock released, FINISHED_BD) when its last access is granted; the next BD's
lock is asked for when its last word leaves (docs/timing.md, DEV-MM2S-1, DEV-EGRESS-1).
"""

from __future__ import annotations

from memtile.arch.tiles import COMPRESSED_GROUP_WORDS
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.dma.access_log import PADDING, note
from memtile.model.dma.address_generator import aim, form_access
from memtile.model.dma.bd_load import halt
from memtile.model.dma.channel_registers import ERROR_MEMORY_UNAVAILABLE
from memtile.model.dma.coder import gather, packed_moved, pass_on
from memtile.model.dma.fifo import drop, put, space
from memtile.model.dma.task_queue import bd_done, token_blocked
from memtile.model.memory import banks, ecc, neighbours, watchpoints
from memtile.model.memory.lock_port import begin_at_once, post_release
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State
from memtile.model.streams.beats import deliver_beat, ready_words
from memtile.model.streams.host_ports import deliver, takes, would_take
from memtile.model.streams.packet_flow import header_of


@inlined
def drain(st: State, ch: int) -> None:
    """Let one beat leave to the stream; the last one of a BD completes it."""
    c = st.channels
    if c.phase[ch] != Phase.RUN:
        return
    if st.walks.stream_words[ch] > 1:
        drain_wide(st, ch)
    elif st.fifos.held[ch] == 0:
        starve(st, ch)
    elif takes(st, ch):
        head = st.fifos.head[ch]
        deliver(st, ch, st.fifos.words[ch, head], st.fifos.last[ch, head])
        drop(st.fifos, ch)
        c.moved[ch] = c.moved[ch] + 1 if c.packed[ch] == 0 else packed_moved(st, ch)
        c.why[ch] = Cause.MOVING
    else:
        c.why[ch] = Cause.STREAM_BLOCKED
        st.seen[ch, ChannelEvent.STREAM] = st.clock.now[0]
    if c.moved[ch] == c.length[ch]:
        if token_blocked(st, ch):
            if c.why[ch] != Cause.MOVING:
                c.why[ch] = Cause.TOKEN_BLOCKED
            return
        if c.length[ch] == 0:  # no access was the last one
            post_release(st, ch)
        bd_done(st, ch)
        begin_at_once(st, ch)


@inlined
def starve(st: State, ch: int) -> None:
    """No word for the stream: memory starvation, if it would take one and the BD's first one has left."""
    st.channels.why[ch] = st.channels.fetch_why[ch]
    if st.channels.moved[ch] > 0 and would_take(st, ch):
        st.seen[ch, ChannelEvent.MEMORY] = st.clock.now[0]


@jit
def drain_wide(st: State, ch: int) -> None:
    """Let one beat of up to two words leave to the stream."""
    c, words = st.channels, ready_words(st, ch)
    if words == 0:
        starve(st, ch)
    elif takes(st, ch):
        deliver_beat(st, ch, words)
        c.moved[ch] = c.moved[ch] + words if c.packed[ch] == 0 else packed_moved(st, ch)
        c.why[ch] = Cause.MOVING
    else:
        c.why[ch] = Cause.STREAM_BLOCKED
        st.seen[ch, ChannelEvent.STREAM] = st.clock.now[0]


@inlined
def ends_with_tlast(st: State, ch: int) -> int:
    """1 if TLAST comes with the last word that was formed."""
    return 1 if st.walks.left[ch] == 0 and st.channels.tlast_suppress[ch] == 0 else 0


@inlined
def emit(st: State, ch: int, word: int, later: int) -> None:
    """Put a word into the egress buffer, or first into the coder; ``later`` words of the BD follow it."""
    if st.channels.packed[ch] == 1:
        gather(st.codecs, ch, word)
    else:
        put(st.fifos, ch, word, 1 if later == 0 and st.channels.tlast_suppress[ch] == 0 else 0)


@inlined
def emitted(st: State, ch: int) -> None:
    """Words were put there; after the last ones the BD no longer needs its memory."""
    st.clock.activity[0] = 1
    if st.walks.left[ch] == 0:
        post_release(st, ch)


@jit
def pad_value(st: State, ch: int) -> int:
    """What the channel pads with: zero, or its constant of AIE-ML v2 (AM029 Constant_Pad_Value)."""
    tile = st.channels.tile[ch]
    register = st.spec.kinds.pad_value[st.spec.tiles.kind[tile]]
    if register < 0:
        return 0
    return int(st.registers[st.spec.tiles.register_base[tile] + register + st.channels.number[ch]])


@jit
def emit_padding(st: State, ch: int) -> None:
    """Put the padding that was formed into the egress buffer."""
    value = pad_value(st, ch)
    note(st, ch, PADDING, st.granules.formed[ch], ends_with_tlast(st, ch))
    for later in range(st.granules.formed[ch] - 1, -1, -1):
        emit(st, ch, value, st.walks.left[ch] + later)
    emitted(st, ch)


@inlined
def room(st: State, ch: int) -> int:
    """Words that the egress buffer, or the coder before it, can take."""
    if st.channels.packed[ch] == 1:
        return st.walks.granule_words[ch] if st.codecs.held[ch] < COMPRESSED_GROUP_WORDS else 0
    return space(st.fifos, ch)


@inlined
def form(st: State, ch: int) -> bool:
    """Have an access or padding formed; False when the BD needs none or its address is out of reach."""
    g = st.granules
    if g.closed[ch] == 1:
        return True
    if st.walks.left[ch] == 0:
        return False
    address = form_access(st.walks, g, ch)
    g.since[ch] = st.clock.now[0]
    if g.is_pad[ch] == 1 or aim(st, ch, address):
        return True
    g.closed[ch] = 0
    halt(st, ch, ERROR_MEMORY_UNAVAILABLE)
    return False


@jit
def send_header(st: State, ch: int) -> None:
    """Put the packet header into the egress buffer, once the BD has its lock (AM020, DEV-PKT-6)."""
    c = st.channels
    if c.phase[ch] != Phase.RUN or space(st.fifos, ch) == 0:
        return
    c.header_due[ch] = 0
    last = 1 if c.length[ch] == 0 and c.tlast_suppress[ch] == 0 else 0
    put(st.fifos, ch, header_of(st, ch), last)
    st.clock.activity[0] = 1


@inlined
def ask(st: State, ch: int) -> None:
    """Enter this cycle's bank arbitration, or make a beat of padding."""
    g = st.granules
    g.port_bank[ch] = -1
    c = st.channels
    if c.header_due[ch] == 1:
        send_header(st, ch)
        return
    if c.phase[ch] != Phase.RUN:
        return
    if c.packed[ch] == 1:
        pass_on(st, ch)
    if not form(st, ch) or room(st, ch) < g.formed[ch]:
        return
    c.fetch_why[ch] = Cause.BD_SWITCH
    if g.is_pad[ch] == 1:
        g.closed[ch] = 0
        emit_padding(st, ch)
    elif banks.busy(st, g.bank[ch]):
        c.fetch_why[ch] = Cause.MEMORY_BUSY
    elif g.owner[ch] != c.tile[ch]:
        neighbours.ask(st, ch, g.owner[ch], g.bank[ch])
    else:
        g.port_bank[ch] = g.bank[ch]
        banks.request(st, ch)


@inlined
def receive(st: State, ch: int) -> None:
    """Take the words of a granted access, or note that the bank went to somebody else."""
    g = st.granules
    if g.port_bank[ch] < 0:
        return
    if not banks.granted(st, ch):
        st.channels.fetch_why[ch] = Cause.BANK_CONFLICT
        return
    g.closed[ch] = 0
    count, owner = g.formed[ch], g.owner[ch]
    note(st, ch, g.target[ch], count, ends_with_tlast(st, ch))
    inspected, wordless = st.guards.inspected[owner] > 0, st.clock.wordless[0] == 1
    if inspected:
        watchpoints.see_channel(st, ch, owner, g.target[ch], count, False)
        notes.channel_reads(st, ch, g.target[ch], count)
    for i in range(count):
        at = g.target[ch] + i
        word = 0
        if inspected:
            word = ecc.delivered(st, owner, at, False)
        elif not wordless:
            word = int(st.memory[at])
        emit(st, ch, word, st.walks.left[ch] + count - 1 - i)
    emitted(st, ch)
