"""Is a channel that rests the same, in every array of the state, as one that looks around in every cycle?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.model.roster import wake_channel
from memtile.model.state.causes import Cause
from memtile.sim.loop import compiled_model
from memtile.sim.loop.engine import Engine
from support.designs.circuits import copy_within, push
from support.designs.random_designs import Design, build, designs
from support.engine.states import arrays

CYCLES = 220
LISTS = {".active_channels"}
COLUMNS = {  # a channel that rests does not note every cycle anew that it asks no bank
    "channels": (
        "phase",
        "why",
        "moved",
        "bds_done",
        "tasks_done",
        "errors",
        "queue_count",
        "lock",
        "waiting",
    ),
    "granules": ("formed", "closed", "words", "port_count", "port_words", "target"),
}


def advance_awake(engine: Engine, until: int) -> None:
    """Cycle by cycle, with all channels on the list of the active ones in each."""
    while engine.now < until:
        for ch in range(len(engine.state.channels.phase)):
            wake_channel(engine.state, ch)
        compiled_model.cycle(engine.state)


def assert_same(resting: Engine, awake: Engine) -> None:
    for ch in range(len(resting.state.channels.phase)):
        wake_channel(resting.state, ch)  # notes until when it was stalled
    one, other = arrays(resting.state), arrays(awake.state)
    differing = {f".{name.split('.')[0]}" for name in one if one[name] != other[name]}
    assert differing <= LISTS | {f".{name}" for name in COLUMNS}
    for name, columns in COLUMNS.items():
        for column in columns:
            mine, theirs = (getattr(getattr(e.state, name), column) for e in (resting, awake))
            assert mine.tolist() == theirs.tolist(), column


@pytest.mark.slow
@given(designs())
@settings(max_examples=15, deadline=None)
def test_resting_is_looking_around(design: Design) -> None:
    resting, awake = build(design).engine, build(design).engine
    for engine in (resting, awake):
        engine.run(engine.now)  # lays out what was fed, runs no cycle
    for stretch in range(1, 4):
        until = stretch * CYCLES // 3
        while resting.now < until:
            compiled_model.cycle(resting.state)
        advance_awake(awake, until)
        assert_same(resting, awake)


def chained() -> Engine:
    """A loopback whose sender waits for a lock twice, whose receiver waits for words meanwhile."""
    engine = copy_within(8)
    sends = Descriptor(
        "memory", 8, OWN.address(0), acquire=Acquire(OWN.lock(0), -1, True), release=Release(OWN.lock(1), 1)
    )
    push(engine, 0, 6, 2, sends)
    push(engine, 0, 0, 3, Descriptor("memory", 8, OWN.address(0x4000)))
    return engine


def test_words_and_locks_wake_who_waits_for_them() -> None:
    resting, awake = chained(), chained()
    for until, value in ((60, 0), (100, 1), (160, 0)):
        for engine in (resting, awake):
            engine.state.locks.value[0] = value
        while resting.now < until:
            compiled_model.cycle(resting.state)
        advance_awake(awake, until)
        assert_same(resting, awake)
    assert resting.state.channels.bds_done.tolist()[:7] == [2, 0, 0, 0, 0, 0, 2]
    assert resting.state.spent[0, Cause.STREAM_STARVED] > 40
    assert resting.state.spent[6, Cause.LOCK_ACQUIRE] > 30


def test_who_rests_is_off_the_list() -> None:
    engine = chained()
    engine.run(60)
    assert engine.state.active_channels[0] == 0
    assert engine.state.channels.why[[0, 6]].tolist() == [Cause.STREAM_STARVED, Cause.LOCK_ACQUIRE]


def test_a_reset_books_what_the_channel_waited_for() -> None:
    engine = chained()
    engine.run(60)
    waited = int(engine.state.spent[6, Cause.LOCK_ACQUIRE]) + 80 - engine.now
    while engine.now < 80:
        compiled_model.cycle(engine.state)
    engine.door(0).write32(0xA0630, 2)  # DMA_MM2S_0_Ctrl: Reset
    while engine.now < 100:
        compiled_model.cycle(engine.state)
    assert engine.state.spent[6, Cause.LOCK_ACQUIRE] == waited
    assert engine.state.spent[6].sum() == 100
