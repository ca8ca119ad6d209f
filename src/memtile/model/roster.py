"""Who has something to do: lists of active channels, switch ports and cores, so that idle ones cost nothing.

Entry 0 of a list is its length. The order in a list never matters: every arbiter ranks by number.
"""

from __future__ import annotations

from memtile.model.jit import inlined, jit
from memtile.model.state import Ints, State
from memtile.model.states import Cause, CorePhase, Phase

_PHASE_IDLE, _CAUSE_IDLE = int(Phase.IDLE), int(Cause.IDLE)
_CORE_DONE = int(CorePhase.DONE)


@inlined
def append(roster: Ints, number: int) -> None:
    """Add a number to a list."""
    roster[0] += 1
    roster[roster[0]] = number


@jit
def wake_channel(st: State, ch: int) -> None:
    """The channel may have something to do from this cycle on."""
    if st.channels.active[ch] == 0:
        st.channels.active[ch] = 1
        append(st.active_channels, ch)


@inlined
def wake_port(st: State, port: int) -> None:
    """The switch port holds a word."""
    if st.switch.active[port] == 0:
        st.switch.active[port] = 1
        append(st.active_ports, port)


@jit
def wake_control(st: State, tile: int) -> None:
    """The tile-control ports of the tile have something to do."""
    if st.controls.active[tile] == 0:
        st.controls.active[tile] = 1
        append(st.active_controls, tile)


@inlined
def resting(st: State, ch: int) -> bool:
    """Whether the channel was idle all cycle and has no task, nor a test bench that still offers it words."""
    c = st.channels
    if c.phase[ch] != _PHASE_IDLE or c.why[ch] != _CAUSE_IDLE or c.queue_count[ch] > 0:
        return False
    offered = st.ports.source_end[ch] - st.ports.source_position[ch]
    return bool(offered == 0 or st.fifos.held[ch] == st.fifos.depth[ch])


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
        if st.cores.phase[core] == _CORE_DONE:
            st.cores.active[core] = 0
        else:
            kept += 1
            roster[kept] = core
    roster[0] = kept


@inlined
def retire_channels(st: State) -> None:
    """Drop the channels that rest from the list."""
    roster = st.active_channels
    kept = 0
    for slot in range(1, roster[0] + 1):
        ch = roster[slot]
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
