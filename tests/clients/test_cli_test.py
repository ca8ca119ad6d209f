"""Does ``memtile test`` say of each design whether it does what is expected, within its cycles?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from left_out import needs
from memtile import __version__
from memtile.cli.main import app
from memtile.cli.suite_attempt import attempt
from memtile.errors import InputFileError
from memtile.explore.suite.arrays import comparable, read_expected
from memtile.explore.suite.baseline import other_version, read_baseline, write_baseline
from memtile.explore.suite.cases import DesignCase, cases_of
from memtile.explore.suite.outcome import CaseOutcome, SuiteResult, Verdict
from memtile.explore.suite.settings import (
    FILE,
    CaseSettings,
    SuiteSettings,
    part_of,
    read_settings,
    settings_beside,
)
from memtile.explore.suite.suite import run_suite
from memtile.explore.survey.survey_cases import Beside
from memtile.report.finding_formats import junit
from places import ROOT
from support.designs.cpp_designs import FOUND
from support.mlir import mlir_texts

DATA = np.arange(1, 65, dtype=np.int32)
Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a design, and arrays beside it, into a folder of its own."""

    def write(name: str, text: str, **arrays: np.ndarray) -> Path:
        (folder := tmp_path / "designs" / name).mkdir(parents=True)
        (folder / "design.mlir").write_text(text)
        for array, values in arrays.items():
            np.save(folder / f"{array}.npy", values)
        return folder / "design.mlir"

    return write


def outcome_of(path: Path, settings: str = "") -> CaseOutcome:
    """The outcome of the one design of a path, with the lines of a file of settings."""
    (case,) = listed(path, settings)
    return attempt(case)


def listed(path: Path, settings: str = "") -> list[DesignCase]:
    (file := (path if path.is_dir() else path.parent) / FILE).write_text(settings)
    return cases_of([path], read_settings(file))


@pytest.mark.parametrize(
    ("text", "out", "verdict", "says"),
    [
        (mlir_texts.PASSTHROUGH, DATA, "passed", ""),
        (mlir_texts.PASSTHROUGH, DATA + 1, "wrong", "argument 2"),
        (mlir_texts.PASSTHROUGH, None, "unknown", "nothing says what must come out"),
        (mlir_texts.STUCK, None, "stuck", "in"),
        (mlir_texts.CALL, None, "refused", "no implementation was given for function work"),
    ],
    ids=["passed", "wrong", "unknown", "stuck", "refused"],
)
def test_a_design_has_its_verdict(put: Put, text: str, out: Any, verdict: str, says: str) -> None:
    outcome = outcome_of(put("a", text, in0=DATA, **({} if out is None else {"out2": out})))
    assert outcome.verdict == verdict, outcome
    assert outcome.good == (verdict == "passed")
    assert says in outcome.why
    assert "\n" not in outcome.why
    assert (outcome.cycles is None) == (verdict == "refused")
    assert bool(outcome.findings) == (verdict in ("wrong", "stuck", "refused"))
    assert CaseOutcome.of(json.loads(json.dumps(outcome.as_json()))).as_json() == outcome.as_json()


def test_what_may_be_unknown_is_good(put: Put) -> None:
    outcome = outcome_of(put("a", mlir_texts.PASSTHROUGH), "allow_unknown = true\n")
    assert (outcome.verdict, outcome.good) == (Verdict.UNKNOWN, True)


