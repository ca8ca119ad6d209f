"""Do programs of IRON run unchanged where mlir-aie is not installed?"""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import memtile
from left_out import needs
from memtile import InputFileError
from memtile.cli.agents import tools
from memtile.cli.check import checked
from memtile.cli.diff import compared_file
from memtile.cli.main import app
from memtile.cli.suite_attempt import attempt
from memtile.design.array_picture import array_svg
from memtile.explore.survey.survey import survey_test
from memtile.explore.survey.survey_cases import find
from memtile.explore.survey.survey_outcome import DesignOutcome
from memtile.explore.sweep.sweep import SweepPlan, sweep
from memtile.iron import running
from memtile.iron.__main__ import main
from memtile.iron.program_design import ProgramDesign, function_of
from memtile.iron.taking import Taking, answer, taking
from memtile.runs.options import RunOptions
from support.designs.cpp_designs import FOUND
from support.mlir import mlir_texts

STAND_IN = Path(__file__).parents[1] / "stand_in"
"""What has the names of mlir-aie."""
ADD = Path(__file__).parents[1] / "support" / "iron" / "add.py"
"""Adds a number to a vector, verifies, and has options and ``CompileTime`` values."""
LOADS = """import numpy as np
import memtile
from pathlib import Path

def design(device: str | None = None):
    made = memtile.load(Path(__file__).with_name("design.mlir"), device=device)
    return made.hosted(np.arange(64, dtype=np.int32))
"""
"""An own design that is a text of MLIR."""
KERNEL = """import numpy as np
from aie.iron import Kernel, ObjectFifo, Program, Runtime, Worker
from aie.iron.device import NPU1Col1

part = np.ndarray[(16,), np.dtype[np.int32]]
twice = Kernel("twice", "twice.o", [part, part])
of_in, of_out = ObjectFifo(part, name="in"), ObjectFifo(part, name="out")

def core(fin, fout, kernel):
    kernel(fin.acquire(1), fout.acquire(1))
    fin.release(1)
    fout.release(1)

worker = Worker(core, [of_in.cons(), of_out.prod(), twice])
rt = Runtime()
with rt.sequence(part, part) as (a, c):
    rt.start(worker)
    rt.fill(of_in.prod(), a)
    rt.drain(of_out.cons(), c, wait=True)
print(Program(NPU1Col1(), rt).resolve_program())
"""
"""A program whose kernel is an object file, which only prints its module."""
TWICE = """extern "C" void twice(int *a, int *c) {
    for (int i = 0; i < 16; i++) c[i] = 2 * a[i];
}
"""
ASKS = """import argparse, sys
options = argparse.ArgumentParser()
options.add_argument("--words", type=int)
words = options.parse_args().words
if words is None:
    sys.exit("how many words?")
"""
COPY = "    fin.acquire(1)\n    fout.acquire(1)"


@dataclass
class Done:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: str) -> Done:
    """``memtile`` with these words."""
    done = CliRunner().invoke(app, words)
    return Done(done.exit_code, done.stdout, done.stderr)


def run(*words: str) -> Done:
    """``memtile run`` with these words."""
    return command("run", *words)


