"""Does ``memtile survey`` try every design below a folder, and say of each what became of it?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from memtile import schema
from memtile.cli.main import app
from memtile.programs import Write
from support.formats.programs import cdo_of
from support.mlir import mlir_texts
from support.mlir.mlir_builds import write_build

pytestmark = pytest.mark.usefixtures("warm_workers")

DATA = np.arange(1, 65, dtype=np.int32)
Put = Callable[..., Path]
FUNCTIONS = {
    "good": "def work(x, y):\n    y[...] = x + 1\n",
    "crash": "import os\n\ndef work(x, y):\n    os._exit(3)\n",
    "endless": "import time\n\ndef work(x, y):\n    time.sleep(3600)\n",
    "wrong": "def work(x, y):\n    raise ZeroDivisionError('oh')\n",
    "prints": "def work(x, y):\n    print('{}')\n    y[...] = x + 1\n",
}


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a design, and arrays beside it, into a folder of its own."""

    def write(name: str, text: str, **arrays: np.ndarray) -> Path:
        (folder := tmp_path / "designs" / name).mkdir(parents=True)
        (folder / "design.mlir").write_text(text)
        for array, values in arrays.items():
            np.save(folder / f"{array}.npy", values)
        return folder

    return write


def survey(folder: Path, *args: object) -> Any:
    done = CliRunner().invoke(app, ["survey", *map(str, args), str(folder)], env={"COLUMNS": "150"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def data(folder: Path, *args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(survey(folder, "--json", *args).stdout)
    assert list(Draft202012Validator(schema("survey-output")).iter_errors(found)) == []
    return found


def buckets(found: dict[str, Any]) -> dict[str, str]:
    return {each["design"].removesuffix("/design.mlir"): each["bucket"] for each in found["designs"]}


def test_each_design_is_in_its_bucket(put: Put, tmp_path: Path) -> None:
    put("exact", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("wrong", mlir_texts.PASSTHROUGH, in0=DATA, out2=np.where(DATA == 7, 8, DATA))
    put("finished", mlir_texts.PASSTHROUGH)
    put("stuck", mlir_texts.STUCK)
    put("refused", mlir_texts.UNKNOWN)
    put("called", mlir_texts.CALL)
    put("torn", "module { aie.device(npu1_1col) {")
    put("none", "module { }")
    done = survey(tmp_path / "designs")
    assert done.exit_code == 1
    assert "memtile survey" not in done.stderr
    found = data(tmp_path / "designs")
    assert buckets(found) == {
        "exact": "exact",
        "wrong": "wrong",
        "finished": "finished",
        "stuck": "stuck",
        "refused": "refused",
        "called": "refused",
        "torn": "refused",
    }
    assert found["counts"] | {"broken": 0} == found["counts"]
    assert sum(found["counts"].values()) == found["found"] == 7
    assert found["without_device"] == ["none/design.mlir"]
    assert found["missing"] == [
        {"name": "function work", "designs": 1},
        {"name": "operation aie.teleport", "designs": 1},
    ]
    why = {each["design"].partition("/")[0]: each["why"] for each in found["designs"]}
    assert why["wrong"].startswith("argument 2 is not what was expected: 1 wrong, the first is element 6 ")
    assert why["stuck"].startswith("memory(0,1) S2MM 0 'in' waits for words at word 0 of 16 of BD 0; in")
    assert why["exact"] == why["finished"] == ""
    for text in ("7 of 7 designs tried", "missing: function work (1), operation aie.teleport (1)"):
        assert text in done.stdout


def test_all_well_is_exit_code_0(put: Put, tmp_path: Path) -> None:
    put("exact", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("finished", mlir_texts.PASSTHROUGH)
    done = survey(tmp_path / "designs")
    assert (done.exit_code, "wrong" in done.stdout) == (0, False), done.stdout


def test_functions_are_from_the_file(put: Put, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(FUNCTIONS["good"])
    put("call", mlir_texts.CALL, in0=DATA, out1=DATA + 1)
    assert buckets(data(tmp_path / "designs", "--functions", tmp_path / "good.py")) == {"call": "exact"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "bucket", "says"),
    [
        ("crash", "broken", "the process ended with exit code 3"),
        ("endless", "broken", "the limit of 10 s is over"),
        ("wrong", "refused", "functions.py, line 2: ZeroDivisionError: oh; in core (0, 2)"),
        ("prints", "finished", ""),
    ],
)
def test_one_broken_design_does_not_stop_the_others(
    put: Put, tmp_path: Path, kind: str, bucket: str, says: str
) -> None:
    (file := tmp_path / "functions.py").write_text(FUNCTIONS[kind])
    put("b_broken", mlir_texts.CALL)
    put("a_before", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("c_after", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    seconds = 10 if kind == "endless" else 60
    found = data(tmp_path / "designs", "--functions", file, "--seconds", seconds)
    assert buckets(found) == {"a_before": "exact", "b_broken": bucket, "c_after": "exact"}
    why = found["designs"][1]["why"]
    assert says in why
    assert bool(says) == bool(why)


def test_a_device_is_for_those_that_leave_it_open(put: Put, tmp_path: Path) -> None:
    put("open", mlir_texts.OPEN)
    put("said", mlir_texts.PASSTHROUGH)
    facts = put("facts", mlir_texts.OPEN) / "facts.json"
    facts.write_text('{"device": "npu1_2col"}')
    broken = put("no_facts", mlir_texts.PASSTHROUGH) / "facts.json"
    broken.write_text("{")
    found = data(tmp_path / "designs")
    assert buckets(found) == {
        "open": "refused",
        "said": "finished",
        "facts": "finished",
        "no_facts": "refused",
    }
    found = data(tmp_path / "designs", "--device", "npu1")
    devices = {each["design"].partition("/")[0]: each["device"] for each in found["designs"]}
    assert devices == {"open": "npu1", "said": "npu1_1col", "facts": "npu1_2col", "no_facts": None}


def test_several_devices_of_a_text_are_several_designs(put: Put, tmp_path: Path) -> None:
    put("two", mlir_texts.TWO, in0=DATA, out2=DATA)
    found = data(tmp_path / "designs")
    assert buckets(found) == {"two/design.mlir:one": "exact", "two/design.mlir:other": "exact"}


def test_arrays_of_the_folder_above_are_those_of_a_build(put: Put, tmp_path: Path) -> None:
    above = put("design", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    (above / "build").mkdir()
    (above / "build" / "input_with_addresses.mlir").write_text(mlir_texts.PASSTHROUGH)
    (above / "files").mkdir()
    (above / "files" / "aie_cdo_init.bin").write_bytes(cdo_of([Write(0x1C0000, 5)]))
    assert buckets(data(tmp_path / "designs")) == {
        "design": "exact",
        "design/build/input_with_addresses.mlir": "exact",
    }


def test_a_build_without_text_is_tried_by_its_files(tmp_path: Path) -> None:
    (build := tmp_path / "designs" / "build").mkdir(parents=True)
    (build / "aie_cdo_init.bin").write_bytes(cdo_of([Write(0x1C0000, 5)]))
    (other := tmp_path / "designs" / "other").mkdir()
    (other / "insts.bin").write_bytes(b"no instructions")
    found = data(tmp_path / "designs", "--device", "npu1")
    assert buckets(found) == {"build": "finished", "other": "refused"}


def test_the_limit_of_cycles(put: Put, tmp_path: Path) -> None:
    put("slow", mlir_texts.PASSTHROUGH)
    (found,) = data(tmp_path / "designs", "--max-cycles", 50)["designs"]
    assert found["bucket"] == "stuck"
    assert found["why"].startswith("the limit of cycles is reached; ")


def test_nothing_to_try_is_bad_input(tmp_path: Path) -> None:
    for folder, says in ((tmp_path / "none", "there is no such folder"), (tmp_path, "there is no design")):
        done = survey(folder)
        assert done.exit_code == 2
        assert says in done.stderr.replace("\n", " ")
    assert survey(tmp_path, "--functions", tmp_path / "none.py").exit_code == 2
    assert survey(tmp_path, "--device", "npu9").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_done(put: Put, tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n\ndef work(x, y):\n"
        f"    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n    time.sleep(60)\n"
    )
    put("a", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    put("b", mlir_texts.CALL)
    put("c", mlir_texts.PASSTHROUGH)
    command = [sys.executable, "-m", "memtile", "survey", "--json", "--functions", "slow.py", "designs"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    limit = time.monotonic() + 120
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, number)  # as a terminal does: to all of them
    found = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == code
    assert (buckets(found), found["found"], found["interrupted"]) == ({"a": "exact"}, 3, True)


def test_what_must_come_out_has_several_names(put: Put, tmp_path: Path) -> None:
    """``ref``, ``expected``, ``golden`` are ``out``; without a number the last argument that is written."""
    put("a", mlir_texts.PASSTHROUGH, in0=DATA, ref2=DATA)
    put("b", mlir_texts.PASSTHROUGH, **{"in": DATA, "golden": DATA})
    put("c", mlir_texts.PASSTHROUGH, in_0=DATA, expected=DATA + 1)
    put("d", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA, ref2=DATA + 1)
    put("e", mlir_texts.PASSTHROUGH.replace("dma_memcpy_nd(%c", "dma_memcpy_nd(%a"), in0=DATA, out=DATA)
    found = data(tmp_path / "designs")
    assert buckets(found) == {"a": "exact", "b": "exact", "c": "wrong", "d": "exact", "e": "exact"}
    assert found["designs"][2]["why"].startswith("argument 2 ")


def test_facts_name_arrays_functions_and_numbers(put: Put, tmp_path: Path) -> None:
    folder = put("called", mlir_texts.CALL)
    np.save(folder / "a.npy", DATA)
    np.save(folder / "b.npy", DATA + 1)
    (folder / "work.py").write_text(FUNCTIONS["good"])
    facts = folder / "facts.json"
    facts.write_text('{"in": {"0": "a.npy"}, "out": {"1": "b.npy"}, "functions": "work.py", "why": [1]}')
    assert buckets(data(tmp_path / "designs")) == {"called": "exact"}
    for text, says in (
        ('{"in": []}', "in is []; it must be files by number of the argument."),
        ('{"out": {"x": "b.npy"}}', "'x' is no number of an argument. Count them from 0."),
        ('{"in": {"0": 1}}', "argument 0 is 1; it must be a file's name."),
        ('{"scalars": {"0": "1"}}', '0 is "1"; it must be a whole number.'),
        ("[]", "it is no JSON object. Write it as {...}."),
        ('{"in": {"0": "none.npy"}}', "the file cannot be read"),
    ):
        facts.write_text(text)
        (design,) = data(tmp_path / "designs")["designs"]
        assert design["bucket"] == "refused", text
        assert says in design["why"] or "function work" in design["missing"], design


def test_numbers_of_a_sequence_are_arrays_of_one_or_facts(put: Put, tmp_path: Path) -> None:
    text = mlir_texts.PASSTHROUGH.replace("%unused: memref<64xi32>", "%n: i32").replace(
        "[0, 0, 0, 0][1, 1, 1, 64]", "[0, 0, 0, 0][1, 1, 1, %n]"
    )
    half = np.where(np.arange(64) < 32, DATA, 0).astype(np.int32)
    put("array", text, in0=DATA, in1=np.array(32, np.int32), out2=half)
    facts = put("facts", text, in0=DATA, out2=half)
    (facts / "facts.json").write_text('{"scalars": {"1": 32}}')
    assert buckets(data(tmp_path / "designs")) == {"array": "exact", "facts": "exact"}


def test_a_test_beside_a_design_says_its_device(put: Put, tmp_path: Path) -> None:
    folder = put("lit", mlir_texts.OPEN, in0=DATA, out2=DATA)
    (folder / "run.lit").write_text("// RUN: sed 's/NPUDEVICE/npu1_1col/g' -i aie_arch.mlir\n")
    (made := tmp_path / "designs" / "made").mkdir()
    (made / "Makefile").write_text("all:\n\tpython3 design.py > aie.mlir\n")
    (made / "design.py").write_text("")
    (tmp_path / "designs" / "Makefile").write_text("all:\n")
    found = data(tmp_path / "designs")
    assert (found["designs"][0]["device"], found["designs"][0]["bucket"]) == ("npu1_1col", "exact")
    assert found["without_text"] == ["made"]
    assert data(tmp_path / "designs", "--device", "npu1")["designs"][0]["device"] == "npu1"
    text = survey(tmp_path / "designs").stdout
    assert "folders without the text of their design, not tried: made" in text


def test_cores_of_a_build_in_a_folder_of_its_own_have_the_text_above(tmp_path: Path) -> None:
    build = write_build(tmp_path / "designs" / "only", mlir_texts.CALL, named="")
    np.save(build / "in0.npy", DATA)
    np.save(build / "out1.npy", DATA + 1)
    (project := build / "aie.mlir.prj").mkdir()
    (project / "input_physical.mlir").write_text(mlir_texts.CALL)
    (functions := tmp_path / "functions.py").write_text(FUNCTIONS["good"])
    found = data(tmp_path / "designs", "--functions", functions)
    assert {each["design"]: each["bucket"] for each in found["designs"]} == {
        "only": "exact",
        "only/aie.mlir.prj/input_physical.mlir": "exact",
    }


def test_a_build_beside_its_text_is_a_row_of_its_own(put: Put, tmp_path: Path) -> None:
    """It takes the cycles of its text, and what lies in its project is not tried once more."""
    folder = put("one", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA)
    write_build(folder, mlir_texts.PASSTHROUGH, named="")
    write_build(folder / "design.mlir.prj", mlir_texts.PASSTHROUGH, named="")
    write_build(put("two", mlir_texts.PASSTHROUGH, in0=DATA, out2=DATA) / "build", mlir_texts.PASSTHROUGH)
    found = data(tmp_path / "designs")
    assert {each["design"]: each["bucket"] for each in found["designs"]} == {
        "one": "exact",
        "one/design.mlir": "exact",
        "two/build": "exact",
        "two/build/aie.mlir": "exact",
        "two/design.mlir": "exact",
    }
    assert len({each["cycles"] for each in found["designs"]}) == 1


def test_half_a_build_beside_a_text_is_not_tried(put: Put, tmp_path: Path) -> None:
    """Instructions without a configuration, a configuration without them, and files of two builds."""
    names = ("final.xclbin", "insts.bin")
    for name in names:
        folder = put(f"without {name}", mlir_texts.PASSTHROUGH)
        (write_build(folder, mlir_texts.PASSTHROUGH, named="") / name).unlink()
    both = write_build(put("two", mlir_texts.PASSTHROUGH), mlir_texts.PASSTHROUGH, named="")
    other = write_build(tmp_path / "other", mlir_texts.PASSTHROUGH.replace("64]", "32]"), named="")
    (other / "insts.bin").rename(both / "other_insts.bin")
    assert [each["design"] for each in data(tmp_path / "designs")["designs"]] == [
        "two/design.mlir",
        *(f"without {name}/design.mlir" for name in names),
    ]


def test_a_device_that_is_not_modelled_is_not_taken_for_another(put: Put, tmp_path: Path) -> None:
    put("first", mlir_texts.PASSTHROUGH.replace("npu1_1col", "xcvc1902"))
    (found,) = data(tmp_path / "designs", "--device", "npu1")["designs"]
    assert (found["bucket"], found["device"]) == ("refused", None)
    assert "xcvc1902" in found["why"]


def test_devices_without_names_go_by_their_places(put: Put, tmp_path: Path) -> None:
    old = "// CHECK: aie.device(npu1)\n"
    put("two", f"{old}{mlir_texts.PASSTHROUGH}\n// -----\n{mlir_texts.PASSTHROUGH}", in0=DATA, out2=DATA)
    found = data(tmp_path / "designs")
    assert buckets(found) == {"two/design.mlir:#1": "exact", "two/design.mlir:#2": "exact"}


def test_an_argument_that_only_the_steps_name_is_no_array_to_fill(put: Put, tmp_path: Path) -> None:
    """The buffer of a trace, which lowered text names behind the arguments of its sequence."""
    patch = "aiex.npu.address_patch {addr = 119268 : ui32, arg_idx = 7 : i32, arg_plus = 0 : i32}"
    push = "aiex.npu.write32 {address = 119308 : ui32, column = 0 : i32, row = 0 : i32, value = 15 : ui32}"
    write = (
        "aiex.npu.writebd {bd_id = 15 : i32, buffer_length = 16 : i32, buffer_offset = 0 : i32, "
        "column = 0 : i32, row = 0 : i32, valid_bd = 1 : i32}"
    )
    lines = mlir_texts.PASSTHROUGH.replace(
        "aiex.npu.dma_wait", f"{write}\n{patch}\n{push}\naiex.npu.dma_wait", 1
    )
    assert lines != mlir_texts.PASSTHROUGH
    put("traced", lines, in0=DATA, out2=DATA)
    (found,) = data(tmp_path / "designs")["designs"]
    assert found["bucket"] == "exact", found
