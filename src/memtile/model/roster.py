"""Lists of the channels, switch ports and cores that have work, so that idle ones cost nothing.

Entry 0 of a list is its length. The order in a list never matters: every arbiter ranks by number.

A channel rests when it can only repeat its last cycle: without a task, without the lock or without the word
that it waits for. The cycles in which it rested are booked, under the cause it rests with, when it wakes and
at the end of a run.
"""

from __future__ import annotations

from functools import cache

from memtile.jit.decorators import inlined, jit
from memtile.model.state.causes import Cause, CorePhase, Phase
from memtile.model.state.columns import Column, Ints, Roster, fields_of
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.state.state import State, StateTables

OFF = 2  # in the columns ``active``: without clock; nothing wakes what belongs to the tile


@inlined
def append(roster: Ints, number: int) -> None:
    """Add a number to a list."""
    roster[0] += 1
    roster[roster[0]] = number


def without(roster: Ints, owner: Ints, of: int) -> None:
    """Drop the numbers whose ``owner`` is ``of`` from a list."""
    listed = roster[1 : 1 + roster[0]]
    _keep(roster, listed[owner[listed] != of])


def without_number(roster: Ints, number: int) -> None:
    """Drop a number from a list."""
    listed = roster[1 : 1 + roster[0]]
    _keep(roster, listed[listed != number])


@cache
def rosters() -> tuple[str, ...]:
    """Names of all lists of the state."""
    declared = fields_of(StateTables).items()
    return tuple(
        n for n, (what, _) in declared if isinstance(what, Column) and isinstance(what.holds, Roster)
    )


def put_in_order(st: State) -> None:
    """Sort the lists, whose order is that in which things happened to wake, and clear what is behind them."""
    for name in rosters():
        roster = getattr(st, name)
        behind = 1 + roster[0]
        roster[1:behind].sort()
        roster[behind:] = 0


def _keep(roster: Ints, kept: Ints) -> None:
    roster[0] = len(kept)
    roster[1 : 1 + len(kept)] = kept


@jit
def rested(st: State, ch: int) -> int:
    """Cycles that the channel has rested and that are not booked yet."""
    booked = 0
    for cause in range(st.spent.shape[1]):
        booked += st.spent[ch, cause]
    return int(st.clock.now[0] + st.clock.booked[0] - booked)


@jit
def book_rest(st: State, ch: int) -> None:
    """Book the cycles of a resting channel that are over and not booked yet."""
    st.spent[ch, st.channels.why[ch]] += rested(st, ch)


@jit
def held_event(st: State, ch: int) -> int:
    """The ``ChannelEvent`` that a resting channel asserts all the time, -1 = none."""
    if st.channels.why[ch] == Cause.LOCK_ACQUIRE:
        return ChannelEvent.STALLED_LOCK
    if st.channels.why[ch] == Cause.STREAM_STARVED:
        return ChannelEvent.STREAM
    return -1


@jit
def backed_up(st: State, ch: int) -> bool:
    """Whether a test bench has words for the resting channel that it has no room for."""
    left = st.ports.source_end[ch] - st.ports.source_position[ch]
    return bool(left > 0 and st.fifos.held[ch] == st.fifos.depth[ch])


@jit
def note_rest(st: State, ch: int) -> None:
    """A resting channel wakes: up to now it was stalled."""
    latest, event = st.clock.now[0] + st.clock.booked[0] - 1, held_event(st, ch)
    if event >= 0:
        st.seen[ch, event] = latest
    if rested(st, ch) > 0 and backed_up(st, ch):
        st.seen[ch, ChannelEvent.MEMORY] = latest


@jit
def wake_channel(st: State, ch: int) -> None:
    """The channel may have something to do from this cycle on."""
    if st.channels.active[ch] == 0:
        note_rest(st, ch)
        book_rest(st, ch)
        st.channels.active[ch] = 1
        append(st.active_channels, ch)
        st.clock.locks_changed[0] |= st.channels.waiting[ch]


