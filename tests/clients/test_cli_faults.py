"""Does a fault campaign account for every upset, the same way every time?"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile import MemoryTile
from memtile.cli.main import app
from memtile.explore.campaign import Outcome, campaign
from memtile.sim.loop.upsets import raining, scattered
from memtile.testing.rig import Rig
from support.commands import warm

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "halo_tiling.py")
KERNELS = str(Path(__file__).parents[2] / "examples" / "gemm.py")


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["faults", *args], env={"COLUMNS": "150"})


def counted(*args: str, exit_code: int = 0) -> dict[str, Any]:
    done = run("--json", "--upsets", "1000", *args, EXAMPLE)
    assert done.exit_code == exit_code
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["struck"] == 1000
    assert sum(found["while_running"].values()) + sum(found["in_read_back"].values()) == 1000
    return found


def total(found: dict[str, Any], outcome: str) -> int:
    return int(found["while_running"][outcome] + found["in_read_back"][outcome])


@pytest.mark.feature("F25")
def test_a_thousand_single_upsets_are_all_corrected_and_the_output_is_bit_exact() -> None:
    """What nobody read during the run is read back; the rest was overwritten before anybody could read it."""
    found = counted("--seed", "1")
    assert found["bit_exact"] is True
    assert found["while_running"]["corrected"] > 300
    assert total(found, "corrected") + total(found, "overwritten") == 1000
    assert found["in_read_back"]["corrected"] > 100


@pytest.mark.feature("F25")
def test_a_thousand_double_upsets_are_all_detected() -> None:
    found = counted("--seed", "1", "--bits", "2")
    assert found["while_running"]["detected"] > 300
    assert total(found, "detected") + total(found, "overwritten") == 1000


def test_without_ecc_the_silent_ones_are_shown() -> None:
    found = counted("--seed", "1", "--no-ecc", exit_code=1)
    assert found["bit_exact"] is False
    assert found["while_running"]["silent"] > 300
    assert total(found, "silent") + total(found, "overwritten") == 1000
    assert "MM2S 0" in found["wrong_outputs"]


def test_a_campaign_can_be_repeated_from_its_seed() -> None:
    first = run("--json", "--upsets", "100", "--seed", "5", "--no-ecc", EXAMPLE).stdout
    assert first == run("--json", "--upsets", "100", "--seed", "5", "--no-ecc", EXAMPLE).stdout
    assert first != run("--json", "--upsets", "100", "--seed", "6", "--no-ecc", EXAMPLE).stdout


def test_upsets_anywhere_in_memory_are_mostly_seen_by_the_read_back_alone() -> None:
    found = counted("--area", "memory")
    assert (found["words"], found["bit_exact"]) == (1 << 17, True)
    assert total(found, "corrected") + total(found, "overwritten") == 1000
    assert found["in_read_back"]["corrected"] > 500


@pytest.mark.slow
def test_kernels_and_parity_memory_are_part_of_a_campaign() -> None:
    """Banks with parity detect one flip and correct none; what they see is never silent."""
    done = run("--json", "--upsets", "200", KERNELS)
    found = json.loads(done.stdout)
    assert found["struck"] == 200
    assert total(found, "silent") == 0
    assert total(found, "corrected") > 0
    assert total(found, "detected") > 0


def test_the_table_says_what_became_of_each() -> None:
    done = run("--upsets", "50", EXAMPLE)
    assert done.exit_code == 0
    verdict, head, *_ = done.stdout.splitlines()
    assert verdict.startswith("status: no upset delivered wrong data as right; ")
    assert verdict.endswith("; bit-exact: yes")
    assert head.startswith("50 upsets of 1 bit in 54656 words of buffers")


def test_bad_requests_are_answered_in_a_line(tmp_path: Path) -> None:
    done = run("--bits", "40", EXAMPLE)
    assert done.exit_code == 2
    assert "the number of bits is 40, allowed are 1..39" in done.stderr
    done = run(str(tmp_path / "none.py"))
    assert (done.exit_code, done.stderr.startswith("error: ")) == (2, True)


ENDLESS = """
import random
from memtile import Array

def design():
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    tile.mm2s[0].start(tile.read(tile.buffer("b", 4096)), loop=True)
    tile.mm2s[0].collect()

    def kernel(core):
        while True:  # never twice the same, so that no time is jumped over
            yield core.cycles(random.randrange(1, 9))

    array.compute_tile(0, 2).run_kernel(kernel)
    print("designed", flush=True)
    return array
"""


@pytest.mark.slow
def test_ctrl_c_before_the_upsets_says_that_there_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS)
    command = warm.memtile("faults", "--max-cycles", "2000000000", path)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "designed\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.endswith("interrupted before the first upset: nothing to show\n")


def test_ctrl_c_during_the_upsets_keeps_what_is_done() -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", 4096)), repeat=100)
        tile.mm2s[0].collect()
        return tile

    told: list[int] = []

    def stop_in_second_run(cycles: int) -> None:
        told.append(cycles)
        if max(told) > cycles > 200_000:
            raise KeyboardInterrupt

    result = campaign(design, 500, seed=3, progress=stop_in_second_run)
    assert result.interrupted
    assert 0 < result.struck < 500
    assert result.count(*Outcome) == result.struck
    assert "upsets did not happen" in str(result)
    assert "interrupted" in str(result)


def test_upsets_on_a_seed_and_at_a_rate_are_deterministic_and_within_their_bounds() -> None:
    targets = Rig().engine.upsets.targets(0, 100, 50)
    for make in (
        lambda seed: scattered(targets, range(10, 20), 50, bits=3, seed=seed),
        lambda seed: raining(targets, range(1000, 90_000), 1 / 100, bits=2, seed=seed),
    ):
        assert make(1) == make(1) != make(2)
        assert all(100 <= upset.word < 150 for upset in make(1))
    scatter = scattered(targets, range(10, 20), 50, bits=3, seed=1)
    assert sorted(upset.word for upset in scatter) == list(range(100, 150))
    assert all(10 <= upset.cycle < 20 and len(set(upset.bits)) == 3 for upset in scatter)
    rain = raining(targets, range(1000, 90_000), 1 / 100, bits=2, seed=1)
    assert 800 < len(rain) < 980
    assert np.all(np.diff([upset.cycle for upset in rain]) >= 0)
    assert 1000 <= rain[0].cycle <= rain[-1].cycle < 90_000
