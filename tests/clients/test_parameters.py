"""Do the arguments of a design function become parameters that are set, checked and found in the result?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from memtile import Array, DesignError, MemoryTile, run, schema
from memtile.cli.main import app

DESIGN = """
from __future__ import annotations

from enum import Enum
from typing import Literal

import numpy as np
from memtile import MemoryTile


class Order(Enum):
    ROWS = "rows"
    COLUMNS = "columns"


def design(
    words: int = 16, scale=1.5, loud=False, element=np.int32, shape=(4, 4),
    mode: Literal["a", "b"] = "a", order: Order = Order.ROWS, limit: int | None = None, note: str = "",
):
    assert isinstance(words, int) and isinstance(scale, float) and isinstance(loud, bool)
    assert isinstance(shape, tuple) and isinstance(order, Order) and isinstance(note, str)
    assert limit is None or isinstance(limit, int)
    np.dtype(element)
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", words)))
    tile.mm2s[0].expect(np.zeros(words, np.int32))
    return tile
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "matmul.py"
    path.write_text(DESIGN)
    return str(path)


def invoke(*args: str) -> Any:
    return CliRunner().invoke(app, args)


DEFAULTS = {
    "words": 16,
    "scale": 1.5,
    "loud": False,
    "element": "int32",
    "shape": [4, 4],
    "mode": "a",
    "order": "rows",
    "limit": None,
    "note": "",
}
GOOD = {
    "words=0x20": {"words": 32},
    "scale=2": {"scale": 2.0},
    "loud=yes": {"loud": True},
    "loud=0": {"loud": False},
    "element=int8": {"element": "int8"},
    "shape=(8, 2)": {"shape": [8, 2]},
    "mode=b": {"mode": "b"},
    "order=COLUMNS": {"order": "columns"},
    "limit=7": {"limit": 7},
    "limit=none": {"limit": None},
    "note=5 = five": {"note": "5 = five"},
}


@pytest.mark.parametrize("text", GOOD)
def test_a_text_becomes_a_value_of_the_type_of_the_parameter(file: str, text: str) -> None:
    done = invoke("run", "--json", "--set", text, file)
    assert done.exit_code == 0, done.stderr
    data = json.loads(done.stdout)
    parameters = {each["name"]: each["value"] for each in data["parameters"]}
    assert parameters == DEFAULTS | GOOD[text]
    assert data["channels"][0]["words"] == parameters["words"]


BAD = {
    "words=many": "words is 'many'; it must be a whole number",
    "words=": "words is ''; it must be a whole number",
    "words=4.5": "words is '4.5'; it must be a whole number",
    "loud=maybe": "loud is 'maybe'; it must be true or false",
    "element=int9": "element is 'int9'; it must be a NumPy type such as int8",
    "shape=(4": "shape is '(4'; it must be a tuple",
    "mode=c": "mode is 'c'; it must be one of a, b",
    "order=diagonal": "order is 'diagonal'; it must be one of ROWS, COLUMNS",
    "limit=some": "limit is 'some'; it must be a whole number or none",
    "word=4": "the design has no parameter 'word'; its parameters are words, scale, ",
    "words": "--set is 'words'; it must be NAME=VALUE",
    "=4": "--set is '=4'; it must be NAME=VALUE",
}


