"""Does a host that leaves looks out see the same as one that makes every look, in the same cycles?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, target

from support.designs.flowing_designs import differences
from support.designs.host_looks import Hosted, Step, hosted_designs, went


def test_a_run_that_resumes_between_two_polls_leaves_out_none_that_would_succeed() -> None:
    steps = Step("through", 0, 200, 2), Step("loop", 0, 200, 1), Step("many", 1, 200, 2)
    design = Hosted(access=0, words=8, free=0, kernel="", compares=0, sequences=(steps,), stops=(234,))
    assert went(design, every=False)[0].did == went(design, every=True)[0].did


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
