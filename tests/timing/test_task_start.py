"""When does a channel whose task has started look at its lock and its stream?"""

from __future__ import annotations

import pytest

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig


def test_a_channel_asks_a_known_time_after_its_task_has_started() -> None:
    """DEV-TASK-1: START_TASK in cycle 4, the lock asked for in cycle 16, whether one looks at all or not."""
    for one_by_one in (True, False):
        rig = Rig(timing=Timing(task_load=12))
        m = rig.mm2s()
        rig.catch(m)
        rig.write_bd(0, Descriptor("memory", 4, OWN.address(0), acquire=Acquire(OWN.lock(0), -1, True)))
        rig.set_lock(0, 1)
        rig.issue(m, 0)
        if one_by_one:
            rig.step(30)
            assert rig.timeline(m) == 16 * "t" + "--####" + 8 * "."
            assert rig.spent(m)[Cause.TASK_START] == 16
        else:
            rig.engine.run(30)
        assert int(rig.engine.state.seen[m, ChannelEvent.START_TASK]) == 4
        assert rig.finished_bd(m) == 16 + 1 + 2


def test_a_task_that_follows_another_one_is_there_at_once() -> None:
    """DEV-TASK-1."""
    rig = Rig(timing=Timing(task_load=12))
    m = rig.mm2s()
    rig.catch(m)
    rig.write_bd(0, Descriptor("memory", 4, OWN.address(0)))
    rig.issue(m, 0)
    rig.issue(m, 0)
    rig.step(30)
    assert rig.timeline(m) == 16 * "t" + "--####-####" + 3 * "."


def test_the_status_says_that_a_task_starts_until_it_is_loaded() -> None:
    rig = Rig(timing=Timing(task_load=12))
    m = rig.mm2s()
    rig.catch(m)
    rig.write_bd(0, Descriptor("memory", 4, OWN.address(0)))
    rig.issue(m, 0)
    found = []
    for _ in range(20):
        rig.step(1)
        found.append(rig.status(m, "Status"))
    assert found == 16 * [1] + 4 * [2]


def test_an_untimed_run_needs_none_of_these_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """DEV-LOCK-6, DEV-TASK-1: two channels hand a buffer on five times, with nothing left to the clock."""
    rig = Rig(timing=Timing(task_load=12, s2mm_lock_wait=5, mm2s_lock_wait=6))
    s, m = rig.s2mm(), rig.mm2s()
    full, free = OWN.lock(0), OWN.lock(1)
    for bd, (taken, given) in enumerate(((free, full), (full, free))):
        guards = {"acquire": Acquire(taken, -1, True), "release": Release(given, 1)}
        rig.write_bd(bd, Descriptor("memory", 4, OWN.address(0), **guards))
    rig.set_lock(1, 1)
    rig.feed(s, 20)
    rig.catch(m)
    rig.issue(m, 1, runs=5)
    rig.issue(s, 0, runs=5)
    left: list[list[int]] = []

    def clock(engine: Engine, *_: object) -> Stop:
        left.append(engine.state.channels.phase[[s, m]].tolist())
        return Stop.QUIET

    monkeypatch.setattr(Engine, "run", clock)
    run_untimed(rig.engine)
    assert left == [[Phase.IDLE] * 2]
    assert rig.sent(m) == list(range(1, 21))
