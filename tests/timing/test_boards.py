"""Does a device have what was measured of its board, the assumed set only where somebody asks for it?"""

from __future__ import annotations

import numpy as np
import pytest

import memtile
from memtile import Array, Result, Timing
from memtile.arch.timing import ASSUMED, BOARDS, CLOCK_MHZ, chosen_timing, default_timing, likely, sets

WORDS = 4096


@pytest.fixture
def _boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever runs a design has it."""
    monkeypatch.delenv("MEMTILE_TIMING")


def through(device: str, channels: int = 1, timing: Timing | None = None) -> Result:
    """Words from external memory through a memory tile and back."""
    array = Array(device, 1, timing)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    for n in range(channels):
        come = array.external(f"in{n}", np.arange(WORDS, dtype=np.int32))
        go = array.external(f"out{n}", np.zeros(WORDS, np.int32))
        fifo = array.object_fifo(f"come{n}", door, tile, shape=1024)
        back = fifo.forward(f"go{n}", door)
        fifo.producer.channel.start(door.read(come))
        back.consumers[0].channel.start(door.write(go))
    return array.run()


@pytest.mark.usefixtures("_boards")
@pytest.mark.parametrize(
    ("device", "board"), [("npu1", "phoenix"), ("npu1_1col", "phoenix"), ("npu2", "strix")]
)
def test_a_device_has_the_constants_of_its_board(device: str, board: str) -> None:
    assert Array(device, 1).engine.timing == Timing.of_board(board) == default_timing(board)
    result = through(device)
    assert (result.board, result.timing) == (board, {})
    assert result.clock_mhz == CLOCK_MHZ.get(board, 1250)


@pytest.mark.usefixtures("_boards")
def test_what_nobody_measured_has_the_assumed_set() -> None:
    assert Array("xcve2802", 1).engine.timing == Timing() == Timing.of_board(ASSUMED)


@pytest.mark.usefixtures("_boards")
def test_the_assumed_set_is_an_option_and_is_told() -> None:
    """By a variable of the environment, by name, and by the constants that a design gives itself."""
    with chosen_timing(sets()[ASSUMED]):
        chosen = through("npu1")
    given = through("npu1", timing=Timing())
    assert chosen.timing == given.timing == {n: getattr(Timing(), n) for n in BOARDS["phoenix"]}
    assert "external_latency = 100 (default 335)" in str(chosen)
    assert chosen.cycles == given.cycles < through("npu1").cycles


def test_the_environment_has_the_assumed_set_for_all() -> None:
    """As the tests of rules have it (conftest.py)."""
    assert Array("npu1", 1).engine.timing == Timing()
    assert through("npu2").clock_mhz == 1250


@pytest.mark.usefixtures("_boards")
def test_the_band_of_a_board_is_over_what_was_measured_there() -> None:
    """An npu1's latency is 228 to 433 cycles; one outside is none of the board, and has the likely range."""
    assert likely("external_latency", "phoenix", 335) == (228, 433)
    assert likely("external_latency", "phoenix", 100) == likely("external_latency") == (50, 400)
    result = through("npu1")
    assert result.estimate is not None
    assumed = through("npu1", timing=Timing())
    assert assumed.estimate is not None
    width = [(high - low) / (high + low) for low, high in (result.estimate, assumed.estimate)]
    assert width[0] < 0.08 < 0.3 < width[1]
    first, second, *_ = str(result).splitlines()
    assert first == f"{result.cycles} cycles"
    assert second.startswith(f"{result.estimate.low} to {result.estimate.high} cycles over the ranges")
    both = memtile.sensitivity(lambda: through("npu1")).band
    assert both is not None
    (latency,) = (ends for ends in both.constants if ends.name == "external_latency")
    assert (latency.value, latency.low, latency.high) == (335, 228, 433)


@pytest.mark.usefixtures("_boards")
@pytest.mark.parametrize(("channels", "measured"), [(1, 10.16), (2, 14.35)])
def test_a_column_of_strix_reads_what_was_measured(
    channels: int, measured: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mlir-air PR 1786: the rates that its constants are chosen with."""
    monkeypatch.setattr(f"{__name__}.WORDS", 1 << 16)
    result = through("npu2", channels)
    rate = 4 * WORDS * channels / result.cycles * result.clock_mhz / 1000
    assert abs(rate / measured - 1) < 0.05
