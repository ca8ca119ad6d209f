"""Do model and silicon still differ as the rows of deviations.md say that nothing else explains?"""

from __future__ import annotations

import pytest

from silicon_hosts import PHOENIX, chain
from silicon_rig import cases
from silicon_streams import relayed, slope
from silicon_tiles import core_beside_dma, filled_and_drained, give_back

MEASURED = {case.id: case.measured for case in cases()}


def test_dev_silicon_1_a_relay_s_first_word_leaves_early() -> None:
    """DEV-SILICON-1."""
    assert (MEASURED["relay-first-send"], relayed(63)["first_send"]) == (19, 6)


def test_dev_silicon_2_a_receiving_port_does_not_pause() -> None:
    """DEV-SILICON-2: whatever the core takes for a buffer."""
    assert (MEASURED["relay-received-runs"], MEASURED["relay-first-sent-run"]) == (4, 8)
    for busy in (20, 63, 100):
        found = relayed(busy)
        assert (found["received_runs"], found["received_span"], found["first_sent_run"]) == (1, 64, 16)


def test_dev_silicon_3_sides_keep_their_phase_in_a_bank() -> None:
    """DEV-SILICON-3."""
    assert MEASURED["memory-bank-conflicts-collide"] == 10
    found = [filled_and_drained(0, later, fill=True)["conflicts"] for later in range(4)]
    assert found == [61, 0, 0, 0]
    assert MEASURED["compute-conflicts-collide"] == 144
    assert core_beside_dma(0x400, 0x2400)["conflicts"] == 141
    assert MEASURED["compute-conflicts-collide2"] == 149
    assert core_beside_dma(0x8000, 0xA000)["conflicts"] == 141


def test_dev_silicon_4_a_release_comes_before_finished_bd() -> None:
    """DEV-SILICON-4."""
    assert (MEASURED["release-after-finished"], give_back()["own_release"]) == (63.5, -2)


@pytest.mark.slow
def test_dev_silicon_5_transactions_that_share_descriptors_come_to_their_end() -> None:
    """DEV-SILICON-5."""
    assert [MEASURED[f"wedge-{count}"] for count in (8, 16)] == [1, 0]
    assert [chain(count, 64, "S2MM")["completed"] for count in (8, 16)] == [1, 1]


def test_dev_silicon_6_a_stream_takes_two_cycles_more() -> None:
    """DEV-SILICON-6."""
    assert (MEASURED["stream-intercept"], slope(256, 1024)["intercept"]) == (8, 10)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["MM2S", "S2MM"])
def test_the_latencies_of_external_memory_are_those_of_cases_that_calibrate(direction: str) -> None:
    """What the rig takes for a Phoenix laptop; the defaults are assumed."""
    (case,) = (case for case in cases() if case.id == f"warm-task-{direction.lower()}")
    assert case.calibrates
    assert chain(8, 64, direction)["duration"] == case.measured
    assert (PHOENIX.external_latency, PHOENIX.external_write_latency) == (249, 176)


def test_fewer_words_on_their_way_than_cycles_of_latency_would_not_give_the_measured_rate() -> None:
    assert MEASURED["shim-mm2s-rate"] == 1.05
    assert PHOENIX.external_egress_words >= PHOENIX.external_latency
