"""Does a column of tiles that jumps over time that repeats end in the very state of one that steps?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, target

from memtile.kernels import Action, Core, Kernel
from memtile.model.state.state_differences import columns
from memtile.sim.loop.engine import Engine
from support.designs.flowing_designs import Design, build, design, designs, differences, kernel_of
from support.engine.planned_words import changed_outside


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_columns_end_in_the_same_state(design: Design) -> None:
    jumping, stepping = build(design, forward=True), build(design, forward=False)
    for cycles in design.stops:
        until = jumping.now + cycles
        stops = [engine.run(until) for engine in (jumping, stepping)]
        assert stops[0] == stops[1]
        assert not differences(jumping, stepping)
    assert stepping.forward.jumps == 0
    target(float(jumping.forward.jumps))  # so that most of the designs jump


@pytest.mark.slow
@given(designs())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_changes_but_what_is_compared(design: Design) -> None:
    engine = build(design, forward=False)
    for cycles in design.stops:
        assert not changed_outside(engine, cycles)


def failing(actions: int) -> Kernel:
    """The kernel of the usual design, which fails after so many actions."""

    def kernel(core: Core) -> Iterator[Action]:
        inner: Any = kernel_of(design())(core)
        answer = None
        for done in count():
            if done == actions:
                raise ValueError("enough")
            answer = yield inner.send(answer)

    return kernel


@pytest.mark.parametrize("actions", [7, 30, 80])
def test_a_kernel_that_fails_leaves_the_state_of_stepping(actions: int) -> None:
    """Every column, the slots of empty switch ports too, where time was jumped over before or not."""

    def made(_: Engine) -> Kernel:
        return failing(actions)

    one, other = (build(design(), forward=on, kernel=made) for on in (True, False))
    for engine in (one, other):
        with pytest.raises(ValueError, match="enough"):
            engine.run(20_000)
    pairs = zip(columns(one.state), columns(other.state), strict=True)
    assert one.now == other.now
    assert [name for (name, mine, *_), (_, theirs, *_) in pairs if not np.array_equal(mine, theirs)] == []
