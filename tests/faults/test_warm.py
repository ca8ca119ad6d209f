"""Do children of the warm process do what Python does: output, exit code, signals, streams, variables?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import warm

SAYS = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['WORD'], sys.stdin.read()); sys.exit(7)"
SLEEPS = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"


def outcome(command: list[str], folder: Path, **variables: str) -> tuple[int, str, str]:
    variables = {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=variables, input="in", capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-c", SAYS, "a b", ""],
        ["-c", "1 / 0"],
        ["-c", "raise SystemExit('no')"],
        ["-c", "import os; os._exit(3)"],
        ["-c", "import os; os.abort()"],
        ["-c", "import sys; print(sys.stdout.encoding)"],
        ["-m", "memtile", "run", "none.py"],
        ["-m", "memtile", "bd", "--help"],
    ],
)
def test_it_is_what_python_does(tmp_path: Path, words: list[str]) -> None:
    mine, its = (
        outcome([*python, *words], tmp_path, WORD="w") for python in (warm.python(), [sys.executable])
    )
    assert mine[:2] == its[:2]
    assert mine[2].splitlines()[-1:] == its[2].splitlines()[-1:]


@pytest.mark.skipif(not warm.WARM, reason="not Linux: there is no warm process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it_and_its_child(number: int) -> None:
    with subprocess.Popen([*warm.python(), "-c", SLEEPS], stdout=-1, stderr=-3, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert child != process.pid
        process.send_signal(number)
        process.wait(30)
    assert process.returncode == (1 if number == signal.SIGINT else -number)
    end = time.monotonic() + 30
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_variables_that_python_reads_at_its_start_are_seen(tmp_path: Path) -> None:
    code = "from memtile.jit.decorators import ENABLED; import sys; print(ENABLED, sys.flags.utf8_mode)"
    assert outcome([*warm.python(), "-c", code], tmp_path, MEMTILE_JIT="0", PYTHONUTF8="1")[1] == "False 1\n"


def test_a_closed_stream_is_none() -> None:
    code = "import sys; print(sys.stdin)"
    done = subprocess.run([*warm.python(), "-c", code], stdout=-1, text=True, preexec_fn=lambda: os.close(0))
    assert done.stdout == "None\n"
