"""Does a host that leaves looks out see the same as one that makes every look, in the same cycles?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, target

from support.designs.flowing_designs import differences
from support.designs.host_looks import Hosted, hosted_designs, went


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
