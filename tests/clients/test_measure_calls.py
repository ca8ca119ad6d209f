"""Does ``memtile measure calls`` make of a trace the file that ``--cost`` takes?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.io.trace.trace_names import COLUMNS

EXAMPLE = Path(__file__).parents[2] / "examples" / "scale.mlir"
FREE = "def scale(a, b, factor, count):\n    b[...] = a * factor\n"


def invoke(*args: object) -> Any:
    return CliRunner().invoke(app, list(map(str, args)), env={"COLUMNS": "200"})


def chrome(*marks: tuple[str, int, int]) -> str:
    """As mlir-aie's parse_trace writes it."""
    names = [{"name": "process_name", "ph": "M", "pid": n, "args": {"name": f"core {n}"}} for n in (0, 1)]
    return json.dumps([
        *names,
        {"name": "LOCK_STALL", "ph": "B", "ts": 3, "pid": 0, "tid": 4},
        *({"name": name, "ph": ph, "ts": at + (ph == "E"), "pid": pid, "tid": 0}
          for name, at, pid in marks for ph in "BE"),
    ])  # fmt: skip


A, B = "INSTR_EVENT_0", "INSTR_EVENT_1"
TRACE = chrome((B, 5, 0), (A, 10, 0), (B, 5020, 0), (A, 6000, 0), (B, 11000, 0), (A, 12000, 0))


def write(folder: Path, name: str, text: str) -> Path:
    (file := folder / name).write_text(text, encoding="utf-8")
    return file


def test_a_trace_becomes_costs_and_a_run_takes_them(tmp_path: Path) -> None:
    """A trace that begins and ends within calls: what lies between is the fewest cycles of the whole ones."""
    costs, kernels = tmp_path / "costs.json", write(tmp_path, "kernels.py", FREE)
    told = invoke("measure", "calls", write(tmp_path, "t.json", TRACE), "--function", "scale", "--out", costs)
    assert told.exit_code == 0, told.output
    assert "core 0: 5,000 to 5,010 cycles, 5,005 in the median of 2" in told.output
    assert json.loads(costs.read_text()) == {"functions": {"scale": 5000}}
    np.save(tmp_path / "x.npy", np.arange(4096, dtype=np.int32))
    run = (
        "run",
        "--json",
        EXAMPLE,
        "--kernels",
        kernels,
        "--in",
        f"0={tmp_path / 'x.npy'}",
        "--pad-arguments",
    )
    free, paid = (json.loads(invoke(*run, *more).stdout) for more in ([], ["--cost", costs]))
    assert (free["cost_unknown"], paid["cost_unknown"]) == (["scale"], [])
    spent = [each["cores"][0]["cycles"].get("running", 0) for each in (free, paid)]
    assert spent[1] - spent[0] == 16 * 5000  # calls of 256 numbers


def test_a_result_and_its_band_say_what_they_are_without(tmp_path: Path) -> None:
    kernels = write(tmp_path, "kernels.py", FREE)
    run = ("run", EXAMPLE, "--kernels", kernels, "--pad-arguments")
    first = invoke(*run).stdout.splitlines()[:3]
    assert "Cost unknown, counted as 0 cycles: scale. Give it with --cost scale=CYCLES." in first
    assert "Cost unknown" not in invoke("run", EXAMPLE, "--pad-arguments").stdout  # the library's has a cost
    band = json.loads(invoke(*run, "--sensitivity", "--json").stdout)["band"]
    assert band["without"] == ["scale"]
    assert "cycles, without the calls of scale (cost unknown)" in invoke(*run, "--sensitivity").stdout


def test_pairs_of_ones_own(tmp_path: Path) -> None:
    text = "function,event0,event1\nmine,100,164\nother,5,9\nmine,200,262\n"
    told = invoke("measure", "calls", write(tmp_path, "pairs.csv", text))
    assert json.loads(told.stdout.splitlines()[-1]) == {"functions": {"mine": 62, "other": 4}}


def test_the_same_as_data_beside_the_file(tmp_path: Path) -> None:
    """Its functions are those of the file for --cost; the places have what the lines say."""
    text = "function,event0,event1\nmine,100,165\nother,5,9\nmine,200,262\n"
    pairs, costs = write(tmp_path, "pairs.csv", text), tmp_path / "costs.json"
    told = json.loads(invoke("measure", "calls", pairs, "--json", "--out", costs).stdout)
    assert told == {
        "functions": {"mine": 62, "other": 4},
        "places": [
            {"place": "mine", "calls": 2, "least": 62, "median": 63.5, "most": 65},
            {"place": "other", "calls": 1, "least": 4, "median": 4.0, "most": 4},
        ],
    }
    assert json.loads(costs.read_text()) == {"functions": told["functions"]}
    refused = invoke("measure", "calls", write(tmp_path, "none.csv", "a,b\n1,2\n"), "--json")
    assert "needed are event0 and event1" in json.loads(refused.stdout)["error"]["message"]


def test_intervals_as_trace_decode_writes_them(tmp_path: Path) -> None:
    rows = [",".join(COLUMNS)]
    for row, event, begin in ((2, A, 10), (2, "LOCK_STALL", 12), (2, B, 40), (3, A, 11), (3, B, 91)):
        rows.append(f"0,{row},core,0,1,0,{event},{begin},{begin + 1},0,0,True")
    file = write(tmp_path, "t.csv", "\n".join(rows) + "\n")
    told = invoke("measure", "calls", file, "--function", "0,2=mine", "--function", "0,3=other")
    assert json.loads(told.stdout.splitlines()[-1]) == {"functions": {"mine": 30, "other": 80}}


TWO = chrome((A, 1, 0), (B, 2, 0), (A, 1, 1), (B, 3, 1))


@pytest.mark.parametrize(
    ("name", "text", "options", "says"),
    [
        (
            "t.json",
            TWO,
            ["mine"],
            "--function is 'mine'; it must be PLACE=FUNCTION, once for each of 'core 0'",
        ),
        ("t.json", TWO, ["core 0=mine"], "--function is missing"),
        ("t.json", TWO, ["core 0=mine", "core 1=mine"], "--function is 'core 1=mine'"),
        ("t.json", TWO, ["core 0=mine", "core 2=other"], "--function is 'core 2=other'"),
        (
            "t.json",
            chrome((A, 1, 0), (A, 5, 0)),
            ["f"],
            "core 0 begins a call in cycle 1 and another one in 5",
        ),
        ("t.json", chrome((A, 1, 0)), ["f"], "it has no calls"),
        ("t.json", "{}", ["f"], "a list of Chrome's trace events"),
        ("t.json", "[", ["f"], "this is not JSON"),
        ("t.csv", "a,b\n1,2\n", ["f"], "its columns are a, b; needed are event0 and event1"),
        ("t.csv", "event0,event1\n9,2\n", ["f"], "line 2: event1 is 2, before event0 9"),
        ("t.csv", "event0,event1\n1.5,2\n", ["f"], "a mark is in cycle '1.5'; it must be a whole number"),
    ],
)
def test_what_is_no_trace_of_calls_is_refused(
    tmp_path: Path, name: str, text: str, options: list[str], says: str
) -> None:
    given = [part for each in options for part in ("--function", each)]
    told = invoke("measure", "calls", write(tmp_path, name, text), *given)
    assert told.exit_code == 2
    assert says in " ".join(told.output.split())
