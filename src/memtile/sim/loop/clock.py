"""The clock loop: the phases of one cycle, idle skipping, and the reasons to return to Python.

``docs/timing.md`` defines the phases. Nothing here knows what a block does; it only orders the blocks.
"""

from __future__ import annotations

from enum import IntEnum

from memtile.arch.tiles import MM2S
from memtile.jit.decorators import inlined, jit
from memtile.model.checking import history_log
from memtile.model.cores import cascade, core_step
from memtile.model.dma import external_read, external_write, mm2s, s2mm, unpack
from memtile.model.dma.task_queue import wake
from memtile.model.events import units as event_units
from memtile.model.memory import axi_port, ecc, lock_port, neighbours
from memtile.model.memory.memory_control import finish_zeroisation, zeroisation_end
from memtile.model.roster import book_rest, note_rest, retire_channels
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.state import State
from memtile.model.streams import control_packets, logic_ports, pipes, switch
from memtile.model.streams.host_ports import offer

SETTLED = 2  # quiet cycles after which nothing can happen by itself: one may still carry last cycle's outcome
_WORTH = 24  # cycles ahead for which pipes are looked for
_APART, _FAR_APART = 16, 128  # cycles between two looks, and after some that found nothing new


class Stop(IntEnum):
    """Why the clock loop returned."""

    LIMIT = 0  # the cycle asked for is reached, or a column's clock is to be changed
    QUIET = 1  # nothing can move any more
    SINK_FULL = 2  # the host must empty a sink
    KERNEL = 3  # a core needs its next action
    REPLAY = 4  # a jump is under way in which cores are given actions (``sim.skip.compiled_replay``)


@jit
def begin_waiting(st: State, ch: int) -> None:
    """:func:`begin_cycle` of a channel that has no BD at work; a task may start."""
    wake(st, ch)
    phase = st.channels.phase[ch]
    why = Cause.BD_SWITCH
    if phase == Phase.IDLE:
        why = Cause.IDLE
    elif phase == Phase.STARTING or phase == Phase.LOADING:
        why = Cause.TASK_START
    elif phase == Phase.HALTED:
        why = Cause.HALTED
    st.channels.why[ch] = why
    if phase == Phase.TAKEN:
        lock_port.hear(st, ch)


@inlined
def begin_cycle(st: State, ch: int) -> None:
    """What the channel does this cycle unless a later phase says otherwise."""
    if st.channels.phase[ch] == Phase.RUN:
        st.channels.why[ch] = Cause.BD_SWITCH
    else:
        begin_waiting(st, ch)


@jit
def ask_external(st: State, ch: int) -> None:
    """Phases 1 and 2a of an interface tile channel."""
    if st.channels.direction[ch] == MM2S:
        external_read.ask(st, ch)
    else:
        external_write.ask(st, ch)


@jit
def use_external(st: State, ch: int) -> None:
    """Phases 2b to 4 of an interface tile channel."""
    if st.channels.direction[ch] == MM2S:
        external_read.receive(st, ch)
    else:
        external_write.write(st, ch)
        external_write.consume(st, ch)
        offer(st, ch)


@inlined
def ask_memory(st: State) -> None:
    """Phases 1 and 2a: tasks start, words leave to the streams, accesses are asked for."""
    c, roster = st.channels, st.active_channels
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
        begin_cycle(st, ch)
        if c.external[ch] >= 0:
            ask_external(st, ch)
        elif c.direction[ch] == MM2S:
            mm2s.drain(st, ch)
            mm2s.ask(st, ch)
        else:
            s2mm.ask(st, ch)
    if st.active_cores[0] > 0:
        core_step.ask_memory(st)
    if st.guarding[0] > 0:
        ecc.ask(st)
    if st.asking_axi[0] > 0:
        axi_port.ask(st)


@inlined
def use_memory(st: State) -> None:
    """Phases 2b to 4: granted accesses are made, ingress words move on, new words enter."""
    c, roster = st.channels, st.active_channels
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
        if c.external[ch] >= 0:
            use_external(st, ch)
        elif c.direction[ch] == MM2S:
            mm2s.receive(st, ch)
        else:
            s2mm.write(st, ch)
            if c.packed[ch] == 1 and c.phase[ch] == Phase.RUN:
                unpack.consume(st, ch)
            else:
                s2mm.consume(st, ch)
            offer(st, ch)
    if st.active_cores[0] > 0:
        core_step.use_memory(st)
    if st.guarding[0] > 0:
        ecc.receive(st)
    if st.asking_axi[0] > 0:
        axi_port.receive(st)


@jit
def account(st: State, cycles: int) -> None:
    """Book the cycles under the cause of each active channel and core."""
    roster = st.active_channels
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
        st.spent[ch, st.channels.why[ch]] += cycles
    if st.active_cores[0] > 0:
        core_step.account(st, cycles)


@jit
def settle(st: State) -> None:
    """Book the cycles in which channels rested."""
    for ch in range(st.spent.shape[0]):
        if st.channels.active[ch] == 0:
            note_rest(st, ch)
        if st.channels.active[ch] != 1:
            book_rest(st, ch)
    core_step.settle(st)


@inlined
def looked_at(st: State) -> bool:
    """Whether anybody but the switches may look at ports, or change them, while the clock runs."""
    return bool(st.active_units[0] + st.in_flight[0] + st.active_controls[0] > 0 or history_log.logging(st))


@inlined
def move_streams(st: State) -> None:
    """Phases 4b' and 4b: words of the programmable logic enter, words move through the switches."""
    if st.logic_sources[0] > 0:
        logic_ports.send(st)
    if st.active_ports[0] + st.piped[0] > 0:
        switch.step(st)


