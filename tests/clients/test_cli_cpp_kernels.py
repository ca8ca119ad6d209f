"""Do C++ kernels run from the command line, by name and beside a design, and are wrong options told?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from left_out import needs
from memtile.cli.main import app
from memtile.importers.design import load
from places import ROOT
from support.designs.cpp_designs import CALL, FOUND, TWO, WORDS, Kernel, through_core

pytestmark = needs("c++", FOUND)
HEAD = '#include <memtile/core.h>\nextern "C" void f(int32_t *a, int32_t *b, int32_t n) {\n'
SOURCE = f"{HEAD}  for (int i = 0; i < n; i++) b[i] = a[i] + STEP;\n}}\n"


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", Kernel.arrays()[0])
    made = Kernel(tmp_path)
    made.write(SOURCE)
    return made


def memtile(*words: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def run(*words: object) -> Any:
    arrays = "--in", "0=x.npy", "--out", f"1:int32:{WORDS}=y.npy"
    return memtile("run", "design.mlir", *arrays, *words)


@pytest.mark.parametrize("define", [("-D", "STEP=3"), ("--define", "STEP=3")])
def test_a_kernel_by_name_with_a_macro(define: tuple[str, ...]) -> None:
    done = run("--kernels", "kernel.cc", *define)
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load("y.npy"), np.arange(WORDS) + 3)
    assert "Cost unknown, counted as 0 cycles: f." in done.stdout.splitlines()[1]


def test_python_and_several_sources_and_headers(kernel: Kernel) -> None:
    kernel.write('#include "own.h"\nint32_t more(int32_t);\n' + SOURCE.replace("STEP", "more(OWN)"))
    Path("more.cc").write_text("int32_t more(int32_t value) { return value + 1; }")
    Path("headers").mkdir()
    Path("headers/own.h").write_text("#define OWN 9\n")
    Path("others.py").write_text("def g(a):\n    a[...] = 0\n")
    done = run("--kernels", "kernel.cc", "--kernels", "more.cc", "--kernels", "others.py", "-I", "headers")
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load("y.npy"), np.arange(WORDS) + 10)


def test_a_source_beside_the_design_runs_without_being_named(kernel: Kernel) -> None:
    kernel.write(SOURCE.replace("STEP", "4"))
    kernel.design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))
    done = run()
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load("y.npy"), np.arange(WORDS) + 4)
    assert "note: C++ kernels beside the design: f of kernel.cc" in done.stdout


def test_check_compiles_what_it_is_given_and_nothing_beside(kernel: Kernel) -> None:
    kernel.write("this is no C++")
    kernel.design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))
    assert memtile("check", "design.mlir").exit_code == 0
    done = memtile("check", "design.mlir", "--kernels", "kernel.cc")
    assert done.exit_code == 1
    assert "kernel.cc: the kernel does not compile. kernel.cc:1:" in done.output


def test_a_checked_run_says_what_is_wrong_and_where(kernel: Kernel) -> None:
    kernel.write(f"{HEAD}  b[n] = 0;\n}}\n")
    done = run("--kernels", "kernel.cc", "--sanitize")
    assert done.exit_code != 0
    assert "kernel.cc:3: the kernel writes 4 bytes at index 16 of argument 1 (16 x i32)" in done.output


def test_a_checked_run_looks_for_order_too(kernel: Kernel) -> None:
    kernel.write(f"{HEAD}  b[0] += b[7];\n}}\n")
    done = run("--kernels", "kernel.cc", "--sanitize", "--json")
    found = json.loads(done.stdout)["findings"]
    assert any("kernel.cc:3" in json.dumps(each) for each in found)


REFERENCE = "def f(a, b, n):\n    b[...] = a + 2\n"


def test_a_kernel_that_agrees_with_its_reference() -> None:
    Path("reference.py").write_text(REFERENCE)
    asked = "--kernels", "kernel.cc", "-D", "STEP=2", "--against-kernels", "reference.py"
    done = run(*asked)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[2] == "compared with references, no difference: f (1 call)"
    assert json.loads(run(*asked, "--json").stdout)["compared"] == [{"function": "f", "calls": 1}]


def test_a_run_that_compares_nothing_says_so_first() -> None:
    """Python functions of the same name come before those in C++."""
    Path("reference.py").write_text(f"{REFERENCE}def g(a):\n    pass\n")
    Path("own.py").write_text(f"{REFERENCE}def h(a):\n    pass\n")
    both = "--kernels", "kernel.cc", "-D", "STEP=2", "--kernels", "own.py"
    done = run(*both, "--against-kernels", "reference.py")
    assert "no reference has the name of a function; they are f, g, functions are none." in done.output
    Path("kernel.cc").write_text(f'{SOURCE}extern "C" void g(int32_t *a) {{}}\n')
    done = run(*both, "--against-kernels", "reference.py")
    assert done.exit_code == 0, done.output
    first = "nothing was compared with a reference: no core has made a call in C++ to f, g"
    assert first in done.stdout.splitlines()[1:3]
    told = json.loads(run(*both, "--against-kernels", "reference.py", "--json").stdout)["compared"]
    assert told == [{"function": "f", "calls": 0}, {"function": "g", "calls": 0}]
    assert json.loads(run(*both, "--json").stdout)["compared"] is None


def test_each_run_counts_its_own_comparisons(kernel: Kernel) -> None:
    def f(a: Any, b: Any, _n: int) -> None:
        b[...] = a + 2

    source = kernel.cpp(SOURCE, defines={"STEP": 2}, against={"f": f, "other": f})
    for _ in range(2):
        done = load(kernel.design, functions=source).run(*Kernel.arrays())
        assert done.result.compared == {"f": 1, "other": 0}
    said = "compared with references, no difference: f (1 call); no core has made a call in C++ to other"
    assert said in str(done.result).splitlines()


def test_options_of_cpp_hold_for_a_source_beside_the_design(kernel: Kernel) -> None:
    kernel.design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))
    Path("reference.py").write_text(REFERENCE)
    kernel.write('#include "own.h"\n' + SOURCE)
    Path("headers").mkdir()
    Path("headers/own.h").write_text("#define OWN 9\n")
    options = "-D", "STEP=OWN-7", "-I", "headers", "--sanitize", "--against-kernels", "reference.py"
    done = run(*options)
    assert done.exit_code == 0, done.output
    assert "compared with references, no difference: f (1 call)" in done.stdout
    done = run(*options, "-D", "STEP=b[n]")
    assert "kernel.cc:4: the kernel reads 4 bytes at index 16 of argument 1 (16 x i32)" in done.output


def test_the_first_difference_with_its_inputs(kernel: Kernel) -> None:
    Path("reference.py").write_text(REFERENCE)
    kernel.write(f"{HEAD}  for (int i = 0; i < n; i++) b[i] = a[i] + (i < 5 ? 2 : 3);\n}}\n")
    done = run("--kernels", "kernel.cc", "--against-kernels", "reference.py")
    assert done.exit_code != 0
    says = (
        "call 1 of f gives another result than its reference: argument 1: index 5 is 8, expected 7; 11 of 16"
    )
    assert says in done.output
    with np.load("f-call1.npz") as saved:
        np.testing.assert_array_equal(saved["argument0"], np.arange(WORDS))
        assert saved["argument2"] == WORDS


def test_a_reference_of_other_functions() -> None:
    Path("reference.py").write_text("def g(a):\n    pass\n")
    done = run("--kernels", "kernel.cc", "-D", "STEP=2", "--against-kernels", "reference.py")
    assert "no reference has the name of a function; they are g, functions are f." in done.output


WRONG = [
    (
        ("--sanitize", "--kernels", "f.py"),
        "--sanitize is for C++ kernels. Give a source too: --kernels kernel.cc.",
    ),
    (("-D", "A=1", "--kernels", "f.py"), "--define is for C++ kernels."),
    (("-I", "headers", "--kernels", "f.py"), "--include is for C++ kernels."),
    (
        ("--kernels", "kernel.h"),
        "kernel.h: this is no source. Give C++ sources (.cc), and folders of headers by -I.",
    ),
    (("--kernels", "."), ".: this is no source."),
    (("--kernels", "f.py", "--kernels", "g.py"), "g.py: --kernels has f.py already. Give one file of Python"),
    (
        ("--kernels", "kernel.cc", "--debug", "0,2"),
        "--debug 0,2: this names no core. Write core=COLUMN,ROW: core=0,2.",
    ),
    (("--kernels", "nowhere.cc"), "nowhere.cc: there is no such file. Give a C++ source of kernels."),
]


@pytest.mark.parametrize(("words", "says"), WRONG)
def test_wrong_options(words: tuple[str, ...], says: str) -> None:
    Path("f.py").write_text("def f(a, b, n):\n    pass\n")
    done = run(*words)
    assert done.exit_code != 0
    assert says in " ".join(done.output.split())


@pytest.mark.slow
@needs("gdb")
def test_a_debugger_gets_the_command_that_stops_in_the_kernel() -> None:
    words = [
        sys.executable,
        "-m",
        "memtile",
        "run",
        "design.mlir",
        "--pad-arguments",
        "--kernels",
        "kernel.cc",
    ]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    begun = subprocess.Popen(
        [*words, "-D", "STEP=2", "--debug", "core=0,2"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        text=True, env=variables,
    )  # fmt: skip
    assert begun.stderr is not None
    try:
        command = next(line for line in begun.stderr if "gdb -p" in line).strip()
        assert re.fullmatch(r"gdb -p \d+ -ex 'break f' -ex continue", command)
        done = subprocess.run(
            f"{command} -batch -ex bt -ex detach", shell=True, capture_output=True, text=True, timeout=120
        )
        if "Operation not permitted" in done.stderr:
            pytest.skip("this system lets no debugger attach")
        assert "kernel.cc:3" in done.stdout, done.stdout + done.stderr
        assert begun.wait(60) == 0
    finally:
        begun.kill()
        begun.communicate()