def test_cycles_are_held_to_a_budget_with_a_tolerance(put: Put) -> None:
    file = put("a", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    cycles = outcome_of(file).cycles
    assert cycles is not None
    table = '[[design]]\nfile = "design.mlir"\ncycles = {}\nwithin = "{}%"\n'
    assert outcome_of(file, table.format(cycles, 0)).verdict is Verdict.PASSED
    slow = outcome_of(file, table.format(cycles - 1, 0))
    assert (slow.verdict, slow.budget) == (Verdict.SLOW, cycles - 1)
    assert slow.why.endswith(f"over the budget of {cycles - 1:,} cycles")
    assert outcome_of(file, table.format(cycles - 1, 5)).verdict is Verdict.PASSED


def test_what_memtile_check_finds_is_part_of_the_test(put: Put) -> None:
    file = put("a", mlir_texts.STUCK)
    codes = {finding.code for finding in outcome_of(file).findings}
    alone = {finding.code for finding in outcome_of(file, "check = false\n").findings}
    assert alone < codes


def test_a_design_in_python_compares_itself() -> None:
    (case,) = cases_of([ROOT / "examples" / "transpose.py"], SuiteSettings())
    data = Beside(expected={0: Path("golden.npy")})  # which belong to other designs of the folder
    assert attempt(replace(case, design=replace(case.design, data=data))).verdict is Verdict.PASSED


def test_a_program_of_iron_is_compared_with_the_array_beside_it(tmp_path: Path) -> None:
    (case,) = cases_of([ROOT / "tests" / "support" / "iron" / "add.py"], SuiteSettings())
    np.save(tmp_path / "out1.npy", np.arange(64, dtype=np.int32))
    data = Beside(expected={1: tmp_path / "out1.npy"})
    outcome = attempt(replace(case, design=replace(case.design, data=data)))
    assert outcome.verdict is Verdict.WRONG
    assert outcome.why.startswith("argument 1 is early by 1 elements")


@pytest.mark.parametrize("name", ["transpose.py", "graph/graph.cpp"])
def test_inputs_that_a_design_would_not_read_are_refused(name: str) -> None:
    settings = CaseSettings(inputs={"0": "a.npy"})
    (case,) = cases_of([ROOT / "examples" / name], SuiteSettings(usual=settings))
    outcome = attempt(case)
    assert (outcome.verdict, outcome.good) == (Verdict.REFUSED, False)
    assert "inputs is for a program of IRON, a text of MLIR or a build" in outcome.why


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        (
            "transpose.py",
            'kernels = ["a.py"]',
            "kernels is for a program of IRON, a text of MLIR or a build; transpose.py is a design",
        ),
        ("transpose.py", 'device = "npu2"', "device is for a graph in C"),
        ("iron/gemm.py", 'in_folder = "."', "in_folder is for a graph in C"),
        ("scale.mlir", 'arguments = ["-m"]', "arguments is for a program of IRON; scale.mlir is a text"),
        (
            "graph/graph.cpp",
            'sequence = "x"',
            "sequence is for a text of MLIR or a build; graph.cpp is a graph",
        ),
    ],
)
def test_a_setting_of_one_design_that_it_has_no_use_for_is_refused(
    tmp_path: Path, name: str, line: str, says: str
) -> None:
    (tmp_path / FILE).write_text(f'[[design]]\nfile = "{ROOT}/examples/{name}"\n{line}\n')
    with pytest.raises(InputFileError, match=re.escape(says)):
        cases_of([ROOT / "examples"], read_settings(tmp_path / FILE))