@inlined
def step(st: State) -> None:
    """One cycle of the array clock, but for the books of resting channels."""
    st.clock.activity[0] = 0
    if st.zeroising[0] > 0:
        finish_zeroisation(st)
    ask_memory(st)
    if st.asked_interfaces[0] > 0:
        neighbours.arbitrate(st)
    use_memory(st)
    if st.cascading[0] > 0:
        cascade.step(st)
    move_streams(st)
    lock_port.serve(st)
    retire_channels(st)
    if st.active_cores[0] > 0:
        core_step.account(st, 1)
    st.clock.booked[0] = 1
    if history_log.logging(st):
        history_log.log_cycle(st)
    if st.piped[0] > 0 and looked_at(st):
        pipes.end_all(st, st.clock.now[0] + 1)
    if st.active_units[0] + st.in_flight[0] > 0:
        event_units.step(st)
    if st.active_controls[0] > 0:
        control_packets.step(st)
    st.clock.quiet[0] = min(st.clock.quiet[0] + 1, SETTLED) if st.clock.activity[0] == 0 else 0
    st.clock.now[0] += 1
    st.clock.booked[0] = 0


@jit
def channel_timer(st: State, ch: int) -> int:
    """Cycle in which something happens to the channel by itself, or -1."""
    phase = st.channels.phase[ch]
    if phase == Phase.STARTING or phase == Phase.LOADING or phase == Phase.TAKEN:
        return int(st.channels.until[ch])
    if phase != Phase.RUN or st.channels.external[ch] < 0:
        return -1
    if st.channels.direction[ch] == MM2S:
        return external_read.next_arrival(st, ch)
    return external_write.next_response(st, ch)


@jit
def next_timer(st: State) -> int:
    """Earliest future cycle at which something happens by itself, or -1."""
    earliest = zeroisation_end(st)
    at = core_step.next_timer(st)
    if at >= 0 and (earliest < 0 or at < earliest):
        earliest = at
    for slot in range(1, st.active_channels[0] + 1):
        ch = st.active_channels[slot]
        at = channel_timer(st, ch)
        if at >= 0 and (earliest < 0 or at < earliest):
            earliest = at
    return int(earliest)


@jit
def skip(st: State, until: int) -> None:
    """Jump to cycle ``until``; every cycle in between is like the last one, but for the scrubbers."""
    if st.guarding[0] > 0:
        ecc.skip(st, until)
    account(st, until - st.clock.now[0])
    event_units.hold(st, until - 1)
    if st.active_units[0] > 0:
        event_units.skip(st, until - st.clock.now[0])
    st.clock.idle[0] += until - st.clock.now[0]
    st.clock.now[0] = until


@jit
def look_for_pipes(st: State, until: int) -> bool:
    """Let ports become pipes if that is worth it up to cycle ``until``; whether some did."""
    if until - st.clock.now[0] < _WORTH or st.active_ports[0] == 0 or looked_at(st):
        return False
    return pipes.look(st)


@jit
def is_settled(st: State) -> bool:
    """Whether nothing can move any more, as quiet cycles before this one show.

    Whatever acts from outside sets ``clock.quiet`` to 0, so that the count goes on where a run was cut.
    """
    outside = st.clock.asking[0] + st.clock.full[0] + st.clock.columns_written[0] + st.clock.passing[0]
    return bool(st.clock.quiet[0] >= SETTLED and outside == 0 and next_timer(st) < 0)


@jit
def ask_for_locks_again(st: State) -> None:
    """Let all that waits for a lock ask again, unless nothing was done since the last, quiet cycle."""
    if st.clock.quiet[0] == 0:
        st.clock.locks_changed[0] = 1


@jit
def advance_to_end(st: State, until: int, anchor: int, bds: int) -> int:
    """Cycles up to ``until`` at most, or up to where channel ``anchor`` has ended other than ``bds`` BDs.

    Args:
        st: state.
        until: cycle.
        anchor: channel, -1 = none.
        bds: how many.

    Returns:
        A ``Stop`` code.
    """
    stop = advance_with_pipes(st, until, anchor, bds)
    if st.piped[0] > 0:
        pipes.end_all(st, st.clock.now[0])
    return stop


@jit
def advance_with_pipes(st: State, until: int, anchor: int, bds: int) -> int:
    """Advance as :func:`advance_to_end`, but leave the ports of pipes as they were when these began."""
    if is_settled(st):
        return Stop.QUIET
    next_look, apart = st.clock.now[0], _APART
    while st.clock.now[0] < until and (anchor < 0 or st.channels.bds_done[anchor] == bds):
        if st.clock.asking[0] > 0:
            return Stop.KERNEL
        if st.clock.full[0] > 0:
            return Stop.SINK_FULL
        if st.clock.columns_written[0] > 0:
            return Stop.LIMIT
        if st.clock.now[0] >= next_look:
            apart = _APART if look_for_pipes(st, until) else min(2 * apart, _FAR_APART)
            next_look = st.clock.now[0] + apart
        step(st)
        if st.clock.quiet[0] >= SETTLED:
            at = next_timer(st)
            if at < 0 and st.clock.passing[0] == 0:
                return Stop.QUIET
            at = event_units.limit(st, until if at < 0 else min(at, until))
            if at > st.clock.now[0]:
                skip(st, at)
    return Stop.LIMIT


@jit
def run(st: State, until: int) -> int:
    """Advance to cycle ``until`` at most, without :func:`settle`; return a ``Stop`` code."""
    if history_log.logging(st):
        history_log.look_at_locks(st)
    ask_for_locks_again(st)
    return advance_to_end(st, until, -1, 0)
