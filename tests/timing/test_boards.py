"""Does a device have what was measured of its board, the assumed set only where somebody asks for it?"""

from __future__ import annotations

import numpy as np
import pytest

import memtile
from memtile import Array, Result, Timing
from memtile.arch.boards import ASSUMED, BOARDS, CLOCK_MHZ
from memtile.arch.timing import chosen_timing, default_timing, likely, sets
from memtile.explain.cautions import cautions
from memtile.explain.estimate import shared_cycles
from memtile.explain.results import ChannelUse
from memtile.explore.rerun import band
from memtile.model.state.causes import Cause
from memtile.runs.operations import Write, address_of
from memtile.runs.session import run_program

WORDS = 4096


@pytest.fixture
def _boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever runs a design has it."""
    monkeypatch.delenv("MEMTILE_TIMING")


def through(
    device: str, channels: int = 1, timing: Timing | None = None, columns: int = 1, words: int = WORDS
) -> Result:
    """Words from external memory through the memory tile of each column and back."""
    array = Array(device, columns, timing)
    for n in range(channels * columns):
        door, tile = array.interface_tile(n % columns), array.memory_tile(n % columns)
        come = array.external(f"in{n}", np.arange(words, dtype=np.int32))
        go = array.external(f"out{n}", np.zeros(words, np.int32))
        fifo = array.object_fifo(f"come{n}", door, tile, shape=1024)
        back = fifo.forward(f"go{n}", door)
        fifo.producer.channel.start(door.read(come))
        back.consumers[0].channel.start(door.write(go))
    return array.run()


def reads(device: str, timing: Timing, columns: int, words: int) -> int:
    """Cycles in which each column's memory tile gets so many words."""
    array = Array(device, columns, timing)
    for n in range(columns):
        come = array.external(f"in{n}", np.zeros(words, np.int32))
        tile = array.memory_tile(n)
        array.interface_tile(n).mm2s[0].start(array.interface_tile(n).read(come))
        tile.s2mm[0].start(tile.write(tile.buffer(f"x{n}", words)))
        array.connect(array.interface_tile(n).mm2s[0], tile.s2mm[0])
    return int(array.run().cycles)


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
    assert "external_latency = 100 (default 323)" in str(chosen)
    assert chosen.cycles == given.cycles < through("npu1").cycles


def test_the_environment_has_the_assumed_set_for_all() -> None:
    """As the tests of rules have it (conftest.py)."""
    assert Array("npu1", 1).engine.timing == Timing()
    assert through("npu2").clock_mhz == 1250


@pytest.mark.usefixtures("_boards")
def test_the_band_of_a_board_is_over_what_was_measured_there() -> None:
    """An npu1's latency is 228 to 433 cycles; one outside is none of the board, and has the likely range."""
    assert likely("external_latency", "phoenix", 323) == (216, 421)
    assert likely("external_latency", "phoenix", 100) == likely("external_latency") == (50, 400)
    result = through("npu1")
    assert result.estimate is not None
    assumed = through("npu1", timing=Timing())
    assert assumed.estimate is not None
    width = [(high - low) / (high + low) for low, high in (result.estimate, assumed.estimate)]
    assert width[0] < 0.08 < 0.3 < width[1]
    text = str(result)
    assert text.startswith(f"status: finished in {result.cycles:,} cycles")
    assert f"Estimate: {result.estimate.low:,} to {result.estimate.high:,} cycles" in text
    both = memtile.sensitivity(lambda: through("npu1")).band
    assert both is not None
    (latency,) = (ends for ends in both.constants if ends.name == "external_latency")
    assert (latency.value, latency.low, latency.high) == (323, 216, 421)


@pytest.mark.usefixtures("_boards")
def test_what_was_measured_on_a_board_is_not_told_as_assumed() -> None:
    """It is told apart, and only with the value of the board."""
    result = through("npu1")
    names = {each.split(" = ")[0] for each in result.measured}
    assert names == {"external_latency", "external_write_latency", "external_egress_words"}
    assert not names & {each.split(" = ")[0] for each in result.assumed}
    other = through("npu1", timing=Timing(external_latency=336))
    assert "external_latency = 336" in other.assumed


@pytest.mark.usefixtures("_boards")
def test_another_board_of_a_device_is_chosen_with_all_that_is_known_of_it() -> None:
    """Its clock, its spread and the rate of all columns with it; what differs on no board may differ."""
    with chosen_timing(sets()["strix_halo"]):
        chosen = through("npu2")
    given = through("npu2", timing=Timing.of_board("strix_halo"))
    for result in (chosen, given):
        assert (result.board, result.clock_mhz, result.timing) == ("strix_halo", 1800, {})
        assert "external_latency = 206" in result.measured
        assert "external memory varies on strix_halo" in str(result)
    assert chosen.cycles == given.cycles < through("npu2").cycles
    with chosen_timing({**sets()["strix_halo"], "task_start": 9}):
        assert through("npu2").board == "strix_halo"
    with chosen_timing({**sets()["strix_halo"], "external_latency": 207}):
        assert through("npu2").board == "strix"


@pytest.mark.usefixtures("_boards")
def test_a_run_on_a_chosen_board_is_done_again_on_it() -> None:
    """By whoever does it again later, with what the model is of."""
    result = through("npu2", timing=Timing.of_board("strix_halo"))
    found = band(result, lambda: through("npu2"))
    assert found.cycles == result.cycles
    (latency,) = (ends for ends in found.constants if ends.name == "external_latency")
    assert (latency.value, latency.low, latency.high) == (206, 206, 216)
    assert latency.cycles_low == result.cycles