def module(*words: str) -> Done:
    """``python -m memtile.iron`` with these words."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with patch("sys.argv", ["memtile.iron", *words]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_that_only_defines_its_design_is_told_so() -> None:
    Path("part.py").write_text("import aie.iron as iron\n\ndef design():\n    iron.get_current_device()\n")
    done = run("part.py")
    assert done.returncode == 0
    assert "note: part.py builds no design and runs none. If another program imports it" in done.stderr


def test_a_program_with_its_own_arguments() -> None:
    done = run(str(ADD), "--size", "128", "--tile", "32")
    assert (done.returncode, done.stdout) == (0, "PASS!\n"), done.stderr
    assert len([line for line in done.stderr.splitlines() if "compiling the engine" not in line]) == 1
    assert "a program of IRON (it imports aie)" in done.stderr
    wrong = run(str(ADD), "--tile", "9")
    assert wrong.returncode == 2
    assert "invalid choice: 9" in wrong.stderr


@pytest.mark.parametrize("call", [run, module])
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("from aie.iron import Objectfifo", "no aie.iron.Objectfifo. Did you mean aie.iron.ObjectFifo?"),
        ("import aie.utils.tensrs", "no aie.utils.tensrs. Did you mean aie.utils.tensors?"),
        ("import aie.iron; aie.iron.Worke()", "no aie.iron.Worke. Did you mean aie.iron.Worker?"),
        ("from aie.iron import Worker; Worker(kore=1)", "unexpected keyword argument 'kore'"),
    ],
)
def test_a_name_that_is_not_there(folder: Path, call: Callable[..., Done], line: str, says: str) -> None:
    (folder / "program.py").write_text(f"import aie\n{line}\n")
    done = call("program.py")
    assert done.returncode in (1, 2)
    (message,) = [each for each in done.stderr.splitlines() if "a program of IRON" not in each]
    assert message.removeprefix("error: ").startswith("program.py:2: ")
    assert says in message
    assert "python -m memtile.iron --names lists" in message


def test_an_error_is_at_the_program_s_line_where_its_folder_has_an_environment(folder: Path) -> None:
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "builder.py").write_text("from aie.iron import Worker\nWorker(kore=1)\n")
    (folder / "program.py").write_text("import aie, sys\nsys.path.append('site-packages')\nimport builder\n")
    assert "error: program.py:3: " in run("program.py").stderr


def test_by_one_import_and_in_this_process_alone(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(memtile.__file__).parents[1])}

    def python(*words: str) -> Any:
        return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)

    text = "import memtile.iron.install\nimport aie.iron\nprint(hasattr(aie.iron, 'Foo'))\n"
    (folder / "program.py").write_text(f"{text}from aie.iron import Foo\n")
    done = python("program.py")
    assert done.stdout == "False\n"
    assert "program.py:4: memtile's IRON has no aie.iron.Foo" in done.stderr
    other = python("-c", "import memtile, aie")
    assert "ModuleNotFoundError: No module named 'aie'" in other.stderr


def test_a_program_of_a_package(folder: Path) -> None:
    package = folder / "outer" / "inner"
    package.mkdir(parents=True)
    (package / "program.py").write_text("import aie.iron\nfrom ..sizes import SIZE\nprint(SIZE, __name__)\n")
    (package.parent / "sizes.py").write_text("SIZE = 7\n")
    done = module("outer/inner/program.py")
    assert done.stdout == "7 __main__\n", done.stderr


def test_errors_of_the_program_are_its_own(folder: Path) -> None:
    (folder / "program.py").write_text("import aie.iron\n[][1]\n")
    done = run("program.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:3] == [
        "Traceback (most recent call last):",
        '  File "program.py", line 2, in <module>',
    ]


def test_an_interrupted_program_ends_with_the_code_for_it(folder: Path) -> None:
    (folder / "program.py").write_text("import aie.iron\nraise KeyboardInterrupt\n")
    assert run("program.py").returncode == run("--json", "program.py").returncode == 130
    assert module("program.py").returncode == 130


def test_the_list_of_names() -> None:
    lines = module("--names").stdout.splitlines()
    found = {module: names.split(", ") for module, _, names in (line.partition(": ") for line in lines)}
    assert {"ObjectFifo", "Worker", "jit", "CompileTime"} <= {*found["aie.iron"]}
    assert {"device", "tile", "object_fifo"} <= {*found["aie.dialects.aie"]}
    assert "range_" in found["aie.iron.controlflow"]


def test_a_design_with_parameters(folder: Path) -> None:
    words = ("--json", "--set", "tile=32", "--set", "plus=3", "--out", "1:int32:64=c.npy", str(ADD))
    done = run(*words, "--size", "64")
    data = json.loads(done.stdout)
    assert (done.returncode, data["errors"]) == (
        1,
        ["the program ends with 'FAIL!'"],
    )  # it adds 1, and says so
    found = {each["name"]: each["value"] for each in data["parameters"]}
    assert found == {"size": 64, "tile": 32, "quiet": False, "plus": 3, "device": None}
    np.testing.assert_array_equal(np.load(folder / "c.npy"), np.arange(64) + 3)
    given = ProgramDesign(str(ADD), ["--size", "32"]).__signature__.parameters
    assert given["size"].default == 32  # and not what the program has without it
    wrong = run("--set", "plu=3", str(ADD))
    assert "its parameters are size, tile, quiet, plus, device" in wrong.stderr


def test_a_program_that_ends_without_a_value_is_given_one(folder: Path) -> None:
    """It has told its options by then; one that fails before that has none to give."""
    copies = KERNEL.replace("twice = Kernel", "# Kernel").replace(", twice])", "])").replace(", kernel)", ")")
    copies = copies.replace("    kernel(fin.acquire(1), fout.acquire(1))", COPY)
    copies = copies.replace("[(16,)", "[(words,)")
    (folder / "asks.py").write_text(ASKS + copies)
    made = ProgramDesign("asks.py")
    assert made.__signature__.parameters["words"].default is None
    assert [shape.shape for shape in made(words=32).loaded.arguments] == [(32,), (32,)]
    (folder / "fails.py").write_text("raise SystemExit('no words')\n" + ASKS)
    with pytest.raises(InputFileError, match="no words"):
        ProgramDesign("fails.py")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--kernels", "k.mlir"), "--kernels with MLIR: a program of IRON has its design"),
        (("--format", "txn", "--keep-order"), "--format, --keep-order: a program of IRON"),
        (("--against", "build"), "--against is for designs in MLIR"),
    ],
)
def test_options_that_a_program_has_no_use_for(words: tuple[str, ...], says: str) -> None:
    done = run(*words, str(ADD))
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.slow  # a process, and kernels that are compiled
@needs("c++", FOUND)
@pytest.mark.usefixtures("warm_workers")
def test_a_program_takes_kernels_and_costs_of_the_command(folder: Path) -> None:
    """Its object file is built elsewhere, as Makefiles of mlir-aie do."""
    (folder / "program.py").write_text(KERNEL)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "twice.cc").write_text(TWICE)
    (folder / "twice.py").write_text("def twice(a, c):\n    c[...] = 2 * a\n")
    np.save("a.npy", np.arange(16, dtype=np.int32))
    np.save("c.npy", 2 * np.arange(16, dtype=np.int32))
    arrays = ("--in", "0=a.npy", "--expect", "1=c.npy", "--json")
    as_it_is = run("program.py")
    assert as_it_is.stdout.startswith("module {")
    assert "note: program.py builds a design and runs none" in as_it_is.stderr
    alone = command("check", "program.py")
    assert "program.py: 4 tasks checked, nothing found" in alone.stdout
    (folder / "wrong.cc").write_text(TWICE.replace("int *c)", "int *c, int n)"))
    wrong = command("check", "--kernels", "wrong.cc", "program.py")
    assert "takes 3 parameters (int *, int *, int), the design passes 2" in wrong.stdout
    tested = command("test", *arrays[:4], "--kernels", "twice.py", "program.py")
    assert tested.returncode == 0, tested.stdout
    plain = run(*arrays, "--kernels", "twice.py", "program.py")
    assert json.loads(plain.stdout)["bit_exact"], plain.stderr
    costly = run(*arrays, "--kernels", "elsewhere/twice.cc", "--cost", "twice=5000", "program.py")
    data = json.loads(costly.stdout)
    assert data["bit_exact"], costly.stderr
    assert data["cycles"] > 5000 > json.loads(plain.stdout)["cycles"]


def test_a_program_that_chooses_no_device_is_for_the_one_that_is_asked_for() -> None:
    for words, name in ((("--device", "npu1_2col"), "npu1_2col"), (("--set", "device=npu1"), "npu1")):
        assert json.loads(run("--json", *words, str(ADD)).stdout)["device"] == name
    found = sweep(ADD, SweepPlan(vary={"device": "npu1,npu2"}, workers=0))
    assert [row.state for row in found.rows] == ["good", "good"]
    assert len({row.figures["cycles"] for row in found.rows}) == 2


def test_a_device_that_the_program_does_not_take_is_refused(folder: Path) -> None:
    own = ADD.read_text().replace("iron.get_current_device()", "NPU2()")
    (folder / "program.py").write_text(f"from aie.iron.device import NPU2\n{own}")
    with pytest.raises(InputFileError, match="device is npu1, and the program chooses npu2 itself"):
        function_of("program.py")(device="npu1")


def test_a_c_source_that_is_not_there_is_named(folder: Path) -> None:
    head, body = ADD.read_text().split(
        "            for i in range_(tile):\n                y[i] = x[i] + plus\n"
    )
    text = f"{head}            kernel(x, y)\n{body}".replace("(fin, fout):", "(fin, fout, kernel):", 1)
    made = 'iron.ExternalFunction("mine", source_file="mine.cc", arg_types=[part, part])'
    (folder / "program.py").write_text(text.replace("of_out.prod()]", f"of_out.prod(), {made}]", 1))
    done = run("program.py")
    assert done.returncode == 2
    assert f"mine: the C++ source {folder / 'mine.cc'} of kernel mine is not there" in done.stderr


def test_each_command_takes_each_kind_of_design(folder: Path) -> None:
    (folder / "design.mlir").write_text(mlir_texts.PASSTHROUGH)
    (folder / "loads.py").write_text(LOADS)
    for file in (str(ADD), "design.mlir", "loads.py"):
        more = ["--pad-arguments"] if file == "design.mlir" else []
        assert json.loads(run("--json", *more, file).stdout).get("status") == "finished"
        assert "nothing found" in command("check", file).stdout
        assert "device = None: a text or none" in command("info", file).stdout
        assert command("diff", file, file).returncode == 0
        said = command("explain", file).stdout
        assert "status: finished" in said
        assert "if the host needed no time" in said
        assert "aie.device(" in command("export", "--mlir", file).stdout
        plan = command("plan", file)
        assert (plan.returncode, f"memtile sweep {file} --vary NAME=VALUES" in plan.stderr) == (2, True)
        assert "this is a design; the command reads tilings" in command("lower", file).stderr
        found = sweep(file, SweepPlan(vary={"device": "npu1,npu2"}, workers=0))
        assert {row.state for row in found.rows} == {"good"}
        descriptors = {row.figures["bds"] for row in found.rows}
        assert descriptors == {6} if file == str(ADD) else min(descriptors) > 0


def test_a_survey_tries_own_designs(folder: Path) -> None:
    (folder / "design.mlir").write_text(mlir_texts.PASSTHROUGH)
    (folder / "loads.py").write_text(LOADS)
    (folder / "other.py").write_text("def design():\n    raise ValueError\n")
    tests = [survey_test(case, device="npu1") for case in find(folder).cases]
    found = {test.name: DesignOutcome.of_test(attempt(test)) for test in tests}
    assert {name: each.bucket for name, each in found.items()} == {
        "design.mlir": "finished",
        "loads.py": "finished",
    }
    assert found["loads.py"].cycles == found["design.mlir"].cycles


def test_a_design_is_taken_by_our_names_where_mlir_aie_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STAND_IN)
    theirs = importlib.import_module("aie.utils")
    try:
        assert function_of(str(ADD))(tile=32).run().good
        assert sys.modules["aie.utils"] is theirs
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "aie"]:
            del sys.modules[name]


def test_a_sweep_of_a_program_is_a_run_of_each_variant() -> None:
    plan = SweepPlan(vary={"tile": "8,16,32,64", "size": "64,96"}, workers=0)
    found = sweep(ADD, plan)
    assert [axis.name for axis in found.space.axes] == [
        "size",
        "tile",
    ]  # quiet has values, and nobody varies it
    rows = {(row.point["size"], row.point["tile"]): row for row in found.rows}
    assert len(rows) == 8
    for at, row in rows.items():
        alone = function_of(str(ADD))(size=at[0], tile=at[1]).run()
        assert (row.state == "good") == alone.good == (at != (96, 64))  # 96 elements are no tiles of 64
        assert not alone.good or row.figures["cycles"] == alone.cycles


def test_a_variant_with_wrong_data_is_infeasible_by_the_program_s_own_verdict() -> None:
    found = sweep(ADD, SweepPlan(vary={"plus": "1,2"}, workers=0))
    good, wrong = sorted(found.rows, key=lambda row: str(row.point["plus"]))
    assert good.state == "good"
    assert wrong.state == "infeasible"
    assert wrong.why.startswith("argument 1 is early by 1 elements")  # than what the program compares
    still = sweep(ADD, SweepPlan(vary={"plus": "1,2"}, workers=0, data=False))
    assert [row.state for row in still.rows] == ["good", "good"]


def test_a_sweep_of_mlir(tmp_path: Path) -> None:
    (tmp_path / "design.mlir").write_text(mlir_texts.PASSTHROUGH)
    found = sweep(tmp_path / "design.mlir", SweepPlan(vary={"device": "npu1,npu2"}, workers=0))
    cycles = {row.point["device"]: row.figures["cycles"] for row in found.rows if row.state == "good"}
    alone = {name: memtile.load(tmp_path / "design.mlir", device=name).run() for name in ("npu1", "npu2")}
    assert cycles == {name: done.result.cycles for name, done in alone.items()}


def test_the_answer_of_a_run_is_for_the_same_design_and_what_it_reads() -> None:
    def region(argument: int, *, reads: bool, writes: bool) -> SimpleNamespace:
        return SimpleNamespace(region=SimpleNamespace(argument=argument, reads=reads, writes=writes))

    both = [region(0, reads=True, writes=True), region(1, reads=False, writes=True)]
    run_before = SimpleNamespace(buffers=both)
    first, other = np.arange(64), np.arange(64) + 1
    with taking({}, Taking(compiled="a text", arguments=[first, first], answer=run_before)):
        assert (
            answer("a text", [first, other]) is run_before
        )  # what is only written may hold an earlier result
        assert answer("a text", [other, first]) is None
        assert answer("another text", [first, first]) is None


def test_a_verdict_loads_its_design_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program calls its design three times."""
    calls = "    for _ in range(3):\n        add(a, c, size=opts.size, tile=opts.tile)\n"
    text = ADD.read_text().replace("    add(a, c, size=opts.size, tile=opts.tile)\n", calls)
    (folder / "program.py").write_text(text)
    made = function_of("program.py")(size=96)
    monkeypatch.setattr(running, "load_design", None)
    assert made.run().good


