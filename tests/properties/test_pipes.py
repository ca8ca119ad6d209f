"""Are ports that were part of a pipe what they are after each cycle of their own?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from support.designs.piped_designs import Design, build, designs, differences


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_circuits_end_in_the_same_state(design: Design) -> None:
    """The whole state, with what is left in the rings of ports of words that are gone."""
    piped, stepping = build(design, piped=True), build(design, piped=False)
    for number, (cycles, deed) in enumerate(design.stops):
        until = piped.engine.now + cycles
        assert piped.engine.run(until) == stepping.engine.run(until)
        assert not differences(piped.engine, stepping.engine)
        piped.act(deed, number)
        stepping.act(deed, number)
