"""Decompression in S2MM, in place of the plain way from ingress buffer to access (``s2mm.consume``).

One stream word a cycle is taken until a group is complete; then its memory words become one access a cycle
while the next group comes (DEV-COMP-2).
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma import s2mm
from memtile.model.dma.coder import complete, expand
from memtile.model.dma.fifo import drop, empty
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.state import State


@jit
def place(st: State, ch: int) -> None:
    """Put expanded words into the channel's access, until it is complete."""
    codecs, g = st.codecs, st.granules
    while codecs.held[ch] > 0 and g.closed[ch] == 0:
        address = st.walks.address[ch]
        if not s2mm.place(st, ch, codecs.words[ch, codecs.at[ch]]):
            return
        codecs.at[ch] += 1
        codecs.held[ch] -= 1
        if s2mm.close(st, ch, address):
            return


@jit
def take(st: State, ch: int) -> int:
    """Take a stream word into the group that comes, if it misses one; what the channel did."""
    c, codecs = st.channels, st.codecs
    if c.moved[ch] + codecs.held[ch] == c.length[ch] or complete(codecs, ch):
        return int(c.fetch_why[ch])
    if empty(st, ch):
        return Cause.STREAM_STARVED
    codecs.coded[ch, codecs.coded_held[ch]] = st.fifos.words[ch, st.fifos.head[ch]]
    codecs.coded_held[ch] += 1
    drop(st.fifos, ch)
    st.clock.activity[0] += 1
    return Cause.MOVING


@jit
def consume(st: State, ch: int) -> None:
    """S2MM in a BD, phase 3: words into the access, a stream word into a group, a group into words."""
    c, codecs = st.channels, st.codecs
    s2mm.hand_over(st, ch)
    place(st, ch)
    if c.phase[ch] != Phase.RUN:
        return
    c.why[ch] = take(st, ch)
    if codecs.held[ch] == 0 and complete(codecs, ch):
        expand(codecs, ch, c.length[ch] - c.moved[ch])
        st.clock.activity[0] += 1