def test_nothing_is_left_of_a_program() -> None:
    before = {*sys.modules}, [*sys.meta_path], [*sys.path], sys.argv
    function_of(str(ADD))(tile=8)
    assert not [name for name in {*sys.modules} - before[0] if name.partition(".")[0] == "aie"]
    assert (sys.meta_path, sys.path, sys.argv) == before[1:]


def test_check_and_diff() -> None:
    (result,) = checked([str(ADD)], settings=["size=100"])
    assert "MT0" in str(result)
    (good,) = checked([str(ADD)], settings=["size=96"])
    assert good.good
    given = {"device": "", "given": (), "kernels": None, "options": RunOptions()}
    sides = [compared_file(str(ADD), settings=[f"size={size}"], **given) for size in (64, 128)]
    assert sides[0].kind == sides[1].kind == "design"
    assert sides[0].record["result"]["cycles"] != sides[1].record["result"]["cycles"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import aie.iron\n", "the program builds no design"),
        ("import sys, aie.iron\nsys.exit('no device')\n", "ends with 'no device' before its design is there"),
        ("import aie.iron\nassert not 3, 'no tiles'\n", "program.py:2: AssertionError: no tiles"),
        ("import sys, aie.iron\nsys.exit(3)\n", "ends with code 3 before its design is there"),
        (
            "import argparse, aie.iron\np = argparse.ArgumentParser()\np.add_argument('--x', required=True)\n"
            "p.parse_args()\n",
            r"code 2 before its design is there \(the following arguments are required: --x\). "
            "Give them behind its name in memtile run, or with --set x=VALUE.",
        ),
        (
            "import argparse, sys, aie.iron\np = argparse.ArgumentParser()\n"
            "p.add_argument('--x', required=True)\np.parse_args(sys.argv[1:])\n",
            "or with --set x=VALUE.",
        ),
    ],
)
def test_a_program_without_a_design(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "program.py").write_text(text)
    with pytest.raises(InputFileError, match=says):
        function_of(str(tmp_path / "program.py"))()


