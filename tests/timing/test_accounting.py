"""Do the causes of every channel add up to the elapsed cycles, and the moves to the words moved?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memtile.bd.descriptor import Acquire, Descriptor
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig
from support.designs.random_designs import Design, build, designs

CYCLES = 260


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None)
def test_causes_of_every_channel_add_up_to_the_cycles(design: Design) -> None:
    rig = build(design)
    rig.engine.run(CYCLES)
    assert (rig.engine.state.spent.sum(axis=1) == rig.now).all()


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None)
def test_cycles_of_moving_are_the_words_moved(design: Design) -> None:
    rig = build(design)
    rig.engine.run(CYCLES)
    for work in design.work:
        if work.receives:
            ch = rig.s2mm(work.number)
            moved = work.words - rig.engine.pending(ch) - int(rig.engine.state.fifos.held[ch])
        else:
            ch = rig.mm2s(work.number)
            moved = len(rig.sent(ch))
        assert rig.spent(ch).get(Cause.MOVING, 0) == moved


def test_a_channel_without_work_is_idle_all_the_time() -> None:
    rig = Rig()
    rig.step(10)
    assert rig.spent(rig.s2mm(5)) == rig.spent(rig.mm2s(0)) == {Cause.IDLE: 10}


def test_each_stall_is_booked_under_its_own_cause() -> None:
    """4 start, 10 lock, then 3 words that come 5 late, and the cycle of the last write."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("memory", 3, OWN.address(0), acquire=Acquire(OWN.lock(1), -1, True)))
    rig.issue(s, 0)
    rig.step(14)
    rig.set_lock(1, 1)
    rig.step(6)
    rig.feed(s, 3)
    rig.step(20)
    assert rig.spent(s) == {
        Cause.TASK_START: 4,
        Cause.LOCK_ACQUIRE: 10,
        Cause.BD_SWITCH: 2,
        Cause.STREAM_STARVED: 6,
        Cause.MOVING: 3,
        Cause.IDLE: 15,
    }
