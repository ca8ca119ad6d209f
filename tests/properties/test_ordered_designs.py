"""Is nothing found in designs that are ordered, and every order that is missing, at any timing?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.designs.ordered_designs import KINDS, PLANTS, ordered, planted
from support.designs.severe import severe

MANY, PARTS = 1000, 4
SEEDS = st.integers(0, 1 << 20)


def check(seed: int) -> None:
    result = ordered(seed).run(check=True)
    assert result.status == "finished"
    assert severe(result.findings) == ()


def check_planted(seed: int) -> None:
    design, plant = planted(seed)
    codes = {finding.code for finding in severe(design.run(100_000, check=True).findings)}
    buffer = {"MT0209"} if plant == "overlap" else set[str]()  # its writer has the wrong one
    assert codes & ({"MT0201", "MT0202", "MT0204", "MT0206"} | buffer), (seed, plant)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_nothing_is_found_where_all_is_ordered(seed: int) -> None:
    check(seed)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_every_missing_order_is_found(seed: int) -> None:
    check_planted(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_thousand_ordered_designs(part: int) -> None:
    for seed in range(part, MANY, PARTS):
        check(seed)


@pytest.mark.slow
def test_each_mistake_in_each_kind_of_design() -> None:
    for seed in range(len(KINDS) * len(PLANTS) * 8):
        check_planted(seed)
