"""Is the small thing that a person does wrong, or does not see, told in words that help?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from memtile import DesignError, Timing, schema
from memtile.bd import Descriptor
from memtile.bd.explain import explain
from memtile.cli.main import app
from support.driver import simulator_client


def invoke(*args: str, stdin: str = "") -> Any:
    return CliRunner().invoke(app, args, input=stdin)


@pytest.mark.parametrize("value", [4.5, "4", True, None, np.float32(4)])
def test_a_timing_constant_is_a_whole_number(value: Any) -> None:
    with pytest.raises(DesignError, match=r"task_start is .*; it must be a whole number of \d+\.\.\d+"):
        Timing(task_start=value)
    assert Timing(task_start=np.int64(5)) == Timing(task_start=5)  # type: ignore[arg-type]


def test_a_text_that_is_no_register_dump_is_told_in_one_line(tmp_path: Path) -> None:
    for text in ("# A title\n\nwords and words\n", "Dear reader,\n", "memtile\n\n1 2\n"):
        path = tmp_path / "README.md"
        path.write_text(text)
        for command in ("run", "disasm"):
            done = invoke(command, str(path))
            assert done.exit_code == 2
            assert done.stderr.startswith(
                f"error: {path}: the file is text, but not of registers; it must be a "
            )
            assert done.stderr.count("\n") == 1
        assert "is not a register" in invoke("disasm", "--format", "dump", str(path)).stderr


@pytest.mark.parametrize(
    "text", ["0x21a0040 5\n", "# comment\n\n0x021A0040: 0x5\n", "64,7\n", '[{"address": 64, "value": 7}]']
)
def test_dumps_are_still_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(text)
    assert invoke("disasm", str(path)).exit_code == 0


def test_an_error_of_a_design_names_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "d.py"
    path.write_text(
        "from memtile import MemoryTile\n\ndef design():\n    tile = MemoryTile()\n    tile.lock(64)\n"
        "    return tile\n"
    )
    for args in (["run"], ["run", "--json"]):
        done = invoke(*args, str(path))
        assert done.exit_code == 2
        assert f"{path}, line 5, memory tile, lock: initial is 64" in done.stderr


def test_encoded_words_can_be_decoded_and_explained() -> None:
    for case in (
        {"tile": "compute", "bd": 3, "length": 64, "address": 0, "dims": [[1, 8], [8, 8]]},
        {"tile": "memory", "bd": 25, "length": 16, "address": 131072},
    ):
        words = invoke("bd", "encode", stdin=json.dumps(case)).stdout
        again = json.loads(invoke("bd", "decode", stdin=words).stdout)
        assert {key: again[key] for key in ("tile", "bd", "length", "address")} == {
            key: case[key] for key in ("tile", "bd", "length", "address")
        }
        assert f"BD {case['bd']}" in invoke("bd", "explain", "-", stdin=words).stdout


REMARKS = {
    (0, ((1, 4), (4, 4))): "the length is 0: no word is moved",
    (63, ((1, 4), (4, 4))): "the length ends in the middle of a row: the last one has 3 of its 4 words",
    (56, ((1, 4), (4, 4))): "the length ends in the middle of a plane: the last one has 2 of its 4 rows",
    (16, ((1, 4), (4, 4))): None,
    (8, ((1, 4), (4, 0))): None,
    (7, ()): None,
}


@pytest.mark.parametrize("length", REMARKS)
def test_a_length_that_ends_within_a_loop_is_remarked(length: Any) -> None:
    words, dims = length
    found = [
        line.text
        for line in explain(Descriptor("memory", words, 0x20000, dims=dims)).lines
        if line.topic == "remark"
    ]
    assert found == ([REMARKS[length]] if REMARKS[length] else [])


def test_serve_says_as_json_where_it_listens(tmp_path: Path) -> None:
    refused = invoke("serve", "--json", "--device", "npu9")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["reason"] == "device"
    server = simulator_client.Server(tmp_path, "--json")
    assert server.stop() == 0
    (line,) = server.out.splitlines()
    found = json.loads(line)
    assert list(Draft202012Validator(schema("serve-output")).iter_errors(found)) == []
    assert found["listening"]["port"] > 0
