"""What looking for periods may cost: a share of what stepping does, so that work without periods hardly pays.

Both are reckoned, not measured, in units of about a nanosecond: a run is the same each time. What a jump
saves is as good as stepped.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.dma.access_log import LIMIT
from memtile.model.state.state import State
from memtile.sim.skip.probe_policy import choices
from memtile.sim.skip.records import Arrays

SHARE = choices()["share"].value  # of what was stepped, that looking may cost: one in so many


@inlined
def of_cycle(st: State, work: Arrays) -> int:
    """What stepping the next cycle costs."""
    policy = work.policy
    channels, ports, cores = st.active_channels[0], st.active_ports[0], st.active_cores[0]
    active = policy.cost_of_channel[0] * channels + policy.cost_of_port[0] * ports
    return int(policy.cost_of_cycle[0] + active + policy.cost_of_core[0] * cores)


@jit
def of_plan(work: Arrays) -> int:
    """What making a plan costs: all that may be live is looked at."""
    return int(work.policy.cost_of_scan[0] * work.search.scope_rows[0])


@inlined
def looked(work: Arrays, cost: int) -> None:
    """Note what looking has cost."""
    work.search.probing_cost[0] += cost


@inlined
def refund(work: Arrays, saved: int) -> None:
    """What a look saved pays for it, and for some that find nothing."""
    work.search.probing_cost[0] = max(work.search.probing_cost[0] - saved // work.policy.refund_part[0], 0)


@jit
def lacking(work: Arrays, cost: int) -> int:
    """What has to be stepped before looking may cost so much more; 0 or less = it may now."""
    return int((work.search.probing_cost[0] + cost) * work.policy.share[0] - work.search.stepped_cost[0])


@jit
def cycles_until(st: State, work: Arrays, cost: int) -> int:
    """Cycles to be stepped until looking may cost so much more, if they cost what this one does."""
    return int(min(max(lacking(work, cost), 0) // of_cycle(st, work) + 1, work.policy.longest_wait[0]))


@jit
def cycles_to_look(st: State, work: Arrays, cost: int) -> int:
    """Cycles to be stepped until a look may begin; half of all is for rings, which bring more."""
    policy = work.policy
    alone = (work.search.probe_cost[0] + cost) * policy.probe_share[0] - work.search.stepped_cost[0]
    missing = max(alone, lacking(work, cost + policy.ring_reserve[0]))
    return int(min(max(missing, 0) // of_cycle(st, work) + 1, policy.longest_wait[0]))


@jit
def longer_log(st: State, work: Arrays) -> bool:
    """Let the log be twice as long if looking may cost that; whether it is."""
    policy = work.policy
    rows = st.access_log[0, LIMIT]
    if rows >= st.access_log.shape[0] or lacking(work, policy.cost_of_new_row[0] * rows) > 0:
        return False
    looked(work, policy.cost_of_new_row[0] * rows)
    st.access_log[0, LIMIT] = 2 * rows
    return True


@jit
def give_up(st: State, work: Arrays) -> int:
    """The search for rings has cost too much: cycles until the next one, which may cost twice as much."""
    search = work.search
    search.ring_effort[0] = max(2 * search.ring_effort[0], work.policy.ring_effort[0])
    return cycles_until(st, work, search.ring_effort[0])
