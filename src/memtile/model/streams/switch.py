"""The stream switches: words move from slave to master ports, and over the wires between tiles.

Circuit mode: a slave feeds all its masters at once, so one slow receiver stops all (AM020 chapter 2).
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.checking import notes
from memtile.model.dma.fifo import entered, pauses, refuses, space
from memtile.model.roster import retire_ports, wake_channel, wake_control
from memtile.model.state.causes import Cause
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State
from memtile.model.state.streams import PIPE_RING, PIPE_SLOTS, TLAST, WRONG_PARITY, Pipe
from memtile.model.streams import logic_ports
from memtile.model.streams.beats import pop_word, put_beat, words_in
from memtile.model.streams.host_ports import hand_to_host, host_takes
from memtile.model.streams.packet_switch import contend
from memtile.model.streams.packet_switch import serve as serve_packet
from memtile.model.streams.pipes import end
from memtile.model.streams.switch_config import PACKET
from memtile.model.streams.switch_ports import has_room, offers, pop, push, report


@inlined
def serve_slave(st: State, port: int) -> None:
    """Move the word that a slave port offers to its masters."""
    switch = st.switch
    fed = switch.feeds[port]
    if fed < 0:
        return
    while fed >= 0:
        if not has_room(st, fed):
            return
        fed = switch.sibling[fed]
    head = switch.head[port]
    word, last = switch.words[port, head], switch.last[port, head]
    fed = switch.feeds[port]
    while fed >= 0:
        push(st, fed, word, last)
        fed = switch.sibling[fed]
    pop(st, port)


@inlined
def enter_channel(st: State, port: int, channel: int) -> None:
    """Move the beat that a master port offers into the ingress buffer behind it."""
    switch, head = st.switch, st.switch.head[port]
    flags = switch.last[port, head]
    if pauses(st, channel):
        st.clock.activity[0] = 1
        return
    if space(st.fifos, channel) < words_in(flags):
        st.seen[channel, ChannelEvent.MEMORY] = st.clock.now[0]
        return
    if refuses(st, channel):
        return
    enter(st, port, channel, switch.words[port, head], flags)
    pop(st, port)
    st.clock.activity[0] = 1


@inlined
def enter(st: State, port: int, channel: int, beat: int, flags: int) -> None:
    """Put a beat that leaves a master port into the ingress buffer behind it, which takes it."""
    if flags >= WRONG_PARITY:
        if flags >= notes.LABEL:
            notes.enters(st, channel, flags, words_in(flags))
        flags = report(st, port, flags)
    put_beat(st.fifos, channel, beat, flags)
    entered(st, channel)
    if st.channels.active[channel] == 0 and st.channels.why[channel] == Cause.STREAM_STARVED:
        wake_channel(st, channel)
        st.seen[channel, ChannelEvent.STREAM] = st.clock.now[0]  # the word came too late for this cycle


@inlined
def serve_master(st: State, port: int) -> None:
    """Move the word that a master port offers over its wire, or into the channel behind it."""
    switch = st.switch
    head = switch.head[port]
    link, channel = switch.link[port], switch.channel[port]
    if link >= 0:
        if has_room(st, link):
            push(st, link, switch.words[port, head], switch.last[port, head])
            pop(st, port)
    elif channel >= 0:
        enter_channel(st, port, channel)
    elif switch.control[port] >= 0:
        wake_control(st, switch.control[port])
    elif switch.hosted[port] == 1 and host_takes(st) and logic_ports.takes(st, port):
        word, last = pop_word(st, port)
        hand_to_host(st, port, word, last)
        logic_ports.took(st, port, last)
        st.clock.activity[0] = 1


@inlined
def goes_on(st: State, pipe: int) -> bool:
    """Whether a word came to a pipe in this cycle and another one can go, which then does."""
    pipes, now = st.pipes, st.clock.now[0]
    if pipes[pipe, Pipe.PUSHED] != now:
        return False
    slot = PIPE_RING + ((now - pipes[pipe, Pipe.LATENCY]) & (PIPE_SLOTS - 1))
    word, flags = pipes[pipe, slot], pipes[pipe, slot + PIPE_SLOTS]
    channel, port = pipes[pipe, Pipe.CHANNEL], pipes[pipe, Pipe.PORT]
    if channel >= 0:
        if pauses(st, channel) or space(st.fifos, channel) < words_in(flags) or refuses(st, channel):
            return False
        enter(st, pipes[pipe, Pipe.LAST], channel, word, flags)
    else:
        if not has_room(st, port):
            return False
        push(st, port, word, flags)
    if flags & TLAST:
        pipes[pipe, Pipe.ENDED] = now
    return True


@inlined
def serve(st: State, port: int) -> None:
    """One cycle of a port that holds words, or whose last one a core took."""
    if not offers(st, port):
        st.clock.activity[0] = 1  # only time separates the word from its move
    elif st.switch.is_master[port] == 1:
        serve_master(st, port)
    elif st.switch.mode[port] == PACKET:
        serve_packet(st, port)
    else:
        serve_slave(st, port)
    if st.switch.popped[port] != st.clock.now[0]:
        st.switch.stalled[port] = st.clock.now[0]


@jit
def serve_alone(st: State, port: int) -> None:
    """One cycle of a port, as :func:`serve` but not inlined."""
    serve(st, port)


@jit
def step_pipes(st: State) -> bool:
    """One cycle of all pipes; the ports of those that end go on as others do, in the same cycle.

    Returns:
        Whether one of them ended.
    """
    roster, kept, before = st.piped, 0, st.piped[0]
    first = st.active_ports[0] + 1
    for slot in range(1, roster[0] + 1):
        pipe = roster[slot]
        if goes_on(st, pipe):
            kept += 1
            roster[kept] = pipe
        else:
            end(st, pipe, st.clock.now[0])
    roster[0] = kept
    st.clock.activity[0] = 1
    for slot in range(first, st.active_ports[0] + 1):
        port = st.active_ports[slot]
        serve_alone(st, port)
    return bool(kept < before)


@jit
def step(st: State) -> None:
    """One cycle of all switches."""
    if st.packet_slaves[0] > 0:
        contend(st)
    roster, emptied = st.active_ports, False
    for slot in range(1, roster[0] + 1):
        port = roster[slot]
        serve(st, port)
        if st.switch.held[port] == 0:
            emptied = True
    if st.piped[0] > 0 and step_pipes(st):
        emptied = True
    if emptied:
        retire_ports(st)