@pytest.mark.parametrize("text", BAD)
def test_another_text_is_refused(file: str, text: str) -> None:
    done = invoke("run", "--set", text, file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert BAD[text] in done.stderr
    assert "Did you mean words?" in done.stderr or not text.startswith("word=")


def test_all_wrong_settings_come_at_once_and_none_twice(file: str) -> None:
    done = invoke("run", "--set", "words=x", "--set", "lout=yes", "--set", "mode=c", file)
    assert done.stderr.startswith("3 errors:\n")
    assert "Did you mean loud?" in done.stderr
    twice = invoke("run", "--set", "words=4", "--set", "words=8", file)
    assert "words is set twice, to '4' and '8'" in twice.stderr
    program = invoke("run", "--set", "words=4", "insts.bin")
    assert (program.exit_code, "--set is for designs" in program.stderr) == (2, True)


def test_the_table_says_which_parameters_the_run_had(file: str) -> None:
    assert "parameters: words = 8, scale = 1.5, loud = False, element = int32, shape = [4, 4]" in (
        invoke("run", "--set", "words=8", file).stdout
    )


def test_info_lists_the_parameters_of_a_design(file: str, tmp_path: Path) -> None:
    shown = invoke("info", file).stdout.splitlines()
    assert shown[0] == f"{file}: --set NAME=VALUE"
    assert shown[1:4] == [
        "  words = 16: a whole number",
        "  scale = 1.5: a number",
        "  loud = False: true or false",
    ]
    data = json.loads(invoke("info", file, "--json").stdout)
    assert list(Draft202012Validator(schema("info-design-output")).iter_errors(data)) == []
    assert {each["name"]: each["default"] for each in data["parameters"]} == DEFAULTS
    none = tmp_path / "none.py"
    none.write_text("def design():\n    return 5\n")
    assert "design() has no parameters" in invoke("info", str(none)).stdout
    refused = invoke("run", "--set", "m=4", str(none))
    assert "the design has no parameter 'm'; it has none" in refused.stderr


def test_faults_takes_parameters_too(file: str) -> None:
    done = invoke("faults", "--json", "--upsets", "4", "--set", "words=8", file)
    assert done.exit_code == 0
    assert invoke("faults", "--set", "word=8", file).exit_code == 2


def test_a_parameter_without_default_must_be_set(tmp_path: Path) -> None:
    path = tmp_path / "d.py"
    path.write_text("from memtile import MemoryTile\ndef design(words: int):\n    return MemoryTile()\n")
    done = invoke("run", str(path))
    assert done.exit_code == 2
    assert "words has no value and no default; it must be a whole number" in done.stderr
    assert "--set words=VALUE" in done.stderr
    assert invoke("run", "--set", "words=1", str(path)).exit_code == 0


def design(words: int = 4, mode: Literal["up", "down"] = "up", data: Any = None) -> MemoryTile:
    tile = MemoryTile()
    values = np.arange(words, dtype=np.int32) if data is None else data
    tile.mm2s[0].start(tile.read(tile.buffer("b", words, data=values)))
    tile.mm2s[0].expect(values if mode == "up" else values[::-1])
    return tile


def test_run_of_python_sets_parameters_and_records_them() -> None:
    result = run(design, set={"words": 8, "mode": "up"})
    assert (result.good, result.parameters) == (True, {"words": 8, "mode": "up", "data": None})
    assert run(design, set={"words": np.int64(8)}, untimed=True).good
    assert not run(design, set={"mode": "down"}).exact
    own = run(design, set={"data": np.full(4, 7, np.int32)})
    assert (own.good, own.parameters["data"].tolist()) == (True, [7, 7, 7, 7])
    assert run(design).parameters["words"] == 4


@pytest.mark.parametrize(
    "given", [{"words": 4.5}, {"words": True}, {"words": None}, {"mode": 1}, {"wrds": 4}]
)
def test_run_of_python_refuses_other_values_and_names(given: dict[str, object]) -> None:
    with pytest.raises(DesignError, match=r"design design: "):
        run(design, set=given)


def test_run_of_python_refuses_what_is_no_design() -> None:
    with pytest.raises(DesignError, match=r"design\(\) returned int; it must return a MemoryTile or"):
        run(lambda: 5)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("given", [Array("npu1", 1), "design.py", None])
def test_run_of_python_refuses_what_is_no_function(given: object) -> None:
    with pytest.raises(DesignError, match=r"run\(\): design is .*; it must be a function") as told:
        run(given)  # type: ignore[arg-type]
    assert ("Call the run() of what is made already" in str(told.value)) == isinstance(given, Array)
