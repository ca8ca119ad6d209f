"""Do the rows of benchmarks come as a file of figures, and does their history keep and draw them?"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROWS = (
    "stream12, stream12_timing, lane1, allconflict12, halo1200, gemm1, gemm4, columns8, idle38x11, "
    "idle_time, sweep_threads, door, plan_gemm512, plan_gemm2048, gemm512_again, gemm2048_again, llama, "
    "resnet, gemm16, traced, first_run, start, long_text, compile"
)
BOTH_WAYS = ("stream12", "halo1200", "columns8")
MEASURED = (*BOTH_WAYS, "door", "traced", "compile")
WAYS = {"stepped cycles/s", "fast-forward cycles/s", "fast-forward x stepped", "cycles"}


def call(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What some rows wrote, of sizes near nothing."""
    file = tmp_path_factory.mktemp("rows") / "rows.json"
    done = call("rows.py", "--smallest", "--json", file, *MEASURED)
    assert done.returncode == 0, done.stderr
    return file


@pytest.mark.slow
def test_rows_are_figures_by_name(measured: Path) -> None:
    found: dict[str, dict[str, Any]] = json.loads(measured.read_text())
    assert list(found) == ["limits", *MEASURED]
    assert set(found["limits"]) == {"memcpy bytes/s", "numpy.take words/s"}
    for row in BOTH_WAYS:
        assert set(found[row]) >= WAYS
    assert {"stepped x limit", "fast-forward x limit"} <= set(found["stream12"])
    assert {"ns/cycle of 1", "ns/cycle of 2"} <= set(found["columns8"])
    assert {"write32/s", "program writes/s", "transaction words/s", "CDO words/s"} <= set(found["door"])
    assert {"npu1 untraced x traced", "npu2 untraced x traced"} <= set(found["traced"])
    assert list(found.pop("compile")) == ["missing"]  # of the smallest sizes alone
    assert all(value > 0 for figures in found.values() for value in figures.values())


def test_all_rows_are_there_and_no_others() -> None:
    done = call("rows.py", "--smallest", "stream13")
    assert done.returncode == 2
    assert f"no rows stream13; there are {ROWS}" in " ".join(done.stderr.split())


@pytest.mark.slow
@pytest.mark.skipif(not (BENCHMARKS.parent / ".git").exists(), reason="no checkout of git")
def test_a_record_is_a_line_of_the_history(measured: Path, tmp_path: Path) -> None:
    history, picture = tmp_path / "history.jsonl", tmp_path / "speed.png"
    assert call("history.py", measured, "--history", history).stdout == "the first record\n"
    again = call("history.py", measured, "--history", history)
    assert "halo1200        stepped cycles/s            x 1.00" in again.stdout, again.stderr
    kept = [json.loads(line) for line in history.read_text().splitlines()]
    assert [each["rows"] for each in kept] == [json.loads(measured.read_text())] * 2
    assert all(each["commit"] and each["machine"] and each["date"] for each in kept)
    runpy.run_path(str(BENCHMARKS / "history.py"))["draw"](kept, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_history_that_is_kept_can_be_drawn(tmp_path: Path) -> None:
    module = runpy.run_path(str(BENCHMARKS / "history.py"))
    kept = module["records"]()
    assert kept
    assert module["draw"](kept, tmp_path / "speed.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="no record has the cost of columns"):
        module["draw"]([{"rows": {}, "commit": "0"}], tmp_path / "none.png")


def test_a_long_run_counts_what_is_lost_and_what_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    module = runpy.run_path(str(BENCHMARKS / "long_runs.py"))
    one, other = ({"key": key, "state": "good"} for key in "ab")
    wrong = {"key": "b", "state": "infeasible"}
    accounts = module["_accounts"]
    assert accounts([one, other], ["1", "2", "2"], 2, 1) == {"begun again": 1, "repeated": 0, "lost": 0}
    assert accounts([one, one, wrong], ["1", "1", "1"], 2, 1) == {"begun again": 2, "repeated": 2, "lost": 1}
    assert module["faults"]({"MB grown": 1.0, "repeated": 2, "lost": 0}) == ["repeated: 2, allowed 0"]
    module["words"].__globals__["SLICES"] = 2
    found = module["words"](120_000, fast_forward=True)
    assert 120_000 <= found["words"] <= 12 * found["cycles"]
    assert found["lost"] == 0
    assert capsys.readouterr().out.count(" MB\n") == 3
