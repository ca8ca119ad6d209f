"""Does --timing reach the models of designs, programs and servers, whatever a design says itself?"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile import Array, DesignError, MemoryTile, Timing, run
from memtile.cli.main import app
from support.silicon.dispatch_designs import passed_on

CORPUS = Path(__file__).parents[1] / "corpus"
DESIGN = """
import numpy as np
from memtile import Array, Timing


def design(latency: int = 0):
    array = Array("npu1", columns=1, timing=Timing(external_latency=latency) if latency else None)
    below, above = array.interface_tile(0), array.memory_tile(0)
    below.mm2s[0].start(below.read(array.external("x", np.arange(64, dtype=np.int32))))
    above.s2mm[0].start(above.write(above.buffer("y", 64)))
    array.connect(below.mm2s[0], above.s2mm[0])
    return array
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "read.py"
    path.write_text(DESIGN)
    return str(path)


def invoke(*args: str) -> Any:
    return CliRunner().invoke(app, args)


def cycles(*args: str) -> int:
    told = invoke("run", "--json", *args)
    assert told.exit_code == 0, told.output
    return int(json.loads(told.stdout)["cycles"])


def test_a_design_runs_with_the_constants_of_the_command_line(file: str) -> None:
    plain = cycles(file)
    assert cycles("--timing", "external_latency=300", file) == plain + 200
    assert cycles("--timing", "external_latency=0x12C", "--timing", "task_start=14", file) == plain + 210


def test_they_stand_over_what_the_design_says(file: str) -> None:
    assert cycles("--set", "latency=400", file) == cycles(file) + 300
    assert cycles("--set", "latency=400", "--timing", "external_latency=300", file) == cycles(file) + 200


def test_a_board_has_all_that_was_measured_of_it(file: str) -> None:
    """Its first read takes 1,255 cycles more, its task 12 to load, its idle wire and its ingress buffer one
    each; options stand over it."""
    plain = cycles(file) + 12 + 2
    assert cycles("--timing", "phoenix", file) == plain + 223 + 1255
    for texts in (["external_latency=100", "phoenix"], ["phoenix", "external_latency=100"]):
        options = [part for text in texts for part in ("--timing", text)]
        assert cycles(*options, file) == plain + 1255


def test_the_result_says_with_what_it_was_made(file: str) -> None:
    told = json.loads(invoke("run", "--json", "--timing", "external_latency=300", file).stdout)
    assert "external_latency = 300" in told["assumed"]


def test_they_are_gone_after_the_command(file: str) -> None:
    cycles("--timing", "external_latency=300", file)
    assert Array("npu1", columns=1).engine.timing == Timing()


def test_a_program_runs_with_them(tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text("0x021A0000 64 0x20000 0 0 0 0 0 0x80000000\n0x021A0634 0\n0x021A0634 0\n")
    out = "--out", f"memory(1,1) MM2S 0={tmp_path / 'sent.npy'}"
    assert cycles("--timing", "access_cycles=1000", *out, str(dump)) > cycles(*out, str(dump)) + 900


def test_faults_run_with_them(file: str) -> None:
    told = [
        json.loads(invoke("faults", "--json", "--upsets", "1", *more, file).stdout)["cycles"]
        for more in ([], ["--timing", "external_latency=300"])
    ]
    assert told[1] == told[0] + 200


@pytest.mark.parametrize("workers", ["0", "1"])
def test_plans_run_with_them(workers: str) -> None:
    plan = ("plan", "rows", "--rows", "16", "--width", "16", "--columns", "1", "--tried", "1", "--json")
    told = [
        json.loads(invoke(*plan, "--workers", workers, *more).stdout)
        for more in ([], ["--timing", "external_latency=900"])
    ]
    plain, slow = (each["designs"][0] for each in told)
    assert slow["figures"]["cycles"] >= plain["figures"]["cycles"] + 400  # npu1's own is 323
    assert slow["certificate"]["cycles"] == slow["figures"]["cycles"]
    assert slow["values"] == plain["values"]
    assert [each["timing"] for each in told] == [{}, {"external_latency": 900}]


def test_surveys_run_with_them(tmp_path: Path) -> None:
    copy(CORPUS / "output-first-fine.mlir", tmp_path)
    told = [
        json.loads(invoke("survey", "--json", *more, str(tmp_path)).stdout)["designs"][0]["cycles"]
        for more in ([], ["--timing", "external_latency=900"])
    ]
    assert told[1] > told[0] + 400


def test_a_diff_runs_both_with_them(file: str) -> None:
    told = invoke("diff", "--timing", "external_latency=900", file, file, "--second-set", "latency=400")
    assert told.exit_code == 0, told.output  # they stand over what the designs say


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["extern_latency=2"], "Did you mean external_latency?"),
        (["external_latency=0"], "1..65536"),
        (["external_latency"], "NAME=NUMBER"),
        (["external_latency=fast"], "NAME=NUMBER"),
        (["task_start=2", "task_start=3"], "gives task_start twice"),
        (["phoenix", "phoenix"], "gives boards twice, phoenix and phoenix"),
        (["hawk"], "NAME=NUMBER or the name of a board"),
    ],
)
@pytest.mark.parametrize("command", ["run", "faults", "serve", "plan", "survey", "diff", "check"])
def test_what_is_no_constant_is_refused(command: str, texts: list[str], says: str, file: str) -> None:
    options = [part for text in texts for part in ("--timing", text)]
    files = {"serve": [], "plan": [], "survey": [str(Path(file).parent)], "diff": [file, file]}
    kind = ["rows"] if command == "plan" else []
    told = invoke(command, *kind, "--json", *options, *files.get(command, [file]))
    assert told.exit_code == 2
    assert says in json.loads(told.stdout)["error"]["message"]


def test_a_server_takes_one_name_for_the_time_between_accesses() -> None:
    told = invoke("serve", "--json", "--cycles-per-access", "7", "--timing", "access_cycles=8")
    assert told.exit_code == 2
    assert "Give one of them" in json.loads(told.stdout)["error"]["message"]


def test_run_takes_them_in_python() -> None:
    def design(words: int = 16) -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", words)))
        tile.mm2s[0].expect(np.zeros(words, np.int32))
        return tile

    assert run(design, timing={"task_start": 9}).cycles == run(design).cycles + 5
    with pytest.raises(DesignError, match="Did you mean task_start"):
        run(design, timing={"taskstart": 9})


@pytest.mark.parametrize(("running", "codes"), [(0, []), (1, ["MT0117"])])
def test_a_check_looks_at_queues_with_them(running: int, codes: list[str], tmp_path: Path) -> None:
    """DEV-QUEUE-1: five pushes fit into a queue where the task that runs has no place in it."""
    text = tmp_path / "five.mlir"
    text.write_text(passed_on(5))
    told = json.loads(invoke("check", "--json", "--timing", f"queue_running={running}", str(text)).stdout)
    assert [each["code"] for each in told["designs"][0]["findings"]] == codes


def test_explain_runs_the_design_with_them(file: str, tmp_path: Path) -> None:
    """In cycle 150 words of a fast memory have come and those of a slow one have not."""
    slow, limit = ("--timing", "external_latency=300"), ("--max-cycles", "150")
    dump = str(tmp_path / "core.bin")
    invoke("run", "--json", *slow, *limit, "--coredump", dump, file)
    beside = ("explain", "--json", dump, "--design", file, *limit)
    same = [json.loads(invoke(*beside, *more).stdout)["design"]["same"] for more in (slow, ())]
    assert same == [True, False]