@pytest.mark.usefixtures("_boards")
def test_columns_of_strix_halo_slow_each_other_down() -> None:
    """DEV-EXT-7; hipfire's r1: 6.19 bytes a cycle for each of four columns at a time, 7.44 for one alone."""
    timing, rates = Timing.of_board("strix_halo"), []
    for columns in (1, 2, 4):
        times = [reads("npu2", timing, columns, words) for words in (1 << 13, 1 << 15)]
        rates.append(4 * 3 * (1 << 13) / (times[1] - times[0]))
    assert [round(rate, 1) for rate in rates] == [7.5, 7.0, 6.2]


@pytest.mark.usefixtures("_boards")
def test_firmware_of_strix_is_assumed_and_half_to_twice_that_of_phoenix() -> None:
    """No public page has it (OF_OTHERS)."""
    steps = [Write(address_of(0, 1), 1, firmware=True)] * 11
    on = {device: run_program(steps, Array(device, 1)).result for device in ("npu1", "npu2")}
    told = {device: [each for each in result.assumed if "firmware" in each] for device, result in on.items()}
    assert told["npu1"] == []
    assert told["npu2"] == ["firmware_access = 100", "firmware_word = 13", "firmware_push = 3050"]
    assert on["npu1"].estimate == (on["npu1"].cycles - 130, on["npu1"].cycles + 140)
    assert on["npu2"].estimate == (on["npu2"].cycles - 500, on["npu2"].cycles + 1000)


@pytest.mark.usefixtures("_boards")
def test_columns_that_move_more_than_boards_were_seen_to_are_told_first() -> None:
    """The band ends at the lowest rate that was measured for all together."""
    assert shared_cycles(24_400, "strix", 1000) == 0
    assert shared_cycles(48_800, "strix", 1000) == 1000
    assert shared_cycles(1 << 30, "", 1) == 0
    use = ChannelUse("interface(0,0) MM2S 0", "MM2S", {Cause.MOVING: 2440}, 1, 1, beat_words=2)
    assert list(cautions([use], 599, "strix")) == []
    (line,) = cautions([use, use], 1180, "strix")
    assert line.startswith(
        "external memory moves 33.1 bytes a cycle for 2 channels of all columns; boards reached 24.4 to 32.6"
    )
    assert "24.4 to 32.6" in line
    assert list(cautions([use, use], 1180, "")) == []


@pytest.mark.parametrize(
    ("board", "channels", "tenths", "told"),
    [
        ("phoenix", 8, 312, False),  # as case ddr-4
        ("phoenix", 8, 313, True),
        ("phoenix", 9, 216, False),  # as case ddr-8-reads
        ("phoenix", 9, 217, True),
        ("strix", 8, 326, False),
        ("strix", 8, 327, True),
        ("strix", 9, 244, False),
        ("strix", 9, 245, True),
        ("strix_halo", 8, 313, False),
        ("strix_halo", 8, 314, True),
    ],
)
def test_a_rate_that_a_board_reached_by_as_many_channels_is_not_told(
    board: str, channels: int, tenths: int, told: bool
) -> None:
    """Words of the first channel alone count; one that moved nothing is none."""
    moved = [tenths - (channels - 1), *[1] * (channels - 1), 0]
    uses = [
        ChannelUse(f"interface({n},0) MM2S 0", "MM2S", {Cause.MOVING: words}, 1, 1)
        for n, words in enumerate(moved)
    ]
    lines = list(cautions(uses, 40, board))
    assert bool(lines) is told
    assert all(f"for {channels} channels" in line for line in lines)


@pytest.mark.usefixtures("_boards")
@pytest.mark.parametrize(("columns", "told"), [(2, False), (4, True)])
def test_a_copy_that_phoenix_ran_at_its_rate_has_no_caution(columns: int, told: bool) -> None:
    """Cases ddr-4, which silicon ran as fast, and ddr-8-reads, which it did not."""
    result = through("npu1", 2, columns=columns, words=32768)
    assert any("external memory moves" in line for line in str(result).splitlines()) is told
    assert 8 * 32768 * 2 * columns / result.cycles > (30 if told else 28)


@pytest.mark.parametrize(("waited", "told"), [(10, False), (11, True)])
def test_waits_for_banks_beside_a_core_are_told_first(waited: int, told: bool) -> None:
    """DEV-SILICON-3: silicon counts up to 11 times as many."""
    use = ChannelUse("compute(0,2) MM2S 0", "MM2S", {Cause.BANK_CONFLICT: waited}, 1, 1)
    lines = list(cautions([use], 1000, "phoenix"))
    assert bool(lines) is told
    assert all(f"waited {waited} cycles for banks" in line and "DEV-SILICON-3" in line for line in lines)


@pytest.mark.usefixtures("_boards")
@pytest.mark.parametrize(
    ("board", "channels", "measured", "within"),
    [
        ("strix", 1, 10.16, 0.05),
        ("strix", 2, 14.35, 0.05),
        ("strix_halo", 1, 13.4, 0.03),
        ("strix_halo", 2, 28.8, 0.1),
    ],
)
def test_a_column_reads_what_was_measured(board: str, channels: int, measured: float, within: float) -> None:
    """mlir-air PR 1786, and hipfire's r1: the rates that the constants are chosen with."""
    words = 1 << 16
    result = through("npu2", channels, Timing.of_board(board), words=words)
    rate = 4 * words * channels / result.cycles * result.clock_mhz / 1000
    assert abs(rate / measured - 1) < within
