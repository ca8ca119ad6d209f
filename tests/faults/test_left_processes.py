"""Does nothing outlive a command that is killed, whatever its processes do?"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import memtile
from memtile.explore.line_process import LineProcess, NoAnswerError
from support.commands.interruptions import MARK, left
from support.sandbox.sandbox_rig import why_not

pytestmark = pytest.mark.slow  # each test starts processes
SECONDS = 30.0  # on a busy machine; a second otherwise
SPINS = {
    "in Python": "while True: pass",
    "in code that does not return to Python": "re.match('(a+)+$', 'a' * 64 + 'b')",
    "with children": "subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])",
}
BEGUN = "import re, subprocess, sys\nopen('begun', 'w').close()\n"
SCALE = Path(__file__).parents[2] / "examples" / "scale.mlir"
WITHOUT = "def enter() -> bool:\n    return False\n\n\ndef _refused() -> bool:\n"


def until(what: object, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def started(folder: Path, *words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A command and the mark of all that it begins; at the end none of that is left, whatever was found."""
    mark, pipe = secrets.token_hex(8), subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-m", "memtile", *words],
        cwd=folder,
        env={**os.environ, **variables, MARK: mark},
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process, mark
    finally:
        process.kill()
        process.communicate()
        for each in left(mark, 0):
            os.kill(int(each.split()[0]), signal.SIGKILL)


def killed(folder: Path, process: subprocess.Popen[bytes], mark: str) -> list[str]:
    """What a command leaves that is killed while a design of it runs."""
    until((folder / "begun").exists)
    assert process.poll() is None
    process.kill()
    process.wait()
    return left(mark, SECONDS)


def without_namespaces(folder: Path) -> Mapping[str, str]:
    """Variables for a package that finds a system without namespaces."""
    package = Path(memtile.__file__).parent
    shutil.copytree(package, folder / "memtile", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "memtile" / "sandbox" / "namespaces.py"
    text = file.read_text()
    assert text.count("def enter() -> bool:\n") == 1
    file.write_text(text.replace("def enter() -> bool:\n", WITHOUT))
    return {"PYTHONPATH": str(folder), "MEMTILE_JIT": "0"}


def ask(process: subprocess.Popen[bytes], text: str) -> None:
    """Ask a server for agents to run a design, and wait for no answer."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "run", "arguments": {"text": text, "seconds": 600}}
    assert process.stdin is not None
    for message in (
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()


@pytest.mark.parametrize("spins", SPINS.values(), ids=SPINS)
@pytest.mark.parametrize("how", ["namespaces", "without namespaces", "without a sandbox"])
def test_a_killed_server_for_agents_leaves_nothing(tmp_path: Path, how: str, spins: str) -> None:
    if how != "without a sandbox" and why_not():
        pytest.skip(f"no sandbox here: {why_not()}")
    project, package = tmp_path / "project", tmp_path / "package"
    project.mkdir()
    options = ["--no-sandbox"] if how == "without a sandbox" else []
    variables = {"MEMTILE_JIT": "0"} | (without_namespaces(package) if how == "without namespaces" else {})
    with started(project, "mcp", *options, **variables) as (process, mark):
        ask(process, f"{BEGUN}{spins}\n")
        assert killed(project, process, mark) == []


@pytest.mark.parametrize("spins", SPINS.values(), ids=SPINS)
def test_a_killed_sweep_leaves_nothing(tmp_path: Path, spins: str) -> None:
    head = "from typing import Annotated\nfrom memtile import Array, Range\n"
    body = f"{BEGUN}{spins}\n".replace("\n", "\n    ")
    text = f"{head}def design(words: Annotated[int, Range(16, 64, 16)] = 16):\n    {body}\n"
    (tmp_path / "d.py").write_text(text)
    line = ("sweep", "run", "d.py", "--grid", "--workers", "2")
    with started(tmp_path, *line) as (process, mark):
        assert killed(tmp_path, process, mark) == []


@pytest.mark.parametrize("spins", SPINS.values(), ids=SPINS)
def test_a_killed_survey_leaves_nothing(tmp_path: Path, spins: str) -> None:
    first = "import os\nif not os.path.exists('loaded'):\n    os.mkdir('loaded')\nelse:\n"
    body = f"{BEGUN}{spins}\n".replace(
        "\n", "\n    "
    )  # the command itself loads it first, to see what is wrong
    (tmp_path / "f.py").write_text(f"{first}    {body}\n")
    (tmp_path / "designs").mkdir()
    shutil.copy(SCALE, tmp_path / "designs")
    line = ("survey", "designs", "--functions", "f.py")
    with started(tmp_path, *line) as (process, mark):
        assert killed(tmp_path, process, mark) == []


def test_a_killed_plan_leaves_nothing(tmp_path: Path) -> None:
    line = ("plan", "gemm", "--m", "256", "--n", "256", "--k", "256", "--workers", "2", "--out", "o.py")
    with started(tmp_path, *line, MEMTILE_JIT="0") as (process, mark):
        until(lambda: sum("explore.sweep.processes" in each for each in left(mark, 0)) >= 2)
        (tmp_path / "begun").touch()
        assert killed(tmp_path, process, mark) == []


# The process itself, which all of them begin.

ECHO = """
import os, subprocess, sys

from memtile.explore.line_answers import answer_lines

def trial(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__

def done(text):
    names = globals() | {"said": "done"}
    exec(text, names)
    return names["said"]

answer_lines(done)
"""
CHILD = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])"


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)", "while True: pass"])
def test_what_a_lost_process_began_ends_with_it(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    mark = secrets.token_hex(8)
    monkeypatch.setenv(MARK, mark)
    process = LineProcess(ECHO)
    assert process.ask(CHILD, 60) == "done"
    with pytest.raises(NoAnswerError):
        process.ask(end, 1 if "while" in end else 60)
    assert [each for each in left(mark, SECONDS) if int(each.split()[0]) != os.getpid()] == []


def test_code_may_wait_for_all_of_its_children() -> None:
    process = LineProcess(ECHO)
    try:
        assert process.ask("began = subprocess.Popen(['true']); os.wait()", 60) == "done"
        assert process.ask("said = trial(os.wait)", 60) == "ChildProcessError"
    finally:
        process.end()
