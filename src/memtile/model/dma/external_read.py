"""MM2S of an interface tile: external memory to stream.

Per cycle: words that external memory brings enter a ring, one read of it moves on to the egress buffer, one
word leaves to the stream, and one beat may be asked of the AXI master. Reads run ahead of the stream by
``external_egress_words``; the BD counts as finished when its last words have come (DEV-EXT-5). With
``external_ahead`` only words that have not come yet count among these: the tile keeps those of up to
``EXTERNAL_SLOTS`` reads, and the token of a task leaves when its last words have come (DEV-EXT-6). A read
takes ``external_beside`` cycles longer for each other interface tile that waits for words then (DEV-EXT-7).
"""

from __future__ import annotations

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.jit.host_words import word_at
from memtile.model.checking import notes
from memtile.model.dma import external, mm2s
from memtile.model.dma.access_log import note, outside
from memtile.model.dma.fifo import put, space
from memtile.model.dma.task_queue import issue_token, last_of_task
from memtile.model.memory.lock_port import post_release
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State


@inlined
def ends(st: State, ch: int, row: int, slot: int) -> int:
    """1 if TLAST comes with the last word of a read in the ring."""
    return 1 if st.externals.last[row, slot] == 1 and st.channels.tlast_suppress[ch] == 0 else 0


@inlined
def arrive(st: State, ch: int, row: int) -> None:
    """Take the words of the oldest read under way when their time has come, if their buffer is there."""
    x = st.externals
    slot = (x.head[row] + x.arrived[row]) % EXTERNAL_SLOTS
    if x.arrived[row] == x.held[row] or st.clock.now[0] < x.ready[row, slot]:
        return
    if not external.answers(st, ch, x.target[row, slot], x.length[row, slot], False):
        st.granules.target[ch] = x.target[row, slot]  # of the access that failed, see ``external_byte``
        return
    home = external.home(st, row, x.target[row, slot], x.length[row, slot])
    if st.clock.wordless[0] == 0:
        for i in range(x.length[row, slot]):
            x.words[row, slot, i] = word_at(home + i * WORD_BYTES)
    note(st, ch, outside(home), x.length[row, slot], ends(st, ch, row, slot))
    notes.channel_reads(st, ch, notes.EXTERNAL + x.target[row, slot], x.length[row, slot])
    x.arrived[row] += 1
    st.clock.activity[0] += 1
    if x.last[row, slot] == 1:
        post_release(st, ch)
        if st.spec.timing.external_ahead[0] == 1 and last_of_task(st, ch) and st.channels.token_due[ch] == 0:
            issue_token(st, ch)
            st.channels.task_token[ch] = 0  # it is on its way: the end of the task sends none


@inlined
def stage(st: State, ch: int, row: int) -> None:
    """Move the words of the oldest read that has come to the egress buffer."""
    x = st.externals
    slot = x.head[row]
    count = x.length[row, slot]
    if x.arrived[row] == 0 or space(st.fifos, ch) < count:
        return
    last = ends(st, ch, row, slot)
    for i in range(count):
        put(st.fifos, ch, x.words[row, slot, i], last if i == count - 1 else 0)
    x.passed[row] += 1
    x.head[row] = (slot + 1) % EXTERNAL_SLOTS
    x.held[row] -= 1
    x.arrived[row] -= 1
    x.buffered[row] -= count
    st.clock.activity[0] += 1


@inlined
def no_room(st: State, ch: int, row: int) -> bool:
    """Whether the words of the next read would find no room."""
    x, formed = st.externals, st.granules.formed[ch]
    most = st.spec.timing.external_egress_words[0]
    if st.spec.timing.external_ahead[0] == 1:
        coming = x.held[row] - x.arrived[row] + 1  # reads, the next one among them
        return bool(x.held[row] == EXTERNAL_SLOTS or coming * formed > most)
    return bool(x.buffered[row] + st.fifos.held[ch] + formed > most)


@inlined
def request(st: State, ch: int, row: int) -> None:
    """Ask the AXI master for the next beat, if its words would find room."""
    g = st.granules
    g.port_bank[ch] = -1
    if st.channels.header_due[ch] == 1:
        mm2s.send_header(st, ch)
        return
    if st.channels.phase[ch] != Phase.RUN or not mm2s.form(st, ch):
        return
    st.channels.fetch_why[ch] = Cause.EXTERNAL
    if no_room(st, ch, row) or external.paused_memory(st, ch):
        return
    if external.answers(st, ch, g.target[ch], g.formed[ch], False):
        external.ask(st, ch, g.bank[ch])


@jit
def ask(st: State, ch: int) -> None:
    """Phases 1 and 2a of an MM2S channel."""
    row = st.channels.external[ch]
    if st.channels.phase[ch] == Phase.RUN:
        arrive(st, ch, row)
        stage(st, ch, row)
        if external.paused_stream(st, ch):
            st.channels.why[ch] = Cause.STREAM_BLOCKED
        else:
            mm2s.drain(st, ch)
    request(st, ch, row)


@jit
def waits(st: State, tile: int) -> bool:
    """Whether a tile has reads under way."""
    x, first = st.externals, st.spec.tiles.channel_base[tile]
    for ch in range(first, first + st.spec.tiles.channels[tile]):
        row = st.channels.external[ch]
        if row >= 0 and x.held[row] > x.arrived[row]:
            return True
    return False


@jit
def beside(st: State, tile: int) -> int:
    """Cycles that a read of a tile takes longer since others have reads under way."""
    each, tiles, others = st.spec.timing.external_beside[0], st.spec.tiles, 0
    if each == 0:
        return 0
    for other in range(tiles.kind.shape[0]):
        if other != tile and st.spec.kinds.external[tiles.kind[other]] == 1 and waits(st, other):
            others += 1
    return int(each * others)


@jit
def receive(st: State, ch: int) -> None:
    """Phase 2b: send the read off if the master served the channel."""
    g, x = st.granules, st.externals
    address, count = g.target[ch], g.formed[ch]
    if not external.granted(st, ch, address, count):
        return
    row = st.channels.external[ch]
    slot = (x.head[row] + x.held[row]) % EXTERNAL_SLOTS
    later = external.first_access(st, row, st.spec.timing.external_first_read[0])
    later += beside(st, st.channels.tile[ch])
    x.ready[row, slot] = st.clock.now[0] + st.spec.timing.external_latency[0] + later
    x.target[row, slot] = address
    x.length[row, slot] = count
    x.last[row, slot] = 1 if st.walks.left[ch] == 0 else 0
    x.held[row] += 1
    x.buffered[row] += count
    g.closed[ch] = 0


@jit
def next_arrival(st: State, ch: int) -> int:
    """Cycle in which the next words come, or -1."""
    row = st.channels.external[ch]
    x = st.externals
    if x.arrived[row] == x.held[row]:
        return -1
    return int(x.ready[row, (x.head[row] + x.arrived[row]) % EXTERNAL_SLOTS])
