"""Does ``memtile run`` run programs whose cores have kernels, and does it help the tired person?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.programs import Write, address_of
from support.designs.core_program import WORDS, write_files
from support.formats.programs import cdo_of

DATA = np.arange(WORDS, dtype=np.int32)
UNSIMULATED = (
    "core (0, 2) was enabled; its program is not simulated: "
    "give it a kernel (--kernels FILE.py or run_kernel)"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    np.save(tmp_path / "in.npy", DATA)
    return write_files(tmp_path) | {"in": tmp_path / "in.npy", "out": tmp_path / "out.npy"}


def run(*args: object) -> Any:
    done = CliRunner().invoke(app, ["run", *map(str, args)], env={"COLUMNS": "150"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def arrays(files: dict[str, Path]) -> list[str]:
    return ["--in", f"0={files['in']}", "--out", f"2={files['out']}"]


def test_a_program_with_a_kernel_gives_its_result(files: dict[str, Path]) -> None:
    done = run(files["init"], files["enable"], files["insts"], "--kernels", files["kernels"], *arrays(files))
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)
    assert "idle: core (0, 2), kernel 'core_0_2': waits for lock 1 (needs 1, has 0)" in done.stdout
    assert "was enabled" not in done.stdout
    assert "note: " not in done.stdout


def test_the_kernels_of_a_dictionary(files: dict[str, Path]) -> None:
    text = files["kernels"].read_text().replace("core_0_2", "add_one")
    files["kernels"].write_text(f"{text}\nKERNELS = {{(0, 2): add_one}}\n")
    done = run(files["init"], files["enable"], files["insts"], "--kernels", files["kernels"], *arrays(files))
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)


def test_without_a_kernel_that_is_said_first(files: dict[str, Path]) -> None:
    done = run(files["init"], files["enable"], files["insts"], *arrays(files))
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].startswith(UNSIMULATED)
    data = json.loads(run("--json", files["init"], files["enable"], files["insts"], *arrays(files)).stdout)
    assert data["unsimulated"] == [UNSIMULATED]


@pytest.mark.parametrize("order", [("insts", "enable", "init"), ("enable", "init", "insts")])
def test_files_of_a_build_are_put_into_order(files: dict[str, Path], order: tuple[str, ...]) -> None:
    given = [files[name] for name in order]
    done = run(*given, "--kernels", files["kernels"], *arrays(files))
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)
    names = f"{files['init']} (init), {files['enable']} (enable), {files['insts']} (instructions)"
    assert f"note: the files are done in the order of a build: {names}; --keep-order" in done.stdout
    data = json.loads(run("--json", *given, "--kernels", files["kernels"], *arrays(files)).stdout)
    assert names in data["notes"][0]
    wrong = run("--keep-order", *given, "--kernels", files["kernels"], *arrays(files))
    assert "note: the files are done in the order" not in wrong.output
    assert wrong.exit_code == (1 if order[0] == "insts" else 0)


def test_program_memory_comes_first_even_where_it_resets_what_is_set_up(files: dict[str, Path]) -> None:
    elfs = files["init"].with_name("aie_cdo_elfs.bin")
    reset = [Write(address_of(0, 2, 0x1DE00), 2), Write(address_of(0, 2, 0x1DE00), 0)]
    elfs.write_bytes(cdo_of([*reset, Write(address_of(0, 2, 0x20000), 7)]))
    given = (files["init"], elfs, files["insts"], files["enable"])
    done = run(*given, "--kernels", files["kernels"], *arrays(files))
    assert done.exit_code == 0, done.output
    assert f"build: {elfs} (elfs), {files['init']} (init)" in done.stdout
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)


def test_files_of_which_nothing_is_known_stay_where_they_are(files: dict[str, Path], tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text("0x02100000 5\n")
    done = run(files["enable"], dump, files["init"], "--kernels", files["kernels"])
    assert "note: the files" not in done.output


# tired ------------------------------------------------------------------------------------------------------


def test_a_kernel_for_a_core_that_is_never_enabled(files: dict[str, Path]) -> None:
    write_files(files["init"].parent, "core_0_3")
    assert (
        "kernel of core (0, 3): the program never enables this core; it enables (0, 2) "
        "(aie-rt: Core_Control.Enable starts a core). Call the kernel core_0_2, if it is meant for that core."
    ) in told(files)


def told(files: dict[str, Path], *names: str) -> str:
    """What the command says in the end about files of which it does nothing."""
    names = names or ("init", "enable", "insts")
    done = run(*[files[name] for name in names], "--kernels", files["kernels"], *arrays(files))
    assert done.exit_code == 2, done.stdout
    assert done.stdout == ""
    return " ".join(done.stderr.split())


def test_the_file_that_enables_is_missing(files: dict[str, Path]) -> None:
    assert (
        "the program never enables this core; it enables none (aie-rt: Core_Control.Enable starts a core). "
        "Give the file that enables the cores too, such as aie_cdo_enable.bin."
    ) in told(files, "init", "insts")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def add(core):\n    yield 1\n", "there is no kernel in the file; its functions are add"),
        ("x = 5\n", "there is no kernel in the file; its functions are none"),
        ("core_0_2 = 5\n", "kernel of core (0, 2) is 5; it must be a generator function"),
        ("KERNELS = 5\n", "KERNELS is 5; it must be a dictionary"),
        (
            "KERNELS = {'core': print}\n",
            "KERNELS is key 'core'; it must be a column and a row such as (0, 2)",
        ),
        ("def core_0_2(core):\n    pass\nKERNELS = {(0, 2): core_0_2}", "there twice, as core_0_2 and in"),
        (
            "def core_0_1(core):\n    yield 1\n",
            "(0, 1) is a memory tile; compute tiles are in columns 0..0, rows",
        ),
        (
            "def core_5_2(core):\n    yield 1\n",
            "(5, 2) is no tile; compute tiles are in columns 0..0, rows 2..5",
        ),
        ("def core_0_2(core)\n", "line 1: this is not Python: expected ':'"),
        ("def core_0_2(core):\n    return 5\n", "the kernel returned 5; it must be a generator function"),
        ("def core_0_2(core):\n    yield core.cycles(1)\n    1 / 0\n", "line 3: ZeroDivisionError"),
        (
            "def core_0_2(core):\n    core.buffer(0, 'x')\n    yield\n",
            "type <class 'numpy.int32'>; it must be",
        ),
    ],
)
def test_kernel_files_that_are_none(files: dict[str, Path], text: str, message: str) -> None:
    files["kernels"].write_text(text)
    assert message in told(files)


def test_a_kernel_file_that_is_not_there(files: dict[str, Path], tmp_path: Path) -> None:
    files["kernels"] = tmp_path / "kernel.py"
    assert "kernel.py: there is no such file. Give a Python file with kernels." in told(files)


def test_kernels_are_for_programs(files: dict[str, Path], tmp_path: Path) -> None:
    design = tmp_path / "design.py"
    design.write_text("def design():\n    pass\n")
    done = run(design, "--kernels", files["kernels"])
    assert done.exit_code == 2
    assert "--kernels" in done.output


# arguments --------------------------------------------------------------------------------------------------


def test_an_argument_that_the_program_does_not_use_is_no_error(files: dict[str, Path]) -> None:
    given = (files["init"], files["enable"], files["insts"], "--kernels", files["kernels"])
    done = run(*given, *arrays(files), "--in", f"1={files['in']}")
    assert done.exit_code == 0, done.output
    assert "note: argument 1: the program does not use it" in done.stdout


def test_a_short_argument_is_filled_up_where_that_is_asked_for(files: dict[str, Path]) -> None:
    np.save(files["in"], DATA[:5])
    given = (files["init"], files["enable"], files["insts"], "--kernels", files["kernels"])
    assert "Give --pad-arguments (run_program(pad_arguments=True)) to fill it up with zeros." in told(files)
    done = run(*given, *arrays(files), "--pad-arguments")
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(files["out"]), np.pad(DATA[:5], (0, WORDS - 5)) + 1)
    assert "note: array 0: 20 bytes given, 256 touched; filled up with zeros" in done.stdout
    data = json.loads(run("--json", *given, *arrays(files), "--pad-arguments").stdout)
    assert data["notes"] == ["array 0: 20 bytes given, 256 touched; filled up with zeros"]
