"""Does ``memtile run --vcd`` write what happened in each cycle, and leave the run as it is without?"""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.formats.vcd_reader import PERIOD, read

EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSPOSE = Path(__file__).parents[1] / "oracle" / "txn" / "scn_transpose_8x16.bin"
DESIGN = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    frame = np.arange(40, dtype=np.int32)
    buffer, full = tile.buffer("b", (40,)), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(frame)
    tile.mm2s[0].expect(frame)
    return tile
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "design_under_test.py"
    path.write_text(DESIGN)
    return str(path)


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["run", *args], env={"COLUMNS": "150"})


def cycles_at_one(changes: list[tuple[int, str]], end: int) -> int:
    """Cycles in which a wire was 1."""
    ended = [*changes, (end, "0")]
    return sum(after - at for (at, value), (after, _) in pairwise(ended) if value == "1") // PERIOD


def test_the_cycles_of_each_channel_are_those_of_the_result(file: str, tmp_path: Path) -> None:
    vcd = tmp_path / "run.vcd"
    done = run("--json", "--vcd", str(vcd), "--signals", "tile0_0.*.moving", file)
    assert done.exit_code == 0
    result, waves = json.loads(done.stdout), read(vcd)
    end = waves["end"][0][0]
    assert end == result["cycles"] * PERIOD
    for channel in result["channels"]:
        changes = waves[f"tile0_0.{channel['channel'].replace(' ', '').lower()}.moving"]
        assert cycles_at_one(changes, end) == channel["cycles"]["moving"] == 40


def test_the_run_is_the_same_with_and_without_a_dump(file: str, tmp_path: Path) -> None:
    plain = run("--json", file)
    dumped = run("--json", "--vcd", str(tmp_path / "run.vcd"), "--signals", "*.lock0", file)
    results = [json.loads(each.stdout) for each in (dumped, plain)]
    ways = [each.pop("fast_forward") for each in results]  # a dump looks at each cycle
    assert results[0] == results[1]
    assert ways[0]["stepped"][0]["why"] == "each cycle is looked at"


def test_patterns_are_taken_together_and_all_signals_without_one(file: str, tmp_path: Path) -> None:
    vcd = tmp_path / "run.vcd"
    run("--vcd", str(vcd), "--signals", "tile0_0.lock0", "--signals", "*.mm2s?.bd", file)
    assert set(read(vcd)) == {"tile0_0.lock0.value", *(f"tile0_0.mm2s{n}.bd" for n in range(6)), "end"}
    run("--vcd", str(vcd), "--max-cycles", "5", file)
    assert {"tile0_0.lock63.value", "tile0_0.s2mm5.phase"} < set(read(vcd))


@pytest.mark.slow
def test_kernels_and_their_cores_are_seen_too(tmp_path: Path) -> None:
    vcd, example = tmp_path / "run.vcd", ["--max-cycles", "3000", str(EXAMPLES / "convolution.py")]
    done = run("--json", "--vcd", str(vcd), "--signals", "*.core.phase", *example)
    seen, plain = json.loads(done.stdout), json.loads(run("--json", *example).stdout)
    assert seen.pop("fast_forward")["jumped"] == 0  # every cycle is written
    del plain["fast_forward"]
    assert seen == plain
    assert {value for _, value in read(vcd)["tile0_2.core.phase"]} == {"next", "acquire", "wait"}


def test_programs_of_register_writes_have_waveforms(tmp_path: Path) -> None:
    vcd, source = tmp_path / "run.vcd", tmp_path / "m.npy"
    np.save(source, np.arange(128, dtype=np.int32))
    args = ["--json", "--vcd", str(vcd), "--signals", "*.moving", str(TRANSPOSE), "--in", f"m={source}"]
    done = run(*args)
    assert done.exit_code == 0
    result, waves = json.loads(done.stdout), read(vcd)
    moved = {
        f"tile{place[1]}_{place[2]}.{place[3].lower()}{place[4]}.moving": channel["cycles"]["moving"]
        for channel in result["channels"]
        if (place := re.fullmatch(r"\w+\((\d),(\d)\) (\w+) (\d)", channel["channel"]))
    }
    end = waves.pop("end")[0][0]
    ones = {name: cycles_at_one(changes, end) for name, changes in waves.items()}
    assert (len(moved), {name: n for name, n in ones.items() if n}) == (4, moved)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--signals", "*.lock0"], "--signals chooses what a --vcd file shows. Give --vcd FILE too."),
        (["--untimed", "--vcd", "run.vcd"], "an untimed run has no cycles for a --vcd file"),
        (
            ["--vcd", "no/such/run.vcd", "--signals", "*.lock0"],
            "no/such/run.vcd: the file cannot be written: there is no such folder.",
        ),
        (
            ["--vcd", "run.vcd", "--signals", "tile9*"],
            "signals: the pattern 'tile9*' matches no signal; there are signals in ",
        ),
    ],
    ids=["no file", "untimed", "no directory", "no signal"],
)
def test_what_cannot_be_is_refused(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*args, file)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert not (tmp_path / "run.vcd").exists()


def test_a_missing_package_is_told_before_the_run(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "vcd"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "vcd", None)
    done = run("--vcd", str(tmp_path / "run.vcd"), file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'Value change dumps need pyvcd, which is not installed: pip install "pyvcd".' in done.stderr