def test_a_mistake_of_memtile_is_none_of_the_design(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("memtile.cli.suite_attempt._judged", fails)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome = outcome_of(put("a", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA))
    assert outcome.verdict is Verdict.ERROR
    assert outcome.why.startswith("memtile failed: KeyError: 'ours'. This is a mistake in memtile.")
    (file,) = tmp_path.glob("memtile-traceback-*.txt")
    assert str(file) in outcome.why
    case = ElementTree.fromstring(junit([outcome], "test", [0.25], [outcome.name]))[0][0]
    assert (case.get("time"), [each.tag for each in case]) == ("0.250", ["error"])


def test_settings_name_tests_inputs_and_kernels(tmp_path: Path) -> None:
    data = np.arange(4096, dtype=np.int32)
    np.save(tmp_path / "a.npy", data)
    np.save(tmp_path / "b.npy", 3.0 * data + 1e-3)
    for name in ("scale.mlir", "scale_functions.py"):
        (tmp_path / name).write_text((ROOT / "examples" / name).read_text())
    table = """
        [[design]]
        file = "scale.mlir"
        name = "scaled"
        inputs = { 0 = "a.npy" }
        expect = { 1 = "c.npy" }
        kernels = ["scale_functions.py"]
    """
    np.save(tmp_path / "c.npy", 3 * data)
    outcome = outcome_of(tmp_path / "scale.mlir", table)
    assert (outcome.name, outcome.verdict) == ("scaled", Verdict.PASSED), outcome
    assert [case.name for case in listed(tmp_path, table)] == ["scaled"]


def test_a_folder_has_the_designs_that_lie_there_and_those_of_the_settings(put: Put, tmp_path: Path) -> None:
    for name in ("a", "b", "old"):
        put(name, mlir_texts.PASSTHROUGH)
    table = 'exclude = ["old/*"]\n'
    for n in (1, 2):
        table += f'[[design]]\nfile = "a/design.mlir"\nname = "a{n}"\n'
    (tmp_path / "designs" / FILE).write_text(table)
    file = settings_beside(tmp_path / "designs" / "a" / "design.mlir")
    cases = cases_of([tmp_path / "designs"], read_settings(file))
    assert [case.name for case in cases] == ["b/design.mlir", "a1", "a2"]
    elsewhere = cases_of([tmp_path / "designs"], SuiteSettings())
    assert [case.name for case in elsewhere] == [f"{name}/design.mlir" for name in ("a", "b", "old")]
    with pytest.raises(InputFileError, match="there is no such file or folder"):
        cases_of([tmp_path / "none"], SuiteSettings())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('wihtin = "5%"\n', "unknown key 'wihtin'; did you mean 'within'"),
        ("cycles = 3\n", "unknown key 'cycles'"),
        (
            '[[design]]\nfile = "a"\ncycle = 3\n',
            r"\[\[design\]\] 1: unknown key 'cycle'; did you mean 'cycles'",
        ),
        ('[[design]]\nfile = "a"\ncycles = "3"\n', "cycles is '3'; it must be a whole number"),
        ("[[design]]\ncycles = 3\n", r'it has no file. Write file = "DESIGN"'),
        ('[[design]]\nfile = "a"\n[[design]]\nfile = "a"\n', "two tests are called 'a'"),
        ('within = "many"\n', "within is 'many'; it must be a percentage such as 5%"),
        ("allow_unknown = 1\n", "allow_unknown is 1; it must be true or false"),
        ("= 3\n", "this is no TOML"),
        ("seconds = -1\n", "seconds is -1; it must be at least 0.1"),
    ],
)
def test_what_the_settings_may_not_say_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputFileError, match=says):
        read_settings(tmp_path / FILE)


@pytest.mark.slow
@needs("c++", FOUND)
def test_the_data_of_a_graph_are_compared(tmp_path: Path) -> None:
    copytree(ROOT / "examples" / "graph", tmp_path / "graph")
    tiles = 3 * np.arange(128).reshape(2, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4)
    np.savetxt(tmp_path / "graph" / "golden.txt", tiles.reshape(-1, 2), "%d")
    table = '[[design]]\nfile = "graph.cpp"\nexpect = { "tiled.scaled" = "golden.txt" }\n'
    assert outcome_of(tmp_path / "graph" / "graph.cpp", table).verdict is Verdict.PASSED


def test_an_expected_array_that_the_run_does_not_leave_is_named(put: Put) -> None:
    file = put("a", mlir_texts.PASSTHROUGH, in0=DATA)
    outcome = outcome_of(file, '[[design]]\nfile = "design.mlir"\nexpect = { 7 = "in0.npy" }\n')
    assert outcome.why == "expected array '7': the run leaves 0, 1, 2. Name one of these."


def test_a_percentage_is_a_part() -> None:
    assert [part_of(each, "here") for each in ("5%", "5 %", 0.05, "0")] == [0.05, 0.05, 0.05, 0]


def test_floats_may_differ_by_the_tolerance() -> None:
    got, expected = np.array([1.0, 100.0, 5.0], np.float32), np.array([1.01, 100.5, 6.0], np.float32)
    near, right = comparable(got, expected, 0.01)
    assert (near == right).tolist() == [True, True, False]
    assert comparable(got, expected, 0.0)[0] is got
    near, right = comparable(got, expected.astype(np.float64), 0.01)
    assert right.dtype == np.float32
    ints = comparable(np.array([1, 2], np.int32), np.array([1, 3], np.int32), 10.0)
    assert ints[0].tolist() == [1, 2]


