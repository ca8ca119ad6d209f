"""What looking for periods may cost: a share of what stepping does, so that work without periods hardly pays.

Both are reckoned, not measured, in units of about a nanosecond: a run is the same each time. What a jump
saves is as good as stepped.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.dma.access_log import LIMIT
from memtile.model.state.state import State
from memtile.sim.forward.places import Arrays

SHARE = 40  # of what was stepped, that looking may cost: one in so many
_LOOKS_SHARE = 2 * SHARE  # and looks alone
_CYCLE, _OF_CHANNEL, _OF_PORT, _OF_CORE = 7, 20, 13, 20  # of a cycle, and what each that is active adds
_SCANNED = 3  # of a row that may be live
_FOR_RINGS = 60_000  # that looks leave
_NEW_ROW = 12  # of the log, used for the first time
_FIRST_EFFORT = 30_000
_PAID_BACK = 8  # of what jumps within BDs save, the part that looks may cost beside their share
_LONGEST_WAIT = 1 << 20  # cycles


@inlined
def of_cycle(st: State) -> int:
    """What stepping the next cycle costs."""
    channels, ports, cores = st.active_channels[0], st.active_ports[0], st.active_cores[0]
    return int(_CYCLE + _OF_CHANNEL * channels + _OF_PORT * ports + _OF_CORE * cores)


@jit
def of_plan(work: Arrays) -> int:
    """What making a plan costs: all that may be live is looked at."""
    return int(_SCANNED * work.search.scope_rows[0])


@inlined
def looked(work: Arrays, cost: int) -> None:
    """Note what looking has cost."""
    work.search.probing_cost[0] += cost


@inlined
def refund(work: Arrays, saved: int) -> None:
    """What a look saved pays for it, and for some that find nothing."""
    work.search.probing_cost[0] = max(work.search.probing_cost[0] - saved // _PAID_BACK, 0)


@jit
def lacking(work: Arrays, cost: int) -> int:
    """What has to be stepped before looking may cost so much more; 0 or less = it may now."""
    return int((work.search.probing_cost[0] + cost) * SHARE - work.search.stepped_cost[0])


@jit
def cycles_until(st: State, work: Arrays, cost: int) -> int:
    """Cycles to be stepped until looking may cost so much more, if they cost what this one does."""
    return int(min(max(lacking(work, cost), 0) // of_cycle(st) + 1, _LONGEST_WAIT))


@jit
def cycles_to_look(st: State, work: Arrays, cost: int) -> int:
    """Cycles to be stepped until a look may begin; half of all is for rings, which bring more."""
    alone = (work.search.probe_cost[0] + cost) * _LOOKS_SHARE - work.search.stepped_cost[0]
    missing = max(alone, lacking(work, cost + _FOR_RINGS))
    return int(min(max(missing, 0) // of_cycle(st) + 1, _LONGEST_WAIT))


@jit
def longer_log(st: State, work: Arrays) -> bool:
    """Let the log be twice as long if looking may cost that; whether it is."""
    rows = st.access_log[0, LIMIT]
    if rows >= st.access_log.shape[0] or lacking(work, _NEW_ROW * rows) > 0:
        return False
    looked(work, _NEW_ROW * rows)
    st.access_log[0, LIMIT] = 2 * rows
    return True


@jit
def give_up(st: State, work: Arrays) -> int:
    """The search for rings has cost too much: cycles until the next one, which may cost twice as much."""
    search = work.search
    search.ring_effort[0] = max(2 * search.ring_effort[0], _FIRST_EFFORT)
    return cycles_until(st, work, search.ring_effort[0])
