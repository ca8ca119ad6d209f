"""Do random designs take the same cycles without words, and leave all but words as it is with them?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings, target

from memtile.sim.loop.engine import Engine
from support.designs import flowing_designs
from support.designs.repeating_designs import Design, build, designs, rings
from support.designs.runs_without_words import both


def sought(engines: Sequence[Engine], stops: Sequence[int]) -> None:
    """The same for designs of a search, which looks for those in which there are many jumps."""
    both(engines, stops)
    target(float(engines[1].forward.jumps))


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_work_takes_the_same_cycles(design: Design) -> None:
    sought([build(design, forward=True).engine for _ in range(2)], design.stops)


@pytest.mark.slow
@given(rings())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_buffers_between_producers_and_consumers_take_the_same_cycles(design: Design) -> None:
    sought([build(design, forward=True).engine for _ in range(2)], design.stops)


@pytest.mark.slow
@given(flowing_designs.designs(kernels=False))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_columns_of_tiles_take_the_same_cycles(design: flowing_designs.Design) -> None:
    sought([flowing_designs.build(design, forward=True) for _ in range(2)], design.stops)