def test_numbers_of_a_text_are_an_array(tmp_path: Path) -> None:
    (file := tmp_path / "golden.txt").write_text("T 155200 ps\n1 2\nT 158400 ps\nTLAST\n3, 4\n")
    assert read_expected(str(file)).tolist() == [1, 2, 3, 4]
    file.write_text("one\n")
    with pytest.raises(InputFileError, match="this is no text of numbers"):
        read_expected(str(file))


@pytest.mark.parametrize(
    ("text", "got", "equal"),
    [
        (str(2**63 + 1), np.uint64(2**63), False),
        (str(2**63 + 1), np.uint64(2**63 + 1), True),
        (str(2**64 - 1), np.uint64(2**64 - 1), True),
        (str(2**63 + 2**40), np.float64(2**63 + 2**40), True),
        ("-1", np.uint8(255), True),  # the same bits
    ],
)
def test_large_numbers_of_a_text_are_exact(tmp_path: Path, text: str, got: Any, equal: bool) -> None:
    (file := tmp_path / "golden.txt").write_text(text)
    came, expected = comparable(np.array([got]), read_expected(str(file)), 0.0)
    assert came.dtype == expected.dtype
    assert (came == expected).tolist() == [equal]


def test_bytes_are_taken_as_large_numbers() -> None:
    expected = np.array([2**63 + 1], np.uint64)
    assert comparable(expected.view(np.uint32), expected, 0.0)[0].tolist() == [2**63 + 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("300", "expected values: 300 does not fit the output of uint8."),
        ("-129", "expected values: -129 does not fit the output of uint8."),
        ("1.5", "expected values: 1.5 does not fit the output of uint8."),
        (str(2**64), f"golden.txt: no integers of 64 bits hold the numbers from 0 to {2**64}."),
        (f"-1 {2**63}", f"golden.txt: no integers of 64 bits hold the numbers from -1 to {2**63}."),
    ],
)
def test_expected_numbers_that_no_output_has_are_refused(tmp_path: Path, text: str, says: str) -> None:
    (file := tmp_path / "golden.txt").write_text(f"0 {text}")
    with pytest.raises(InputFileError) as caught:
        comparable(np.zeros(2, np.uint8), read_expected(str(file)), 0.0)
    assert says in str(caught.value)


def test_floats_that_leave_out_whole_numbers_are_no_integers() -> None:
    with pytest.raises(InputFileError, match="does not fit the output of int64"):
        comparable(np.array([2**53 + 1]), np.array([2.0**53 + 2]), 0.0)


@pytest.mark.parametrize("name", ["cycles.toml", "cycles.json"])
def test_a_baseline_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    cycles = {'b "x"': 65_407, "a": 1}
    write_baseline(tmp_path / name, cycles)
    assert read_baseline(tmp_path / name) == cycles
    assert other_version(tmp_path / name) == ""
    (tmp_path / name).write_text((tmp_path / name).read_text().replace(__version__, "0.0.9"))
    assert "was written by memtile 0.0.9, this is" in other_version(tmp_path / name)
    (tmp_path / name).write_text("{}" if name.endswith("json") else "")
    with pytest.raises(InputFileError, match="it must have a table cycles"):
        read_baseline(tmp_path / name)
    with pytest.raises(InputFileError, match="there is no such baseline"):
        read_baseline(tmp_path / f"other_{name}")
    with pytest.raises(InputFileError, match=r"a baseline is a .toml or a .json file"):
        read_baseline(tmp_path / "cycles.txt")


