"""S2MM of an interface tile: stream to external memory.

As on the other tiles a word a cycle leaves the ingress buffer for the access being formed; a complete access
is one beat of the AXI master. The BD is done when its last beat has been answered (DEV-EXT-5).
"""

from __future__ import annotations

from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import jit
from memtile.jit.host_words import put_word_at
from memtile.model.checking import notes
from memtile.model.dma import external, s2mm
from memtile.model.dma.access_log import note, outside
from memtile.model.dma.task_queue import bd_done, may_end
from memtile.model.memory.lock_port import begin_at_once, post_release
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.state import State


@jit
def ask(st: State, ch: int) -> None:
    """Phase 2a: ask the AXI master for the pending beat."""
    g = st.granules
    g.port_bank[ch] = -1
    st.channels.fetch_why[ch] = Cause.EXTERNAL
    if g.port_count[ch] == 0 or external.paused_memory(st, ch):
        return
    if external.answers(st, ch, g.port_target[ch], g.port_count[ch], True):
        external.ask(st, ch, g.pending_bank[ch])
    else:
        g.port_count[ch] = 0


@jit
def write(st: State, ch: int) -> None:
    """Phase 2b: make the write that the master served; the answer to the last one of a BD completes it."""
    g, row = st.granules, st.channels.external[ch]
    address, count = g.port_target[ch], g.port_count[ch]
    if external.granted(st, ch, address, count):
        home = external.home(st, row, address, count)
        if st.clock.wordless[0] == 0:
            for i in range(count):
                put_word_at(home + i * WORD_BYTES, g.port_words[ch, i])
        note(st, ch, outside(home), count, 0)
        notes.channel_writes(st, ch, notes.EXTERNAL + address, count)
        g.port_count[ch] = 0
        later = external.first_access(st, row, st.spec.timing.external_first_write[0])
        at = st.clock.now[0] + st.spec.timing.external_write_latency[0] + later
        st.externals.response_at[row] = max(st.externals.response_at[row], at)
    answered = st.clock.now[0] >= st.externals.response_at[row]
    if answered and s2mm.complete(st, ch) and may_end(st, ch):
        post_release(st, ch)
        bd_done(st, ch)
        begin_at_once(st, ch)


@jit
def consume(st: State, ch: int) -> None:
    """Phase 3: take one word from the ingress buffer, unless the stream side is paused."""
    if external.paused_stream(st, ch) and st.channels.phase[ch] == Phase.RUN:
        s2mm.hand_over(st, ch)
        finishing = st.channels.moved[ch] == st.channels.length[ch]
        st.channels.why[ch] = Cause.EXTERNAL if finishing else Cause.STREAM_STARVED
    else:
        s2mm.consume(st, ch)


@jit
def next_response(st: State, ch: int) -> int:
    """Cycle in which the last write of the BD is answered, or -1 when none is waited for."""
    at = st.externals.response_at[st.channels.external[ch]]
    return int(at) if s2mm.complete(st, ch) and at >= st.clock.now[0] else -1
