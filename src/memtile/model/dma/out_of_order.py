"""Out-of-order S2MM: the header of each packet chooses the BD that receives it (AM020; DEV-OOO-1)."""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma.bd_load import load_bd
from memtile.model.dma.fifo import drop
from memtile.model.dma.registers import OUT_OF_ORDER_MASK
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.state import State
from memtile.model.streams.ingress import empty
from memtile.model.streams.packets import out_of_order_bd


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
