"""Pipes: chains of circuit ports in each of which a word comes and a word goes in every cycle.

Nothing but words and cycle numbers changes in such a port, and all of that follows from the cycle in which
each word came to the first one: in each port it is a latency further on. So while it lasts, a pipe is one
ring of the words that came, by cycle, and its ports stay as they were when it began. Who pushes into the
first port pushes into the ring; a word that is as old as all latencies together is taken as from the last
port. When a word does not come, or cannot go on, and before anybody looks at ports, they become what they
are after so many cycles.

That is exact where each port has room for twice its latency, as AM020 gives it: then it has room in every
cycle, though a place that is left can be taken only a latency later. Pipes begin and end within the clock
loop: nobody else sees one.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.roster import append
from memtile.model.state.columns import NEVER, NONE
from memtile.model.state.state import State
from memtile.model.state.streams import PIPE_RING, PIPE_SLOTS, PIPED, PORT_SLOTS, TLAST, Pipe
from memtile.model.streams.switch_config import CIRCUIT
from memtile.model.streams.switch_ports import gone_in_a_row

_LONGEST = PIPE_SLOTS - PORT_SLOTS - 1  # cycles: what a ring has to hold for the oldest slot of a port
_FEWEST = 2  # ports for which a pipe is worth it
_MASK = PIPE_SLOTS - 1
_RING, _FLAGS = PIPE_RING, PIPE_RING + PIPE_SLOTS


@inlined
def following(st: State, port: int) -> int:
    """The port to which a port of a circuit hands its words; -1 = none, or several."""
    switch = st.switch
    if switch.is_master[port] == 1:
        return int(switch.link[port])
    fed = switch.feeds[port]
    return int(fed) if fed >= 0 and switch.sibling[fed] < 0 else NONE


@inlined
def may_be_part(st: State, port: int) -> bool:
    """Whether a port only hands its words to another one, or to a channel, and has room for two latencies."""
    switch = st.switch
    if switch.mode[port] != CIRCUIT or switch.depth[port] < 2 * switch.latency[port]:
        return False
    return bool(following(st, port) >= 0 or (switch.is_master[port] == 1 and switch.channel[port] >= 0))


@inlined
def is_full(st: State, port: int) -> bool:
    """Whether a word came to the port in each cycle of its latency, and one left in the last cycle."""
    switch, now = st.switch, st.clock.now[0]
    if switch.active[port] != 1 or switch.held[port] != switch.latency[port]:
        return False
    oldest = switch.entered[port, switch.head[port]]
    return bool(switch.popped[port] == now - 1 and oldest == now - switch.latency[port])


@jit
def follow(st: State, pipe: int, first: int) -> int:
    """Ports of a pipe that begins at ``first`` with this cycle, 0 = none; its row has all but the words."""
    pipes, ports, latency, port, last, taker = st.pipes, 0, 0, first, first, NONE
    while port >= 0:
        latency += st.switch.latency[port]
        if not is_full(st, port) or latency > _LONGEST:
            return 0
        ports += 1
        last, port = port, following(st, port)
        if port >= 0 and not may_be_part(st, port):
            taker, port = port, NONE
    if ports < _FEWEST:
        return 0
    pipes[pipe, Pipe.FIRST], pipes[pipe, Pipe.LAST], pipes[pipe, Pipe.LATENCY] = first, last, latency
    pipes[pipe, Pipe.SINCE] = st.clock.now[0]
    pipes[pipe, Pipe.PUSHED], pipes[pipe, Pipe.ENDED] = NEVER, NEVER
    pipes[pipe, Pipe.CHANNEL] = st.switch.channel[last] if taker < 0 else NONE
    pipes[pipe, Pipe.PORT] = taker
    return ports


@jit
def begin(st: State, pipe: int, first: int) -> int:
    """Let a pipe begin at a port with this cycle, if it can; the row that the next one may have."""
    if pipe == st.pipes.shape[0] or not may_be_part(st, first):
        return pipe
    ports = follow(st, pipe, first)
    if ports == 0:
        return pipe
    switch, pipes, port, before = st.switch, st.pipes, first, 0
    pipes[pipe, Pipe.PORTS] = ports
    for _ in range(ports):
        for n in range(switch.latency[port]):
            slot = (switch.head[port] + n) & switch.wrap[port]
            came = (switch.entered[port, slot] - before) & _MASK
            pipes[pipe, _RING + came] = switch.words[port, slot]
            pipes[pipe, _FLAGS + came] = switch.last[port, slot]
        before += switch.latency[port]
        switch.active[port] = PIPED + pipe
        port = following(st, port)
    append(st.piped, pipe)
    return free_row(st, pipe)


@jit
def free_row(st: State, row: int) -> int:
    """The first row from ``row`` on that no pipe has; the number of rows if there is none."""
    while row < st.pipes.shape[0] and st.pipes[row, Pipe.PORTS] > 0:
        row += 1
    return row


@jit
def look(st: State) -> bool:
    """Let all pipes begin that there are, before a cycle; whether there is a new one.

    They begin at ports of MM2S channels, and behind a port that feeds several.
    """
    switch, before, row = st.switch, st.piped[0], free_row(st, 0)
    for slot in range(1, st.active_channels[0] + 1):
        port = st.channels.switch_port[st.active_channels[slot]]
        if port >= 0:
            row = begin(st, row, port)
    for slot in range(1, st.active_ports[0] + 1):
        fed = switch.feeds[st.active_ports[slot]]
        if fed < 0 or switch.sibling[fed] < 0:
            continue
        while fed >= 0:
            row = begin(st, row, fed)
            fed = switch.sibling[fed]
    if st.piped[0] > before:
        drop_piped(st)
    return bool(st.piped[0] > before)


@jit
def drop_piped(st: State) -> None:
    """Take the ports of pipes from the list of those that are served one by one."""
    roster, kept = st.active_ports, 0
    for slot in range(1, roster[0] + 1):
        port = roster[slot]
        if st.switch.active[port] == 1:
            kept += 1
            roster[kept] = port
    roster[0] = kept


@jit
def last_end(st: State, pipe: int, before: int, now: int) -> int:
    """Last cycle before ``now`` in which TLAST left a port of a pipe, NEVER = none since it began.

    ``before``: latencies up to the port's own.
    """
    pipes = st.pipes
    latency, since = pipes[pipe, Pipe.LATENCY], pipes[pipe, Pipe.SINCE]
    for came in range(now - 1 - before, now - 1 - latency, -1):
        if pipes[pipe, _FLAGS + (came & _MASK)] & TLAST:
            return int(came + before) if came + before >= since else NEVER
    left = pipes[pipe, Pipe.ENDED] - (latency - before)
    return int(left) if pipes[pipe, Pipe.ENDED] >= 0 and left >= since else NEVER


@jit
def bring_on(st: State, pipe: int, port: int, before: int, now: int) -> None:
    """Let a port be as it is at cycle ``now``; ``before`` = latencies of the ports before it."""
    switch, pipes = st.switch, st.pipes
    since, latency, wrap = pipes[pipe, Pipe.SINCE], switch.latency[port], switch.wrap[port]
    head = (switch.head[port] + now - since) & wrap
    switch.head[port] = head
    for came in range(max(since - latency, now - wrap - 1), now):
        slot = (head + came - now + latency) & wrap
        switch.words[port, slot] = pipes[pipe, _RING + ((came - before) & _MASK)]
        switch.last[port, slot] = pipes[pipe, _FLAGS + ((came - before) & _MASK)]
        switch.entered[port, slot] = came
    if now > since:
        switch.popped[port] = now - 1
        switch.departures[port] = gone_in_a_row(switch.departures[port], now - since)
        ended = last_end(st, pipe, before + latency, now)
        if ended >= 0:
            switch.tlast[port] = ended


@jit
def end(st: State, pipe: int, now: int) -> None:
    """Let the ports of a pipe be what they are at cycle ``now``, with what came to the first one in it.

    The caller takes it from the list.
    """
    switch, pipes = st.switch, st.pipes
    port, before = pipes[pipe, Pipe.FIRST], 0
    for _ in range(pipes[pipe, Pipe.PORTS]):
        bring_on(st, pipe, port, before, now)
        before += switch.latency[port]
        switch.active[port] = 1
        append(st.active_ports, port)
        port = following(st, port)
    if pipes[pipe, Pipe.PUSHED] == now:
        port = pipes[pipe, Pipe.FIRST]
        slot = (switch.head[port] + switch.held[port]) & switch.wrap[port]
        switch.words[port, slot] = pipes[pipe, _RING + (now & _MASK)]
        switch.last[port, slot] = pipes[pipe, _FLAGS + (now & _MASK)]
        switch.entered[port, slot] = now
        switch.held[port] += 1
    pipes[pipe, Pipe.PORTS] = 0


@jit
def end_all(st: State, now: int) -> None:
    """End all pipes at cycle ``now``, in which no port has been served."""
    for n in range(1, st.piped[0] + 1):
        end(st, st.piped[n], now)
    st.piped[0] = 0
