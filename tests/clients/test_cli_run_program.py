"""Does ``memtile run`` run files of register writes with arrays from files, and answer bad ones in a line?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.io.program.program_formats import read_program
from memtile.io.program.register_dump import dump_json, dump_text
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.operations import MaskPoll, words_written
from places import TESTS
from support.formats.programs import Program, cdo_of

FOLDER = Path(__file__).parents[1] / "oracle" / "txn"
TRANSPOSE = FOLDER / "scn_transpose_8x16.bin"
MATRIX = np.arange(128, dtype=np.int32).reshape(8, 16)


@pytest.fixture
def given(tmp_path: Path) -> str:
    np.save(tmp_path / "in.npy", MATRIX)
    return str(tmp_path / "in.npy")


def run(*args: object) -> Any:
    done = CliRunner().invoke(app, ["run", *map(str, args)], env={"COLUMNS": "150"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def test_arrays_go_in_and_come_out(given: str, tmp_path: Path) -> None:
    out = tmp_path / "made" / "out"
    out.parent.mkdir()
    done = run(TRANSPOSE, "--all", "--in", f"x={given}", "--out", f"y:16x8={out}")
    assert (done.exit_code, done.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(out), MATRIX.T)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("status: finished in ")
    assert lines[-3:] == [
        f"saved y: {out}, int32 16 x 8",
        "buffer x: 0x100000000, 512 bytes, read by interface(2,0) MM2S 0, BD 0; given",
        "buffer y: 0x200000000, 512 bytes, written by interface(2,0) S2MM 0, BD 1; zeros at first",
    ]


def test_a_circuit_that_the_switch_does_not_have_is_told(tmp_path: Path) -> None:
    """The master of S2MM 2 of a memory tile names MM2S 1."""
    made = Program()
    made.circuit(1, 1, "DMA1", "DMA2")
    path = tmp_path / "registers.txt"
    path.write_text(dump_text(made.operations), encoding="utf-8")
    done = run(path)
    assert done.exit_code == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("error:"))
    assert line.startswith(
        "error: master port DMA2 of tile (1, 1): its register names slave DMA1; the switch has"
    )


def test_numbers_count_buffers_by_address(given: str, tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    assert run(TRANSPOSE, "--in", f"0={given}", "--out", f"1:uint8={out}").exit_code == 0
    np.testing.assert_array_equal(np.load(out).view(np.int32), MATRIX.T.ravel())


def test_numbers_keep_their_value_whatever_the_byte_order_of_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", MATRIX.astype(">i4"))
    np.save(tmp_path / "native.npy", MATRIX)
    for name in ("in", "native"):
        done = run(TRANSPOSE, "--in", f"x={tmp_path}/{name}.npy", "--out", f"y:>i4={tmp_path}/out.npy")
        assert done.exit_code == 0
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), MATRIX.T.ravel())


def test_what_is_not_saved_is_said(given: str) -> None:
    done = run(TRANSPOSE, "--in", f"0x100000000={given}")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-2] == "not saved: 0x200000000, give --out 0x200000000=FILE.npy"


def test_json_has_the_same_facts(given: str, tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    done = run(TRANSPOSE, "--json", "--in", f"x={given}", "--out", f"y={out}")
    data = json.loads(done.stdout)
    assert (data["status"], data["stopped"], data["device"]) == ("finished", None, "npu1")
    assert data["buffers"][0] == {
        "name": "x",
        "argument": None,
        "address": "0x100000000",
        "bytes": 512,
        "touched": 512,
        "given": True,
        "read_by": ["interface(2,0) MM2S 0, BD 0"],
        "written_by": [],
    }
    assert data["saved"] == [{"name": "y", "file": str(out), "dtype": "int32", "shape": [128]}]
    assert all(sum(channel["cycles"].values()) == data["cycles"] for channel in data["channels"])


def test_every_format_runs(given: str, tmp_path: Path) -> None:
    """As version 1.0, as words in hexadecimal, and cut into dumps or CDO files: one program of many files."""
    transaction = read_transaction(TRANSPOSE.read_bytes())
    newer = transaction_bytes(Transaction(Header((1, 0), 3, 6, 4, 1), transaction.operations))
    (tmp_path / "new.bin").write_bytes(newer)
    words = "".join(f"{int.from_bytes(newer[n : n + 4], 'little'):08x}\n" for n in range(0, len(newer), 4))
    (tmp_path / "new.txt").write_text(words)
    poll = next(n for n, op in enumerate(transaction.operations) if isinstance(op, MaskPoll))
    before = read_program(dump_of(transaction.operations[:poll]).encode(), "f").operations
    (tmp_path / "before.txt").write_text(dump_text(before))
    (tmp_path / "after.json").write_text(dump_json(transaction.operations[poll + 1 :]))
    (tmp_path / "poll.bin").write_bytes(
        transaction_bytes(Transaction(transaction.header, transaction.operations[poll : poll + 1]))
    )
    base = 0x200_0000_0000
    for part, name in ((transaction.operations[:poll], "one"), (transaction.operations[poll + 1 :], "two")):
        (tmp_path / f"{name}.cdo").write_bytes(cdo_of(part, base))
    programs = (
        ["new.bin"],
        ["new.txt"],
        ["before.txt", "poll.bin", "after.json"],
        ["--base", hex(base), "one.cdo", "poll.bin", "two.cdo"],
    )
    for files in programs:
        out = tmp_path / "out.npy"
        paths = [tmp_path / file if "." in file else file for file in files]
        done = run(*paths, "--in", f"x={given}", "--out", f"y:16x8={out}")
        assert done.exit_code == 0, done.output
        np.testing.assert_array_equal(np.load(out), MATRIX.T)
        out.unlink()


def dump_of(operations: Any) -> str:
    """Masked writes as plain ones: the other bits of these registers are 0."""
    words = (word for operation in operations for word in words_written(operation))
    return "".join(f"{word.address:#x} {word.value & word.mask:#x}\n" for word in words)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("mt_*.bin")) + sorted(FOLDER.glob("ct_*.bin")))
def test_files_that_only_configure_end_at_once(path: Path) -> None:
    done = run(path, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["status"] == "finished"


def test_a_program_that_gets_stuck_is_exit_code_one_and_says_where(given: str, tmp_path: Path) -> None:
    transaction = read_transaction(TRANSPOSE.read_bytes())
    poll = next(n for n, op in enumerate(transaction.operations) if isinstance(op, MaskPoll))
    lacking = (*transaction.operations[: poll - 1], *transaction.operations[poll:])  # nobody sends
    file = tmp_path / "lacking.bin"
    file.write_bytes(transaction_bytes(Transaction(transaction.header, lacking)))
    done = run(file, "--all", "--in", f"0x100000000={given}")
    assert done.exit_code == 1
    assert "status: stuck" in done.stdout
    assert "waiting: memory(2,1) S2MM 0, BD 0, word 0 of 128: stream starved" in done.stdout
    (stopped,) = (line for line in done.stdout.splitlines() if line.startswith("stopped: "))
    assert stopped.startswith(
        f"stopped: {file}, byte 0x0320: the mask poll waits for 0x0 in the bits 0x78003c of the "
        "word at 0x041a0660"
    )
    limited = run(TRANSPOSE, "--in", f"x={given}", "--max-cycles", "50", "--json")
    assert limited.exit_code == 1
    assert json.loads(limited.stdout)["status"] == "limit"


def test_bad_input_is_exit_code_two_and_a_line(given: str, tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("hello")
    np.save(tmp_path / "letters.npy", np.array(["a"] * 128))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    cut = tmp_path / "cut.bin"
    cut.write_bytes(TRANSPOSE.read_bytes()[:500])
    x, folder = ["--in", f"x={given}"], str(tmp_path)
    cases: list[tuple[list[object], str]] = [
        (
            [TRANSPOSE],
            (
                "error: memtile run: the program needs an array for buffer 0x100000000, 512 bytes, "
                "read by interface"
            ),
        ),
        ([TRANSPOSE, "--in", "x"], "error: memtile run: --in is 'x'; it must be NAME=FILE.npy (form of"),
        (
            [TRANSPOSE, "--in", "x=none.npy"],
            "error: none.npy: the file cannot be read: No such file or directory.",
        ),
        ([TRANSPOSE, "--in", f"x={folder}/text.npy"], "text.npy: the file is not a NumPy file of numbers: "),
        (
            [TRANSPOSE, "--in", f"x={folder}/objects.npy"],
            "objects.npy: the file is not a NumPy file of ",
        ),
        ([TRANSPOSE, "--in", f"x={folder}/letters.npy"], "not a NumPy file of numbers: its type is <U1"),
        ([TRANSPOSE, *x, "--out", f"y:{'9' * 5000}=y.npy"], "error: array y: type is '99999"),
        ([TRANSPOSE, *x, "--out", "y:,=y.npy"], "error: array y: type is ','; it must be one such as int8"),
        (
            [TRANSPOSE, *x, "--out", "y=none/y.npy"],
            "none/y.npy: the file cannot be written: there is no such folder.",
        ),
        ([TRANSPOSE, "--out", "y:object=y.npy"], "error: array y: type is 'object'; it must be one such"),
        (
            [TRANSPOSE, "--out", "y:a:int8:4=y.npy"],
            "error: array y: --out is 'y:a:int8:4=y.npy'; it must be NAME[",
        ),
        ([cut, *x], "cut.bin, byte 0x000c: the header says a total size of 880 bytes, the file has 500"),
        ([tmp_path / "none.bin"], "none.bin: the file cannot be read: No such file or directory."),
        ([TRANSPOSE, "--device", "npu9"], "error: device table: device is 'npu9'"),
        ([TRANSPOSE, "--base", "x"], "'x' is not a number"),
        (
            ["a.py", TRANSPOSE],
            "a design is run alone, without --in, --out, --device, --format, --base, --kernel, ",
        ),
        (["a.py", "--in", "x=y"], "a design is run alone"),
        ([], "Missing argument"),
    ]
    for args, message in cases:
        done = run(*args)
        assert done.exit_code == 2, args
        assert done.stdout == ""
        assert message in done.stderr.replace("\n", " "), (args, done.stderr)
    assert not (tmp_path / "y.npy").exists()


def test_what_must_come_out_is_compared_in_every_form(given: str, tmp_path: Path) -> None:
    """The verdict, the exit code, JSON, SARIF and JUnit say the same of an array that is another one."""
    right, wrong = MATRIX.T.copy(), MATRIX.T.copy()
    wrong[3, 2] += 1
    np.save(tmp_path / "right.npy", right)
    np.save(tmp_path / "wrong.npy", wrong)
    fine = run(TRANSPOSE, "--in", f"x={given}", "--expect", f"y={tmp_path}/right.npy")
    assert (fine.exit_code, "bit-exact: yes" in fine.stdout) == (0, True)
    asked = (TRANSPOSE, "--in", f"x={given}", "--expect", f"y={tmp_path}/wrong.npy")
    says = "y is not what was expected: 1 wrong, the first is element 26 at [3, 2] (35 came, 36 was expected)"
    told = run(*asked)
    assert told.exit_code == 1
    assert f"finding: MT0405 error: {says}" in told.stdout
    as_json = json.loads(run(*asked, "--json").stdout)
    assert (as_json["bit_exact"], as_json["findings"][0]["code"]) == (False, "MT0405")
    (found,) = json.loads(run(*asked, "--sarif").stdout)["runs"][0]["results"]
    assert (found["ruleId"], found["message"]["text"].startswith(says)) == ("MT0405", True)
    (failure,) = ElementTree.fromstring(run(*asked, "--junit").stdout).iter("failure")
    assert (failure.get("type"), str(failure.get("message")).startswith(says)) == ("MT0405", True)
    assert run(*asked, "--json", "--junit").exit_code == 2


def test_a_run_that_meets_its_limit_is_a_failure_without_a_finding(given: str) -> None:
    asked = (TRANSPOSE, "--in", f"x={given}", "--max-cycles", "40")
    (found,) = json.loads(run(*asked, "--sarif").stdout)["runs"][0]["results"]
    assert found["message"]["text"].startswith(f"{TRANSPOSE}: limit, ")
    (failure,) = ElementTree.fromstring(run(*asked, "--junit").stdout).iter("failure")
    assert failure.get("type") == "no finding"


@pytest.mark.parametrize("name", ["release-missing-hangs", "wait-before-start-hangs"])
def test_a_tried_repair_is_a_fix_that_an_editor_applies(name: str, tmp_path: Path) -> None:
    """By lines and columns alone, as a viewer of SARIF does; then the design finishes."""
    design = tmp_path / f"{name}.mlir"
    design.write_text((TESTS / "corpus" / design.name).read_text("utf-8"), encoding="utf-8")
    results = json.loads(run(str(design), "--pad-arguments", "--sarif").stdout)["runs"][0]["results"]
    (fix,) = next(each["fixes"] for each in results if "fixes" in each)
    (changed,) = fix["artifactChanges"]
    assert changed["artifactLocation"]["uri"] == str(design)
    lines = design.read_text("utf-8").splitlines(keepends=True)
    for each in reversed(changed["replacements"]):
        at = each["deletedRegion"]
        first, last = at["startLine"] - 1, at["endLine"] - 1
        before, behind = lines[first][: at["startColumn"] - 1], lines[last][at["endColumn"] - 1 :]
        text = before + each.get("insertedContent", {"text": ""})["text"] + behind
        lines[first : last + 1] = text.splitlines(keepends=True)
    assert run(str(design), "--pad-arguments").exit_code == 1
    design.write_text("".join(lines), encoding="utf-8")
    assert run(str(design), "--pad-arguments").exit_code == 0
