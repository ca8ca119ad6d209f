"""Does a host that leaves looks out see the same as one that makes every look, in the same cycles?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, target

from memtile.errors import DesignError
from support.designs.flowing_designs import differences
from support.designs.host_looks import Built, Hosted, hosted_designs, looks
from support.designs.repeating_designs import EAGER

ENOUGH = 60_000  # cycles


def went(design: Hosted, *, every: bool) -> tuple[Built, list[Any], list[int]]:
    """The design after its stops, what its runs said, and the cycles behind which the host looked."""
    with looks(every=every) as seen:
        built = Built(design)
        built.array.engine.forward.on, built.array.engine.forward.free = not every, EAGER
        said = []
        for cycles in (*design.stops, ENOUGH):
            try:
                result = built.array.run(cycles).as_json()
            except DesignError as error:  # nobody gives back the BDs that a sequence needs
                said.append(str(error))
                break
            said.append({name: value for name, value in result.items() if name != "fast_forward"})
    return built, said, seen


@pytest.mark.slow
@given(hosted_designs())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_hosts_see_the_same_in_the_same_cycles(design: Hosted) -> None:
    left_out, said, seen = went(design, every=False)
    stepped, all_said, all_seen = went(design, every=True)
    assert left_out.did == stepped.did
    assert said == all_said
    assert not differences(left_out.array.engine, stepped.array.engine)
    assert set(seen) <= set(all_seen)
    target(float(len(all_seen) - len(seen)))
