"""Is a file that is no program named for what it is, in one sentence with the next step?"""

from __future__ import annotations

from pathlib import Path

import pytest

from memtile import InputFileError
from memtile.programs import read_program

ALLOWED = "a transaction, a CDO file, a container of them, control code or a register dump"
ROOT = Path(__file__).parents[2]


def refused(data: bytes, name: str = "f") -> str:
    with pytest.raises(InputFileError) as caught:
        read_program(data, name)
    assert len(caught.value.problems) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "what", "step"),
    [
        (b"\x93NUMPY\1\0v\0{", "a NumPy array", "Give arrays with --in NAME=FILE.npy."),
        (b"PK\3\4", "a ZIP archive", "Give the files in it."),
        (b"module {\n  aie.device(npu1) {\n", "MLIR", "Give it a name that ends in .mlir"),
        (b"//===- aie.mlir -===//\n//\n\nmodule @m {\n", "MLIR", "designs run as they are"),
        (b'"builtin.module"() ({\n', "MLIR", "the folder of its build"),
    ],
)
def test_what_other_tools_write_is_named(data: bytes, what: str, step: str) -> None:
    text = refused(data)
    assert text.startswith(f"f: the file is {what}; it must be {ALLOWED}")
    assert step in text


def test_any_text_is_one_problem_and_not_one_for_each_line() -> None:
    text = refused((ROOT / "README.md").read_bytes(), "README.md")
    assert text.startswith(
        "README.md: the file is text, but not of registers; it must be a transaction, a CDO file"
    )
    assert text.endswith("Say --format dump to see each line that is none.")


def test_a_dump_with_wrong_lines_names_them() -> None:
    with pytest.raises(InputFileError) as caught:
        read_program(b"0x021C0000 2\nx y\nz\n", "dump.txt")
    assert [problem.where for problem in caught.value.problems] == ["dump.txt, line 2", "dump.txt, line 3"]
    assert refused(b"0x021C0000 two\n").startswith("f, line 1: '0x021C0000 two' is not a register")
