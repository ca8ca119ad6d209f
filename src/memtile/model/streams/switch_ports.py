"""Words in the ports of a stream switch: small FIFOs with a latency (AM020 chapter 2, stream switch).

A word may leave ``latency`` cycles after it came; a port takes a word when it had room at the start of the
cycle. So no move of a cycle depends on another one, and the order in which ports are served does not matter.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.roster import wake_port
from memtile.model.state.state import State
from memtile.model.state.streams import TLAST


@inlined
def has_room(st: State, port: int) -> bool:
    """Whether the port can take a word in this cycle."""
    left_now = 1 if st.switch.popped[port] == st.clock.now[0] else 0
    return bool(st.switch.held[port] + left_now < st.switch.depth[port])


@inlined
def push(st: State, port: int, word: int, last: int) -> None:
    """Put a word into a port that has room."""
    switch = st.switch
    slot = (switch.head[port] + switch.held[port]) & switch.wrap[port]
    switch.words[port, slot] = word
    switch.last[port, slot] = last
    switch.entered[port, slot] = st.clock.now[0]
    switch.held[port] += 1
    st.clock.activity[0] = 1
    wake_port(st, port)


@inlined
def offers(st: State, port: int) -> bool:
    """Whether the port has a word that has been in it for its latency."""
    switch = st.switch
    if switch.held[port] == 0:
        return False
    return bool(st.clock.now[0] - switch.entered[port, switch.head[port]] >= switch.latency[port])


@inlined
def pop(st: State, port: int) -> None:
    """Let the oldest word leave."""
    switch = st.switch
    if switch.last[port, switch.head[port]] & TLAST:
        switch.tlast[port] = st.clock.now[0]
    switch.head[port] = (switch.head[port] + 1) & switch.wrap[port]
    switch.held[port] -= 1
    switch.popped[port] = st.clock.now[0]