def test_a_program_that_prints_its_design(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = "p.parse_args()\n    print(add.as_mlir(size=32))\n    print('built')\n\n\nif __name__"
    text = ADD.read_text().replace("p.parse_args()\n", f"{main} == 'x':\n    ", 1)
    (tmp_path / "program.py").write_text(text.split("if __name__ == 'x'")[0] + "main()\n")
    design = function_of(str(tmp_path / "program.py"))
    made = design(plus=5)
    done = made.loaded.run(np.arange(32, dtype=np.int32))
    np.testing.assert_array_equal(done.arrays["1"], np.arange(32) + 5)
    assert made.run().good
    assert [*design.__signature__.parameters][-2:] == ["plus", "device"]
    assert capsys.readouterr().out == "built\n"  # a sweep would print thousands of lines else


def test_a_loaded_design_has_a_short_repr_and_a_picture() -> None:
    assert repr(memtile.load_iron(ADD, "--size", "32", plus=2)).endswith("arguments: 0: 32xi32, 1: 32xi32)")
    design = function_of(str(ADD))()
    assert repr(design.loaded) == (
        "Loaded(Array(npu2: 8 x 6 tiles, 2 in use, 0 cycles run), 1 core, arguments: 0: 64xi32, 1: 64xi32)"
    )
    root = ElementTree.fromstring(array_svg(design))
    titles = [each.text or "" for each in root.iter() if each.tag.endswith("title")]
    (streams,) = (each.get("d", "") for each in root.iter() if each.get("stroke") == "#c80")
    assert (len(titles), streams.count("M")) == (2, 2)
    assert any(text.startswith("(0,2) compute\nkernel\n256 bytes") for text in titles)
    assert "<svg" in design.loaded._repr_html_()


def test_a_survey_of_a_folder_with_programs(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(ADD.read_text())
    (tmp_path / "wrong.py").write_text(ADD.read_text().replace("a.numpy() + 1", "a.numpy() + 2"))
    (tmp_path / "helper.py").write_text("import aie.iron\n\n\ndef helps():\n    return aie.iron\n")
    (tmp_path / "typo.py").write_text("from aie.iron import Foo\n\nFoo()\n")
    found = find(tmp_path)
    assert [case.name for case in found.cases] == ["add.py", "typo.py", "wrong.py"]
    outcomes = [DesignOutcome.of_test(attempt(survey_test(case))) for case in found.cases]
    assert [each.bucket for each in outcomes] == ["exact", "refused", "wrong"]
    assert "memtile's IRON has no aie.iron.Foo" in outcomes[1].why


def test_the_tools_of_agents_take_programs(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(96, dtype=np.int32))
    given = {"settings": {"size": 96, "plus": 4}, "inputs": {"0": str(tmp_path / "a.npy")}}
    answer = tools.run(str(ADD), **given)
    assert answer["good"]
    assert [array["first"][:3] for array in answer["outputs"].values()] == [[4, 5, 6]]
    assert tools.check(str(ADD), settings={"tile": 32})["good"]
    with pytest.raises(InputFileError, match="no use for kernels"):
        tools.run(str(ADD), kernels="kernels.py")