@pytest.mark.usefixtures("warm_workers")
def test_the_command_writes_what_build_servers_read(put: Put, tmp_path: Path, monkeypatch: Any) -> None:
    put("good", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("bad", mlir_texts.STUCK)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.md").write_text("before\n")
    line = ["test", "designs", "--json", "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md"]
    line += ["--step-summary", "--baseline", "cycles.toml", "--update-baseline", "--workers", "2"]
    done = CliRunner().invoke(app, line, env={"GITHUB_STEP_SUMMARY": "step.md"})
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert {each["name"]: each["verdict"] for each in found["designs"]} == {
        "designs/good/design.mlir": "passed",
        "designs/bad/design.mlir": "stuck",
    }
    cycles = read_baseline(tmp_path / "cycles.toml")
    assert list(cycles) == ["designs/good/design.mlir"]
    suite = ElementTree.parse("j.xml").getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("memtile test", "2", "1")
    assert all(float(case.get("time", 0)) > 0 for case in suite)
    (location,) = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for result in json.loads(Path("s.json").read_text())["runs"][0]["results"]
        for place in result["locations"]
    }
    assert location == "designs/bad/design.mlir"
    summary = Path("m.md").read_text()
    assert summary.startswith("### memtile: FAILED: 2 designs tested, 1 not good (1 passed, 1 stuck)\n")
    assert Path("step.md").read_text() == f"before\n{summary}"


def test_a_run_says_its_verdict_first_and_a_line_a_design() -> None:
    good = CaseOutcome("a.mlir", "a.mlir", Verdict.PASSED, cycles=1_234, budget=1_300, baseline=1_200)
    unknown = CaseOutcome("b.mlir", "b.mlir", Verdict.UNKNOWN, "nothing says what must come out", cycles=5)
    late = CaseOutcome("c.mlir", "c.mlir", Verdict.BROKEN, "the limit of 2 s is over")
    refused = CaseOutcome("d.mlir", "/a/d.mlir", Verdict.REFUSED, "/a/d.mlir:7:5: no function f")
    assert refused.reason == "line 7:5: no function f"
    lines = list(SuiteResult([good, unknown, late], 3).lines(60))
    assert lines[:4] == [
        "FAILED: 3 designs tested, 2 not good (1 passed, 1 unknown, 1 broken)",
        "  unknown  b.mlir                        5 cycles  nothin...",
        "  broken   c.mlir                                  the li...",
        "  passed   a.mlir  1,234 of 1,300 cycles (+2.8 %)",
    ]
    assert lines[4] == "c.mlir: the limit of 2 s is over"
    assert lines[5].startswith("unknown: give arrays that must come out")
    stopped = SuiteResult([good], 3, interrupted=True)
    assert stopped.verdict == "INTERRUPTED: 1 of 3 designs tested (1 passed)"
    assert not stopped.good


@pytest.mark.usefixtures("warm_workers")
def test_a_program_that_closes_its_input_does_not_fail_the_next_one(put: Put, tmp_path: Path) -> None:
    file = put("b", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    (tmp_path / "designs" / "a.py").write_text("import aie.iron\n\nexit(2)\n")
    cases = cases_of([tmp_path / "designs" / "a.py", file], SuiteSettings())
    assert [each.verdict for each in run_suite(cases).outcomes] == [Verdict.REFUSED, Verdict.PASSED]


@pytest.mark.usefixtures("warm_workers")
def test_ctrl_c_and_a_time_limit_keep_what_is_done(put: Put, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\n\ndef work(x, y):\n    time.sleep(3600)\n")
    put("a", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("b", mlir_texts.CALL)
    put("c", mlir_texts.CALL)
    table = (
        f'seconds = 20\n[[design]]\nfile = "b/design.mlir"\nseconds = 0.5\nkernels = ["{tmp_path}/slow.py"]\n'
    )
    (tmp_path / "designs" / FILE).write_text(table)
    cases = cases_of([tmp_path / "designs"], read_settings(tmp_path / "designs" / FILE))
    order = sorted(cases, key=lambda case: case.name)

    def stopped(tests: Sequence[Future[CaseOutcome]]) -> Iterator[Future[CaseOutcome]]:
        yield from tests[:2]
        raise KeyboardInterrupt

    result = run_suite(order, watch=stopped)
    assert result.interrupted
    verdicts = {each.name: each.verdict for each in result.outcomes}
    assert verdicts["a/design.mlir"] is Verdict.PASSED
    assert verdicts["b/design.mlir"] is Verdict.BROKEN