@jit
def wait_for_lock(st: State, ch: int) -> None:
    """The channel asks for a lock from this cycle on."""
    if st.channels.waiting[ch] == 0:
        st.channels.waiting[ch] = 1
        append(st.waiting_channels, ch)
    st.clock.locks_changed[0] = 1


@inlined
def wake_port(st: State, port: int) -> None:
    """The switch port holds a word."""
    if st.switch.active[port] == 0:
        st.switch.active[port] = 1
        st.switch.idle[port] = st.clock.now[0] - 1
        append(st.active_ports, port)


@jit
def wake_control(st: State, tile: int) -> None:
    """The tile-control ports of the tile have something to do."""
    if st.controls.active[tile] == 0:
        st.controls.active[tile] = 1
        append(st.active_controls, tile)


@jit
def starving(st: State, ch: int) -> bool:
    """Whether only a word from the stream can make a difference to the S2MM channel."""
    c, g = st.channels, st.granules
    if (c.phase[ch] != Phase.RUN and c.phase[ch] != Phase.HEADER) or c.packed[ch] == 1:
        return False
    return bool(st.fifos.held[ch] == 0 and g.closed[ch] == 0 and g.port_count[ch] == 0)


@jit
def offered(st: State, ch: int) -> bool:
    """Whether a test bench has words for the channel that it has room for."""
    left = st.ports.source_end[ch] - st.ports.source_position[ch]
    return bool(left > 0 and st.fifos.held[ch] < st.fifos.depth[ch])


@inlined
def resting(st: State, ch: int) -> bool:
    """Whether the next cycle of the channel can only be like this one, until somebody wakes it."""
    c, why = st.channels, st.channels.why[ch]
    if why == Cause.MOVING:  # most often
        return False
    if why == Cause.IDLE:
        return c.phase[ch] == Phase.IDLE and c.queue_count[ch] == 0 and not offered(st, ch)
    if why == Cause.LOCK_ACQUIRE:
        return c.phase[ch] == Phase.ACQUIRE and not offered(st, ch)
    return why == Cause.STREAM_STARVED and starving(st, ch) and not offered(st, ch)


@jit
def wake_guard(st: State, tile: int) -> None:
    """The protection of the tile's memory has something to do from this cycle on."""
    if st.guards.active[tile] == 0:
        st.guards.active[tile] = 1
        append(st.guarding, tile)


@jit
def wake_axi_port(st: State, tile: int) -> None:
    """The tile's port of memory-mapped accesses has requests from this cycle on."""
    if st.axi_ports.active[tile] == 0:
        st.axi_ports.active[tile] = 1
        append(st.asking_axi, tile)


@jit
def wake_core(st: State, core: int) -> None:
    """The core has a kernel from this cycle on."""
    if st.cores.active[core] == 0:
        st.cores.active[core] = 1
        append(st.active_cores, core)


@jit
def retire_cores(st: State) -> None:
    """Drop the cores whose kernel is done from the list."""
    roster = st.active_cores
    kept = 0
    for slot in range(1, roster[0] + 1):
        core = roster[slot]
        if st.cores.phase[core] == CorePhase.DONE:
            st.cores.active[core] = 0
        else:
            kept += 1
            roster[kept] = core
    roster[0] = kept


@inlined
def retire_channels(st: State) -> None:
    """Book the cycle under the cause of each active channel; drop those that rest from the list."""
    roster = st.active_channels
    kept = 0
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
        st.spent[ch, st.channels.why[ch]] += 1
        if resting(st, ch):
            st.channels.active[ch] = 0
        else:
            kept += 1
            roster[kept] = ch
    roster[0] = kept


@jit
def retire_ports(st: State) -> None:
    """Drop the switch ports that are empty from the list."""
    roster = st.active_ports
    kept = 0
    for slot in range(1, roster[0] + 1):
        port = roster[slot]
        if st.switch.held[port] == 0:
            st.switch.active[port] = 0
        else:
            kept += 1
            roster[kept] = port
    roster[0] = kept
