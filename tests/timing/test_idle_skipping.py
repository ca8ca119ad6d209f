"""Is jumping over idle time the same, in every array of the state, as stepping through it?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.sim.loop import compiled_model
from memtile.sim.loop.clock import Stop
from memtile.testing.rig import Rig
from support.designs.random_designs import LOCKS, Design, build, designs
from support.engine.states import advance, arrays, differences

CYCLES = 220


@pytest.mark.slow
@given(designs(), st.lists(st.tuples(st.integers(1, 60), st.integers(0, LOCKS - 1), st.integers(0, 3))))
@settings(max_examples=60, deadline=None)
def test_skipping_is_stepping(design: Design, later: list[tuple[int, int, int]]) -> None:
    """Software sets locks in between, at whatever cycle the tile has fallen quiet or reached."""
    skipping, stepping = build(design), build(design)
    for wait, lock, value in [(CYCLES, 0, 3), *later[:4]]:
        stop = advance(skipping, stepping, skipping.now + wait)
        assert differences(skipping, stepping) == set()
        if stop is Stop.QUIET:
            assert_nothing_can_move(stepping)
        for rig in (skipping, stepping):
            rig.set_lock(lock, value)


def assert_nothing_can_move(rig: Rig) -> None:
    """A tile that is called quiet changes nothing but its cycle count in the cycles that follow."""
    before = arrays(rig.engine.state)
    spent, now = rig.engine.state.spent.copy(), rig.now
    for _ in range(5):
        compiled_model.cycle(rig.engine.state)
    after = arrays(rig.engine.state)
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"clock.now", "clock.quiet", "spent", "seen"}
    rig.engine.state.spent[:] = spent
    rig.engine.state.clock.now[0] = now


@pytest.mark.parametrize("wait", [3, 4, 5, 1000])
def test_a_task_start_is_skipped_over_exactly(wait: int) -> None:
    rigs = [Rig(timing=Timing(task_start=64)) for _ in range(2)]
    for rig in rigs:
        rig.write_bd(0, Descriptor("memory", 4, OWN.address(0)))
        rig.feed(rig.s2mm(), 4)
        rig.issue(rig.s2mm(), 0)
    advance(*rigs, wait)
    assert differences(*rigs) == set()


def test_a_long_zeroisation_is_one_jump() -> None:
    """A million cycles in no time, all of them booked."""
    rig = Rig(timing=Timing(zeroisation=1 << 20))
    m = rig.mm2s()
    rig.write_bd(0, Descriptor("memory", 4, OWN.address(0)))
    rig.catch(m)
    rig.issue(m, 0)
    rig.memory_control(zeroise=True)
    assert rig.engine.run(1 << 21) is Stop.QUIET
    assert len(rig.sent(m)) == 4
    assert (1 << 20) < rig.now < (1 << 20) + 20
    assert rig.spent(m)[Cause.MEMORY_BUSY] == (1 << 20) - 5
    assert (rig.engine.state.spent.sum(axis=1) == rig.now).all()


def test_an_idle_tile_stops_at_once() -> None:
    rig = Rig()
    assert rig.engine.run(10**9) is Stop.QUIET
    assert rig.now == 2
