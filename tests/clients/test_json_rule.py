"""Is an error of any command one JSON object on stdout where JSON was asked for, with the same exit code?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from memtile import schema
from memtile.cli.main import app
from support.commands import warm

NOISY = """
import numpy as np
from memtile import MemoryTile

print("file")

def design():
    print("design")
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 8, data=np.arange(8))))
    tile.mm2s[0].expect(np.arange(8, dtype=np.int32))
    return tile
"""
BROKEN = {
    "run, no file": (["run", "--json", "none.py"], "input_file"),
    "run, no program": (["run", "--json", "none.bin"], "input_file"),
    "run, no design": (["run", "--json", "empty.py"], "input_file"),
    "run, no option": (["run", "--json", "--fast", "empty.py"], "usage"),
    "run, the option last": (["run", "none.py", "--json"], "input_file"),
    "run, two designs": (["run", "--json", "empty.py", "empty.py"], "usage"),
    "info": (["info", "--json", "npu9"], "device"),
    "lower, neither JSON nor C++": (["lower", "--json", "empty.txt"], "graph_text"),
    "lower, a design": (["lower", "--json", "empty.py"], "input_file"),
    "lower, no file": (["lower", "--json", "none.json"], "input_file"),
    "bd encode, no JSON": (["bd", "encode", "empty.py"], "input_file"),
    "bd decode, no file": (["bd", "decode", "none.json"], "input_file"),
    "bd encode, no file named": (["bd", "encode", "a", "b"], "usage"),
    "bd explain": (["bd", "explain", "--json", "1", "x"], "word"),
    "explain, no file": (["explain", "--json", "none.bin"], "usage"),
    "explain, no dump": (["explain", "--json", "empty.txt"], "format"),
    "faults": (["faults", "--json", "none.py"], "input_file"),
    "trace": (["trace", "decode", "--json", "none.txt"], "input_file"),
    "trace, two outputs": (["trace", "decode", "--json", "--csv", "none.txt"], "usage"),
    "disasm": (["disasm", "--json", "none.bin"], "input_file"),
    "disasm, no program": (["disasm", "--json", "empty.py"], "format"),
    "schema": (["schema", "nothing"], "schema"),
    "survey, no folder": (["survey", "--json", "none"], "survey"),
    "survey, no design": (["survey", "--json", "bare"], "survey"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("empty.py", "empty.txt"):
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "bare").mkdir()
    (tmp_path / "noisy.py").write_text(NOISY)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", BROKEN)
def test_a_refused_input_is_json_on_stdout_and_a_sentence_on_stderr(name: str) -> None:
    args, reason = BROKEN[name]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 2
    answer = json.loads(done.stdout)
    assert answer["error"]["reason"] == reason
    assert answer["error"]["message"]
    assert list(Draft202012Validator(schema("error-output")).iter_errors(answer)) == []
    first = answer["error"]["message"].splitlines()[0]
    assert first in done.stderr.replace("\n", " ") + done.stderr


@pytest.mark.usefixtures("folder")
def test_without_json_nothing_of_an_error_is_on_stdout() -> None:
    for args in (["run", "none.py"], ["info", "npu9"], ["run", "--", "--json"], ["lower", "empty.py"]):
        done = CliRunner().invoke(app, args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr


@pytest.mark.usefixtures("folder")
def test_what_a_design_prints_goes_to_stderr() -> None:
    for args in (["run", "--json"], ["run"], ["faults", "--json", "--upsets", "2"]):
        done = CliRunner().invoke(app, [*args, "noisy.py"])
        assert done.stderr.startswith("file\ndesign\n")
        assert "design\n" not in done.stdout
        if "--json" in args:
            json.loads(done.stdout)


def test_what_a_kernel_prints_goes_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("""
from memtile import Array

def kernel(core):
    print("kernel")
    yield core.cycles(1)

def design():
    array = Array("npu1", 1)
    array.compute_tile(0, 2).run_kernel(kernel)
    return array
""")
    done = CliRunner().invoke(app, ["run", "--json", str(path)])
    assert json.loads(done.stdout)["status"] == "finished"
    assert done.stderr == "kernel\n"


SLOW_START = """
import sys, time
from memtile import MemoryTile
print("here", file=sys.stderr, flush=True)
time.sleep(60)
def design():
    return MemoryTile()
"""


def interrupted(path: Path, *args: str) -> Any:
    """A run of a file that is stopped by Ctrl-C while the file is read."""
    path.write_text(SLOW_START)
    pipe = subprocess.PIPE
    with subprocess.Popen(warm.memtile(*args, path), stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_before_the_run_has_a_word(tmp_path: Path) -> None:
    code, out, err = interrupted(tmp_path / "slow.py", "run")
    assert (code, out, err) == (130, "", "interrupted before there was anything to show\n")
    code, out, err = interrupted(tmp_path / "slow.py", "run", "--json")
    assert code == 130
    assert json.loads(out)["error"]["reason"] == "interrupted"
    assert err == "interrupted before there was anything to show\n"


def test_ctrl_c_while_the_command_is_loaded_has_a_word(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-m", "memtile", "info"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted before there was anything to show\n"
