"""Words in the ports of a stream switch: small FIFOs with a latency (AM020 chapter 2, stream switch).

A word may leave ``latency`` cycles after it came, and the place that it had can be taken ``latency`` cycles
after it left: whoever sends hears of room as late as words come (case stream-262144). So no move of a cycle
depends on another one, and the order in which ports are served does not matter. The manual's depths, twice
the latencies, are just enough for a word in every cycle.

It also has parity of the words in the stream switches: injected at entry, checked at exit (AM025).

Each word carries its parity through all switches. Stream_Switch_Parity_Injection makes it wrong for what
enters by the chosen slave ports; Stream_Switch_Parity_Status and an event say at which master port of a DMA,
of tile control or to the south such a word left. The word itself is right, and taken (DEV-PAR-1).
"""

from __future__ import annotations

from memtile.arch.timing import WIRE_IDLE
from memtile.jit.decorators import inlined, jit
from memtile.model.events.reports import signal
from memtile.model.roster import wake_port
from memtile.model.state.columns import NEVER
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.state import State
from memtile.model.state.streams import PIPE_RING, PIPE_SLOTS, PIPED, TLAST, WRONG_PARITY, Pipe

_LATEST = 8  # cycles: the longest latency that Timing allows to a port
_SEEN = (1 << _LATEST) - 1


@inlined
def has_room(st: State, port: int) -> bool:
    """Whether the port can take a word in this cycle."""
    switch = st.switch
    room = switch.depth[port] - switch.held[port]
    if room <= 0:
        return False
    fresh = switch.latency[port] - (st.clock.now[0] - switch.popped[port])
    if room > fresh:  # as no more than one word a cycle left
        return True
    gone = switch.departures[port] & ((1 << fresh) - 1)
    while gone != 0 and room > 0:
        gone &= gone - 1
        room -= 1
    if room == 0:
        st.clock.activity[0] = 1  # only time separates the port from its room
    return bool(room > 0)


@inlined
def start_of_wire(st: State, port: int) -> int:
    """Cycles that a word stays longer in a port to another tile whose wire was idle (DEV-SILICON-6)."""
    switch = st.switch
    if st.spec.timing.wire_start[0] == 0 or switch.link[port] < 0 or switch.held[port] > 0:
        return 0
    if switch.popped[port] != NEVER and st.clock.now[0] - switch.popped[port] < WIRE_IDLE:
        return 0
    return int(st.spec.timing.wire_start[0])


@inlined
def push(st: State, port: int, word: int, last: int) -> None:
    """Put a word into a port that has room, or into the pipe that begins with it."""
    switch = st.switch
    if switch.active[port] >= PIPED:
        pipe, slot = switch.active[port] - PIPED, st.clock.now[0] & (PIPE_SLOTS - 1)
        st.pipes[pipe, PIPE_RING + slot] = word
        st.pipes[pipe, PIPE_RING + PIPE_SLOTS + slot] = last
        st.pipes[pipe, Pipe.PUSHED] = st.clock.now[0]
        st.clock.activity[0] = 1
        return
    slot = (switch.head[port] + switch.held[port]) & switch.wrap[port]
    switch.words[port, slot] = word
    switch.last[port, slot] = last
    switch.entered[port, slot] = st.clock.now[0] + start_of_wire(st, port)
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
    quiet = st.clock.now[0] - switch.popped[port]
    switch.departures[port] = (switch.departures[port] << quiet | 1) & _SEEN if quiet < _LATEST else 1
    switch.popped[port] = st.clock.now[0]


@inlined
def gone_in_a_row(departures: int, words: int) -> int:
    """``departures`` after so many words more, one a cycle."""
    return (departures << words | ((1 << words) - 1)) & _SEEN if words < _LATEST else _SEEN


@jit
def inject(st: State, tile: int, chosen: int) -> None:
    """Let words that enter by the slave ports in ``chosen``, bits of the register, have wrong parity."""
    first = st.spec.tiles.slave_base[tile]
    for port in range(first, first + st.spec.tiles.slaves[tile]):
        st.switch.parity[port] = WRONG_PARITY if st.switch.parity_mask[port] & chosen else 0


@jit
def report(st: State, port: int, flags: int) -> int:
    """A word with wrong parity, or a label of a note, leaves by a master port; its other flags."""
    mask = st.switch.parity_mask[port]
    if mask > 0 and flags & WRONG_PARITY:
        st.registers[st.switch.parity_status[port]] |= mask
        signal(st, st.switch.tile[port], TileSignal.STREAM_PARITY)
    return flags & (WRONG_PARITY - 1)
