"""Are the instructions of 2023 (mlir-aie until June 2024, Riallto's .seq) done as those that came after?"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.errors import InputFileError
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.io.program.containers.build_folder import build_files
from memtile.io.program.first_instructions import read_first_instructions
from memtile.io.program.program_formats import read_program
from memtile.runs.operations import BlockWrite, Other, Write, locate
from support.mlir.mlir_builds import write_build
from support.mlir.mlir_designs import NUMBERS
from support.mlir.mlir_texts import PASSTHROUGH

PROLOG = [0x11, 0x01000405, 0x01000100, 0x0B590100, 0x55FF, 1, 0x10, *[0x41] * 9, 0x55FF]
"""Of 17 words; what stands between the marks is a name."""


def stream(*operations: list[int]) -> bytes:
    words = [word for each in (PROLOG, *operations) for word in each]
    return struct.pack(f"<{len(words)}I", *words)


def as_text(data: bytes) -> bytes:
    return "".join(f"{word:08X}\n" for (word,) in struct.iter_unpack("<I", data)).encode()


def bd(number: int, argument: int, words: int, offset: int = 0, columns: int = 1) -> list[int]:
    return [
        6 << 24 | columns << 8 | argument << 4 | number,
        0,
        words,
        offset,
        0,
        0,
        0x80000000,
        0,
        0,
        1 << 25,
    ]


def write(place: tuple[int, int], offset: int, value: int) -> list[int]:
    return [2 << 24 | place[0] << 16 | place[1] << 8, offset, value]


COPY = stream(
    bd(0, 0, 64),
    write((0, 0), 0x1D214, 0),
    bd(1, 2, 64),
    write((0, 0), 0x1D200, 0xF00),  # the id of the token, for which our build has a way
    write((0, 0), 0x1D204, 0x80000001),
    [3 << 24, 1 << 16 | 1 << 8],
)


def test_each_operation_becomes_register_accesses() -> None:
    found = read_first_instructions(
        stream(
            bd(3, 2, 16, 256), write((1, 2), 0x2C00, 7), [3 << 24 | 2 << 16 | 1, 1 << 24 | 4 << 16 | 1 << 8]
        ),
        "a.seq",
    )
    block, patch, store, wait = found
    assert isinstance(block, BlockWrite)
    assert locate(block.address) == (0, 0, 0x1D060)
    assert block.words == (16, 256, 0, 0, 0x80000000, 0, 0, 1 << 25)
    assert isinstance(patch, Other)
    assert dict(patch.details) == {"address": 0x1D064, "argument": 2, "offset": 256}
    assert isinstance(store, Write)
    assert (locate(store.address), store.value) == ((1, 2, 0x2C00), 7)
    assert isinstance(wait, Other)
    assert dict(wait.details) == {
        "column": 2,
        "row": 0,
        "direction": 1,
        "channel": 1,
        "columns": 4,
        "rows": 1,
    }
    assert all(each.firmware for each in found)


@pytest.mark.parametrize("form", ["binary", "text"])
@pytest.mark.parametrize("name", ["design.seq", "insts.txt"])
def test_a_build_of_2023_moves_its_arrays(tmp_path: Path, form: str, name: str) -> None:
    folder = write_build(tmp_path / "build", PASSTHROUGH)
    (instructions,) = [file for file in build_files(folder).files if file.suffix == ".bin"]
    instructions.unlink()
    (folder / name).write_bytes(COPY if form == "binary" else as_text(COPY))
    np.save(tmp_path / "in.npy", NUMBERS)
    given = ["--in", f"0={tmp_path / 'in.npy'}", "--out", f"2:int32:64={tmp_path / 'out.npy'}"]
    done = CliRunner().invoke(app, ["run", str(folder), *given])
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), NUMBERS)


def test_its_accesses_are_those_of_a_transaction_of_the_same_design() -> None:
    transaction = read_program(load(Text("d.mlir", PASSTHROUGH)).instructions(), "insts.bin").operations
    first = read_program(COPY, "a.seq").operations
    for kind in (BlockWrite, Write):
        one, other = (
            [_said(each) for each in found if isinstance(each, kind)] for found in (first, transaction)
        )
        assert [each for each in one if each[0] != 0x1D200] == other
    one, other = (
        [set(each.details) for each in found if isinstance(each, Other)] for found in (first, transaction)
    )
    assert one == other


def _said(each: BlockWrite | Write) -> tuple[int, object]:
    return each.address, each.words if isinstance(each, BlockWrite) else each.value


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (stream([9 << 24]), "byte 0x0044: opcode is 9; it must be one of 2, 3, 6"),
        (stream([2 << 24, 0x1D204]), "the file ends within the operation, of which 8 of 12 bytes are there"),
        (stream(bd(0, 0, 4, columns=2)), "a BD is for 2 columns"),
    ],
)
def test_what_mlir_aie_never_wrote_is_refused_with_its_byte(data: bytes, says: str) -> None:
    with pytest.raises(InputFileError) as caught:
        read_program(data, "a.seq")
    assert says in str(caught.value)


def test_a_container_alone_says_that_it_has_no_instructions(tmp_path: Path) -> None:
    folder = write_build(tmp_path / "build", PASSTHROUGH)
    files = build_files(folder).files
    done = CliRunner().invoke(app, ["run", str(files[0])], env={"COLUMNS": "250"})
    assert f"warning: {files[0]} has no instructions: no task of an interface tile begins" in done.output
    whole = CliRunner().invoke(app, ["run", str(folder), "--pad-arguments"], env={"COLUMNS": "250"})
    assert "has no instructions" not in whole.output


def test_two_builds_in_a_folder_are_asked_about_with_the_files_of_one(tmp_path: Path) -> None:
    for n, name in enumerate(("one", "two")):
        folder = write_build(tmp_path / name, PASSTHROUGH.replace("2 : i32", f"{n + 1} : i32"))
        (folder / "final.xclbin").rename(tmp_path / f"{name}.xclbin")
        (tmp_path / f"{name}.seq").write_bytes(COPY)
    done = CliRunner().invoke(app, ["run", str(tmp_path)], env={"COLUMNS": "250"})
    assert done.exit_code == 2
    told = done.output.replace("\n", " ")
    assert "has 2 files of kind xclbin: one.xclbin, two.xclbin" in told
    assert f"Give the files themselves, {tmp_path / 'one.xclbin'} {tmp_path / 'one.seq'} for one" in told
