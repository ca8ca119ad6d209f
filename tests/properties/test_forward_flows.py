"""Does a column of tiles that jumps over time that repeats end in the very state of one that steps?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, target

from support.designs.flowing_designs import Design, build, designs, differences
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
