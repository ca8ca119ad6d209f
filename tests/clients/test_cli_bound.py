"""Does ``memtile run`` give the band, what lifting a limit saves, and the record?"""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from memtile import schema
from memtile.cli.main import app


def test_the_command_writes_them_all(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    args = ["run", "examples/transpose.py", "--sensitivity", "--bottleneck", "--record", str(file), "--json"]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
    told, written = json.loads(done.stdout), json.loads(file.read_text())
    assert list(Draft202012Validator(schema("record")).iter_errors(written)) == []
    assert written["verdict"] == "pass"
    assert written["result"] == told
    assert told["band"]["low"] < told["band"]["high"]
    assert told["limit"]["resource"] in {each["resource"] for each in told["lifted"]}
    assert told["limit"]["elapsed"] == told["cycles"]
    assert list(written["provenance"]["inputs"]) == ["examples/transpose.py"]


def test_without_time_there_is_nothing_to_ask() -> None:
    done = CliRunner().invoke(app, ["run", "examples/transpose.py", "--untimed", "--sensitivity"])
    assert done.exit_code == 2
