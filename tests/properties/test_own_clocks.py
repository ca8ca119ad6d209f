"""Do parts of an array with clocks of their own end in the very state that one clock for all leads to?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, target

from memtile.sim.loop.engine import Engine
from support.designs import flowing_designs, repeating_designs
from support.designs.separate_designs import Columns, Row, columns, columns_of, ended, row_of, rows

WAYS = {"stepping": False, "jumping": True}


def compared(one: Engine, other: Engine, stops: tuple[int, ...], same: Callable[[], set[str]]) -> int:
    """Run both to the same cycles, and compare; how many pieces of time parts had for themselves."""
    for cycles in stops:
        until = one.now + cycles
        ends = [ended(engine, until) for engine in (one, other)]
        assert ends[0] == ends[1]
        assert one.now == other.now
        assert not same()
    assert other.clocks.pieces == 0
    return one.clocks.pieces


@pytest.mark.slow
@pytest.mark.parametrize("forward", WAYS.values(), ids=WAYS)
@given(design=rows())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_memory_tiles_side_by_side_end_in_the_same_state(forward: bool, design: Row) -> None:
    own, one = row_of(design, forward=forward, own=True), row_of(design, forward=False, own=False)
    pieces = compared(own.engine, one.engine, design.stops, lambda: repeating_designs.differences(own, one))
    target(float(pieces))  # so that most of the designs have parts


@pytest.mark.slow
@pytest.mark.parametrize("forward", WAYS.values(), ids=WAYS)
@given(design=columns())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_columns_side_by_side_end_in_the_same_state(forward: bool, design: Columns) -> None:
    own, one = columns_of(design, forward=forward, own=True), columns_of(design, forward=False, own=False)
    target(float(compared(own, one, design.stops, lambda: flowing_designs.differences(own, one))))
