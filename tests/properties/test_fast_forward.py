"""Does a run that jumps over time that repeats end in the very state of one that steps every cycle?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from support.designs.makers import stepped
from support.designs.observed_designs import Observation, observations, observed
from support.designs.repeating_designs import Design, build, designs, differences, rings
from support.engine.planned_words import changed_outside


def both(design: Design) -> int:
    """Run the design both ways, and compare whole states wherever it stops; how many jumps there were."""
    jumping, stepping = build(design, forward=True), build(design, forward=False)
    return stepped(design, jumping.engine, stepping.engine, lambda: differences(jumping, stepping))


@pytest.mark.slow
@given(designs())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_work_ends_in_the_same_state(design: Design) -> None:
    target(float(both(design)))  # so that most of the designs jump


@pytest.mark.slow
@given(rings())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_buffers_between_producers_and_consumers_end_in_the_same_state(design: Design) -> None:
    target(float(both(design)))  # so that most of the designs jump


@pytest.mark.slow
@given(st.one_of(designs(), rings()), observations())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_event_units_at_work_end_in_the_same_state(design: Design, seen: Observation) -> None:
    """All that a tile counts, times, combines, traces and broadcasts, each word of the trace among it."""
    jumping, stepping = (observed(design, seen, forward=forward) for forward in (True, False))
    for cycles in design.stops:
        until = jumping.now + cycles
        stops = [rig.engine.run(until) for rig in (jumping, stepping)]
        assert stops[0] == stops[1]
        assert not differences(jumping, stepping)
        assert jumping.engine.left == stepping.engine.left
    target(float(jumping.engine.forward.jumps))


@pytest.mark.slow
@given(designs())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_changes_but_what_is_compared(design: Design) -> None:
    engine = build(design, forward=False).engine
    for cycles in design.stops:
        assert not changed_outside(engine, cycles)
